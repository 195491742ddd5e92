// Wrong uploads are told what they are; what is wrong with one page leaves the others as they are.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import {
  InvalidArchive,
  OWN_LIMITS,
  convertFile,
  extractAssets,
  type Converted,
} from '@tollmark/notion-markdown/archive'
import { noise } from '../support/archives/bombs.ts'
import { archive, deflatedRun } from '../support/archives/writer.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { zip } from '../support/zip.ts'

const id = (n: number): string => n.toString(16).padStart(32, '0')
const page = (title: string): string =>
  `<html><body><article class="page sans"><header><h1 class="page-title">${title}</h1></header><div class="page-body"><p>words</p></div></article></body></html>`
const sitemap = '<html><body><ul id="id::w"><li><h3>Workspace details:</h3></li></ul></body></html>'

interface Document {
  markdown: string
  pages: { title: string }[]
  warnings: { code: string; page: string; detail: string }[]
}

async function convert(
  t: TestContext,
  bytes: Buffer,
  fileName = 'Export.zip',
): Promise<{ document: Document; converted: Converted }> {
  const path = join(temporaryFolder(t), 'upload')
  writeFileSync(path, bytes)
  let text = ''
  const converted = await convertFile(
    {
      path,
      kind: fileName.endsWith('.zip') ? 'zip' : 'html',
      fileName,
      format: 'json',
      includeMetadata: false,
      uploadedAt: new Date(0),
    },
    (piece) => void (text += piece),
  )
  return { document: JSON.parse(text) as Document, converted }
}

const part = (n: number): string => `ExportBlock-00000000-0000-4000-8000-000000000000-Part-${n}.zip`

/** TABLE of wrong uploads and what each is told. */
const WRONG: [what: string, bytes: Buffer, told: RegExp, fileName?: string][] = [
  [
    'an export as Markdown & CSV with a sitemap',
    zip({ 'index.html': sitemap, [`A ${id(1)}.md`]: '# A', [`B ${id(2)}_all.csv`]: 'a' }),
    /an export as Markdown & CSV/,
  ],
  [
    'the same in a part',
    zip({ [part(1)]: zip({ 'Export-x/index.html': sitemap, [`Export-x/A ${id(1)}.md`]: '# A' }) }),
    /an export as Markdown & CSV/,
  ],
  ['an export of CSV alone', zip({ [`B ${id(2)}_all.csv`]: 'a' }), /an export as Markdown & CSV/],
  [
    'a sitemap alone',
    zip({ 'index.html': sitemap, 'x.png': 'x' }),
    /only the table of contents of an export/,
  ],
  [
    'a ZIP of ZIPs',
    zip({
      '0a_ExportBlock-1.zip': zip({ 'a.html': page('A') }),
      'b.zip': zip({ 'b.html': page('B') }),
    }),
    /other archives \(such as "0a_ExportBlock-1\.zip"\)/,
  ],
  [
    'parts in a folder',
    zip({ [`Export/${part(1)}`]: zip({ 'a.html': page('A') }) }),
    /parts of the export lie in a folder/,
  ],
  [
    'an export as PDF',
    zip({ [`A ${id(1)}.pdf`]: '%PDF-1.7', [`A ${id(1)}/B ${id(2)}.pdf`]: '%PDF-1.7' }),
    /an export as PDF/,
  ],
  [
    'a Word document',
    zip({ '[Content_Types].xml': '<x/>', 'word/document.xml': '<x/>' }),
    /^The file is a Word document, not a Notion export\./,
  ],
  [
    'an e-book',
    zip({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<x/>',
      'OEBPS/1.xhtml': '<html/>',
    }),
    /^The file is an e-book/,
  ],
  [
    'nothing but what macOS adds',
    zip({ '__MACOSX/._A.html': 'x', '.DS_Store': 'x' }),
    /nothing but files that an operating system added \("__MACOSX\/\._A\.html"\)/,
  ],
  [
    'Part-2 without a page',
    zip({ [part(2)]: zip({ 'x.png': 'x' }) }),
    /part 2 of an export, and it contains no page/,
  ],
  ['the inside of Part-3 without a page', zip({ 'x.png': 'x' }), /part 3 of an export/, part(3)],
]

