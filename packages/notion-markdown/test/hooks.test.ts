// The engine as a library: trees are written back, and hooks change what is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  convertHtml,
  parsePage,
  toMarkdown,
  type Hooks,
  type Root,
} from '@tollmark/notion-markdown'
import { casePages, pageOf } from './document-of.ts'

test('writing a tree gives the converted page and does not change the tree', () => {
  for (const html of casePages()) {
    const { tree } = parsePage(html)
    const before = structuredClone(tree)
    assert.equal(toMarkdown(tree), convertHtml(html))
    assert.equal(toMarkdown(tree, { link: (url) => url, asset: (url) => url }), convertHtml(html))
    toMarkdown(tree, { link: () => null, asset: () => null, block: () => null, headingOffset: 2 })
    assert.deepEqual(tree, before)
  }
})

const PAGE = pageOf(
  '<h1 id="0a0b0c0d-0000-4000-8000-00000000000e">One</h1><p><a href="https://a.example/">web</a> <a href="Files/b%20c.pdf">file</a></p>' +
    '<nav class="table_of_contents"><div class="table_of_contents-item table_of_contents-indent-0"><a class="table_of_contents-link" href="#0a0b0c0d-0000-4000-8000-00000000000e">One</a></div></nav>' +
    '<ul class="bulleted-list"><li>item <a href="mailto:a@b.example">mail</a></li></ul>' +
    '<figure class="image"><a href="d.png"><img src="d.png"/></a><figcaption>cap</figcaption></figure><hr/>' +
    '<table class="simple-table"><tbody><tr><td><a href="https://a.example/x">cell</a></td></tr></tbody></table>' +
    '<ul class="toggle"><li><details><summary><a href="https://a.example/s">more</a></summary><p>inside</p></details></li></ul>',
)

/** TABLE of hooks: what they are, what the page has then, and what it has no more. */
const HOOKS: [what: string, hooks: Hooks, has: string[], lacks: string[]][] = [
  [
    'links are mapped, in cells and summaries too',
    { link: (url) => url.replace('a.example', 'b.example') },
    [
      '[web](https://b.example/)',
      '[cell](https://b.example/x)',
      'href="https://b.example/s"',
      '(Files/b%20c.pdf)',
      '(#one)',
    ],
    ['a.example'],
  ],
  ['a link is taken off its text', { link: () => null }, ['web [file]', 'item mail'], ['https:']],
  [
    'assets are mapped, by what they are',
    { asset: (url, kind) => `/${kind}/${url}` },
    ['![cap](/image/d.png)', '[file](/file/Files/b%20c.pdf)', '[web](https://a.example/)'],
    [],
  ],
  [
    'an image is left out but for its words',
    { asset: () => null },
    ['cap', 'web](', ' file'],
    ['!['],
  ],
  [
    'headings are deeper, and links to them still right',
    { headingOffset: 5 },
    ['###### T\n', '###### One\n', '(#one)'],
    ['\n# '],
  ],
  [
    'blocks are replaced and left out, inside others too',
    {
      block: (block) => {
        if (block.type === 'thematicBreak') return null
        if (block.type !== 'paragraph') return block
        return [block, { type: 'code', lang: null, value: 'after' }]
      },
    },
    ['inside\n\n```\nafter\n```', '  ```\n  after\n  ```'],
    ['***'],
  ],
]

test('hooks change what is written, and nothing else', () => {
  for (const [what, hooks, has, lacks] of HOOKS) {
    const markdown = convertHtml(PAGE, hooks)
    for (const text of has) assert.ok(markdown.includes(text), `${what}: ${text}\n${markdown}`)
    for (const text of lacks) assert.ok(!markdown.includes(text), `${what}: ${text}\n${markdown}`)
  }
  for (const headingOffset of [-1, 0.5, 6, Number.NaN])
    assert.throws(() => convertHtml(PAGE, { headingOffset }), RangeError)
})

/** A tree as plain JavaScript, or another program, makes it. */
const written = (...children: object[]): string =>
  toMarkdown({ type: 'root', children } as unknown as Root)
const text = (value: string) => ({ type: 'text', value })

test('fields that mdast leaves out may be missing', () => {
  const item = { type: 'listItem', children: [{ type: 'paragraph', children: [text('a')] }] }
  /** TABLE of nodes and their Markdown. */
  const nodes: [node: object, markdown: string][] = [
    [{ type: 'list', children: [item, { ...item, checked: false }] }, '- a\n- [ ] a\n'],
    [{ type: 'details', summary: [text('a')], children: [] }, '<summary>a</summary>'],
    [{ type: 'paragraph', children: [{ type: 'image', url: 'a.png' }] }, '![](a.png)'],
    [{ type: 'code', value: 'a' }, '```\na\n```'],
    [{ type: 'code', lang: 'a`b\nc', value: 'd' }, '```a b c\nd\n```'],
  ]
  for (const [node, markdown] of nodes)
    assert.ok(written(node).includes(markdown), `${JSON.stringify(node)}: ${written(node)}`)
})

test('a node that is not in the tree of parsePage is refused, never left out', () => {
  for (const node of [{ type: 'html', value: '<hr>' }, text('top'), {}])
    assert.throws(() => written(node), /^TypeError: toMarkdown does not know the node .* \(block\)/)
  for (const node of [{ type: 'html', value: '<b>' }, { type: 'footnoteReference' }, item()])
    assert.throws(
      () => written({ type: 'paragraph', children: [node] }),
      /^TypeError: toMarkdown does not know the node .* \(inline\)/,
    )
})
const item = () => ({ type: 'listItem', checked: null, children: [] })
