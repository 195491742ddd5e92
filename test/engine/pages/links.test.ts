// A folder of pages has no dead link and no missing file, whatever workspace it is made of.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  convertPages,
  FLAVOR_NAMES,
  MANIFEST,
  readManifest,
  type Flavor,
} from '@tollmark/notion-markdown/archive'
import { parse } from 'yaml'
import { deadLinks, readFolder, splitPage } from '../../support/pages-folder.ts'
import { seeded } from '../../support/random.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { zip } from '../../support/zip.ts'
import { workspace } from '../workspaces.ts'

const COUNT = 60

/** Converts an archive to a folder of pages. */
async function folderOf(
  folder: string,
  archive: Buffer,
  flavor: Flavor,
): Promise<Map<string, Buffer>> {
  const path = join(folder, `${Math.random()}.zip`)
  writeFileSync(path, archive)
  const output = `${path}.pages`
  await convertPages(
    {
      path,
      kind: 'zip',
      fileName: 'Export.zip',
      flavor,
      format: 'markdown',
      includeMetadata: false,
      uploadedAt: new Date(0),
    },
    output,
  )
  return readFolder(readFileSync(output))
}

for (const flavor of FLAVOR_NAMES)
  test(`${flavor}: ${COUNT} generated workspaces have no dead link and a file for every page`, async (t) => {
    const folder = temporaryFolder(t)
    for (let seed = 1; seed <= COUNT; seed++) {
      const { archive, pages } = workspace(seeded(seed))
      const files = await folderOf(folder, archive, flavor)
      assert.deepEqual(deadLinks(files), [], `seed ${seed}`)
      const ids = [...files]
        .filter(([path]) => path.endsWith('.md'))
        .map(([, content]) => splitPage(content.toString()).front)
        .map((front) => (front === '' ? null : parse(front)))
        .map((fields) => fields?.id ?? fields?.notion_id)
        .filter((id) => id !== undefined)
      assert.deepEqual(ids.sort(), pages.map(({ id }) => id).sort(), `seed ${seed}`)
    }
  })

const id = (n: number): string => n.toString(16).padStart(32, '0')
const page = (n: number, title: string, body: string, head = ''): string =>
  `<html><head><title>${title}</title></head><body><article id="${id(n)}" class="page sans"><header><h1 class="page-title">${title}</h1>${head}</header><div class="page-body">${body}</div></article></body></html>`
const BLOCK = '0a0b0c0d-0000-4000-8000-00000000000e'

/**
 * A page with a sub-page, links of all kinds, a file twice, one that is missing, a database as CSV.
 */
const ENTRIES: Record<string, string | Buffer> = {
  [`Home ${id(1)}.html`]: page(
    1,
    'Home',
    `<figure class="link-to-page"><a href="Home%20${id(1)}/Child%20${id(2)}.html">Child</a></figure>` +
      `<p>to <a href="https://www.notion.so/Child-${id(2)}#${BLOCK.replaceAll('-', '')}">a part</a>, <a href="Home%20${id(1)}/gone.pdf">gone</a></p>` +
      `<figure class="image"><a href="Home%20${id(1)}/a.png"><img src="Home%20${id(1)}/a.png"/></a></figure>` +
      `<figure class="image"><a href="Home%20${id(1)}/lost.png"><img src="Home%20${id(1)}/lost.png"/></a></figure>` +
      `<figure><div class="source"><a href="Home%20${id(1)}/b.png">b.png</a></div></figure>` +
      `<div class="collection-content"><a href="Home%20${id(1)}/Tasks%20${id(3)}.csv">Tasks</a></div>`,
  ),
  [`Home ${id(1)}/Child ${id(2)}.html`]: page(
    2,
    'Child',
    `<h2 id="${BLOCK}">A part</h2><p>back <a href="../Home%20${id(1)}.html">home</a></p>`,
  ),
  [`Home ${id(1)}/a.png`]: Buffer.from('one picture'),
  [`Home ${id(1)}/b.png`]: Buffer.from('one picture'),
  [`Home ${id(1)}/Tasks ${id(3)}.csv`]: '\ufeffName,Sum\nOne,"=1+1"\n"Two ""x""","a\nb"\n',
}

