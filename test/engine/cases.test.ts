// The engine's cases as data: each file of cases/ holds many of `@@ title`, the HTML of a page's
// body, `=>`, the Markdown below the title. `UPDATE=1` rewrites the Markdown. Each is checked
// twice: the text, and that an independent reader of CommonMark finds in it what an independent
// reader of the export finds in the HTML.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { convertHtml } from '@tollmark/notion-markdown'
import { judge } from '../fidelity/compare.ts'

const folder = join(import.meta.dirname, 'cases')

/** A page of the newest exporters around the HTML of its body. */
const page = (body: string) =>
  `<html><head><title>T</title></head><body><article id="0123456789abcdef0123456789abcdef" class="page sans"><header><h1 class="page-title" dir="auto">T</h1></header><div class="page-body">${body}</div></article></body></html>`

for (const name of readdirSync(folder).sort()) {
  const path = join(folder, name)
  const cases = readFileSync(path, 'utf8')
    .split(/^@@ /m)
    .slice(1)
    .map((source) => {
      const title = source.slice(0, source.indexOf('\n'))
      const [html = '', markdown = ''] = source.slice(title.length + 1).split(/^=>\n/m)
      return { title, html: html.replace(/\n$/, ''), markdown }
    })
  const results = cases.map(({ html }) =>
    html.startsWith('<html') ? convertHtml(html) : convertHtml(page(html)).replace(/^# T\n\n?/, ''),
  )
  if (process.env['UPDATE'])
    writeFileSync(
      path,
      cases.map(({ title, html }, i) => `@@ ${title}\n${html}\n=>\n${results[i]}\n`).join(''),
    )
  for (const [i, { title, html, markdown }] of cases.entries()) {
    test(`${name.replace(/\.txt$/, '')}: ${title}`, () => {
      if (!process.env['UPDATE']) assert.equal(results[i], markdown.replace(/\n$/, ''))
      const whole = html.startsWith('<html') ? html : page(html)
      assert.deepEqual(judge(whole, convertHtml(whole)), [])
    })
  }
}

test('deeply nested lines lengthen a document by a bounded amount, and none is lost', () => {
  const lines = 100_000
  const deep = (open: string, close: string, inner: string): string =>
    `<article class="page"><div class="page-body">${open.repeat(600)}${inner}${close.repeat(600)}</div></article>`
  const pages = {
    'paragraphs in lists': deep(
      '<ul class="bulleted-list"><li>',
      '</li></ul>',
      '<p>word</p>'.repeat(lines),
    ),
    'paragraphs in quotes': deep('<blockquote>', '</blockquote>', '<p>word</p>'.repeat(lines)),
    'lines of code in numbered lists': deep(
      '<ol class="numbered-list" start="1000"><li>',
      '</li></ol>',
      `<pre class="code"><code>${'word\n'.repeat(lines)}</code></pre>`,
    ),
    'rows in to-dos': deep(
      '<ul class="to-do-list"><li>',
      '</li></ul>',
      `<table class="simple-table"><tbody>${'<tr><td>word</td></tr>'.repeat(lines)}</tbody></table>`,
    ),
  }
  for (const [what, html] of Object.entries(pages)) {
    const text = convertHtml(html)
    assert.ok(
      text.length < 70 * 1024 * 1024,
      `${what}: ${text.length} characters of ${html.length}`,
    )
    assert.equal(text.split('word').length - 1, lines, what)
  }
})
