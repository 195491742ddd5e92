// Chunks: pages cut for retrieval.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { zip } from '../../../test/support/zip.ts'
import type { Chunk } from '../src/index.ts'
import { casePages, documentOf, pageOf } from './document-of.ts'

async function chunksOf(bytes: string | Buffer): Promise<Chunk[]> {
  const lines = (await documentOf(bytes, { format: 'chunks' })).split('\n')
  assert.equal(lines.pop(), '')
  return lines.map((line) => JSON.parse(line) as Chunk)
}

const words = (n: number, word = 'word') =>
  Array.from({ length: n }, (_, i) => `${word}${i}`).join(' ')
const lettersOf = (text: string): string => text.replace(/<[^<>]*>|[^\p{L}\p{N}]/gu, '')

test('each heading begins a chunk, and each chunk says where it is', async () => {
  const chunks = await chunksOf(
    pageOf(
      '<p>intro</p><h1 id="a">One</h1><h2 id="b">Two</h2><p>two</p><h1 id="c">One</h1><p>one</p><details open=""><summary style="font-size:1.5em">Fold</summary><p>in</p></details><p>after</p>',
    ),
  )
  assert.deepEqual(
    chunks.map(({ text, heading_path, anchor, prev, next }) => [
      text,
      heading_path,
      anchor,
      prev,
      next,
    ]),
    [
      ['# T\n\nintro', ['T'], 't', null, 1],
      ['## One\n\n### Two\n\ntwo', ['T', 'One', 'Two'], 'two', 0, 2],
      ['## One\n\none', ['T', 'One'], 'one-1', 1, 3],
      [
        '<details>\n<summary><h3>Fold</h3></summary>\n\nin\n\n</details>\n\nafter',
        ['T', 'One', 'Fold'],
        'fold',
        2,
        null,
      ],
    ],
  )
})

test('long chunks are split only between items, rows and blocks', async () => {
  const items = Array.from(
    { length: 40 },
    (_, i) =>
      `<ul class="bulleted-list"><li>${i} ${words(20)}<ul class="bulleted-list"><li>below ${words(10)}</li></ul></li></ul>`,
  )
  const rows = Array.from({ length: 60 }, (_, i) => `<tr><td>${i} ${words(20)}</td><td>b</td></tr>`)
  const code = `line ${words(900)}\n\nend`
  const chunks = await chunksOf(
    pageOf(
      `<p>intro</p><h1>List</h1>${items.join('')}<h1>Table</h1><table class="simple-table"><thead><tr><th>A</th><th>B</th></tr></thead><tbody>${rows.join('')}</tbody></table>` +
        `<h1>Code</h1><pre class="code"><code>${code}</code></pre><p>after</p><h1>Toggle</h1><details open=""><summary>title</summary>${`<p>${words(100)}</p>`.repeat(9)}</details>`,
    ),
  )
  const inSection = (name: string) => chunks.filter(({ heading_path }) => heading_path[1] === name)
  for (const name of ['List', 'Table', 'Toggle']) {
    assert.ok(inSection(name).length > 3, name)
    for (const { tokens_estimated } of inSection(name)) assert.ok(tokens_estimated <= 512, name)
  }
  for (const { text } of inSection('List').slice(1)) assert.match(text, /^- (?:\d+|below) word0/)
  for (const { text } of inSection('Table').slice(1))
    assert.match(text, /^\| A \| B \|\n\| --- \| --- \|\n(?:\| \d+ .* word19 \| b \|\n?)+$/)
  const [cut, after] = inSection('Code')
  assert.equal(cut?.text, `## Code\n\n\`\`\`\n${code}\n\`\`\``)
  assert.equal(after?.text, 'after')
  assert.match(inSection('Toggle')[0]!.text, /<summary>title<\/summary>[^]*<\/details>$/)
  for (const { text } of inSection('Toggle').slice(1)) assert.doesNotMatch(text, /details/)
})

const id = (n: number) => n.toString(16).padStart(32, '0')
const titled = (n: number, title: string) =>
  `<article id="${id(n)}" class="page"><header><h1 class="page-title">${title}</h1></header><div class="page-body"><p id="${id(n + 1)}">text</p></div></article>`

