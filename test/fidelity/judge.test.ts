// The judge itself: it accepts a right document, and each single fault in one is seen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareOutlines, judge } from './compare.ts'
import { diff } from './diff.ts'
import { readExport } from './expected.ts'
import { readMarkdown } from './actual.ts'

const equation = (tex: string) =>
  `<style>@import url('https://example.com/katex.min.css')</style><span data-token-index="0" class="notion-text-equation-token"><span></span><span><span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">${tex}</annotation></semantics></math></span><span class="katex-html" aria-hidden="true"><span>x</span></span></span></span><span>\u{FEFF}</span></span>`

const page = `<html><head><title>A page</title><style>body { white-space: pre-wrap }</style></head><body><article id="u" class="page sans"><header><div class="page-header-icon undefined"><span class="icon">🚀</span></div><h1 class="page-title">A page</h1><p class="page-description">What it is</p><table class="properties"><tbody><tr class="property-row property-row-multi_select"><th><span class="icon property-icon"><svg></svg></span>Tags</th><td><span class="selected-value">one</span><span class="selected-value">two</span></td></tr><tr class="property-row property-row-checkbox"><th>Done</th><td><div class="checkbox checkbox-on"></div></td></tr></tbody></table></header><div class="page-body"><nav id="t" class="table_of_contents"><div class="table_of_contents-item table_of_contents-indent-0"><a class="table_of_contents-link" href="#h1">First part</a></div></nav><h1 id="h1" class="">First part</h1><p id="p" class="">Some <strong>bold </strong>text, ${equation('a^2 &lt; b')}, <a href="https://example.com/a%20b">a link</a> and
a new line<div class="indented"><p id="c" class="">a child</p></div></p><ol type="1" id="o1" class="numbered-list" start="3"><li>third<ul id="n" class="bulleted-list"><li style="list-style-type:disc">below</li></ul></li></ol><ol type="1" id="o2" class="numbered-list" start="4"><li>fourth</li></ol><ul id="d" class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span class="to-do-children-checked">done</span><div class="indented"></div></li></ul><p id="e" class="">
</p><ul id="g" class="toggle"><li><details open=""><summary>More <em>inside</em></summary><pre id="k" class="code"><code class="language-Plain Text">x &lt; 1
  y</code></pre></details></li></ul><figure class="callout" id="q"><div style="font-size:1.5em"><span class="icon">💡</span></div><div style="width:100%">Mind this</div></figure><blockquote id="b" class="">Said<p id="b2" class="">twice</p></blockquote><hr id="r"/><figure id="i" class="image"><a href="x%20y.png"><img style="width:10px" src="x%20y.png"/></a><figcaption>A picture</figcaption></figure><figure id="m" class="equation"><div class="equation-container"><span class="katex"><annotation encoding="application/x-tex">E = mc^2</annotation></span></div></figure><table id="s" class="simple-table"><thead class="simple-table-header"><tr><th>head</th><th>er</th></tr></thead><tbody><tr><td>a|b</td><td><code>c</code></td></tr></tbody></table></div></article></body></html>`

const markdown = `# 🚀 A page

What it is

|      |          |
| ---- | -------- |
| Tags | one, two |
| Done | ☑        |

- [First part](#first-part)

## First part

Some **bold** text, $a^2 < b$, [a link](https://example.com/a%20b) and\\
a new line

a child

3. third
   - below
4. fourth

- [x] done

<details>
<summary>More <em>inside</em></summary>

\`\`\`
x < 1
  y
\`\`\`

</details>

> 💡 Mind this

> Said
>
> twice

***

![A picture](x%20y.png)

A picture

$$
E = mc^2
$$

| head | er |
| - | - |
| a\\|b | \`c\` |
`

test('a correct document has no differences', () => {
  assert.deepEqual(judge(page, markdown), [])
})

/**
 * TABLE: a fault put into the document (what is replaced, by what) → the kinds of difference that
 * it must cause.
 */
