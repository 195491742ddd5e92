// Whole archives → one document: order, separators, links, assets, metadata, JSON.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import {
  convertFile,
  convertShare,
  joinShares,
  InvalidArchive,
} from '@tollmark/notion-markdown/archive'
import type { ConvertOptions } from '@tollmark/notion-markdown/archive'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { parse } from 'yaml'
import { temporaryFolder } from '../support/temporary.ts'
import { zip } from '../support/zip.ts'

const id = (n: number) => n.toString(16).padStart(32, '0')
const page = (n: number, title: string, body: string, head = '') =>
  `<html><head><title>${title}</title></head><body><article id="${id(n)}" class="page sans"><header>${head}<h1 class="page-title">${title}</h1></header><div class="page-body">${body}</div></article></body></html>`
const heading = (h: string, text: string) => `<h1 id="${h}">${text}</h1>`
const entry = (h: string, text: string) =>
  `<div class="table_of_contents-item table_of_contents-indent-0"><a class="table_of_contents-link" href="#${h}">${text}</a></div>`
const link = (href: string, text: string) =>
  `<figure class="link-to-page"><a href="${href}">${text}</a></figure>`

interface Document {
  object: string
  title: string
  markdown: string
  pages: {
    id: string | null
    parent_id: string | null
    path: string
    title: string
    icon: string | null
    anchor: string
    source_url?: string
    properties: Record<string, string>
    markdown: string
    assets: unknown[]
  }[]
  warnings: unknown[]
}

/** Converts an archive of these entries. */
async function convert(
  t: TestContext,
  entries: Record<string, string | Buffer>,
  more: Partial<ConvertOptions> = {},
): Promise<string> {
  const folder = temporaryFolder(t)
  const path = join(folder, 'export.zip')
  writeFileSync(path, zip(entries))
  let text = ''
  const options: ConvertOptions = {
    path,
    kind: 'zip',
    fileName: 'export.zip',
    uploadedAt: new Date(0),
    format: 'markdown',
    includeMetadata: false,
    scratch: folder,
    ...more,
  }
  await convertFile(options, (piece) => void (text += piece))
  return text
}

const HANDBOOK = {
  [`Zebra ${id(9)}.html`]: page(9, 'Zebra', '<p>unlinked</p>'),
  [`Home ${id(1)}/Beta ${id(3)}.html`]: page(
    3,
    'Beta',
    `<p>See <a href="Beta%20${id(3)}/Deep%20${id(4)}.html">deep</a> and <a href="../Home%20${id(1)}.html">home</a></p>`,
  ),
  [`Home ${id(1)}/Alpha ${id(2)}.html`]: page(
    2,
    'Alpha',
    `<h1 id="h">Notes</h1><p>After <a href="Beta%20${id(3)}.html">beta</a></p><figure class="image"><a href="Alpha%20${id(2)}/a%20b.png"><img src="Alpha%20${id(2)}/a%20b.png"/></a></figure>`,
  ),
  [`Home ${id(1)}/Alpha ${id(2)}/a b.png`]: 'png',
  [`Home ${id(1)}/Beta ${id(3)}/Deep ${id(4)}.html`]: page(
    4,
    'Deep',
    '<h2 id="n">Notes</h2><figure class="image"><img src="gone.png"/></figure>',
  ),
  [`Home ${id(1)}/Orphan ${id(5)}.html`]: page(5, 'Orphan', ''),
  [`Home ${id(1)}.html`]: page(
    1,
    'Home',
    link(`Home%20${id(1)}/Beta%20${id(3)}.html`, 'Beta') +
      '<hr/>' +
      link(`Home%20${id(1)}/Alpha%20${id(2)}.html`, 'Alpha') +
      `<p><a href="https://www.notion.so/Zebra-${id(9)}?pvs=21">z</a></p>`,
    '<div class="page-header-icon undefined"><span class="icon">📘</span></div>',
  ),
}

test('pages are in reading order, separated by rules distinct from dividers', async (t) => {
  const text = await convert(t, HANDBOOK)
  assert.deepEqual(
    text.split('\n\n---\n\n').map((part) => part.trim().split('\n')[0]),
    ['# 📘 Home', '# Beta', '# Deep', '# Alpha', '# Orphan', '# Zebra'],
  )
  assert.match(text, /\n\*\*\*\n/)
  assert.ok(text.endsWith('# Zebra\n\nunlinked\n'))
})

