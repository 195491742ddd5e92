// Folders of pages made of what was put together to do harm, or is damaged.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  convertPages,
  InvalidArchive,
  type ConvertOptions,
} from '@tollmark/notion-markdown/archive'
import { FLAVOR_NAMES, type Flavor } from '@tollmark/notion-markdown/formats'
import { pageHtml } from '../../support/archives/pages.ts'
import { archive, type EntrySpec } from '../../support/archives/writer.ts'
import { deadLinks, readFolder } from '../../support/pages-folder.ts'
import { temporaryFolder } from '../../support/temporary.ts'

async function folderOf(
  folder: string,
  entries: EntrySpec[],
  more: Partial<ConvertOptions> = {},
): Promise<Map<string, Buffer>> {
  const path = join(folder, 'export.zip')
  writeFileSync(path, archive(entries))
  const options = { path, kind: 'zip', fileName: 'export.zip', format: 'markdown' } as const
  await convertPages(
    { ...options, includeMetadata: false, uploadedAt: new Date(0), ...more },
    `${path}.pages`,
  )
  return readFolder(readFileSync(`${path}.pages`))
}

const image = (name: string): string =>
  `<figure class="image"><a href="${name}"><img src="${name}"/></a></figure>`

test('a damaged file leaves a note in its place, and a link to it', async (t) => {
  const files = await folderOf(temporaryFolder(t), [
    { name: 'Home.html', data: pageHtml('Home', image('a.png') + image('b.png')) },
    { name: 'a.png', data: 'a picture', stored: true, local: { crc: 1 }, central: { crc: 1 } },
    { name: 'b.png', data: 'another', stored: true },
  ])
  assert.deepEqual(deadLinks(files), [])
  const note = [...files.keys()].find((path) => path.includes('damaged'))
  assert.match(files.get(note ?? '')?.toString() ?? '', /^This file is damaged in the export: /)
  assert.match(files.get('Home.md')!.toString(), /damaged.*\n\n!\[\]\(assets\/b-/)
})

test('files that together inflate without end are refused', async (t) => {
  const zeros = Buffer.alloc(300_000)
  const bombs = Array.from({ length: 5 }, (_, n) => ({ name: `${n}.bin`, data: zeros }))
  const entries = [{ name: 'Home.html', data: pageHtml('Home') }, ...bombs]
  const limits = { fileFloor: 350_000 }
  await assert.rejects(
    folderOf(temporaryFolder(t), entries, { limits }),
    (error) => error instanceof InvalidArchive && error.fault === 'bomb_file',
  )
  const files = await folderOf(temporaryFolder(t), entries.slice(0, 4), { limits })
  assert.equal([...files.keys()].filter((path) => path.startsWith('assets/')).length, 1)
})

test('a CSV is copied byte for byte, whatever is in its cells', async (t) => {
  const id = '0123456789abcdef0123456789abcdef'
  const csv = '\ufeffName,Sum\r\n"=HYPERLINK(""x"")",+1\r\n"a\n""b""",@SUM(A1)\r\n'
  const files = await folderOf(temporaryFolder(t), [
    { name: 'Home.html', data: pageHtml('Home') },
    { name: `CON ${id}_all.csv`, data: csv },
  ])
  assert.deepEqual(deadLinks(files), [])
  assert.equal(files.get('CON_.csv')?.toString(), csv)
  assert.match(files.get('CON_.md')!.toString(), /\| =HYPERLINK\("x"\) \| \+1 \|/)
})

/** TABLE of typed text to which only Obsidian gives a meaning, and its Markdown for Obsidian. */
const TYPED: readonly [typed: string, markdown: string][] = [
  ['a %%hidden%% b', 'a \\%\\%hidden\\%\\% b'],
  ['%%', '\\%\\%'],
  ['100% and 50%', '100% and 50%'],
  ['#tag and (#no-tag) a#b # c #1 #1st', '\\#tag and (#no-tag) a#b # c #1 \\#1st'],
  ['<b>#täg</b>', '**\\#täg**'],
  ['==lit== up', '\\=\\=lit\\=\\= up'],
  ['a == b', 'a == b'],
  ['ends in a name ^ab-1', 'ends in a name \\^ab-1'],
  ['x^2 and ^up then', 'x^2 and ^up then'],
  ['[!note]- Title', '\\[!note]- Title'],
  ['<code>%%==#a</code>', '`%%==#a`'],
]

test("typed text reads as typed in Obsidian, whose own syntax others don't know", async (t) => {
  const body = TYPED.map(([typed]) => `<p>${typed}</p>`).join('')
  const bodyFor = async (flavor: 'obsidian' | 'gfm'): Promise<string[]> => {
    const entries = [{ name: 'Home.html', data: pageHtml('Home', body) }]
    const files = await folderOf(temporaryFolder(t), entries, { flavor })
    return files.get('Home.md')!.toString().trimEnd().split('\n\n').slice(-TYPED.length)
  }
  assert.deepEqual(
    await bodyFor('obsidian'),
    TYPED.map(([, markdown]) => markdown),
  )
  const plain = await bodyFor('gfm')
  assert.deepEqual(plain.slice(0, 2), ['a %%hidden%% b', '%%'])
})

/** TABLE of equations beside text, and what they become for GitHub. */
const BESIDE_MATH: readonly [typed: string, markdown: string][] = [
  ['$x$word', '$x$&#119;ord'],
  ['word$x$', 'wor&#100;$x$'],
  ['a$x$b$y$2', '&#97;$x$&#98;$y$&#50;'],
  ['($x$)-$y$-th', '($x$)-$y$-th'],
  ['das $n$ und é$x$中', 'das $n$ und é$x$中'],
  ['$x$$y$', '$x$ $y$'],
  ['<b>a$x$</b>-', '**&#97;$x$**-'],
  ['b<b>a$x$</b>', 'b<strong>&#97;$x$</strong>'],
]

test('letters and digits beside an equation do not keep GitHub from seeing it', async (t) => {
  const body = BESIDE_MATH.map(([typed]) => `<p>${withMath(typed)}</p>`).join('')
  const entries = [{ name: 'Home.html', data: pageHtml('Home', body) }]
  const files = await folderOf(temporaryFolder(t), entries, { flavor: 'gfm' })
  assert.deepEqual(
    files.get('Home.md')!.toString().trimEnd().split('\n\n').slice(-BESIDE_MATH.length),
    BESIDE_MATH.map(([, markdown]) => markdown),
  )
  const other = await folderOf(temporaryFolder(t), entries, { flavor: 'obsidian' })
  assert.match(other.get('Home.md')!.toString(), /^\$x\$word$.*^a\$x\$b\$y\$&#50;$/ms)
})

const withMath = (text: string): string =>
  text.replace(/\$(\w)\$/g, '<span data-notion-inline-equation="$1">$1</span>')

/** TABLE of texts with colons and what they become for Docusaurus. */
const WITH_COLONS: [typed: string, markdown: string][] = [
  [':::note', '\\:::note'],
  ['::before', '\\::before'],
  ['::before and after', '::before and after'],
  ['<a href="https://example.com">::after</a>', '[::after](https://example.com)'],
  ['::icon[x]', '\\:\\:icon[x]'],
  ['x:string[] and m:dict{} y', 'x\\:string[] and m\\:dict{} y'],
  ['set a:b{}', 'set a\\:b{}'],
  ['at 12:30[1]', 'at 12\\:30[1]'],
  ['12:30 a:b :smile: std::vector[int]', '12:30 a:b :smile: std::vector[int]'],
  ['a:b[c and a:b d', 'a:b[c and a:b d'],
  ['see:<a href="https://example.com">x</a>', 'see:[x](https://example.com)'],
  ['see:this<a href="https://example.com">x</a>', 'see\\:this[x](https://example.com)'],
  ['<code>x:list[int]</code>', '`x:list[int]`'],
  ['https://example.com/a:b[1] x', 'https\\://example.com/a\\:b[1] x'],
]

test('typed colons read as typed in Docusaurus, where they begin directives', async (t) => {
  const body = WITH_COLONS.map(([typed]) => `<p>${typed}</p>`).join('')
  const entries = [
    {
      name: 'Home.html',
      data: pageHtml(
        'Home',
        `${body}<ul class="bulleted-list"><li>::x</li></ul><h2>a:b[c]</h2><table class="simple-table"><tbody><tr><td>::x</td><td>a:b[c]</td></tr></tbody></table>`,
      ),
    },
  ]
  const files = await folderOf(temporaryFolder(t), entries, { flavor: 'docusaurus' })
  const blocks = files.get('Home.md')!.toString().trimEnd().split('\n\n')
  assert.deepEqual(
    blocks.slice(-3 - WITH_COLONS.length, -3),
    WITH_COLONS.map(([, markdown]) => markdown),
  )
  assert.deepEqual(blocks.slice(-3), [
    '- \\::x',
    '### a\\:b[c]',
    '|  |  |\n| --- | --- |\n| ::x | a\\:b[c] |',
  ])
})

test('a page of many headings and links takes about as long in each flavor', async (t) => {
  const size = '<summary style="font-weight:600;font-size:1.5em">'
  const id = (n: number): string => n.toString(16).padStart(32, '0')
  const blocks = Array.from(
    { length: 3000 },
    (_, n) => `<details open="">${size}same</summary></details><p><a href="#${id(n)}">${n}</a></p>`,
  )
  const cost = async (flavor: Flavor, body: string): Promise<number> => {
    const entries = [{ name: 'Home.html', data: pageHtml('Home', body) }]
    const before = process.cpuUsage()
    await folderOf(temporaryFolder(t), entries, { flavor })
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const text = blocks.join('').replaceAll(size, '<summary>').replaceAll('href="#', 'href="x#')
  const plain = await cost('gfm', text)
  for (const flavor of FLAVOR_NAMES) {
    const own = await cost(flavor, blocks.join(''))
    assert.ok(own < 10 * plain, `${flavor}: ${own} µs of CPU, ${plain} µs without headings`)
  }
})

test('a chain of thousands of pages does not recurse, and all are listed in order', async (t) => {
  const name = (n: number): string => `p${n}.html`
  const next = (n: number): string =>
    `<figure class="link-to-page"><a href="${name(n)}">next</a></figure>`
  const entries = Array.from({ length: 3000 }, (_, n) => ({
    name: name(n),
    data: pageHtml(`P${n}`, next(n + 1)),
  }))
  const files = await folderOf(temporaryFolder(t), entries)
  const listed = [
    ...files
      .get('README.md')!
      .toString()
      .matchAll(/\[P(\d+)\]/g),
  ]
  assert.deepEqual(
    listed.map(([, n]) => Number(n)),
    entries.map((_, n) => n),
  )
  assert.deepEqual(deadLinks(files), [])
})
