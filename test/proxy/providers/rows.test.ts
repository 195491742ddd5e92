// A provider is one file below server/proxy/providers/rows: what other files have to know of it is
// written from there.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { ProviderRow } from '../../../server/proxy/providers/provider.ts'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'server/proxy/providers/rows')
const INDEX = 'server/proxy/providers/rows/index.ts'
const CREDENTIALS = 'server/config/provider-credentials.ts'
const GENERATED = '// Written by `UPDATE=1 npm test -- test/proxy/providers/rows.test.ts`.\n'

interface RowFile {
  /** Its name without the ending. */
  readonly file: string
  /** What it exports. */
  readonly name: string
  readonly row: ProviderRow
}

const isRow = (value: unknown): value is ProviderRow =>
  typeof value === 'object' && value !== null && 'id' in value && 'endpoints' in value

/** Every file of a provider, in the order of its ids. */
async function rowFiles(): Promise<RowFile[]> {
  const names = readdirSync(folder).filter((name) => name !== 'index.ts')
  const found = await Promise.all(
    names.map(async (name) => {
      const exported: object = await import(pathToFileURL(join(folder, name)).href)
      const rows = Object.entries(exported).filter(([, value]) => isRow(value))
      assert.equal(rows.length, 1, `${name} must export one provider`)
      const [exportedAs, row] = rows[0]!
      return { file: name.replace(/\.ts$/, ''), name: exportedAs, row: row as ProviderRow }
    }),
  )
  return found.toSorted((a, b) => (a.row.id < b.row.id ? -1 : 1))
}

const indexOf = (rows: readonly RowFile[]): string =>
  [
    GENERATED.trimEnd(),
    "import type { ProviderRow } from '../provider.ts'",
    ...rows.map(({ file, name }) => `import { ${name} } from './${file}.ts'`),
    '',
    '/** TABLE of built-in providers. */',
    'export const PROVIDERS: readonly ProviderRow[] = [',
    ...rows.map(({ name }) => `  ${name},`),
    ']',
    '',
  ].join('\n')

const quoted = (id: string): string => (/^\w+$/.test(id) ? id : `'${id}'`)

const credentialsOf = (rows: readonly RowFile[]): string =>
  [
    GENERATED.trimEnd(),
    '',
    '/**',
    ' * TABLE of providers that can be configured by the environment: id → the variable of their',
    ' * credential.',
    ' */',
    'export const PROVIDER_CREDENTIALS: Readonly<Record<string, string>> = {',
    ...rows.map(({ row }) => `  ${quoted(row.id)}: '${row.variable}',`),
    '}',
    '',
  ].join('\n')

const DOCS = 'docs/proxy.md'
/** The table of providers in the page about the proxy. */
const DOCS_TABLE = /^\| provider \| id \|.*\n(?:\|.*\n)+/m

/** Hosts as people read them: a family without its brackets. */
const shownHosts = ({ hosts, sites = [] }: ProviderRow): string =>
  [...hosts, ...sites.flatMap((site) => site.hosts)].map((host) => `\`${host}\``).join(', ')

const docsOf = (rows: readonly RowFile[]): string =>
  [
    '| provider | id | setting for its credential | hosts |',
    '|---|---|---|---|',
    ...rows.map(
      ({ row }) => `| ${row.name} | \`${row.id}\` | \`${row.variable}\` | ${shownHosts(row)} |`,
    ),
    '',
  ].join('\n')

test('the tables of providers are in step with their files (UPDATE=1 writes them)', async () => {
  const rows = await rowFiles()
  const page = readFileSync(join(root, DOCS), 'utf8').replace(DOCS_TABLE, () => docsOf(rows))
  for (const [path, text] of [
    [INDEX, indexOf(rows)],
    [CREDENTIALS, credentialsOf(rows)],
    [DOCS, page],
  ] as const) {
    const file = join(root, path)
    if (process.env['UPDATE']) writeFileSync(file, text)
    assert.equal(readFileSync(file, 'utf8'), text, path)
  }
})

test("a file is named after its provider's id, and no two share an id, a variable or a host", async () => {
  const rows = await rowFiles()
  for (const { file, row } of rows) assert.equal(file, row.id)
  const once = (values: readonly string[]) => assert.equal(new Set(values).size, values.length)
  once(rows.map(({ row }) => row.variable))
  once(
    rows.flatMap(({ row }) => [...row.hosts, ...(row.sites ?? []).flatMap((site) => site.hosts)]),
  )
})
