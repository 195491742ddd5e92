// The table of runtimes in the core package's README. `npm run bench -- runtimes` generates it from
// its results, and fails if the README differs.

/** The file with the table. */
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

/** Major versions of the AI SDK; the first is not supported. */
export const MAJORS = [5, 6, 7] as const

/** One of them. */
export type Major = (typeof MAJORS)[number]

/** By method: `ok`, why it does not count, or the error message. */
export type Results = Readonly<Record<string, string>>

/** Signs for results; any other result failed. */
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

/** The table in a README; empty if it has none. */
export const tableIn = (readme: string): string => TABLE.exec(readme)?.[0].trimEnd() ?? ''

/** Puts this table, the versions and the date of the run into a README. */
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