test('links between pages lead to existing headings, even with duplicate names', async (t) => {
  const text = await convert(t, HANDBOOK)
  assert.match(text, /\[Beta\]\(#beta\)/)
  assert.match(text, /\[home\]\(#-home\)/)
  assert.match(text, /\[z\]\(#zebra\)/)
  assert.match(text, /!\[\]\(Home%200{31}1\/Alpha%200{31}2\/a%20b\.png\)/)
  const slugs = new Set(
    (JSON.parse(await convert(t, HANDBOOK, { format: 'json' })) as Document).pages.map(
      (one) => one.anchor,
    ),
  )
  for (const [, target] of text.matchAll(/\]\(#([^)]*)\)/g)) assert.ok(slugs.has(target!), target)
})

/**
 * TABLE of Notion's addresses of the page with id 2, however they are written, and of what is not
 * that page.
 */
const ADDRESSES: [address: string, isPage: boolean][] = [
  [`https://www.notion.so/${id(2)}`, true],
  [`https://www.notion.so/team/Deadbeef-${id(2)}?pvs=4#${id(7)}`, true],
  [`https://app.notion.com/p/${id(2)}`, true],
  [`https://notion.so/B-${id(2)}`, true],
  [`http://www.notion.so/${id(2)}`, true],
  [`https://www.notion.so/${id(2).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`, true],
  [`https://www.notion.so/${id(3)}`, false],
  [`https://www.notion.so/${id(2)}/more`, false],
  [`https://example.com/${id(2)}`, false],
]

test('a Notion URL leads to the page in the archive', async (t) => {
  const text = await convert(t, {
    [`A ${id(1)}.html`]: page(
      1,
      'A',
      ADDRESSES.map(([address]) => `<p><a href="${address}">x</a></p>`).join(''),
    ),
    [`B ${id(2)}.html`]: page(2, 'B', ''),
  })
  assert.deepEqual(
    [...text.matchAll(/\[x\]\(([^)]*)\)/g)].map((match) => match[1]),
    ADDRESSES.map(([address, isPage]) => (isPage ? '#b' : address)),
  )
})

test('a Notion URL finds a page whose file was renamed by the id inside', async (t) => {
  const dashed = '0000000a-0000-4000-8000-00000000000b'
  const text = await convert(t, {
    'Home.html': page(
      1,
      'Home',
      `<p><a href="https://www.notion.so/Plan-${id(2)}?pvs=21">x</a> <a href="https://app.notion.com/p/${dashed}">y</a> <a href="https://www.notion.so/${id(3)}">z</a></p>`,
    ),
    'Archive.html': page(9, 'Archive', ''),
    'Ideas.html': page(5, 'Ideas', '').replace(id(5), dashed),
    'Plan.html': page(2, 'Plan', ''),
  })
  assert.match(
    text,
    new RegExp(
      `\\[x\\]\\(#plan\\) \\[y\\]\\(#ideas\\) \\[z\\]\\(https://www\\.notion\\.so/${id(3)}\\)`,
    ),
  )
  assert.deepEqual(text.match(/^# .*/gm), ['# Archive', '# Home', '# Ideas', '# Plan'])
})

test('duplicate headings get unique slugs across the whole document', async (t) => {
  const toc =
    '<nav class="table_of_contents"><div class="table_of_contents-item table_of_contents-indent-0"><a class="table_of_contents-link" href="#x">Same</a></div></nav><h1 id="x">Same</h1>'
  const text = await convert(t, { 'a.html': page(1, 'Same', toc), 'b.html': page(2, 'Same', toc) })
  assert.deepEqual(
    [...text.matchAll(/\]\(#([^)]*)\)/g)].map((match) => match[1]),
    ['same-1', 'same-3'],
  )
})

test('slugs are GitHub’s: made from the visible text, without marks', async (t) => {
  const rows = [
    ['a', 'Two<br/>lines', 'two-lines'],
    ['b', '<strong>Bold</strong> &amp; <code>code()</code>', 'bold--code'],
    ['c', 'C# — 日本語 Ünïcode', 'c--日本語-ünïcode'],
    ['d', 'snake_case 1.2', 'snake_case-12'],
  ] as const
  const body = `<nav class="table_of_contents">${rows.map(([h, text]) => entry(h, text)).join('')}</nav>${rows.map(([h, text]) => heading(h, text)).join('')}`
  const text = await convert(t, { 'a.html': page(1, 'T', body) })
  assert.deepEqual(
    [...text.matchAll(/\]\(#([^)]*)\)/g)].map((match) => match[1]),
    rows.map(([, , slug]) => slug),
  )
})

test('the front matter gives the source of each page', async (t) => {
  const text = await convert(t, HANDBOOK, { includeMetadata: true })
  const yaml = parse(text.slice(4, text.indexOf('\n---\n'))) as Record<string, unknown> & {
    pages: unknown[]
  }
  assert.equal(yaml['title'], 'Home')
  assert.equal(yaml['exported_at'], '2026-11-03T09:12:44Z')
  assert.equal(yaml['source_url'], `https://www.notion.so/${id(1)}`)
  assert.equal(yaml.pages.length, 6)
  assert.deepEqual(yaml.pages[0], {
    title: 'Home',
    exported_at: '2026-11-03T09:12:44Z',
    source_url: `https://www.notion.so/${id(1)}`,
    anchor: '-home',
  })
  assert.match(text, /^---\n[^]*?\n---\n\n# 📘 Home\n/)
})

test('a single page has its upload time and no list of pages', async (t) => {
  const path = join(temporaryFolder(t), 'page.html')
  writeFileSync(path, '<html><body><p>x</p></body></html>')
  let text = ''
  await convertFile(
    {
      path,
      kind: 'html',
      fileName: 'My: page.html',
      uploadedAt: new Date(86_400_000),
      format: 'markdown',
      includeMetadata: true,
    },
    (piece) => void (text += piece),
  )
  assert.equal(
    text,
    '---\ntitle: "My: page"\nexported_at: 1970-01-02T00:00:00Z\nsource_url: null\n---\n\n# My: page\n\nx\n',
  )
})

/**
 * TABLE of what a page's head says of its date, and what that is; null where it says nothing that
 * is one.
 */
const OWN_DATES: [what: string, head: string, date: string | null][] = [
  ['a day', '<meta name="date" content="2024-05-06">', '2024-05-06T00:00:00Z'],
  [
    'a moment with a zone',
    "<META NAME='DCTERMS.date' CONTENT=' 2024-05-06T07:08:09.123+02:00 '>",
    '2024-05-06T05:08:09Z',
  ],
  [
    'a moment without one is UTC',
    '<meta property="article:modified_time" content="2024-05-06T07:08"/>',
    '2024-05-06T07:08:00Z',
  ],
  [
    'as HTTP writes it',
    '<meta http-equiv="Last-Modified" content="Mon, 06 May 2024 07:08:09 GMT">',
    '2024-05-06T07:08:09Z',
  ],
  [
    'the first row of the table wins',
    '<meta property="article:published_time" content="2020-01-01"><meta name="date" content="2024-05-06">',
    '2024-05-06T00:00:00Z',
  ],
  [
    'one that is none is passed over',
    '<meta name="date" content="yesterday"><meta name="dc.date" content="2024-05-06">',
    '2024-05-06T00:00:00Z',
  ],
  ['a day that no month has', '<meta name="date" content="2024-13-01">', null],
  ['a date of something else', '<meta name="birthday" content="2024-05-06">', null],
]

test("a page without a time in its archive has the date in its header, or else its upload's", async (t) => {
  for (const [what, head, date] of OWN_DATES) {
    const path = join(temporaryFolder(t), 'page.html')
    writeFileSync(path, `<html><head>${head}<title>T</title></head><body><p>x</p></body></html>`)
    let text = ''
    await convertFile(
      {
        path,
        kind: 'html',
        fileName: 'page.html',
        uploadedAt: new Date(86_400_000),
        format: 'markdown',
        includeMetadata: true,
      },
      (piece) => void (text += piece),
    )
    assert.equal(/^exported_at: (.*)$/m.exec(text)?.[1], date ?? '1970-01-02T00:00:00Z', what)
  }
  const dated = await convert(
    t,
    {
      'page.html': page(1, 'T', 'x').replace(
        '<head>',
        '<head><meta name="date" content="2024-05-06">',
      ),
    },
    { includeMetadata: true },
  )
  assert.match(dated, /^exported_at: 2026-11-03T09:12:44Z$/m)
})

test('titles and anchors that only YAML 1.2 reads as text are quoted', async (t) => {
  const titles = [
    '2024-01-05',
    '2001-12-14 21:59:43.10 -5',
    'On',
    'yes',
    'N',
    '12:30',
    '=',
    '<<',
    '1_000',
    '1,000',
    '0x1F',
    '0b1_0',
    '~',
    'null',
    'a\tb',
    '.5',
    '-1',
    '1e3',
  ]
  const text = await convert(
    t,
    Object.fromEntries(titles.map((title, i) => [`${i}.html`, page(i + 1, title, '')])),
    { includeMetadata: true },
  )
  for (const title of titles)
    assert.ok(text.includes(`\n  - title: ${JSON.stringify(title)}\n`), title)
  assert.match(text, /\n    anchor: "2024-01-05"\n/)
  const plain = ['Yesterday', '10 things', 'v1.2', 'On and off', 'A = B', '-- so --']
  const bare = await convert(
    t,
    Object.fromEntries(plain.map((title, i) => [`${i}.html`, page(i + 1, title, '')])),
    { includeMetadata: true },
  )
  for (const title of plain) assert.ok(bare.includes(`\n  - title: ${title}\n`), title)
})

test('characters that YAML 1.1 reads as line breaks, or rejects, are escaped in titles', async (t) => {
  const codes = [0x7f, 0x80, 0x85, 0x9f, 0x2028, 0x2029, 0xfffe, 0xffff]
  const title = (code: number) => `a${String.fromCharCode(code)}b`
  const text = await convert(
    t,
    Object.fromEntries(codes.map((code, i) => [`${i}.html`, page(i + 1, title(code), '')])),
    { includeMetadata: true },
  )
  for (const code of codes)
    assert.ok(
      text.includes(`\n  - title: "a\\u${code.toString(16).padStart(4, '0')}b"\n`),
      code.toString(16),
    )
  const yaml = parse(text.slice(4, text.indexOf('\n---\n'))) as { pages: { title: string }[] }
  assert.deepEqual(
    yaml.pages.map((page) => page.title),
    codes.map(title),
  )
})

test('JSON has the same document, its pages and its warnings', async (t) => {
  const document = JSON.parse(await convert(t, HANDBOOK, { format: 'json' })) as Document
  assert.equal(document.object, 'document')
  assert.equal(document.title, 'Home')
  assert.equal(document.markdown, await convert(t, HANDBOOK))
  assert.equal(document.markdown, document.pages.map((one) => one.markdown).join('\n---\n\n'))
  assert.deepEqual(
    document.pages.map((one) => one.parent_id),
    [null, id(1), id(3), id(1), id(1), null],
  )
  assert.deepEqual(Object.keys(document.pages[0]!), [
    'id',
    'parent_id',
    'path',
    'title',
    'icon',
    'anchor',
    'properties',
    'property_values',
    'markdown',
    'assets',
    'databases',
  ])
  assert.deepEqual(document.pages[3]!.assets, [
    { path: `Home ${id(1)}/Alpha ${id(2)}/a b.png`, kind: 'image', in_archive: true },
  ])
  assert.deepEqual(document.warnings, [
    {
      code: 'asset_missing',
      page: `Home ${id(1)}/Beta ${id(3)}/Deep ${id(4)}.html`,
      detail: `"Home ${id(1)}/Beta ${id(3)}/gone.png" is not in the archive.`,
    },
  ])
  const metadata = JSON.parse(
    await convert(t, HANDBOOK, { format: 'json', includeMetadata: true }),
  ) as Document
  assert.equal(metadata.pages[0]!.source_url, `https://www.notion.so/${id(1)}`)
  assert.equal(metadata.markdown, document.markdown)
})

test('JSON names every file of a property, including images', async (t) => {
  const file = (path: string, inner: string) =>
    `<span style="margin-right:6px"><a href="${path}">${inner}</a></span>`
  const picture = '<img style="width:20px;max-height:24px" src="D/p.png" alt="p.png"/>'
  const head = `<table class="properties"><tbody><tr class="property-row property-row-file"><th>Files</th><td>${file('D/p.png', picture)}${file('D/q%20r.png', '<img src="D/q%20r.png"/>')}${file('D/a.pdf', 'a.pdf')}</td></tr></tbody></table>`
  const document = JSON.parse(
    await convert(t, { 'a.html': page(1, 'A', '', head), 'D/p.png': 'png' }, { format: 'json' }),
  ) as Document
  assert.deepEqual(document.pages[0]!.properties, { Files: 'p.png, D/q%20r.png, a.pdf' })
  assert.deepEqual(document.pages[0]!.assets, [
    { path: 'D/p.png', kind: 'image', in_archive: true },
    { path: 'D/q r.png', kind: 'image', in_archive: false },
    { path: 'D/a.pdf', kind: 'file', in_archive: false },
  ])
  assert.match(
    document.markdown,
    /\| Files \| !\[p\.png\]\(D\/p\.png\), !\[\]\(D\/q%20r\.png\), \[a\.pdf\]\(D\/a\.pdf\) \|/,
  )
})

test('JSON keeps both of two properties with the same name', async (t) => {
  const row = (value: string) =>
    `<tr class="property-row property-row-text"><th>Tag</th><td>${value}</td></tr>`
  const document = JSON.parse(
    await convert(
      t,
      {
        'a.html': page(
          1,
          'A',
          '',
          `<table class="properties"><tbody>${row('one')}${row('two')}${row('three')}</tbody></table>`,
        ),
      },
      { format: 'json' },
    ),
  ) as Document
  assert.deepEqual(document.pages[0]!.properties, {
    Tag: 'one',
    'Tag (2)': 'two',
    'Tag (3)': 'three',
  })
})

const WORKSPACE = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'
const details = (name: string) =>
  `<li><h3>Workspace details:</h3><p>Workspace identifier: ${WORKSPACE}</p>${name}</li>`
const listed = (n: number, href: string, below = '') =>
  `<li><ul id="id::${id(n)}"><a href="${href}">${href.replace(/^.*\//, '')}</a>${below}</ul></li>`
const sitemapOf = (name: string, entries: string) =>
  `<!DOCTYPE html><html><head><title>Export-x</title></head><body><ul id="id::${WORKSPACE}">${details(name)}${entries}</ul></body></html>`

test('the sitemap is a table of contents titled with the workspace’s name, and orders unlinked pages', async (t) => {
  const icon = '<div class="page-header-icon undefined"><span class="icon">📘</span></div>'
  const entries = {
    [`A ${id(1)}.html`]: page(1, 'A', '', icon),
    [`B ${id(2)}.html`]: page(2, 'B: long', ''),
    [`B ${id(2)}/C ${id(3)}.html`]: page(3, 'C', ''),
    'index.html': sitemapOf(
      '<p>Workspace name: My notes: all</p>',
      listed(2, `B ${id(2)}.html`, listed(3, `B ${id(2)}/C ${id(3)}.html`)) +
        listed(8, `https://www.notion.so/${id(8)}`) +
        listed(1, `A ${id(1)}.html`),
    ),
  }
  const text = await convert(t, entries)
  assert.equal(
    text,
    `# My notes: all\n\n- [B: long](#b-long)\n  - [C](#c)\n- [Untitled](https://www.notion.so/${id(8)})\n- [📘 A](#-a)\n\n---\n\n# B: long\n\n---\n\n# C\n\n---\n\n# 📘 A\n`,
  )
  const document = JSON.parse(
    await convert(t, entries, { format: 'json', includeMetadata: true }),
  ) as Document & { workspace: unknown }
  assert.equal(document.title, 'My notes: all')
  assert.deepEqual(document.workspace, { id: WORKSPACE.replaceAll('-', ''), name: 'My notes: all' })
  assert.match(
    await convert(t, entries, { includeMetadata: true }),
    /^---\ntitle: "My notes: all"\nexported_at: \S+\nsource_url: null\npages:\n/,
  )
})

test('each of several exports in one archive keeps its table of contents, before its pages', async (t) => {
  const document = await convert(t, {
    'One/index.html': sitemapOf('<p>Workspace name: One</p>', listed(1, `A ${id(1)}.html`)),
    [`One/A ${id(1)}.html`]: page(1, 'A', '<p>a</p>'),
    'Two/index.html': sitemapOf(
      '<p>Workspace name: Two</p>',
      listed(2, `C ${id(2)}.html`) + listed(3, `B ${id(3)}.html`),
    ),
    [`Two/B ${id(3)}.html`]: page(3, 'B', '<p>b</p>'),
    [`Two/C ${id(2)}.html`]: page(2, 'C', '<p>c</p>'),
  })
  assert.equal(
    document,
    '# One\n\n- [A](#a)\n\n---\n\n# A\n\na\n\n---\n\n# Two\n\n- [C](#c)\n- [B](#b)\n\n---\n\n# C\n\nc\n\n---\n\n# B\n\nb\n',
  )
})

test('addresses on a computer, as browsers save them, lead to the pages and files of the export', async (t) => {
  const home = `file:///C:/Users/me/Export/Home%20${id(1)}`
  const document = await convert(t, {
    [`Home ${id(1)}.html`]: page(
      1,
      'Home',
      `${link(`${home}/Kid%20${id(2)}.html`, 'Kid')}<p><a href="${home}/a%20b.pdf">b</a> <a href="file:///C:/x/Home%20${id(1)}/gone.pdf">c</a> <a href="FILE:///C:/Kid%20${id(2)}.html">d</a></p>`,
    ),
    [`Home ${id(1)}/Kid ${id(2)}.html`]: page(2, 'Kid', `<p><a href="${home}.html#x">up</a></p>`),
    [`Home ${id(1)}/a b.pdf`]: 'pdf',
  })
  assert.equal(
    document,
    `# Home\n\n[Kid](#kid)\n\n[b](Home%20${id(1)}/a%20b.pdf) [c](file:///C:/x/Home%20${id(1)}/gone.pdf) [d](#kid)\n\n---\n\n# Kid\n\n[up](#home)\n`,
  )
})

test('a sitemap that a browser saved keeps its pages, and its web addresses', async (t) => {
  const saved = 'file:///C:/Users/me/Export'
  const entry = (label: string, href: string) =>
    `<li><ul id="id::"><a href="${href}">${label}</a></ul></li>`
  const document = await convert(t, {
    'index.html': sitemapOf(
      '<p>Workspace name: Notes</p>',
      entry('A', `${saved}/A%20${id(1)}.html`) +
        entry('B', `\n${saved}/B%20\n${id(2)}.html`) +
        entry('Web', ` https://www.notion.so/\n${id(3)} `) +
        entry('Gone', `${saved}/Gone%20${id(4)}.html`),
    ),
    [`A ${id(1)}.html`]: page(1, 'A', ''),
    [`B ${id(2)}.html`]: page(2, 'B', ''),
  })
  assert.equal(
    document,
    `# Notes\n\n- [A](#a)\n- [B](#b)\n- [Web](https://www.notion.so/${id(3)})\n- Gone\n\n---\n\n# A\n\n---\n\n# B\n`,
  )
})

test('a sitemap with its details above the list takes its name and id from them', async (t) => {
  const details = (id: string) =>
    `<h3>Workspace details:</h3><p>Workspace identifier: ${id}</p><p>Workspace name: ACME HQ</p>`
  const entries = {
    [`A ${id(1)}.html`]: page(1, 'A', ''),
    'index.html': `<!DOCTYPE html><html><head><title>Export-x</title></head><body>${details(WORKSPACE)}<ul id="id::${id(1)}"><a href="A ${id(1)}.html">A</a></ul></body></html>`,
  }
  const document = JSON.parse(await convert(t, entries, { format: 'json' })) as Document & {
    workspace: unknown
  }
  assert.equal(document.title, 'ACME HQ')
  assert.deepEqual(document.workspace, { id: WORKSPACE.replaceAll('-', ''), name: 'ACME HQ' })
})

test('a workspace is not named after an identifier that is no UUID', async (t) => {
  const entries = {
    [`A ${id(1)}.html`]: page(1, 'A', ''),
    'index.html': `<!DOCTYPE html><html><body><ul id="id::${'-'.repeat(32)}"><li><p>Workspace identifier: acme-1</p><p>Workspace name: ACME HQ</p></li>${listed(1, `A ${id(1)}.html`)}</ul></body></html>`,
  }
  const document = JSON.parse(await convert(t, entries, { format: 'json' })) as {
    workspace: unknown
  }
  assert.deepEqual(document.workspace, { id: null, name: 'ACME HQ' })
})

test('the sitemap of a workspace without a name is called Contents', async (t) => {
  const text = await convert(t, {
    [`A ${id(1)}.html`]: page(1, 'A', ''),
    'index.html': sitemapOf('', listed(1, `A ${id(1)}.html`)),
  })
  assert.equal(text, '# Contents\n\n- [A](#a)\n\n---\n\n# A\n')
})

/**
 * TABLE of archives without a sitemap: page → sub-pages that it shows; the order that a reader
 * expects.
 */
const ORDERS: [what: string, pages: Record<string, string[]>, order: string[]][] = [
  [
    'a block that leads back leads no further than the way there',
    {
      'Aardvark.html': [],
      'Home.html': ['Home/B.html', 'Home/A.html'],
      'Home/A.html': [],
      'Home/B.html': ['Home.html'],
      'Zed.html': [],
    },
    ['Home', 'B', 'A', 'Aardvark', 'Zed'],
  ],
  [
    'pages in one folder',
    { 'Home.html': ['z.html', 'y.html'], 'Orphan.html': [], 'y.html': [], 'z.html': [] },
    ['Home', 'z', 'y', 'Orphan'],
  ],
  [
    'pages in one folder that lead back',
    {
      'Home.html': ['z.html', 'y.html'],
      'Orphan.html': [],
      'y.html': ['Home.html'],
      'z.html': ['Home.html'],
    },
    ['Home', 'z', 'y', 'Orphan'],
  ],
  [
    'a sub-page stands under its own page, whoever shows it first',
    { 'A.html': ['B/C.html', 'B.html'], 'B.html': ['B/C.html'], 'B/C.html': [] },
    ['B', 'C', 'A'],
  ],
  [
    'folders without ids',
    {
      [`Home ${id(1)}.html`]: ['Home/B.html'],
      'Home/A.html': [],
      'Home/B.html': [],
      [`Abc ${id(2)}.html`]: [],
    },
    ['Home', 'B', 'A', 'Abc'],
  ],
]

for (const [what, pages, order] of ORDERS) {
  test(`page order: ${what}`, async (t) => {
    const entries = Object.entries(pages).map(([path, links], i) => {
      const up = '../'.repeat(path.split('/').length - 1)
      return [
        path,
        page(
          i + 1,
          path.replace(/^.*\/|(?: [0-9a-f]{32})?\.html$/g, ''),
          links.map((to) => link(up + to, 'x')).join(''),
        ),
      ]
    })
    const text = await convert(t, Object.fromEntries(entries))
    assert.deepEqual(
      [...text.matchAll(/^# (.*)$/gm)].map((match) => match[1]),
      order,
    )
  })
}

test('a link in a sentence affects neither parents nor order', async (t) => {
  const mention = (to: number, title: string) => `<p><a href="${title}%20${id(to)}.html">x</a></p>`
  const entries = {
    [`A ${id(1)}.html`]: page(1, 'A', mention(4, 'D')),
    [`B ${id(2)}.html`]: page(
      2,
      'B',
      mention(1, 'A') +
        mention(4, 'D') +
        link(`C%20${id(3)}.html`, 'C') +
        link(`D%20${id(4)}.html`, 'D'),
    ),
    [`C ${id(3)}.html`]: page(3, 'C', mention(2, 'B') + mention(4, 'D')),
    [`D ${id(4)}.html`]: page(4, 'D', ''),
  }
  const document = JSON.parse(await convert(t, entries, { format: 'json' })) as Document
  assert.deepEqual(
    document.pages.map(({ title, parent_id }) => [title, parent_id]),
    [
      ['B', null],
      ['C', id(2)],
      ['D', id(2)],
      ['A', null],
    ],
  )
})

const csvOf = (rows: string) => `\ufeffName,Status,"Two\nlines"\n${rows}`
const placeholder = (title: string, href: string) =>
  `<div class="collection-content"><h4 class="collection-title">${title}</h4><a href="${href}">${title}</a></div>`

test('an inline database exported only as CSV is read from it, with all its rows', async (t) => {
  const entries = {
    [`Home ${id(1)}.html`]: page(1, 'Home', placeholder('Tasks', `Home/Tasks%20${id(9)}.csv`)),
    [`Home/Tasks ${id(9)}.csv`]: csvOf('Write,Done,x\n'),
    [`Home/Tasks ${id(9)}_all.csv`]: csvOf('Write: it,Done,"a ""b""\nc"\n"Read, slowly",,"*"\n'),
    [`Home/Tasks/Write it ${id(2)}.html`]: page(2, 'Write: it', ''),
  }
  const document = JSON.parse(await convert(t, entries, { format: 'json' })) as Document
  assert.equal(
    document.markdown,
    '# Home\n\n## Tasks\n\n| Name | Status | Two<br>lines |\n| --- | --- | --- |\n| [Write: it](#write-it) | Done | a "b"<br>c |\n| Read, slowly |  | * |\n\n---\n\n# Write: it\n',
  )
  assert.deepEqual(
    document.pages.map((one) => one.parent_id),
    [null, id(1)],
  )
  assert.deepEqual(document.warnings, [])
})

test('a database exported only as CSV is a page and the parent of its rows', async (t) => {
  const entries = {
    [`Home ${id(1)}.html`]: page(
      1,
      'Home',
      `<p><a href="https://www.notion.so/${id(9)}">all</a></p>`,
    ),
    [`Home/Tasks ${id(9)}_all.csv`]: csvOf('Write,Done,\n'),
    [`Home/Tasks/Write ${id(2)}.html`]: page(2, 'Write', ''),
    'Home/mine.csv': 'a,b\n',
  }
  const document = JSON.parse(await convert(t, entries, { format: 'json' })) as Document
  assert.equal(
    document.markdown,
    '# Home\n\n[all](#tasks)\n\n---\n\n# Tasks\n\n| Name | Status | Two<br>lines |\n| --- | --- | --- |\n| [Write](#write) | Done |  |\n\n---\n\n# Write\n',
  )
  assert.deepEqual(
    document.pages.map((one) => [one.path, one.parent_id]),
    [
      [`Home ${id(1)}.html`, null],
      [`Home/Tasks ${id(9)}.csv`, id(1)],
      [`Home/Tasks/Write ${id(2)}.html`, id(9)],
    ],
  )
})

test('rows that a view’s table omits are listed below it', async (t) => {
  const table = (rows: string) =>
    `<table class="collection-content"><thead><tr><th>Name</th><th>Status</th><th>Paid</th></tr></thead><tbody>${rows}</tbody></table>`
  const row = (n: number, title: string) =>
    `<tr id="${n}"><td class="cell-title"><a href="Tasks%20${id(9)}/${title}%20${id(n)}.html"><span class="icon">🎨</span>${title}</a></td><td>Done</td><td><div class="checkbox checkbox-on"></div></td></tr>`
  const csv = '\ufeffName,Status,Paid\nRead,Open,Yes\nWrite,Done,Yes\nRead,Late,No\n'
  const text = await convert(t, {
    [`Tasks ${id(9)}.html`]: page(9, 'Tasks', table(row(2, 'Write'))),
    [`Tasks ${id(9)}_all.csv`]: csv,
    [`Tasks ${id(9)}/Write ${id(2)}.html`]: page(2, 'Write', ''),
    [`Tasks ${id(9)}/Read ${id(3)}.html`]: page(3, 'Read', ''),
  })
  assert.match(
    text,
    /^# Tasks\n\n\| Name \| Status \| Paid \|\n\| --- \| --- \| --- \|\n\| \[🎨 Write\]\(#write\) \| Done \| ☑ \|\n\| \[Read\]\(#read\) \| Open \| ☑ \|\n\| Read \| Late \| ☐ \|\n/,
  )
})

test('a Notion link without a host leads to its page', async (t) => {
  const links = `<p><a href="/Sub-${id(2)}?pvs=4">a</a> <a href="/${id(2)}#x">b</a> <a href="/${id(3)}">c</a></p>`
  const text = await convert(t, {
    [`Home ${id(1)}.html`]: page(1, 'Home', links),
    [`Home ${id(1)}/Sub ${id(2)}.html`]: page(2, 'Sub', ''),
  })
  assert.match(
    text,
    new RegExp(
      `\\[a\\]\\(#sub\\) \\[b\\]\\(#sub\\) \\[c\\]\\(https://www\\.notion\\.so/${id(3)}\\)`,
    ),
  )
})

/**
 * TABLE of addresses that climb out of the archive, in a page two folders deep, and the path that
 * each means.
 */
const CLIMBING: [href: string, path: string][] = [
  ['../../../../../etc/passwd', 'etc/passwd'],
  ['../../../x/../y.pdf', 'y.pdf'],
  ['/../../y.pdf', 'y.pdf'],
  ['%2e%2e/%2E%2E/%2e./etc/passwd', 'etc/passwd'],
  ['..%2F..%2f..%2Fetc%2Fpasswd', 'etc/passwd'],
  ['../../%2Fetc%2Fpasswd', 'etc/passwd'],
  ['../../../../Home.html', ''],
]

test('a link that climbs out of the archive stops at its root', async (t) => {
  for (const [href, path] of CLIMBING) {
    const entries = {
      'Home.html': page(1, 'Home', ''),
      'a/b/Deep.html': page(2, 'Deep', `<p><a href="${href}">x</a></p>`),
    }
    const document = JSON.parse(await convert(t, entries, { format: 'json' })) as Document
    const [, target] = /\[x\]\((.*)\)/.exec(document.markdown) ?? []
    const assets = document.pages.flatMap((one) => one.assets)
    if (path === '') assert.deepEqual([target, assets], ['#home', []], href)
    else
      assert.deepEqual([target, assets], [path, [{ path, kind: 'file', in_archive: false }]], href)
  }
})

test('names that macOS repacked, or that the exporter encoded twice, are found', async (t) => {
  const text = await convert(t, {
    'a.html': page(
      1,
      'A',
      '<p><a href="Einf%C3%BChrung.html">e</a></p><figure class="image"><img src="%25D0%25BA.jpg"/></figure>',
    ),
    ['Einf\u0075\u0308hrung.html']: page(2, 'Einführung', ''),
    '%D0%BA.jpg': 'x',
  })
  assert.match(text, /\[e\]\(#einführung\)/)
  assert.match(text, /!\[\]\(%25D0%25BA\.jpg\)/)
})

test('pages and files whose names a Windows archiver has garbled are found by the ids in them', async (t) => {
  const garbled = `\u00f4\u00f7 ${id(1)}`
  const body = `${link(`%E6%97%A5%20${id(1)}/%E6%9C%AC%20${id(2)}.html#x`, 'sub')}<img src="%E6%97%A5%20${id(1)}/a.png"/><p><a href="%E6%97%A5%20${id(1)}/b.pdf">b</a></p>`
  const document = await convert(
    t,
    {
      [`${garbled}.html`]: page(1, '日', body),
      [`${garbled}/\u00e7 ${id(2)}.html`]: page(
        2,
        '本',
        `<a href="../%E6%97%A5%20${id(1)}.html">up</a>`,
      ),
      [`${garbled}/a.png`]: 'png',
      [`${garbled}/b.pdf`]: 'one',
    },
    { format: 'json' },
  )
  const { markdown, pages } = JSON.parse(document) as Document
  assert.match(markdown, /^\[sub\]\(#本\)$/m)
  assert.match(markdown, /^\[up\]\(#日\)$/m)
  const [, image, file] = pages.flatMap(({ assets }) => [null, ...assets])
  assert.deepEqual(image, { path: `${garbled}/a.png`, kind: 'image', in_archive: true })
  assert.deepEqual(file, { path: `${garbled}/b.pdf`, kind: 'file', in_archive: true })
})

test('a chain of a thousand pages does not recurse deeply', async (t) => {
  const chain = Object.fromEntries(
    Array.from({ length: 3000 }, (_, i) => [
      `p${i}.html`,
      page(i + 1, `P${i}`, link(`p${i + 1}.html`, 'next')),
    ]),
  )
  const text = await convert(t, chain)
  assert.equal(text.split('\n---\n').length, 3000)
  assert.ok(text.indexOf('# P2999\n') > text.indexOf('# P2998\n'))
})

test('pages converted in partitions make the same document', async (t) => {
  const whole = await convert(t, HANDBOOK)
  const folder = temporaryFolder(t)
  const path = join(folder, 'export.zip')
  writeFileSync(path, zip(HANDBOOK))
  const options = {
    path,
    kind: 'zip',
    fileName: 'export.zip',
    uploadedAt: new Date(0),
    format: 'markdown',
    includeMetadata: false,
    scratch: folder,
  } as const
  for (let index = 0; index < 3; index++) await convertShare(options, { index, of: 3 })
  let text = ''
  await joinShares(options, 3, (piece) => void (text += piece))
  assert.equal(text, whole)
})

test('a page whose tree would not fit in memory is refused', async (t) => {
  await assert.rejects(
    convert(t, { 'a.html': '<p>x'.repeat(1_600_000) }),
    (error) =>
      error instanceof InvalidArchive && /more than 1,500,000 tags and lines/.test(error.detail),
  )
})

test('a document is one outline: one title per page and no heading of the same rank below it', async (t) => {
  const tree = fromMarkdown(await convert(t, HANDBOOK))
  const titles = tree.children.filter((node) => node.type === 'heading' && node.depth === 1)
  assert.equal(titles.length, 6)
})
