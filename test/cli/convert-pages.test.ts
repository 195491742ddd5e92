// tollmark convert --layout pages: a folder that is written again and again.
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { convertPages } from '@tollmark/notion-markdown/archive'
import { WriteError } from '../../server/cli/convert/write-error.ts'
import { writePagesFolder, type PagesMode } from '../../server/cli/convert/write-pages.ts'
import { tollmark } from '../support/harness.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { zip } from '../support/zip.ts'

const id = (n: number): string => n.toString(16).padStart(32, '0')

/** A page of a workspace: its number, its title, its text. */
type Item = [n: number, title: string, text: string]

const page = ([n, title, text]: Item, below = ''): string =>
  `<html><body><article id="${id(n)}" class="page sans"><header><h1 class="page-title">${title}</h1></header><div class="page-body"><p>${text}</p>${below}</div></article></body></html>`

/** An export: Home, and these pages below it. */
function exportOf(...items: Item[]): Buffer {
  const links = items.map(
    ([n, title]) =>
      `<figure class="link-to-page"><a href="Home%20${id(1)}/${encodeURIComponent(title)}%20${id(n)}.html">${title}</a></figure>`,
  )
  return zip({
    [`Home ${id(1)}.html`]: page([1, 'Home', 'home'], links.join('')),
    ...Object.fromEntries(
      items.map((item) => [`Home ${id(1)}/${item[1]} ${id(item[0])}.html`, page(item)]),
    ),
  })
}

const A: Item = [2, 'Alpha', 'one']
const B: Item = [3, 'Beta', 'two']
const SYNC: PagesMode = { sync: true, keep: false }

/** A folder, and how an export is written into it. */
function open(t: TestContext) {
  const base = temporaryFolder(t)
  const root = join(base, 'out')
  let count = 0
  const write = async (archive: Buffer, mode = SYNC) => {
    const path = join(base, `${count++}.zip`)
    writeFileSync(path, archive)
    const options = { path, kind: 'zip', fileName: 'Export.zip', flavor: 'gfm' } as const
    const uploadedAt = new Date(count * 1e9)
    await convertPages(
      { ...options, format: 'markdown', includeMetadata: false, uploadedAt },
      `${path}.pages`,
    )
    return writePagesFolder(`${path}.pages`, root, mode)
  }
  const files = (): string[] =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .sort()
  return { base, root, write, files, at: (path: string) => join(root, path) }
}

test('only changed pages are written, and deleted ones are removed', async (t) => {
  const { root, write, files, at } = open(t)
  assert.deepEqual(await write(exportOf(A, B)), {
    written: 4,
    unchanged: 0,
    removed: 0,
    edited: [],
  })
  const before = statSync(at('Home/Alpha.md')).mtimeMs
  const list = statSync(at('.tollmark.json')).ino
  assert.deepEqual(await write(exportOf(A, B)), {
    written: 0,
    unchanged: 4,
    removed: 0,
    edited: [],
  })
  assert.equal(statSync(at('.tollmark.json')).ino, list, 'the list is not written again either')
  const changed = await write(exportOf(A, [3, 'Beta', 'two, changed']))
  assert.deepEqual(changed, { written: 1, unchanged: 3, removed: 0, edited: [] })
  assert.equal(statSync(at('Home/Alpha.md')).mtimeMs, before)
  assert.match(readFileSync(at('Home/Beta.md'), 'utf8'), /two, changed/)
  await write(exportOf(B))
  assert.deepEqual(files(), ['.tollmark.json', 'Home.md', 'Home/Beta.md', 'README.md'])
  await write(exportOf())
  assert.deepEqual(readdirSync(root).sort(), ['.tollmark.json', 'Home.md'])
})

