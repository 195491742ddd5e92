// Certificates: what went in, what came out, and where these differ.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { zip } from '../../../test/support/zip.ts'
import type { Certificate } from '../src/archive/index.ts'
import { Certifier } from '../src/certificate/certificate.ts'
import { readExportedPage } from '../src/certificate/export-reader.ts'
import { convertHtml } from '../src/index.ts'
import { casePages, documentOf, pageOf } from './document-of.ts'

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

async function certify(
  bytes: string | Buffer,
): Promise<{ markdown: string; certificate: Certificate; warnings: { code: string }[] }> {
  const options = { format: 'json', certificate: true, showCertificate: true } as const
  return JSON.parse(await documentOf(bytes, options)) as Awaited<ReturnType<typeof certify>>
}

/** What the certificate of a page says of a document. */
function differencesOf(html: string, markdown: string): Certificate['differences'] {
  const certifier = new Certifier()
  const reading = readExportedPage(html, 'Page.html')
  const page = { path: 'Page.html', reading, hasMore: false, databases: 0, missingFiles: 0 }
  certifier.page(page, markdown)
  return certifier.finish({ input: null, output: '' }).differences
}

const BODY =
  '<h1>One</h1><p>two <strong>three</strong></p><ul class="bulleted-list"><li>four</li></ul><ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> five</li></ul>' +
  '<pre class="code"><code>six\nseven</code></pre><hr/><figure class="equation"><div><span class="katex"><annotation encoding="application/x-tex">x_8</annotation></span></div></figure>' +
  '<table class="simple-table"><tbody><tr><td>nine</td><td>ten</td></tr><tr><td></td><td>eleven</td></tr></tbody></table><figure class="image"><img src="a.png"/></figure><figure class="image"><img src="b.png"/></figure>' +
  '<details open=""><summary>twelve</summary><p>thirteen</p></details><p><a href="https://example.com/">link</a></p>'

test('a certificate counts what went in and what came out, and hashes both', async () => {
  const html = pageOf(BODY)
  const { markdown, certificate, warnings } = await certify(html)
  const totals = {
    pages: 1,
    words: 15,
    blocks: {
      headings: 2,
      bulleted: 1,
      numbered: 0,
      to_dos: 0,
      to_dos_done: 1,
      toggles: 1,
      quotes: 0,
      code: 1,
      equations: 1,
      dividers: 1,
      images: 2,
      tables: 1,
    },
    rows: 2,
    cells: 4,
    equations: 1,
    code_bytes: 9,
    links: { web: 1, notion: 0, pages: 0, files: 0 },
    assets: { local: 2, web: 0 },
  }
  assert.deepEqual(certificate, {
    in: totals,
    out: totals,
    differences: [],
    input_sha256: sha256(html),
    output_sha256: sha256(markdown),
    not_in_export: [{ what: 'comments', count: null, detail: 'Notion exports no comments.' }],
  })
  assert.deepEqual(warnings, [])
})

test('the two readers agree on the pages that the converter is tested with', () => {
  // A table that a browser takes apart.
  const differing = casePages().filter(
    (html) =>
      !html.includes('<caption>') &&
      differencesOf(html, convertHtml(html, { fileName: 'Page.html' })).length > 0,
  )
  assert.deepEqual(differing, [])
})

/** TABLE of damage: what, and the Markdown that is replaced by what. */
const DAMAGE: readonly [what: string, from: string, to: string][] = [
  ['a paragraph dropped', 'two **three**\n\n', ''],
  ['a paragraph doubled', 'thirteen', 'thirteen\n\nthirteen'],
  ['a block moved', '## One\n\ntwo **three**', 'two **three**\n\n## One'],
  ['a word lost', 'three', ''],
  ['a cell lost', '| nine | ten |', '| nine |  |'],
  ['a cell in another column', '|  | eleven |', '| eleven |  |'],
  ['a row lost', '\n|  | eleven |', ''],
  ['a divider moved', '***\n\n$$\nx_8\n$$', '$$\nx_8\n$$\n\n***'],
  ['an image in the place of another', 'a.png', 'b.png'],
  ['a to-do that is no longer done', '[x]', '[ ]'],
  ['an item that is a paragraph', '- four', 'four'],
  ['code that is text', '```\nsix\nseven\n```', 'six\nseven'],
  ['a space of code lost', 'six\nseven', 'six seven '],
  ['an equation lost', '$$\nx_8\n$$\n\n', ''],
  ['a toggle that is open for good', '<details>\n<summary>twelve</summary>', 'twelve'],
  ['a heading that is text', '## One', 'One'],
  ['a link lost', '[link](https://example.com/)', 'link'],
]

