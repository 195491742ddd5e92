// What users of other converters complain about, each as a case: what the exporter wrote, and what
// must come of it.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { convertFile } from '../../packages/notion-markdown/src/archive/index.ts'
import { convertHtml } from '../../packages/notion-markdown/src/index.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { zip } from '../support/zip.ts'
import { judge } from './compare.ts'

/** A page around a body. */
const page = (body: string, title = 'Page') =>
  `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/><title>${title}</title><style>\n/* cspell:disable-file */\nhtml { -webkit-print-color-adjust: exact; }\nbody { line-height: 1.5; white-space: pre-wrap; }\n</style></head><body><article id="0a1b2c3d-0000-4000-8000-000000000000" class="page sans"><header><h1 class="page-title">${title}</h1><p class="page-description"></p></header><div class="page-body">${body}</div></article><span class="sans" style="font-size:14px;padding-top:2em"></span></body></html>`

const equation = (tex: string, shown: string) =>
  `<style>@import url('https://example.com/katex.min.css')</style><span data-token-index="0" contenteditable="false" class="notion-text-equation-token" style="user-select:all"><span></span><span><span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>${shown}</mi></mrow><annotation encoding="application/x-tex">${tex}</annotation></semantics></math></span><span class="katex-html" aria-hidden="true"><span class="base">${shown}</span></span></span></span><span>\u{FEFF}</span></span>`