for (const [what, bytes, told, fileName] of WRONG) {
  test(`identified: ${what}`, async (t) => {
    await assert.rejects(
      convert(t, bytes, fileName),
      (error) => error instanceof InvalidArchive && told.test(error.detail),
    )
  })
}

test('a part whose siblings are missing is converted, and warns', async (t) => {
  for (const [bytes, fileName] of [
    [
      zip({ [part(2)]: zip({ 'a.html': page('A') }), [part(4)]: zip({ 'b.html': page('B') }) }),
      'Export.zip',
    ],
    [zip({ 'a.html': page('A') }), part(4)],
  ] as const) {
    const { document, converted } = await convert(t, bytes, fileName)
    const missing = fileName === 'Export.zip' ? 'Part-1, Part-3' : 'Part-1, Part-2, Part-3'
    assert.deepEqual(
      document.warnings.map(({ code, page: about }) => [code, about]),
      [['part_missing', missing]],
    )
    assert.equal(converted.warnings, 1)
  }
})

test('HTML that Notion did not export is converted, and warns', async (t) => {
  const { document } = await convert(
    t,
    Buffer.from(
      '<!doctype html><html><head><title>Shop</title></head><body><h1>Shop</h1></body></html>',
    ),
    'shop.html',
  )
  assert.deepEqual(
    document.warnings.map(({ code }) => code),
    ['not_notion'],
  )
  assert.deepEqual((await convert(t, Buffer.from(page('A')), 'a.html')).document.warnings, [])
})

const dense = '<p>x'.repeat(1_600_000)

test('a page that cannot be converted keeps its place, with the reason', async (t) => {
  const damaged = {
    bytes: Buffer.from(deflateRawSync(Buffer.from(page('B')))).fill(0xff, 20),
    size: page('B').length,
    crc: 1,
  }
  const bytes = archive([
    { name: `A ${id(1)}.html`, data: page('A') },
    { name: `B ${id(2)}.html`, packed: damaged },
    { name: `C ${id(3)}.html`, data: dense },
  ])
  const { document, converted } = await convert(t, bytes)
  assert.deepEqual(
    document.pages.map(({ title }) => title),
    ['A', 'B', 'C'],
  )
  assert.deepEqual(
    document.warnings.map(({ code, page: path }) => [code, path]),
    [
      ['page_failed', `B ${id(2)}.html`],
      ['page_failed', `C ${id(3)}.html`],
    ],
  )
  assert.match(
    document.markdown,
    /# B\n\n\*This page could not be converted: .* damaged.*\*\n\n---\n\n# C\n\n\*This page could not be converted: .*more than 1,500,000 tags and lines.*\*\n$/,
  )
  assert.deepEqual(converted, { pages: 3, failed: 2, warnings: 2, notices: [] })
})

test('a page whose checksum is wrong keeps its place; the archive is refused if all are', async (t) => {
  const wrong = { name: `B ${id(2)}.html`, data: page('B'), both: { crc: 1 } }
  for (const stored of [true, false]) {
    const { document, converted } = await convert(
      t,
      archive([
        { name: `A ${id(1)}.html`, data: page('A') },
        { ...wrong, stored },
      ]),
    )
    assert.deepEqual(converted, { pages: 2, failed: 1, warnings: 1, notices: [] })
    assert.match(
      document.markdown,
      /^# A\n[^]*# B\n\n\*This page could not be converted: .*does not match its checksum.*\*\n$/,
    )
  }
  await assert.rejects(
    convert(t, archive([wrong, { ...wrong, name: 'C.html' }])),
    (error) => error instanceof InvalidArchive && error.fault === 'crc',
  )
})