test('a renamed page leaves no old file, even if deleted pages are kept', async (t) => {
  const { write, files } = open(t)
  await write(exportOf(A, B))
  await write(exportOf([2, 'Alpha renamed', 'one']), { sync: true, keep: true })
  const kept = ['.tollmark.json', 'Home.md', 'Home/Alpha-renamed.md', 'Home/Beta.md', 'README.md']
  assert.deepEqual(files(), kept)
  await write(exportOf([2, 'ALPHA renamed', 'one']))
  assert.deepEqual(files(), ['.tollmark.json', 'Home.md', 'Home/ALPHA-renamed.md', 'README.md'])
})

test('without sync, nothing is removed', async (t) => {
  const { write, files } = open(t)
  await write(exportOf(A, B), { sync: false, keep: false })
  const again = await write(exportOf(A), { sync: false, keep: false })
  assert.deepEqual(again, { written: 3, unchanged: 0, removed: 0, edited: [] })
  assert.ok(files().includes('Home/Beta.md'))
  await write(exportOf(A))
  assert.ok(!files().includes('Home/Beta.md'), 'what was left is known as ours')
})

test('other files in the folder are kept and never overwritten', async (t) => {
  const { root, write, files, at } = open(t)
  mkdirSync(join(root, 'Home'), { recursive: true })
  writeFileSync(at('Home/mine.md'), 'mine')
  writeFileSync(at('Home/Beta.md'), 'mine, too')
  await assert.rejects(write(exportOf(A, B)), /Beta\.md was not written by tollmark/)
  assert.deepEqual(files(), ['Home/Beta.md', 'Home/mine.md'], 'nothing was written before')
  await write(exportOf(A))
  await write(exportOf())
  assert.equal(readFileSync(at('Home/mine.md'), 'utf8'), 'mine')
  assert.equal(readFileSync(at('Home/Beta.md'), 'utf8'), 'mine, too')
})

test('a deleted page is kept if its file was edited', async (t) => {
  const { write, at } = open(t)
  await write(exportOf(A, B))
  writeFileSync(at('Home/Beta.md'), 'changed here')
  const { edited, removed } = await write(exportOf(A))
  assert.deepEqual([edited, removed], [['Home/Beta.md'], 0])
  assert.equal(readFileSync(at('Home/Beta.md'), 'utf8'), 'changed here')
})

test('nothing is written or removed through a symbolic link or outside the folder', async (t) => {
  const { base, root, write, at } = open(t)
  const outside = join(base, 'outside')
  mkdirSync(outside)
  mkdirSync(root)
  writeFileSync(join(outside, 'Alpha.md'), 'outside')
  symlinkSync(outside, at('Home'))
  await assert.rejects(write(exportOf(A)), WriteError)
  assert.deepEqual(readdirSync(outside), ['Alpha.md'])
  // A list that names files elsewhere, as a repository of somebody's might hold it.
  const files = [
    { path: '../outside/Alpha.md', sha256: 'x' },
    { path: '/etc/x', sha256: 'x' },
  ]
  writeFileSync(at('.tollmark.json'), JSON.stringify({ object: 'pages', flavor: 'gfm', files }))
  await write(exportOf())
  assert.equal(readFileSync(join(outside, 'Alpha.md'), 'utf8'), 'outside')
  symlinkSync(join(outside, 'Alpha.md'), at('README.md'))
  await assert.rejects(write(exportOf([4, 'Gamma', 'three'])), WriteError)
  assert.equal(readFileSync(join(outside, 'Alpha.md'), 'utf8'), 'outside')
})

