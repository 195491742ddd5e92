import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import type { Form } from '../support/form.ts'
import { responseOf, convert, start, startServer } from '../support/harness.ts'

const page = file('Page.html', PAGE)
/** A form with transport padding after each boundary (RFC 2046, section 5.1.1). */
const padded = ({ contentType, body }: Form, padding: string): Form => ({
  contentType,
  body: Buffer.from(body.toString('latin1').replace(/^(--.*)$/gm, `$1${padding}`), 'latin1'),
})
const metadata = (content: string) => form({ name: 'include_metadata', content }, page)

/**
 * TABLE of forms that are all right: what is special, the form, the content type of the response.
 */
const TAKEN: [what: string, form: Form, type: RegExp][] = [
  ['the file before the fields', form(page, { name: 'format', content: 'json' }), /json/],
  ['the file after the fields', form({ name: 'format', content: 'json' }, page), /json/],
  [
    'the file between the fields',
    form({ name: 'format', content: 'json' }, page, { name: 'include_metadata', content: 'true' }),
    /json/,
  ],
  ['a format as a program sends a Blob', form(file('blob', 'json', 'format'), page), /json/],
  [
    'a format as bytes without a name',
    form({ name: 'format', content: 'json', type: 'application/octet-stream' }, page),
    /json/,
  ],
  ['format=markdown', form({ name: 'format', content: 'markdown' }, page), /markdown/],
  ['format=chunks', form({ name: 'format', content: 'chunks' }, page), /jsonl/],
  [
    'source_map=true with format=json behind it',
    form({ name: 'source_map', content: 'true' }, page, { name: 'format', content: 'json' }),
    /json/,
  ],
  [
    'unknown fields',
    form(
      { name: 'colour', content: 'red' },
      { name: '__proto__', content: 'x' },
      { name: 'toString', content: 'x' },
      page,
    ),
    /markdown/,
  ],
  [
    'an unknown file',
    form(file('other.bin', Buffer.alloc(100_000), 'other'), page, file('other.bin', '', 'other')),
    /markdown/,
  ],
  ['include_metadata=true', metadata('true'), /markdown/],
  ['include_metadata=FALSE', metadata('FALSE'), /markdown/],
  ['include_metadata=1', metadata('1'), /markdown/],
  ['include_metadata=0', metadata('0'), /markdown/],
  ['a name in another script', form(file('Überblick – 手引き 📘.html', PAGE)), /markdown/],
  ['a name with folders', form(file('../../etc/Page.html', PAGE)), /markdown/],
  [
    'no name, as a program streams it',
    form({ name: 'file', content: PAGE, type: 'application/octet-stream' }),
    /markdown/,
  ],
  [
    'spaces after the boundaries',
    padded(form(page, { name: 'format', content: 'json' }), ' \t'),
    /json/,
  ],
  ['many spaces after the boundaries', padded(form(page), ' '.repeat(200_000)), /markdown/],
  [
    'text after the form',
    { ...form(page), body: Buffer.concat([form(page).body, Buffer.from('\r\nbye')]) },
    /markdown/,
  ],
  [
    'text before the form',
    { ...form(page), body: Buffer.concat([Buffer.from('hello\r\n'), form(page).body]) },
    /markdown/,
  ],
]

/**
 * TABLE of names as the head of a part writes them (HTML standard, "multipart/form-data"; RFC 7578;
 * RFC 5987), and what they are.
 */
const NAMES: [written: string, name: string][] = [
  ['filename="Page.html"', 'Page.html'],
  ['filename="a %22quoted%22 100%.html"', 'a "quoted" 100%.html'],
  ['filename="a \\"quoted\\".html"', 'a "quoted".html'],
  ["filename*=UTF-8''%C3%9Cber%20%22uns%22.html", 'Über "uns".html'],
  ['filename="C:\\Users\\me\\Page.html"', 'Page.html'],
]

test('a file keeps its name, however the form encodes it', async (t) => {
  const server = await startServer(t)
  const token = await server.token()
  for (const [written, name] of NAMES) {
    const { contentType, body } = form(file('Page.html', PAGE), { name: 'format', content: 'json' })
    const response = await convert(server.url, token, {
      contentType,
      body: Buffer.from(body.toString().replace('filename="Page.html"', () => written)),
    })
    assert.equal(response.json<{ pages: [{ path: string }] }>().pages[0].path, name)
  }
})

test('valid forms are accepted, however they are laid out', async (t) => {
  const server = await startServer(t, { TOLLMARK_FREE_CONVERSIONS: '100' })
  const token = await server.token()
  for (const [what, right, type] of TAKEN) {
    await t.test(what, async () => {
      const response = await convert(server.url, token, right)
      assert.equal(response.status, 200, response.text)
      assert.match(String(response.headers['content-type']), type)
    })
  }
})

test('a form that arrives byte by byte is the same form', async (t) => {
  const server = await startServer(t)
  const { contentType, body } = form({ name: 'format', content: 'json' }, file('Page.html', PAGE))
  const outgoing = start(server.url, '/api/v1/convert', {
    token: await server.token(),
    headers: { 'content-type': contentType },
  })
  outgoing.setNoDelay(true)
  for (const byte of body) {
    outgoing.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
  outgoing.end()
  const response = await responseOf(outgoing)
  assert.equal(response.status, 200, response.text)
  assert.equal(response.json()['object'], 'document')
})