const faults: [string, string, string, string[]][] = [
  ['a lost word', 'a child', 'child', ['text', 'words', 'rendered']],
  ['a word too many', 'a child', 'a grand child', ['text', 'words', 'rendered']],
  ['words in another order', 'What it is', 'is What it', ['text', 'words', 'rendered']],
  ['a lost block', '> 💡 Mind this\n\n', '', ['block', 'words', 'rendered']],
  ['a lost mark', '**bold**', 'bold', ['marks']],
  ['a mark on too much', '**bold** text', '**bold text**', ['marks']],
  ['another mark', '**bold**', '*bold*', ['marks']],
  ['another link', 'a%20b)', 'ab)', ['marks']],
  ['a dead link within the page', '#first-part', '#elsewhere', ['marks']],
  ['a lost break', 'and\\\n', 'and\n', ['text']],
  ['a break by spaces', 'and\\\n', 'and  \n', ['raw']],
  ['another TeX', '$a^2 < b$', '$a^2 > b$', ['text', 'words', 'rendered']],
  ['another heading level', '## First', '### First', ['level']],
  ['another number', '3. third', '1. third', ['list', 'list']],
  ['a list cut in two', '4. fourth', '4) fourth', ['list']],
  ['another depth', '   - below', '\n- below\n', ['block', 'list']],
  ['a box not ticked', '- [x] done', '- [ ] done', ['list']],
  ['a box lost', '- [x] done', '- done', ['list']],
  ['code changed', '  y\n', ' y\n', ['code']],
  ['a language made up', '```\nx', '```ada\nx', ['lang']],
  ['a toggle opened for ever', '</details>\n\n', '', ['raw', 'block']],
  ['a callout outside of its quote', '> 💡 Mind', '💡 Mind', ['block']],
  ['quotes merged', 'this\n\n> Said', 'this\n>\n> Said', ['block']],
  ['a separator for a divider', '***\n', '---\n', ['raw']],
  ['another picture', 'x%20y.png', 'xy.png', ['link']],
  ['a description lost', '![A picture]', '![]', ['text']],
  ['a caption that is not shown', '\n\nA picture', '', ['block', 'words', 'rendered']],
  ['another block equation', 'E = mc^2', 'E = mc^3', ['text', 'words', 'rendered']],
  ['values run together', 'one, two', 'onetwo', ['table', 'words', 'rendered']],
  ['a cell split', 'a\\|b', 'a|b', ['table', 'words', 'rendered']],
  ['foreign raw HTML', 'a child', '<span>a child</span>', ['raw']],
  [
    'style sheets as text',
    '***\n',
    '***\n\nbody { white-space: pre-wrap }\n',
    ['block', 'words', 'rendered'],
  ],
  ['two blank lines', '***\n', '***\n\n', ['form']],
  ['no final newline', '`c` |\n', '`c` |', ['form']],
]

for (const [name, from, to, kinds] of faults) {
  test(`the judge sees: ${name}`, () => {
    assert.ok(markdown.includes(from), 'the fault has a place')
    const seen = judge(
      page,
      markdown.replace(from, () => to),
    ).map((difference) => difference.kind)
    assert.deepEqual([...new Set(seen)].sort(), [...new Set(kinds)].sort())
  })
}

/** TABLE: ways to write the same. Each must be as good as the first. */
const equals: [string, string, string][] = [
  ['HTML marks', '**bold**', '<strong>bold</strong>'],
  ['a literal address', 'a child', 'a child'],
  ['another bullet', '- below', '* below'],
  ['a longer fence', '```\nx < 1\n  y\n```', '````\nx < 1\n  y\n````'],
  ['a padded table', '| head | er |\n| - | - |', '| head   | er |\n| ------ | -- |'],
]

for (const [name, from, to] of equals) {
  test(`the judge accepts: ${name}`, () => {
    assert.ok(markdown.includes(from), 'the form has a place')
    assert.deepEqual(
      judge(
        page,
        markdown.replace(from, () => to),
      ),
      [],
    )
  })
}

test('children of a paragraph follow it, and the rest of the split paragraph adds nothing', () => {
  const html =
    '<article><header><h1 class="page-title">T</h1></header><div class="page-body"><p id="a" class="">one<div class="indented"><p id="b" class="">two<div class="indented"><p id="c" class="">three</p></div></p></div></p></div></article>'
  assert.deepEqual(
    compareOutlines(readExport(html), readMarkdown('# T\n\none\n\ntwo\n\nthree\n')),
    [],
  )
})

test('a page without a title takes its name from the file', () => {
  assert.deepEqual(
    judge(
      '<article><h1 class="page-title"></h1></article>',
      '# My notes\n',
      'My notes 0123456789abcdef0123456789abcdef.html',
    ),
    [],
  )
})

test('the shortest edit is found', () => {
  assert.deepEqual(diff([...'abcdef'], [...'abxdef'], Object.is), [{ a: [2, 3], b: [2, 3] }])
  assert.deepEqual(diff([...'abc'], [], Object.is), [{ a: [0, 3], b: [0, 0] }])
  assert.deepEqual(diff([...'bcd'], [...'abcde'], Object.is), [
    { a: [0, 0], b: [0, 1] },
    { a: [3, 3], b: [4, 5] },
  ])
  assert.deepEqual(
    diff([...'xaxbxc'], [...'abc'], Object.is).map((hunk) => hunk.a),
    [
      [0, 1],
      [2, 3],
      [4, 5],
    ],
  )
})
