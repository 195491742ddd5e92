// Source maps: which bytes of the document show which block.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zip } from '../../../test/support/zip.ts'
import { convertHtml, type SourceRange } from '../src/index.ts'
import { casePages, documentOf, pageOf } from './document-of.ts'

interface Mapped {
  markdown: string
  source_map: SourceRange[]
}

const mapOf = async (bytes: string | Buffer): Promise<Mapped> =>
  JSON.parse(await documentOf(bytes, { format: 'json', sourceMap: true })) as Mapped

/** What each range shows, by the last digits of its block's id. */
const shownIn = ({ markdown, source_map }: Mapped): [string | undefined, string][] =>
  source_map.map(({ block_id, start, end }) => [
    block_id?.slice(-4),
    Buffer.from(markdown).subarray(start, end).toString(),
  ])

const PAGE = '01234567-89ab-cdef-0123-456789abcdef'
const id = (n: number) => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`

test('each block has the bytes that show it, without those of the blocks inside it', async () => {
  const mapped = await mapOf(
    pageOf(
      `<p id="${id(1)}">naïve 🚀<div class="indented"><p id="${id(2)}">child</p></div></p>` +
        `<ul id="${id(3)}" class="bulleted-list"><li>item<p id="${id(4)}">in it</p></li></ul>` +
        `<ul id="${id(5)}" class="toggle"><li><details open=""><summary>more</summary><p id="${id(6)}">hidden</p></details></li></ul>` +
        `<figure id="${id(7)}" class="image"><a href="a.png"><img src="a.png"/></a><figcaption>cap</figcaption></figure>` +
        `<table id="${id(8)}" class="simple-table"><tbody><tr id="${id(9)}"><td>a</td></tr><tr id="${id(10)}"><td>b</td></tr></tbody></table>` +
        `<details open=""><summary style="font-size:1.5em">old</summary></details>`,
    ),
  )
  assert.deepEqual(shownIn(mapped), [
    ['cdef', '# T'],
    ['0001', 'naïve 🚀'],
    ['0002', 'child'],
    ['0003', '- item'],
    ['0004', 'in it'],
    ['0005', '<details>\n<summary>more</summary>'],
    ['0006', 'hidden'],
    ['0007', '![cap](a.png)\n\ncap'],
    ['0008', '|  |\n| --- |'],
    ['0009', '| a |'],
    ['0010', '| b |'],
    ['cdef', '<details>\n<summary><h3>old</h3></summary>'],
  ])
  assert.ok(mapped.source_map.every(({ page_id }) => page_id === PAGE.replaceAll('-', '')))
})

const titled = (n: number, title: string) =>
  `<article id="${id(n)}" class="page"><header><h1 class="page-title">${title}</h1></header><div class="page-body"><p id="${id(n + 1)}">é</p></div></article>`

test('ranges of the pages of an archive follow one another', async () => {
  const mapped = await mapOf(zip({ 'A.html': titled(1, 'Ä'), 'B.html': titled(5, 'B') }))
  assert.deepEqual(shownIn(mapped), [
    ['0001', '# Ä'],
    ['0002', 'é'],
    ['0005', '# B'],
    ['0006', 'é'],
  ])
})

/**
 * What is left of a document outside of all ranges: white space, signs, and the ends of toggles.
 */
const LEFT = /^(?:[\s>]|<\/details>|---)*$/

test('every word lies in exactly one range, in the same document as without a map', async () => {
  for (const html of casePages()) {
    const { markdown, source_map } = await mapOf(html)
    assert.equal(markdown, convertHtml(html, { fileName: 'Page.html' }))
    const bytes = Buffer.from(markdown)
    let at = 0
    for (const { start, end } of source_map) {
      assert.ok(at <= start && start < end, `${at} ${start} ${end}\n${markdown}`)
      assert.match(bytes.subarray(at, start).toString(), LEFT, markdown)
      at = end
    }
    assert.match(bytes.subarray(at).toString(), LEFT, markdown)
  }
})
