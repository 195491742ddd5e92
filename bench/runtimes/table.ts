// The table of what was run, as the core package's README shows it. `npm run bench -- runtimes`
// makes it from its results, and fails where the README says otherwise.

/** Where the table stands. */
export const README = 'packages/core/README.md'

/** The runtimes, in the order of the table. */
export const RUNTIME_NAMES = [
  'Node 20',
  'Node 22',
  'Node 24',
  'Bun',
  'Deno',
  'workerd (Cloudflare)',
  'Chromium',
  "React Native's URL",
] as const

/** A row of the table. */
export type RuntimeName = (typeof RUNTIME_NAMES)[number]

/** Major versions of the AI SDK; the first is refused. */
export const MAJORS = [5, 6, 7] as const

/** One of them. */
export type Major = (typeof MAJORS)[number]

/** By the method's name: `ok`, why it does not count, or the error's words. */
export type Results = Readonly<Record<string, string>>

/** What came of a method, in one sign; what is not here failed. */
const SIGNS: Readonly<Record<string, string>> = { ok: '✓', 'not in this AI SDK': '–' }

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const sign = (results: Results, method: string): string => SIGNS[results[method] ?? ''] ?? '✗'

/** The table, with a line for each runtime. @param found results of every runtime and version */
export function tableOf(found: Readonly<Record<RuntimeName, Readonly<Record<Major, Results>>>>) {
  const methods = Object.keys(found[RUNTIME_NAMES[0]][7])
  const rows = RUNTIME_NAMES.map((name) => {
    const { 5: old, ...rest } = found[name]
    const refused = Object.values(old).every((said) => said === 'refused')
    return line([
      name,
      refused ? 'refused' : '✗',
      ...methods.map((method) => [rest[6], rest[7]].map((one) => sign(one, method)).join(' / ')),
    ])
  })
  return [
    line(['', 'AI SDK 5', ...methods]).replace('|  |', '| |'),
    `|${'---|'.repeat(methods.length + 2)}`,
    ...rows,
  ].join('\n')
}

const TABLE = /^\| \| AI SDK 5 \|(?:.+\n)+/m

/** The table that a README has; empty where it has none. */
export const tableIn = (readme: string): string => TABLE.exec(readme)?.[0].trimEnd() ?? ''

/** A README with this table, and the versions and the day of the run. */
export function withTable(
  readme: string,
  table: string,
  versions: readonly string[],
  day: string,
): string {
  return readme
    .replace(TABLE, `${table}\n`)
    .replace(/with `ai` [^`]+ on [\d-]+/, `with \`ai\` ${versions.join(', ')} on ${day}`)
}