test('links lead to pages, headings and files; a missing target leaves its text', async (t) => {
  const files = await folderOf(temporaryFolder(t), zip(ENTRIES), 'gfm')
  assert.deepEqual(deadLinks(files), [])
  const home = files.get('Home.md')!.toString()
  assert.match(home, /\[Child\]\(Home\/Child\.md\)/)
  assert.match(home, /\[a part\]\(Home\/Child\.md#a-part\)/)
  assert.match(home, /, gone\n/)
  assert.match(home, /\nlost\.png\n/)
  assert.match(home, /!\[\]\(assets\/a-[0-9a-f]{16}\.png\)/)
  assert.match(home, /\[b\.png\]\(assets\/a-[0-9a-f]{16}\.png\)/)
  const assets = [...files.keys()].filter((path) => path.startsWith('assets/'))
  assert.equal(assets.filter((path) => path.endsWith('.png')).length, 1)
  const [csv = ''] = parse(splitPage(home).front).csv
  assert.equal(files.get(csv)?.toString(), ENTRIES[`Home ${id(1)}/Tasks ${id(3)}.csv`])
})

test('a database exported only as a table gets a CSV made from it', async (t) => {
  const head = ['Name', 'Done', 'Note'].map((name) => `<th>${name}</th>`).join('')
  const row = `<tr id="u"><td class="cell-title"><a href="Db/Row%20${id(2)}.html">Row, 1</a></td><td class="cell-a"><div class="checkbox checkbox-on"></div></td><td class="cell-b">say "=1+1"</td></tr>`
  const table = `<table class="collection-content"><thead><tr>${head}</tr></thead><tbody>${row}</tbody></table>`
  const entries = {
    [`Db ${id(1)}.html`]: page(1, 'Db', table),
    [`Db/Row ${id(2)}.html`]: page(2, 'Row, 1', '<p>x</p>'),
    // A view of another one: no page of its own, no file.
    [`Other ${id(3)}.html`]: page(
      3,
      'Other',
      `<div id="${id(4)}" class="collection-content">${table}</div>`,
    ),
  }
  const paths = { gfm: 'Db.csv', obsidian: 'Db.csv', docusaurus: 'Db/index.csv' }
  for (const flavor of FLAVOR_NAMES) {
    const files = await folderOf(temporaryFolder(t), zip(entries), flavor)
    const path = paths[flavor]
    assert.equal(
      files.get(path)?.toString(),
      '\ufeffName,Done,Note\n"Row, 1",Yes,"say ""=1+1"""\n',
      flavor,
    )
    assert.deepEqual(
      [...files.keys()].filter((name) => name.endsWith('.csv')),
      [path],
    )
    const db = files.get(path.replace('.csv', '.md'))!.toString()
    assert.deepEqual(parse(splitPage(db).front).csv, [path.split('/').at(-1)])
    assert.ok(readManifest(files.get(MANIFEST)!.toString())?.files.some((one) => one.path === path))
  }
})

test('Obsidian gets wiki links, including in table cells', async (t) => {
  const row = `<tr id="u"><td class="cell-title"><a href="Db%20${id(1)}/Row%20${id(2)}.html">Row | 1</a></td></tr><tr id="v"><td class="cell-title"><a href="Db%20${id(1)}/Two%20${id(4)}.html">Two</a></td></tr>`
  const entries = {
    [`Db ${id(1)}.html`]: page(
      1,
      'Db',
      `<table class="collection-content"><thead><tr><th>Name</th></tr></thead><tbody>${row}</tbody></table>`,
    ),
    [`Db ${id(1)}/Row ${id(2)}.html`]: page(2, 'Row | 1', ''),
    [`Db ${id(1)}/Two ${id(4)}.html`]: page(
      4,
      'Two',
      `<p><a href="../Db%20${id(1)}.html">up</a></p>`,
    ),
  }
  const files = await folderOf(temporaryFolder(t), zip(entries), 'obsidian')
  assert.deepEqual(deadLinks(files), [])
  const db = files.get('Db.md')!.toString()
  assert.match(db, /\| \[\[Db\/Two\\\|Two\]\] \|/)
  assert.match(db, /\[Row \\\| 1\]\(Db\/Row%201\.md\)/)
  assert.match(files.get('Db/Two.md')!.toString(), /\[\[Db\|up\]\]/)
})

test('a wiki link contains no character that could begin an equation or code', async (t) => {
  const entries = {
    [`Home ${id(1)}.html`]: page(
      1,
      'Home',
      `<p>costs $5: <a href="5%20${id(2)}.html">the price</a>, <a href="5%20${id(2)}.html#${BLOCK}">its part</a></p>`,
    ),
    [`5 ${id(2)}.html`]: page(2, '$5', `<h2 id="${BLOCK}">The \`a\` part</h2>`),
  }
  const files = await folderOf(temporaryFolder(t), zip(entries), 'obsidian')
  assert.deepEqual(deadLinks(files), [])
  assert.match(
    files.get('Home.md')!.toString(),
    /\[the price\]\(%245\.md\), \[its part\]\(%245\.md#The%20%60a%60%20part\)/,
  )
})

test("callouts use each program's syntax", async (t) => {
  const inner = `<figure class="callout" id="c2"><div style="font-size:1.5em"><span class="icon">⚠️</span></div><div style="width:100%"><p>deep</p></div></figure>`
  const entries = {
    [`P ${id(1)}.html`]: page(
      1,
      'P',
      `<figure class="callout" id="c1"><div style="font-size:1.5em"><span class="icon">💡</span></div><div style="width:100%"><p>one</p>${inner}</div></figure>`,
    ),
  }
  const bodyIn = async (flavor: Flavor): Promise<string> => {
    const files = await folderOf(temporaryFolder(t), zip(entries), flavor)
    return splitPage(files.get('P.md')!.toString()).body
  }
  assert.equal(await bodyIn('gfm'), '# P\n\n> 💡 one\n>\n> > ⚠️ deep\n')
  assert.equal(
    await bodyIn('obsidian'),
    '# P\n\n> [!tip]\n> 💡 one\n>\n> > [!warning]\n> > ⚠️ deep\n',
  )
  assert.equal(
    await bodyIn('docusaurus'),
    '# P\n\n::::tip\n\n💡 one\n\n:::warning\n\n⚠️ deep\n\n:::\n\n::::\n',
  )
})

test('pages with the same id keep it, except on a site, where ids are unique', async (t) => {
  const folder = temporaryFolder(t)
  const id = '1'.padStart(32, '0')
  const page = (title: string): string =>
    `<html><head><title>${title}</title></head><body><article id="${id}" class="page sans"><header><h1 class="page-title">${title}</h1></header><div class="page-body"><p>x</p></div></article></body></html>`
  const archive = zip({ [`A/One ${id}.html`]: page('One'), [`B/Two ${id}.html`]: page('Two') })
  for (const [flavor, kept] of [
    ['gfm', 2],
    ['docusaurus', 1],
  ] as const) {
    const files = [...(await folderOf(folder, archive, flavor))]
    const withId = files.filter(
      ([path, content]) =>
        path.endsWith('.md') && parse(splitPage(content.toString()).front || '{}').id === id,
    )
    assert.equal(withId.length, kept, flavor)
  }
})

test('a typed id at the end of a heading is text on a site, and links to it work', async (t) => {
  const at = (n: number): string => `0a0b0c0d-0000-4000-8000-00000000000${n}`
  const headings = [
    'Use {#id}',
    'Use {#id}',
    'Use <b>x</b> <code>{#i d}</code>',
    'use id',
    'a {#',
    '{#} b',
  ]
  const links = headings.map((_, n) => `<p><a href="#${at(n)}">${n}</a></p>`).join('')
  const body = headings.map((html, n) => `<h2 id="${at(n)}">${html}</h2>`).join('')
  const toggle = `<details open=""><summary style="font-size:1.25em"><span data-notion-inline-equation="x">x</span> {#t}</summary></details>`
  const archive = zip({ [`Home ${id(1)}.html`]: page(1, 'Home', links + body + toggle) })
  const files = await folderOf(temporaryFolder(t), archive, 'docusaurus')
  const home = files.get('Home.md')!.toString()
  assert.deepEqual(home.match(/^#{2,} .*$/gm), [
    '## Use {#id} {#use-id-1}',
    '## Use {#id} {#use-id-2}',
    '## Use **x** `{#i d}` {#use-x-i-d}',
    '## use id',
    '## a {#',
    '## {#} b',
    '#### $x$ {#t} {#x-t}',
  ])
  assert.deepEqual(
    [...home.matchAll(/\(#([\w-]*)\)/g)].map(([, anchor]) => anchor),
    ['use-id-1', 'use-id-2', 'use-x-i-d', 'use-id', 'a-', '-b'],
  )
  const gfm = await folderOf(temporaryFolder(t), archive, 'gfm')
  assert.match(gfm.get('Home.md')!.toString(), /^## Use \{#id\}$/m)
})

test('headings written as HTML get explicit ids on a site', async (t) => {
  const at = (n: number): string => `0a0b0c0d-0000-4000-8000-00000000000${n}`
  const toggle = (n: number): string =>
    `<details open=""><summary style="font-weight:600;font-size:1.25em;line-height:1.3;margin:0" id="${at(n)}">Same</summary><div class="indented"><p>x</p></div></details>`
  const toc = [1, 2, 3]
    .map(
      (n) =>
        `<div class="table_of_contents-item table_of_contents-indent-0"><a class="table_of_contents-link" href="#${at(n)}">Same</a></div>`,
    )
    .join('')
  const body = `<nav class="table_of_contents">${toc}</nav>${toggle(1)}<h3 id="${at(2)}">Same</h3>${toggle(3)}`
  const archive = zip({ [`Home ${id(1)}.html`]: page(1, 'Home', body) })
  const files = await folderOf(temporaryFolder(t), archive, 'docusaurus')
  assert.deepEqual(deadLinks(files), [])
  const home = files.get('Home.md')!.toString()
  assert.deepEqual(
    [...home.matchAll(/\(#([\w-]+)\)/g)].map(([, anchor]) => anchor),
    ['same-1', 'same', 'same-2'],
  )
  assert.deepEqual(
    [...home.matchAll(/<h\d id="([\w-]+)">/g)].map(([, anchor]) => anchor),
    ['same-1', 'same-2'],
  )
  const gfm = await folderOf(temporaryFolder(t), archive, 'gfm')
  assert.doesNotMatch(gfm.get('Home.md')!.toString(), /<h\d id/)
})