test('titles and texts of marks or control characters alone are certified', () => {
  for (const text of ['=', '?', '…', '\u0085', '\0x\0']) {
    const html = pageOf(`<h1>${text}</h1><pre class="code"><code>${text}</code></pre>`)
    const titled = html.replace('page-title">T', `page-title">${text}`)
    assert.deepEqual(
      differencesOf(titled, convertHtml(titled, { fileName: 'Page.html' })),
      [],
      text,
    )
  }
})

/** TABLE of databases as CSV, and rows of the document. */
const CSV_FILES: [csv: string, rows: string[]][] = [
  ['Name,A\rx,1\r', ['| Name | A |', '| x | 1 |']],
  ['Name,B\n\nx,"1\r2"\n\n', ['| Name | B |', '| x | 1<br>2 |']],
  ['Name,C\nx\0page/y\0,\0\n', ['| Name | C |', '| xpage/y | |']],
  ['\ufeffName,D\n"=1+1",@x\n', ['| Name | D |', '| =1+1 | @x |']],
]

test('an address is one link, wherever and however the document writes it', async () => {
  const link = '<a href="https://example.com/?a=1&amp;amp;b=2&amp;c=3">text</a>'
  const { certificate } = await certify(
    pageOf(`<details open=""><summary>${link}</summary><p>${link}</p></details>`),
  )
  assert.deepEqual(certificate.in.links, { web: 1, notion: 0, pages: 0, files: 0 })
  assert.deepEqual(certificate.out.links, certificate.in.links)
})

test('unusual CSV files are read and certified', async () => {
  const id = (n: number): string => n.toString(16).padStart(32, '0')
  const empty = `<div id="${id(9)}" class="collection-content"><a href="Empty%20${id(9)}.csv">empty</a></div>`
  const files = CSV_FILES.map(([csv], n) => [`Db ${id(n + 1)}_all.csv`, csv])
  const { markdown, certificate } = await certify(
    zip({
      'Home.html': pageOf(empty),
      [`Empty ${id(9)}_all.csv`]: '',
      ...Object.fromEntries(files),
    }),
  )
  assert.deepEqual(certificate.differences, [])
  const lines = new Set(markdown.split('\n').map((line) => line.replace(/ +/g, ' ')))
  for (const [, rows] of CSV_FILES) for (const row of rows) assert.ok(lines.has(row), row)
  assert.match(markdown, /\[empty\]/)
})

test('damage of any kind is noticed', () => {
  const html = pageOf(BODY)
  const markdown = convertHtml(html)
  assert.deepEqual(differencesOf(html, markdown), [])
  for (const [what, from, to] of DAMAGE) {
    assert.ok(markdown.includes(from), `${what}\n${markdown}`)
    assert.notDeepEqual(differencesOf(html, markdown.replace(from, to)), [], what)
  }
})

test('a difference is reported with its position', () => {
  const words = Array.from({ length: 200 }, (_, i) => `w${i}`)
  const html = pageOf(`<p>${words.join(' ')}</p>`)
  const damaged = convertHtml(html).replace(' w150', '')
  assert.deepEqual(differencesOf(html, damaged), [
    {
      page: 'Page.html',
      kind: 'words',
      in: 201,
      out: 200,
      detail:
        'What follows "w127 w128 w129 w130 w131 w132 w133 w134" differs from the page, or is in another order.',
    },
  ])
})

test('content missing from the export is reported', async () => {
  const database = `<table class="collection-content"><thead><tr><th>Name</th></tr></thead><tbody><tr id="r"><td class="cell-title"><a href="https://www.notion.so/Row-0123456789abcdef0123456789abcdea">Row</a></td></tr></tbody></table>`
  const { certificate } = await certify(
    zip({ 'Page.html': pageOf(`${database}<figure class="image"><img src="gone.png"/></figure>`) }),
  )
  assert.deepEqual(certificate.differences, [])
  assert.deepEqual(
    certificate.not_in_export.map(({ what, count }) => [what, count]),
    [
      ['comments', null],
      ['views', 1],
      ['hidden_rows', 1],
      ['pages', 1],
      ['files', 1],
    ],
  )
})

test('databases that the archive holds only as CSV are certified too', async () => {
  const id = '0123456789abcdef0123456789abcd00'
  const csv = 'Name,Done,Note\r\n"A, ""quoted""",Yes,\r\n,No,"two\nlines"\r\n'
  const { certificate } = await certify(
    zip({ 'Page.html': pageOf('<p>x</p>'), [`Tasks ${id}.csv`]: csv }),
  )
  assert.deepEqual(certificate.differences, [])
  assert.deepEqual([certificate.out.rows, certificate.out.cells, certificate.out.pages], [3, 9, 2])
})

test('the parts of an archive are certified together, whichever converter reads them', async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 7 }, (_, i) => [`P${i}.html`, pageOf(`<p>${i} words</p>`)]),
  )
  const { certificate } = await certify(zip(pages))
  assert.deepEqual([certificate.in.pages, certificate.in.words], [7, 21])
  assert.deepEqual(certificate.differences, [])
})
