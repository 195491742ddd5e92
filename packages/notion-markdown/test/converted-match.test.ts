// Pages whose Markdown is read when they are converted, before their links are filled in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Anchors, resolveTargets } from '../src/anchors.ts'
import { matchConverted, readingOfMatch } from '../src/certificate/converted-match.ts'
import { DOCUMENT } from '../src/certificate/dialect.ts'
import { readExportedPage } from '../src/certificate/export-reader.ts'
import { readMarkdownPage } from '../src/certificate/markdown-reader.ts'
import { convertPage } from '../src/converted-page.ts'
import { takeMarks } from '../src/source-marks.ts'
import { casePages, pageOf } from './document-of.ts'

/** A page's Markdown as it is converted, and as it is in a document. */
function convert(html: string, isMarked = false): { converted: string; markdown: string } {
  const { markdown: converted, summary } = convertPage(html, 'Page.html', null, undefined, {
    isMarked,
    hasTables: false,
  })
  const slugs = new Anchors().ofPage(summary.outline)
  const resolved = resolveTargets(converted, summary.outline, slugs, () => undefined)
  return { converted, markdown: takeMarks(resolved).markdown }
}

const LINKED =
  '<h1 id="a1">One</h1><p><a href="#a1">to one</a>, <a href="#a1">again</a>, <a href="#none">to the page</a>, <a href="https://a.example/">away</a></p>' +
  '<table class="simple-table"><tbody><tr><td><a href="#a1">in a cell</a></td><td>|</td></tr></tbody></table>' +
  '<details><summary><a href="#a1">in HTML</a></summary><p>x</p></details>'

test('what is read of a converted page is what a reader of the complete page finds', () => {
  let matching = 0
  const pages = [...casePages(), pageOf(LINKED)]
  for (const html of pages)
    for (const isMarked of [false, true]) {
      const exported = readExportedPage(html, 'Page.html')
      const { converted, markdown } = convert(html, isMarked)
      const match = matchConverted(exported, converted, DOCUMENT)
      if (!match) continue
      matching++
      const { counts, digest } =
        readingOfMatch(exported, match, { converted, markdown, dialect: DOCUMENT }) ?? {}
      const whole = readMarkdownPage(markdown)
      assert.deepEqual([counts, digest], [whole.counts, whole.digest], html)
    }
  assert.ok(matching > 1.9 * pages.length, `${matching} readings of ${pages.length} pages`)
})

test('a page is read again if more than its addresses has changed', () => {
  const exported = readExportedPage(pageOf(LINKED), 'Page.html')
  const { converted, markdown } = convert(pageOf(LINKED))
  const match = matchConverted(exported, converted, DOCUMENT)
  assert.ok(match)
  /** TABLE of changes. */
  const changes: [from: string, to: string][] = [
    ['to one', 'to two'],
    ['[again](#one), ', ''],
    ['(#one)', '(#one) more ()'],
    ['(#one)', '(#one "title")'],
    ['(#one)', '(#one\\)'],
    ['(#one)', '()'],
    ['# T\n', '# T\n\nadded\n'],
    ['x\n', 'x\n\nadded\n'],
  ]
  for (const [from, to] of changes) {
    assert.ok(markdown.includes(from), from)
    const changed = markdown.replace(from, to)
    assert.equal(
      readingOfMatch(exported, match, { converted, markdown: changed, dialect: DOCUMENT }),
      null,
      to,
    )
  }
})

test('a page that differs, or shows an address, is read again', () => {
  const exported = readExportedPage(pageOf('<p>a b</p>'), 'Page.html')
  assert.equal(matchConverted(exported, '# T\n\na c\n', DOCUMENT), null)
  assert.equal(matchConverted(exported, '# T\n\na \0page/b\0\n', DOCUMENT), null)
  assert.notEqual(matchConverted(exported, '# T\n\na [b](\0page/b\0)\n', DOCUMENT), null)
})
