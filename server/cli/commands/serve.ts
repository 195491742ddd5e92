// tollmark serve
import type { Command } from '../command.ts'
import { printError } from '../output.ts'

/** Runs the server, configured by the environment. */
export const SERVE: Command = {
  name: 'serve',
  summary: 'run the server',
  options: [
    {
      flags: '--role <role>',
      summary: 'serve requests (web), run jobs (worker), or both',
      choices: ['all', 'web', 'worker'],
    },
    {
      flags: '--json',
      summary: 'print the server’s address as JSON lines: {"url":…}, {"setup_url":…}',
    },
  ],
  notes:
    'Settings come from the environment and from a .env file in this folder; .env.example lists them. The address and\n' +
    'the link to the first account are printed on standard error; the log on standard output is JSON Lines.',
  examples: ['tollmark serve', 'PORT=3000 tollmark serve --role web'],
  run: async (values) => {
    const role = values.text('role')
    const { startBuild } = await import('../../../dashboard/build.ts')
    const buildDashboard = (): Promise<unknown> | null => {
      const built = startBuild()
      void built?.then((problem) => problem !== null && printError(problem))
      return built
    }
    const { main } = await import('../../app/main.ts')
    await main(role === undefined ? {} : { TOLLMARK_ROLE: role }, {
      json: values.flag('json'),
      buildDashboard,
    })
  },
}
