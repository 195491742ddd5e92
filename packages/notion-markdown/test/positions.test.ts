// Positions: where each node of a tree comes from in the page's HTML.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertHtml, parsePage, toMarkdown, type Block } from '@tollmark/notion-markdown'
import { positionFaults } from './position-faults.ts'
import { casePages, pageOf } from './document-of.ts'

test('every node of every page has a position, and positions change nothing else', () => {
  for (const html of casePages()) {
    assert.deepEqual(positionFaults(html), [], html)
    assert.equal(toMarkdown(parsePage(html, { positions: true }).tree), convertHtml(html))
  }
})

test('a tree has positions only if they are asked for', () => {
  const { tree } = parsePage(pageOf('<p>a</p>'))
  assert.ok(!JSON.stringify(tree).includes('position'))
})

/** The source of a page's nodes, by their paths in the tree. */
function sourcesOf(html: string): Map<string, string> {
  const sources = new Map<string, string>()
  const visit = (node: Block | { type: string }, path: string): void => {
    const { position, children = [] } = node as Block & { children?: Block[] }
    if (position) sources.set(path, html.slice(position.start.offset, position.end.offset))
    for (const child of children) visit(child, `${path} ${child.type}`)
  }
  visit(parsePage(html, { positions: true }).tree, 'root')
  return sources
}

test('blocks have the range of their elements, texts that of their source', () => {
  const [quote, list, table] = [
    '<blockquote>a &amp; <strong>b</strong><br/>c</blockquote>',
    '<ul class="bulleted-list"><li>d <code>e</code></li></ul>',
    '<table class="simple-table"><tbody><tr id="r"><td>f</td></tr></tbody></table>',
  ]
  const sources = sourcesOf(pageOf(`${quote}${list}${table}<p>g</p>`))
  /** TABLE of nodes and their source; of several, the last. */
  const expected: [path: string, source: string][] = [
    ['root heading', '<h1 class="page-title">T</h1>'],
    ['root heading text', 'T'],
    ['root blockquote', quote],
    ['root blockquote paragraph', 'a &amp; <strong>b</strong><br/>c'],
    ['root blockquote paragraph strong', 'b'],
    ['root blockquote paragraph break', '<br/>'],
    ['root blockquote paragraph text', 'c'],
    ['root list', list],
    ['root list listItem', '<li>d <code>e</code></li>'],
    ['root list listItem paragraph text', 'd '],
    ['root list listItem paragraph inlineCode', 'e'],
    ['root table', table],
    ['root table tableRow', '<tr id="r"><td>f</td></tr>'],
    ['root table tableRow tableCell', '<td>f</td>'],
    ['root table tableRow tableCell text', 'f'],
    ['root paragraph', '<p>g</p>'],
    ['root paragraph text', 'g'],
  ]
  assert.deepEqual(
    expected.map(([path]) => [path, sources.get(path)]),
    expected,
  )
})

test('lines, columns and offsets are those of the page as it was given', () => {
  const { tree } = parsePage(`\ufeff<p>a\0</p>\r\n<p>\rb &lt;</p>\n`, { positions: true })
  const [, one, two] = tree.children
  assert.deepEqual(one?.position, {
    start: { line: 1, column: 2, offset: 1 },
    end: { line: 1, column: 11, offset: 10 },
  })
  assert.deepEqual(two?.position, {
    start: { line: 2, column: 1, offset: 12 },
    end: { line: 3, column: 11, offset: 26 },
  })
})

test('the deepest pages have positions, too', () => {
  for (const open of ['<div>', '<blockquote>', '<ul><li>', '<p><span>', '<details>']) {
    const { tree } = parsePage(`${open.repeat(3000)}x`, { positions: true })
    assert.equal(toMarkdown(tree), convertHtml(`${open.repeat(3000)}x`), open)
  }
})
