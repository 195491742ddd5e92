// Generates docs/settings.md from the table of settings. A test compares the file; `UPDATE=1` with
// that test writes it.
import type { Setting } from '../server/config/setting-kinds.ts'
import { wrapProse } from './wrap-prose.ts'

/** TABLE of areas of settings: heading and introduction. */
const AREAS: Readonly<Record<string, [heading: string, says: string]>> = {
  server: ['The server', ''],
  commandLine: [
    'The command line',
    'For commands that talk to a running server. Without them, commands use the database in the current folder.',
  ],
  storage: [
    'Storage',
    'Processes on several machines need `DATABASE_URL`, `S3_BUCKET` and, unless they are workers, the same `TOLLMARK_MASTER_KEY`.',
  ],
  accounts: ['Accounts and plans', ''],
  conversion: ['Conversion', ''],
  proxy: ['The proxy', ''],
  ledger: ['The ledger', ''],
  watch: ['Monitoring', ''],
  credentials: [
    'Provider credentials',
    'The proxy sends these to providers. Add more while it runs, in the dashboard or through the API.',
  ],
  upstreams: [
    'Provider addresses',
    "Connect to another address than the provider's own: a region, a relay, a test server. Callers keep using the provider's own address. Add a gateway that serves several models as a provider instead (`TOLLMARK_PROVIDERS`): only there are keys with `models` refused what makes a gateway run another model.",
  ],
}

/**
 * The text of docs/settings.md.
 *
 * @param settings as `settings()` of server/config/settings.ts gives them
 * @throws Error for an area without a heading
 */
export function settingsPage(
  settings: readonly [area: string, rows: readonly Setting<unknown>[]][],
): string {
  const head = `# Settings

Set them in the environment, or in a file \`.env\` in the folder where you start the server; the environment wins. An empty variable counts as unset. A bad value keeps the server from starting and
prints what is wrong; an unknown variable \`TOLLMARK_…\` is reported in the log. Copy [.env.example](../.env.example), which lists them all.
`
  return wrapProse(head + settings.map(([area, rows]) => section(area, rows)).join(''))
}

function section(area: string, rows: readonly Setting<unknown>[]): string {
  const [heading, says] = AREAS[area] ?? []
  if (heading === undefined)
    throw new Error(`the area "${area}" of settings has no heading in scripts/docs.ts`)
  // If all rows have the same sentence, the area shows it once.
  const alike = new Set(rows.map(({ sentence }) => sentence)).size === 1 && rows.length > 1
  const table = rows.map(({ name, kind, default: standard, sentence }) =>
    alike
      ? `| \`${name}\` |\n`
      : `| \`${name}\` | ${standard === null ? '' : `\`${standard}\``} | ${cell(sentence)}<br>${cell(kind.what)} |\n`,
  )
  return `\n## ${heading}\n\n${says === undefined || says === '' ? '' : `${says}\n\n`}${alike ? '| setting |\n|---|\n' : '| setting | default | |\n|---|---|---|\n'}${table.join('')}`
}

/** Escapes a sentence for a table cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