/** TABLE: the complaint, the body that the exporter wrote, the Markdown after the title. */
const complaints: { title: string; body: string; markdown: string }[] = [
  {
    title: 'toggles are flattened',
    body: '<ul id="a" class="toggle"><li><details open=""><summary>Outer <strong>one</strong></summary><p id="b" class="">inside</p><ul id="c" class="toggle"><li><details open=""><summary>Inner</summary><p id="d" class="">deeper</p></details></li></ul></details></li></ul><p id="e" class="">outside</p>',
    markdown:
      '<details>\n<summary>Outer <strong>one</strong></summary>\n\ninside\n\n<details>\n<summary>Inner</summary>\n\ndeeper\n\n</details>\n\n</details>\n\noutside\n',
  },
  {
    title: 'toggle headings lose their level',
    body: '<details open=""><summary style="font-weight:600;font-size:1.5em;line-height:1.3;margin:0">Part</summary><div class="indented"><p id="b" class="">inside</p></div></details>',
    markdown: '<details>\n<summary><h3>Part</h3></summary>\n\ninside\n\n</details>\n',
  },
  {
    title: 'callouts are lost',
    body: '<figure class="block-color-gray_background callout" style="white-space:pre-wrap;display:flex" id="a"><div style="font-size:1.5em"><span class="icon">💡</span></div><div style="width:100%"><p id="b" class="">Mind <em>this</em></p><ul id="c" class="bulleted-list"><li style="list-style-type:disc">and this</li></ul></div></figure>',
    markdown: '> 💡 Mind *this*\n>\n> - and this\n',
  },
  {
    title: 'numbered lists begin at 1 again',
    body: '<ol type="1" id="a" class="numbered-list" start="1"><li>one</li></ol><p id="b" class="">between</p><ol type="1" id="c" class="numbered-list" start="2"><li>two</li></ol><ol type="1" id="d" class="numbered-list" start="3"><li>three</li></ol>',
    markdown: '1. one\n\nbetween\n\n2. two\n3. three\n',
  },
  {
    title: 'nested lists are flattened',
    body: '<ol type="1" id="a" class="numbered-list" start="9"><li>nine<ol type="a" id="b" class="numbered-list" start="1"><li>below<ul id="c" class="bulleted-list"><li style="list-style-type:square">deepest</li></ul></li></ol></li></ol><ol type="1" id="d" class="numbered-list" start="10"><li>ten<p id="e" class="">its paragraph</p></li></ol>',
    markdown: '9. nine\n   1. below\n      - deepest\n10. ten\n\n    its paragraph\n',
  },
  {
    title: 'children of paragraphs are lost',
    body: '<p id="a" class="">parent<div class="indented"><p id="b" class="">child<div class="indented"><p id="c" class="">grandchild</p></div></p></div></p><p id="d" class="">sibling</p>',
    markdown: 'parent\n\nchild\n\ngrandchild\n\nsibling\n',
  },
  {
    title: 'formulas are printed three times',
    body: `<p id="a" class="">where ${equation('a_1 &lt; \\frac{b}{c}', 'a1&lt;bc')} holds</p><figure id="b" class="equation"><style>@import url('https://example.com/katex.min.css')</style><div class="equation-container"><span class="katex-display"><span class="katex"><span class="katex-mathml"><math display="block"><semantics><mrow><mi>E</mi></mrow><annotation encoding="application/x-tex">E = mc^2 \\\\\n\\text{so } m \\ne 0</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">E=mc2</span></span></span></div></figure>`,
    markdown: 'where $a_1 < \\frac{b}{c}$ holds\n\n$$\nE = mc^2 \\\\\n\\text{so } m \\ne 0\n$$\n',
  },
  {
    title: 'prices become formulas',
    body: '<p id="a" class="">from $5 to $10, not $20</p>',
    markdown: 'from \\$5 to \\$10, not \\$20\n',
  },
  {
    title: 'style sheets are printed as text',
    body: '<p id="a" class="">words</p>',
    markdown: 'words\n',
  },
  {
    title: 'values run together, check boxes and links of a database are lost',
    body: '<div id="a" class="collection-content"><h4 class="collection-title">Tasks</h4><table class="collection-content"><thead><tr><th><span class="icon property-icon"><svg class="typesTitle"><path d="M0 0"></path></svg></span>Name</th><th><span class="icon property-icon"><svg class="typesCheckbox"><path d="M0 0"></path></svg></span>Done</th><th><span class="icon property-icon"><svg class="typesMultipleSelect"><path d="M0 0"></path></svg></span>Tags</th></tr></thead><tbody><tr id="b"><td class="cell-title"><a href="Tasks/Write%20it%200123456789abcdef0123456789abcdef.html">Write it</a></td><td class="cell-x"><div class="checkbox checkbox-on"></div></td><td class="cell-y"><span class="selected-value select-value-color-red">home</span><span class="selected-value select-value-color-blue">work</span></td></tr><tr id="c"><td class="cell-title"><a href="https://www.notion.so/Other-0123456789abcdef0123456789abcdef?pvs=21">Other</a></td><td class="cell-x"><div class="checkbox checkbox-off"></div></td><td class="cell-y"></td></tr></tbody></table></div>',
    markdown:
      '## Tasks\n\n| Name | Done | Tags |\n| --- | --- | --- |\n| [Write it](Tasks/Write%20it%200123456789abcdef0123456789abcdef.html) | ☑ | home, work |\n| [Other](https://www.notion.so/Other-0123456789abcdef0123456789abcdef?pvs=21) | ☐ |  |\n',
  },
  {
    title: 'soft line breaks are lost (old exports)',
    body: '<p id="a" class="">first\nsecond\nthird</p>',
    markdown: 'first\\\nsecond\\\nthird\n',
  },
  {
    title: 'soft line breaks are lost (new exports)',
    body: '<p id="a" class="">first<br/>second</p><table id="b" class="simple-table"><tbody><tr id="c"><td id="d" class="">one<br/>two</td></tr></tbody></table>',
    markdown: 'first\\\nsecond\n\n|  |\n| --- |\n| one<br>two |\n',
  },
  {
    title: 'bold breaks in Chinese and Japanese',
    body: '<p id="a" class="">这是<strong>“重要”</strong>的。これは<strong>「太字」</strong>です。<strong>加粗</strong>文字</p>',
    markdown: '这是<strong>“重要”</strong>的。これは<strong>「太字」</strong>です。**加粗**文字\n',
  },
  {
    title: 'bold breaks beside spaces',
    body: '<p id="a" class=""><strong>bold </strong>plain<em> italic</em>, <strong>one</strong><strong>two</strong></p>',
    markdown: '**bold** plain *italic*, **onetwo**\n',
  },
  {
    title: 'literal tags become live HTML',
    body: '<p id="a" class="">Use &lt;b&gt;bold&lt;/b&gt; or &lt;script&gt;alert(1)&lt;/script&gt; &amp;lt; here</p>',
    markdown: 'Use \\<b>bold\\</b> or \\<script>alert(1)\\</script> \\&lt; here\n',
  },
  {
    title: 'javascript: links stay alive',
    body: '<p id="a" class=""><a href="javascript:alert(1)">one</a> <a href=" JaVa\tScript:alert(1)">two</a> <a href="data:text/html,&lt;script&gt;">three</a> <a href="https://example.com/">four</a></p>',
    markdown: 'one two three [four](https://example.com/)\n',
  },
  {
    title: 'images break by encoded names',
    body: '<figure id="a" class="image"><a href="Page%200a/Bild%20(1)%20%C3%BC.png"><img style="width:240px" src="Page%200a/Bild%20(1)%20%C3%BC.png"/></a><figcaption>An image</figcaption></figure><figure id="b" class="image"><a href="Page%200a/%25D0%25BA.jpg"><img src="Page%200a/%25D0%25BA.jpg"/></a></figure>',
    markdown:
      '![An image](Page%200a/Bild%20%281%29%20%C3%BC.png)\n\nAn image\n\n![](Page%200a/%25D0%25BA.jpg)\n',
  },
  {
    title: 'one bad % fails a whole import',
    body: '<p id="a" class=""><a href="100%.html">all of it</a>, <a href="%E0%A4%A.html">half a letter</a></p>',
    markdown: '[all of it](100%25.html), [half a letter](%25E0%25A4%25A.html)\n',
  },
  {
    title: 'every wrapped item becomes a list of its own',
    body: '<div style="display:contents" dir="auto"><ul id="a" class="bulleted-list"><li style="list-style-type:disc">one<div style="display:contents" dir="auto"><ul id="b" class="bulleted-list"><li style="list-style-type:circle">below</li></ul></div></li></ul></div><div style="display:contents" dir="auto"><ul id="c" class="bulleted-list"><li style="list-style-type:disc">two</li></ul></div>',
    markdown: '- one\n  - below\n- two\n',
  },
  {
    title: 'the language of code is lost',
    body: '<pre id="a" class="code"><code class="language-C++">a &lt; b;\n\n  c;</code></pre><pre id="b" class="code"><code class="language-Plain Text">```\nplain</code></pre>',
    markdown: '```cpp\na < b;\n\n  c;\n```\n\n````\n```\nplain\n````\n',
  },
]