test('the command writes a folder or an archive and reports what it did', async (t) => {
  const cwd = temporaryFolder(t)
  mkdirSync(join(cwd, 'unpacked'))
  writeFileSync(join(cwd, 'Export.zip'), exportOf(A))
  const picture = `<figure class="image"><a href="a.png"><img src="a.png"/></a></figure>`
  writeFileSync(join(cwd, 'unpacked', `Home ${id(1)}.html`), page([1, 'Home', 'x'], picture))
  writeFileSync(join(cwd, 'unpacked', 'a.png'), 'a picture')
  const run = (...args: string[]) => tollmark(['convert', ...args, '--layout', 'pages'], {}, cwd)
  const made = await run('Export.zip', '--flavor', 'obsidian', '-o', 'vault', '--sync')
  assert.deepEqual(
    [made.code, made.err],
    [
      0,
      'tollmark: vault: 3 written, 0 unchanged, 0 removed.\nExport.zip: 5 words, 0 tables, 0 lost\n',
    ],
  )
  assert.deepEqual(readdirSync(join(cwd, 'vault')).sort(), [
    '.tollmark.json',
    'Home',
    'Home.md',
    'Index.md',
  ])
  const several = await run('Export.zip', 'unpacked', '-o', 'all/')
  assert.equal(several.code, 0, several.err)
  const [asset = ''] = readdirSync(join(cwd, 'all', 'unpacked', 'assets'))
  assert.equal(readFileSync(join(cwd, 'all', 'unpacked', 'assets', asset), 'utf8'), 'a picture')
  assert.ok(existsSync(join(cwd, 'all', 'Export', 'Home', 'Alpha.md')))
  assert.equal((await run('Export.zip', '-o', 'pages.zip')).code, 0)
  assert.equal(readFileSync(join(cwd, 'pages.zip')).toString('latin1', 0, 2), 'PK')
})

test('an export that has not changed is not converted again', async (t) => {
  const cwd = temporaryFolder(t)
  const at = (path: string): string => join(cwd, 'out', path)
  const sync = async (archive: Buffer | null, ...args: string[]) => {
    if (archive) writeFileSync(join(cwd, 'Export.zip'), archive)
    const flags = ['--layout', 'pages', '--sync', '-o', 'out', ...args]
    const { code, err } = await tollmark(['convert', 'Export.zip', ...flags], {}, cwd)
    assert.equal(code, 0, err)
    const [, written, unchanged, removed] =
      /out: (\d+) written, (\d+) unchanged, (\d+) removed/.exec(err) ?? []
    // A conversion says what it has kept.
    return [written, unchanged, removed, err.includes('lost') ? 'converted' : 'not converted']
  }
  const first = exportOf(A, B)
  assert.deepEqual(await sync(first), ['4', '0', '0', 'converted'])
  assert.deepEqual(await sync(null), ['0', '4', '0', 'not converted'])
  assert.deepEqual(await sync(exportOf(A, B)), ['0', '4', '0', 'not converted'])

  const changeFiles = (): void => {
    writeFileSync(at('Home.md'), 'x')
    rmSync(at('Home/Beta.md'))
  }
  /** TABLE of what makes it convert again, and what is written then. */
  const changes: [what: string, change: () => void, args: string[], counts: string[]][] = [
    ['a file was changed, and one has gone', changeFiles, [], ['2', '2', '0']],
    ['another flavor', () => {}, ['--flavor', 'docusaurus'], ['4', '0', '2']],
  ]
  for (const [what, change, args, counts] of changes) {
    change()
    assert.deepEqual(await sync(null, ...args), [...counts, 'converted'], what)
  }
  assert.deepEqual(await sync(null, '--certificate', 'c.json'), ['4', '0', '2', 'converted'])
})

test('renaming a page changes only the links to it', async (t) => {
  const { write, at } = open(t)
  const see = (title: string): Item => [
    4,
    'Gamma',
    `see <a href="${encodeURIComponent(title)}%20${id(2)}.html">it</a>`,
  ]
  await write(exportOf(A, B, see('Alpha')))
  const beta = statSync(at('Home/Beta.md')).ino
  // Home, which lists it; the root's list; Gamma, which links to it; and its own file.
  assert.deepEqual(await write(exportOf([2, 'Omega', 'one'], B, see('Omega'))), {
    written: 4,
    unchanged: 1,
    removed: 1,
    edited: [],
  })
  assert.match(readFileSync(at('Home/Gamma.md'), 'utf8'), /\[it\]\(Omega\.md\)/)
  assert.equal(statSync(at('Home/Beta.md')).ino, beta)
})