test('chunks of an archive name the page, the pages above it and its blocks', async () => {
  const chunks = await chunksOf(
    zip({
      [`A ${id(1)}.html`]: titled(1, 'A'),
      [`A ${id(1)}/B ${id(3)}.html`]: titled(3, 'B'),
      [`A ${id(1)}/B ${id(3)}/C ${id(5)}.html`]: titled(5, 'C'),
    }),
  )
  const shared = { tokens_estimated: 3, prev: null, next: null }
  assert.deepEqual(chunks, [
    {
      text: '# A\n\ntext',
      heading_path: ['A'],
      page_id: id(1),
      parent_ids: [],
      anchor: 'a',
      source_url: `https://www.notion.so/${id(1)}`,
      block_ids: [id(1), id(2)],
      ...shared,
    },
    {
      text: '# B\n\ntext',
      heading_path: ['B'],
      page_id: id(3),
      parent_ids: [id(1)],
      anchor: 'b',
      source_url: `https://www.notion.so/${id(3)}`,
      block_ids: [id(3), id(4)],
      ...shared,
    },
    {
      text: '# C\n\ntext',
      heading_path: ['C'],
      page_id: id(5),
      parent_ids: [id(1), id(3)],
      anchor: 'c',
      source_url: `https://www.notion.so/${id(5)}`,
      block_ids: [id(5), id(6)],
      ...shared,
    },
  ])
})

test('a chunk of a long chain of pages names the nearest above it', async () => {
  const next = (n: number): string =>
    `<figure class="link-to-page"><a href="P%20${id(n)}.html">next</a></figure>`
  const chain = Array.from({ length: 300 }, (_, n) => [
    `P ${id(n)}.html`,
    titled(n, 'P').replace('</div>', `${next(n + 1)}</div>`),
  ])
  const chunks = await chunksOf(zip(Object.fromEntries(chain) as Record<string, string>))
  assert.deepEqual(
    chunks.at(-1)!.parent_ids,
    Array.from({ length: 100 }, (_, n) => id(199 + n)),
  )
})

test('chunks hold the words of the document in their order', async () => {
  for (const html of casePages()) {
    const markdown = await documentOf(html, {})
    const chunks = await chunksOf(html)
    assert.equal(lettersOf(chunks.map(({ text }) => text).join('\n\n')), lettersOf(markdown))
    for (const [i, { prev, next }] of chunks.entries()) {
      assert.equal(prev, i === 0 ? null : i - 1)
      assert.equal(next, i === chunks.length - 1 ? null : i + 1)
    }
  }
})

test('nested items of a split list stay a list', async () => {
  const nested = Array.from(
    { length: 30 },
    (_, i) => `<ol type="1" class="numbered-list" start="${i + 1}"><li>${words(30)}</li></ol>`,
  ).join('')
  const chunks = await chunksOf(
    pageOf(
      `<ul class="bulleted-list"><li>top<ul class="bulleted-list"><li>mid${nested}</li></ul></li></ul>`,
    ),
  )
  assert.ok(chunks.length > 3)
  for (const { text } of chunks.slice(2)) {
    const { children } = fromMarkdown(text, {
      extensions: [gfm()],
      mdastExtensions: [gfmFromMarkdown()],
    })
    assert.deepEqual(new Set(children.map(({ type }) => type)), new Set(['list']), text)
  }
})

test('paragraphs of a split list in a quote stay paragraphs', async () => {
  const long = `<p>${words(200)}</p>`
  const deep = `<ul class="bulleted-list"><li>top<ul class="bulleted-list"><li>mid<blockquote>${long.repeat(3)}</blockquote>${long.repeat(3)}</li></ul></li></ul>`
  const chunks = await chunksOf(pageOf(`<blockquote>quote${deep}</blockquote>`))
  assert.ok(chunks.length > 6)
  for (const { text } of chunks) {
    const extensions = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }
    assert.doesNotMatch(JSON.stringify(fromMarkdown(text, extensions)), /"type":"code"/, text)
  }
})

test('chunks of deep nesting do not cost its depth again', async () => {
  const html = pageOf(`${'<blockquote>a'.repeat(500)}${'<p>b</p>'.repeat(2000)}`)
  const cost = async (deed: () => Promise<unknown>): Promise<number> => {
    const before = process.cpuUsage()
    await deed()
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  await chunksOf(pageOf('<p>warm</p>'))
  const whole = await cost(async () => await documentOf(html, { format: 'json' }))
  const cut = await cost(async () => await chunksOf(html))
  assert.ok(cut < 10 * whole, `${cut} µs of CPU for chunks, ${whole} µs for the document`)
})