for (const { title, body, markdown } of complaints) {
  test(`answered: ${title}`, () => {
    const actual = convertHtml(page(body))
    assert.equal(actual, `# Page\n\n${markdown}`)
    // What is written here by hand is held against the page as well.
    assert.deepEqual(judge(page(body), actual), [])
  })
}

test('answered: the stack overflows on deep nesting', () => {
  const nests: [string, string][] = [
    ['<ul class="bulleted-list"><li>x', '</li></ul>'],
    ['<ul class="bulleted-list">', '</ul>'],
    ['<blockquote>x', '</blockquote>'],
    ['<figure class="callout">', '</figure>'],
    ['<div>', '</div>'],
    ['<strong>', '</strong>'],
    ['<details><summary>x</summary>', '</details>'],
    ['<table><tbody><tr><td>', '</td></tr></tbody></table>'],
  ]
  for (const [open, close] of nests) {
    const markdown = convertHtml(
      page(
        `<p id="a" class="">before</p>${open.repeat(20_000)}needle${close.repeat(20_000)}<p id="b" class="">after</p>`,
      ),
    )
    for (const word of ['before', 'needle', 'after'])
      assert.ok(markdown.includes(word), `${word} within ${open}`)
  }
})

test('answered: the stack overflows on a table of contents that only goes deeper', () => {
  const entries = Array.from(
    { length: 20_000 },
    (_, i) =>
      `<div class="table_of_contents-item table_of_contents-indent-${i}"><a class="table_of_contents-link" href="#h">entry</a></div>`,
  )
  const markdown = convertHtml(
    page(`<nav id="a" class="table_of_contents">${entries.join('')}</nav>`),
  )
  assert.equal(markdown.match(/\[entry\]/g)?.length, 20_000)
})

test('answered: one large page never ends', () => {
  const body =
    '<p id="a" class="">A <strong>bold</strong> word, <a href="https://example.com/">a link</a> and * _ [ ` $ &lt; &amp; in plenty.</p>'.repeat(
      30_000,
    )
  const markdown = convertHtml(page(body))
  assert.equal(markdown.match(/in plenty\./g)?.length, 30_000)
})

/** The document of an archive with these entries. */
async function convertEntries(
  t: TestContext,
  entries: Record<string, string | Buffer>,
): Promise<string> {
  const path = join(temporaryFolder(t), 'Export.zip')
  await writeFile(path, zip(entries))
  let document = ''
  await convertFile(
    {
      path,
      kind: 'zip',
      fileName: 'Export.zip',
      format: 'markdown',
      includeMetadata: false,
      uploadedAt: new Date(0),
    },
    (piece) => {
      document += piece
    },
  )
  return document
}

const home = page(
  '<p id="a" class="">See <a href="Home%200a/My%20notes%200b.html">My notes</a> and <a href="https://www.notion.so/Elsewhere-0123456789abcdef0123456789abcdef">elsewhere</a>.</p>',
  'Home',
)
const notes = page(
  '<p id="a" class="">Back <a href="../Home%200a.html">home</a>, <a href="100%.html">on</a></p><figure id="b" class="image"><a href="My%20notes%200b/x%20y.png"><img src="My%20notes%200b/x%20y.png"/></a></figure>',
  'My notes',
)

const joined = `# Home

See [My notes](#my-notes) and [elsewhere](https://www.notion.so/Elsewhere-0123456789abcdef0123456789abcdef).

---

# My notes

Back [home](#home), [on](Home%200a/100%25.html)

![](Home%200a/My%20notes%200b/x%20y.png)
`

test('answered: links between pages are dead', async (t) => {
  assert.equal(
    await convertEntries(t, { 'Home 0a.html': home, 'Home 0a/My notes 0b.html': notes }),
    joined,
  )
})

test('answered: part archives are not opened', async (t) => {
  const part = zip({ 'Home 0a.html': home, 'Home 0a/My notes 0b.html': notes })
  assert.equal(
    await convertEntries(t, {
      'ExportBlock-00000000-0000-4000-8000-000000000000-Part-1.zip': part,
    }),
    joined,
  )
})