test('a page that is too large or too repetitive keeps its place', async (t) => {
  const { document, converted } = await convert(
    t,
    archive([
      { name: `A ${id(1)}.html`, data: page('A') },
      { name: `B ${id(2)}.html`, data: noise(34 * 1024 * 1024) },
      { name: `C ${id(3)}.html`, data: '<i></i>'.repeat(4_500_000) },
    ]),
  )
  assert.deepEqual(converted, { pages: 3, failed: 2, warnings: 2, notices: [] })
  assert.match(
    document.markdown,
    /^# A\n[^]*# B\n\n\*This page could not be converted: .*at most 33,554,432 are accepted.*\*\n\n---\n\n# C\n\n\*This page could not be converted: .*inflates to \d+ times.*\*\n$/,
  )
})

test('a page that inflates too far is a bomb, whatever else the archive has', async (t) => {
  const bomb = { name: 'B.html', packed: deflatedRun('b', 40) }
  await assert.rejects(
    convert(t, archive([{ name: 'A.html', data: page('A') }, bomb])),
    (error) => error instanceof InvalidArchive && error.fault === 'bomb_page',
  )
})

test('an archive whose pages all fail is refused', async (t) => {
  await assert.rejects(
    convert(t, zip({ 'index.html': sitemap, 'a.html': dense })),
    (error) => error instanceof InvalidArchive && error.fault === 'page_too_dense',
  )
})

test('a large deflated part is converted while it is inflated and leaves nothing behind', async (t) => {
  const noise = Buffer.alloc(11 * 1024 * 1024, 'noise ')
  for (let at = 0; at < noise.length; at += 16) noise.writeUInt32LE((at * 2_654_435_761) >>> 0, at)
  const entries = {
    [`A ${id(1)}.html`]: page('A'),
    'one.bin': noise,
    [`A ${id(1)}/B ${id(2)}.html`]: page('B'),
    'two.bin': noise,
    'x.png': 'x',
    [`C ${id(3)}.html`]: page('C'),
  }
  const bytes = archive([
    { name: part(1), data: zip(entries) },
    { name: part(2), data: zip({ [`D ${id(4)}.html`]: page('D') }) },
  ])
  const folder = temporaryFolder(t)
  const path = join(folder, 'Export.zip')
  const scratch = join(folder, 'scratch')
  mkdirSync(scratch)
  writeFileSync(path, bytes)
  let text = ''
  await convertFile(
    {
      path,
      kind: 'zip',
      fileName: 'Export.zip',
      format: 'markdown',
      includeMetadata: false,
      uploadedAt: new Date(0),
      scratch,
    },
    (piece) => void (text += piece),
  )
  assert.deepEqual(text.match(/^# .*/gm), ['# A', '# B', '# C', '# D'])
  assert.ok(
    readdirSync(scratch).every((name) => name.startsWith('spool-')),
    'only the converted pages are left',
  )
  const assets = join(folder, 'assets')
  assert.equal(await extractAssets(path, assets), 3)
  assert.deepEqual(readFileSync(join(assets, 'two.bin')), noise)
})

test('the caller limits the size of deflated parts', async (t) => {
  const path = join(temporaryFolder(t), 'Export.zip')
  writeFileSync(path, archive([{ name: part(1), data: zip({ 'a.html': page('A') }) }]))
  const options = {
    path,
    kind: 'zip',
    fileName: 'Export.zip',
    format: 'markdown',
    includeMetadata: false,
    uploadedAt: new Date(0),
  } as const
  await assert.rejects(
    convertFile({ ...options, limits: { partBytes: 100 } }, () => {}),
    (error) => error instanceof InvalidArchive && error.fault === 'parts_too_large',
  )
  await convertFile({ ...options, limits: OWN_LIMITS }, () => {})
})
