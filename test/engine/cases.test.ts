// The engine's cases as data: each file of cases/ holds many of `@@ title`, the HTML of a page's body, `=>`, the Markdown
// below the title. `UPDATE=1` rewrites the Markdown. Each is checked twice: the text, and that an independent reader of
// CommonMark finds in it what an independent reader of the export finds in the HTML.
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
  const cases = readFileSync(path, 'utf8').split(/^@@ /m).slice(1).map((source) => {
    const title = source.slice(0, source.indexOf('\n'))
    const [html = '', markdown = ''] = source.slice(title.length + 1).split(/^=>\n/m)
    return { title, html: html.replace(/\n$/, ''), markdown }
  })
  const results = cases.map(({ html }) => (html.startsWith('<html') ? convertHtml(html) : convertHtml(page(html)).replace(/^# T\n\n?/, '')))
  if (process.env['UPDATE']) writeFileSync(path, cases.map(({ title, html }, i) => `@@ ${title}\n${html}\n=>\n${results[i]}\n`).join(''))
  for (const [i, { title, html, markdown }] of cases.entries()) {
    test(`${name.replace(/\.txt$/, '')}: ${title}`, () => {
      if (!process.env['UPDATE']) assert.equal(results[i], markdown.replace(/\n$/, ''))
      const whole = html.startsWith('<html') ? html : page(html)
      assert.deepEqual(judge(whole, convertHtml(whole)), [])
    })
  }
}
