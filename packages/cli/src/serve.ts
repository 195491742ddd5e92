import { parseArgs } from 'node:util'
import { buildWhereChanged } from '../../../dashboard/build.ts'
import { main } from '../../../server/main.ts'
import type { Command } from './main.ts'

/** `tollmark serve`: the server, set up by the environment. */
export const command: Command = {
  usage: 'usage: tollmark serve\n\nRuns the server. Settings come from the environment and from a .env file in this folder; .env.example lists them.',
  run: async (args) => {
    parseArgs({ args, options: {} })
    const problem = buildWhereChanged()
    if (problem !== null) process.stderr.write(`tollmark: ${problem}\n`)
    await main()
  },
}
