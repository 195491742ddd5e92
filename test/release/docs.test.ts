// Documentation that can be wrong without anybody noticing: what is generated, and what is pointed
// at.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import GithubSlugger from 'github-slugger'
import { convertHtml } from '../../packages/notion-markdown/src/index.ts'
import { settingsPage } from '../../scripts/docs.ts'
import { PROVIDER_CREDENTIALS } from '../../server/config/provider-credentials.ts'
import { settings } from '../../server/config/settings.ts'
import { PROVIDERS } from '../../server/proxy/providers/rows/index.ts'
import { GATEWAY_ERRORS } from '../../server/proxy/error-response.ts'
import { folderInDist } from '../packages/project.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const pages = globSync(['*.md', 'docs/*.md', 'packages/*/README.md', 'examples/README.md'], {
  cwd: root,
}).sort()

test('docs/settings.md is in step with the table (UPDATE=1 writes it)', () => {
  const file = join(root, 'docs', 'settings.md')
  if (process.env['UPDATE']) writeFileSync(file, settingsPage(settings()))
  assert.equal(readFileSync(file, 'utf8'), settingsPage(settings()))
})

/** A page without its code. */
const prose = (text: string): string =>
  text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]+`/g, '')

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(file: string): Set<string> {
  const slugger = new GithubSlugger()
  const text = read(file).replaceAll(/^```[\s\S]*?^```/gm, '')
  return new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      slugger.slug(heading.replaceAll(/[`*]|\]\([^)]*\)|\[/g, '')),
    ),
  )
}

/** Pages with examples of what does not exist yet. */
const guides = globSync('contributing/*.md', { cwd: root }).sort()

for (const page of [...pages, ...guides]) {
  test(`${page}: every link within the repository leads somewhere`, () => {
    const links = [...prose(read(page)).matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)]
      .map(([, link, image]) => link ?? image ?? '')
      .filter((link) => !/^[a-z]+:/i.test(link))
    for (const link of links) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      assert.ok(existsSync(join(root, target)), `${link} leads nowhere`)
      if (anchor !== undefined)
        assert.ok(anchorsOf(target).has(anchor), `${link}: ${target} has no such heading`)
    }
  })
}

test('every row of a table has as many cells as its header', () => {
  for (const page of [...pages, ...guides]) {
    let cells: number | null = null
    for (const line of read(page)
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .split('\n')) {
      // A pipe separates cells in code, too, unless a backslash precedes it (GFM 4.10).
      const pipes = line.startsWith('|') ? line.match(/(?<!\\)\|/g)!.length : null
      if (cells !== null && pipes !== null) assert.equal(pipes, cells, `${page}: ${line}`)
      cells = pipes
    }
  }
})

/** Words in capitals that look like settings and are others'. */
const OTHERS = new Set([
  'TEST_DATABASE_URL',
  'TEST_STORE',
  'POSTGRES_PASSWORD',
  'SITE_ADDRESS',
  'NEXT_PUBLIC_AI_PROXY_KEY',
  'NEXT_PUBLIC_AI_PROXY_URL',
  'AI_PROXY_KEY',
  'AI_PROXY_URL',
  'AI_PROXY_KEY_ID',
  'AI_PROXY_MINT_TOKEN',
])

test('every setting that a page names exists', () => {
  const known = new Set(settings().flatMap(([, rows]) => rows.map(({ name }) => name)))
  for (const page of pages) {
    for (const [name] of read(page).matchAll(
      /\b(?:TOLLMARK|S3|OTEL|POSTGRES|AI_PROXY|NEXT_PUBLIC)_[A-Z][A-Z_]*[A-Z]\b/g,
    )) {
      assert.ok(
        known.has(name) || OTHERS.has(name) || [...known].some((one) => one.startsWith(`${name}_`)),
        `${page}: ${name}`,
      )
    }
  }
})

test('every npm script that a page calls exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const page of [...pages, ...guides].filter(
    (page) => !page.startsWith('packages/') && !page.startsWith('examples/'),
  )) {
    for (const [, name = ''] of read(page).matchAll(/npm run ([\w:]+)/g))
      assert.ok(name in scripts, `${page}: npm run ${name}`)
  }
})

test('docs/proxy.md has every error code of the proxy, with its status', () => {
  const [, table = ''] = read('docs/proxy.md').split('## Errors of the proxy')
  const rows = new Map(
    [...table.matchAll(/^\| (\d{3}) \| (.*?) \|/gm)].flatMap(([, status, codes = '']) =>
      codes.split(', ').map((code) => [code.replaceAll('`', ''), Number(status)]),
    ),
  )
  assert.deepEqual(
    Object.fromEntries([...rows].sort()),
    Object.fromEntries(
      Object.entries(GATEWAY_ERRORS)
        .map(([code, { status }]) => [code, status] as const)
        .sort(),
    ),
  )
})

test('docs/proxy.md has a row for every provider, with its id and the variable of its credential', () => {
  for (const { id } of PROVIDERS)
    assert.match(
      read('docs/proxy.md'),
      new RegExp(`^\\| [^|]+ \\| \`${id}\` \\| \`${PROVIDER_CREDENTIALS[id]}\``, 'm'),
      id,
    )
})

test('ARCHITECTURE.md says for each table where it would be on several PostgreSQL servers', () => {
  const page = read('ARCHITECTURE.md')
  const section = page.split('### More than one PostgreSQL server')[1]?.split('\n## ')[0] ?? ''
  const named = [...section.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  const tables = read('server/store/schema.ts').split('export interface Database {')[1] ?? ''
  const ours = [...tables.matchAll(/^  (\w+): /gm)].map(([, name]) => name)
  assert.deepEqual(
    named.sort(),
    // SQLite alone has a journal; these others are only PostgreSQL's.
    [
      ...ours.filter((name) => name !== 'journal'),
      'admissions',
      'admission_stamps',
      'ledger_clock',
    ].sort(),
  )
})

test('the TypeScript that a page shows compiles', async (t) => {
  const folder = folderInDist(t)
  for (const page of pages) {
    for (const [n, [, code = '']] of [...read(page).matchAll(/^```ts\n([\s\S]*?)^```/gm)].entries())
      writeFileSync(join(folder, `${page.replaceAll('/', '-')}-${n}.ts`), code)
  }
  writeFileSync(join(folder, 'given.d.ts'), 'declare const html: string\n')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { noUnusedLocals: false },
      include: ['*.ts'],
    }),
  )
  const tsc = promisify(execFile)(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    folder,
  ])
  assert.equal(
    await tsc.then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    ),
    '',
  )
})

test("the README's example page converts to the README's Markdown", () => {
  const [, html = '', markdown = ''] =
    /^```html\n([\s\S]*?)^```[\s\S]*?^```markdown\n([\s\S]*?)^```/m.exec(read('README.md')) ?? []
  const page = `<article><header><h1 class="page-title">Sample</h1></header><div class="page-body">${html}</div></article>`
  assert.equal(convertHtml(page), `# Sample\n\n${markdown}`)
})

// Where a clone has no packages yet, npx would look for a package "tollmark" in the registry, which
// is not ours.
test('npx tollmark runs the clone, whether or not its packages are installed', () => {
  const { bin } = JSON.parse(read('package.json')) as { bin?: Record<string, string> }
  assert.equal(
    bin?.['tollmark'],
    join(
      'server',
      (JSON.parse(read('server/package.json')) as { bin: Record<string, string> }).bin[
        'tollmark'
      ] ?? '',
    ),
  )
})
