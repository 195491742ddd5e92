// Markup that means the same makes the same document: what browsers, editors and scripts make of a
// page that they save.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parse, serialize } from 'parse5'
import { convertHtml } from '@tollmark/notion-markdown'
import { casePages } from '../../packages/notion-markdown/test/document-of.ts'
import { pageArbitrary } from '../fidelity/arbitrary.ts'
import { ERAS, printPage } from '../fidelity/exporter.ts'

const TAG = /<(\/?)([a-zA-Z][^\s/>]*)((?:"[^"]*"|'[^']*'|[^"'<>])*)>/g
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*"([^"]*)")?/g
/** What is not read as tags and text. */
const RAW = /(<(style|script)\b[^>]*>[^]*?<\/\2>)/gi

type Tag = (end: string, name: string, attributes: string) => string

/** Rewrites what is read as tags and text. */
function outsideRaw(html: string, rewrite: (part: string) => string): string {
  const parts = html.split(RAW)
  let rewritten = ''
  for (let i = 0; i < parts.length; i += 3)
    rewritten += rewrite(parts[i] ?? '') + (parts[i + 1] ?? '')
  return rewritten
}

const tags = (rewrite: Tag) => (html: string) =>
  outsideRaw(html, (part) =>
    part.replace(TAG, (_, end: string, name: string, attributes: string) =>
      rewrite(end, name, attributes),
    ),
  )

/** Rewrites the attributes of start tags. */
const attributes = (rewrite: (name: string, value: string, whole: string) => string) =>
  tags((end, name, source) => {
    const replaced = source.replace(ATTRIBUTE, (whole, attribute: string, value?: string) =>
      value === undefined ? whole : rewrite(attribute, value, whole),
    )
    return `<${end}${name}${replaced}>`
  })

const text = (rewrite: (part: string) => string) => (html: string) =>
  outsideRaw(html, (part) =>
    part
      .split(/(<(?:"[^"]*"|'[^']*'|[^"'<>])*>)/)
      .map((piece, i) => (i % 2 === 0 ? rewrite(piece) : piece))
      .join(''),
  )

/** TABLE of ways to write the same page. */
const REWRITTEN: Readonly<Record<string, (html: string) => string>> = {
  'capitals in tags': tags((end, name, source) => `<${end}${name.toUpperCase()}${source}>`),
  'single quotes': attributes((name, value, whole) =>
    value.includes("'") ? whole : `${name}='${value}'`,
  ),
  'no quotes': (html) =>
    attributes((name, value, whole) => (/^[^\s"'=<>`]+$/.test(value) ? `${name}=${value}` : whole))(
      tags((end, name, source) => `<${end}${name}${source.replace(/\/$/, '')}>`)(html),
    ),
  'attributes on lines of their own': attributes((_, __, whole) => `\n${whole}`),
  'more attributes': tags((end, name, source) =>
    end ? `</${name} >` : `<${name} data-x="a &lt; b"${source}>`,
  ),
  'more classes': attributes((name, value, whole) =>
    name === 'class' && !value.startsWith('language-') ? `class="x ${value} y"` : whole,
  ),
  comments: tags((end, name, source) => `<!-- a > b --><${end}${name}${source}>`),
  'CR LF': (html) => html.replaceAll('\n', '\r\n'),
  references: text((part) => part.replace(/\P{ASCII}/gu, (char) => `&#${char.codePointAt(0)};`)),
  'what a browser saves': (html) =>
    `<!DOCTYPE html>\n<!-- saved from url=(0029)https://www.notion.so/x -->\n${serialize(parse(html))}`,
}

const generated = fc
  .sample(pageArbitrary, { numRuns: 60, seed: 1 })
  .map((page, i) => printPage(page, ERAS[i % ERAS.length] ?? 1))

for (const [how, rewrite] of Object.entries(REWRITTEN))
  test(`the same document with ${how}`, () => {
    for (const html of [...casePages(), ...generated])
      assert.equal(convertHtml(rewrite(html)), convertHtml(html), html)
  })
