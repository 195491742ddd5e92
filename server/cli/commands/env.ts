// tollmark env
import { environment, readConfig } from '../../config/settings.ts'
import { CLIENTS, fillTemplate } from '../../common/clients.ts'
import { settingsFromFlags } from '../api-command.ts'
import type { Command } from '../command.ts'
import { Misuse } from '../failure.ts'
import { writeJson, writeLines } from '../output.ts'

/** The placeholder if no key is given. */
const ANY_KEY = 'tmk_…'
const IDS = [...new Set(CLIENTS.map(({ id }) => id))]

/** Prints the settings that make a program or SDK use the proxy. It calls no server. */
export const ENV: Command = {
  name: 'env',
  args: '[client]',
  summary: 'print the settings for using the proxy with a program or SDK',
  options: [
    { flags: '--key <key>', summary: 'the proxy key to insert (tmk_…)' },
    {
      flags: '--url <url>',
      summary: 'the address of the proxy (TOLLMARK_URL); default TOLLMARK_PUBLIC_URL, or PORT here',
    },
    { flags: '--json', summary: 'print JSON' },
  ],
  notes: `Clients: ${IDS.join(', ')}.`,
  examples: [
    'tollmark env',
    'tollmark env claude-code --key tmk_…',
    'eval "$(tollmark env openai --key "$PROXY_KEY" --url https://ai.example.com)"',
  ],
  run: async (values, [id]) => {
    const rows = CLIENTS.filter((client) => client.id === id)
    if (id !== undefined && rows.length === 0)
      throw new Misuse(`There is no client "${id}". Choose from ${IDS.join(', ')}.`)
    const { commandLine, server } = readConfig({
      ...environment(process.cwd()),
      ...settingsFromFlags(values),
    })
    const url = commandLine.url ?? server.publicUrl ?? new URL(`http://localhost:${server.port}`)
    const origin = url.href.replace(/\/+$/, '')
    const key = values.text('key') ?? ANY_KEY
    const setups = (id === undefined ? CLIENTS : rows).map((client) => ({
      ...client,
      ...fillTemplate(client, origin, key),
    }))
    if (values.flag('json')) return writeJson({ object: 'list', data: setups })
    if (id === undefined) return writeLines(IDS)
    // As comments, so that a shell can evaluate the whole output.
    await writeLines(
      setups.flatMap(({ name, provider, where, lines }) => [
        `# ${name} → ${provider}: ${where}`,
        ...lines,
      ]),
    )
  },
}
