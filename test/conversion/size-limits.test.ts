import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form, pageOf } from '../support/form.ts'
import type { Form } from '../support/form.ts'
import {
  responseOf,
  assertProblem,
  convert,
  start,
  shareServer,
  startServer,
} from '../support/harness.ts'
import { zipOf } from '../support/zip.ts'

const MB = 1_048_576

/** A page of exactly so many bytes, most of them tags. */
function pageOfLines(bytes: number): string {
  const line = '<p>Hello world</p>\n'
  return `<!DOCTYPE html>${line.repeat((bytes - 15) / line.length)}`.padEnd(bytes)
}

/** TABLE of sizes around the limits: what, the form, the status. */
const SIZES: [what: string, form: () => Form, status: number][] = [
  ['a page of 10 MB', () => form(file('Page.html', pageOf(10 * MB))), 200],
  [
    'a page of 10 MB of short paragraphs, each on its line',
    () => form(file('Page.html', pageOfLines(10 * MB))),
    200,
  ],
  ['a page of 10 MB and a byte', () => form(file('Page.html', pageOf(10 * MB + 1))), 413],
  ['an archive of 5 MB', () => form(file('Export.zip', zipOf(5 * MB, PAGE))), 200],
  ['an archive of 5 MB and a byte', () => form(file('Export.zip', zipOf(5 * MB + 1, PAGE))), 202],
  ['an archive of 50 MB', () => form(file('Export.zip', zipOf(50 * MB, PAGE))), 202],
  ['an archive of 50 MB and a byte', () => form(file('Export.zip', zipOf(50 * MB + 1, PAGE))), 413],
  [
    'a page of 10 MB and a byte that is named as an archive',
    () => form(file('Export.zip', pageOf(10 * MB + 1))),
    413,
  ],
  [
    'an archive of 11 MB that is named as a page',
    () => form(file('Page.html', zipOf(11 * MB, PAGE))),
    202,
  ],
  [
    'a page in front of 52 MB of something else',
    () => form(file('Page.html', PAGE), file('x', Buffer.alloc(52 * MB), 'other')),
    413,
  ],
]

test('uploads are accepted or refused by their size', async (t) => {
  const server = await shareServer()
  for (const [what, make, status] of SIZES) {
    await t.test(`${what} gets ${status}`, async () => {
      const response = await convert(server.url, await server.token({ account: what }), make())
      if (status === 413) assertProblem(response, 413, 'file_too_large')
      else assert.equal(response.status, status, response.text.slice(0, 500))
      assert.match(String(response.headers['ratelimit']), status < 300 ? /r=9;/ : /r=10;/)
    })
  }
})

test("413 names the limit for the file's kind, or both limits if the file was not read", async (t) => {
  const server = await shareServer()
  const token = await server.token()
  const detailOf = async (wrong: Form): Promise<string> =>
    String((await convert(server.url, token, wrong)).json()['detail'])
  const page = /^The file is larger than 10 MB, the limit for an HTML file\.$/
  assert.match(await detailOf(form(file('Page.html', pageOf(11 * MB)))), page)
  assert.match(
    await detailOf(form(file('Export.zip', zipOf(50 * MB + 1, PAGE)))),
    /^The file is larger than 50 MB, the limit for a ZIP archive\.$/,
  )
  const both =
    /^The upload is too large\. An HTML file may be up to 10 MB, a ZIP archive up to 50 MB\.$/
  assert.match(await detailOf(form(file('Page.html', pageOf(55 * MB)))), both)
  assert.match(
    await detailOf(form(file('Page.html', PAGE), file('x', Buffer.alloc(52 * MB), 'other'))),
    both,
  )

  // Without an announced length, the file's first bytes tell which it is.
  const { contentType, body } = form(file('Page.html', pageOf(55 * MB)))
  const outgoing = start(server.url, '/api/v1/convert', {
    token,
    headers: { 'content-type': contentType, 'transfer-encoding': 'chunked' },
  })
  t.after(() => outgoing.destroy())
  outgoing.write(body.subarray(0, 11 * MB))
  assert.match(String((await responseOf(outgoing)).json()['detail']), page)
})

test('413 is sent at the first byte over the limit', async (t) => {
  const server = await startServer(t, { TOLLMARK_MAX_HTML: '64KB' })
  const { contentType, body } = form(file('Page.html', pageOf(65_537)))
  const end = body.indexOf('</html>') + '</html>'.length
  // The form is announced to be longer than what is sent: the response comes all the same.
  const outgoing = start(server.url, '/api/v1/convert', {
    token: await server.token(),
    headers: { 'content-type': contentType, 'content-length': String(40 * MB) },
  })
  t.after(() => outgoing.destroy())
  outgoing.write(body.subarray(0, end))
  assertProblem(await responseOf(outgoing), 413, 'file_too_large')
})

test('a form whose Content-Length exceeds every limit is refused immediately', async (t) => {
  const server = await shareServer()
  const headers = { 'content-type': form().contentType, 'content-length': String(60 * MB) }
  const outgoing = start(server.url, '/api/v1/convert', { token: await server.token(), headers })
  t.after(() => outgoing.destroy())
  outgoing.flushHeaders()
  assertProblem(await responseOf(outgoing), 413, 'file_too_large')
})

/**
 * TABLE of heads that are refused before a body is asked for: what, the path, the type, the length,
 * the response.
 */
const REFUSED_HEADS: [
  what: string,
  path: string,
  type: string,
  length: number,
  status: number,
  code: string,
][] = [
  [
    'more than any upload may have',
    '/api/v1/convert',
    form().contentType,
    60 * MB,
    413,
    'file_too_large',
  ],
  ['no form', '/api/v1/convert', 'application/json', 10, 400, 'missing_file'],
  [
    'a form without a boundary',
    '/api/v1/convert',
    'multipart/form-data; a=b',
    10,
    400,
    'missing_file',
  ],
  [
    'a JSON body that is too large',
    '/api/v1/tokens',
    'application/json',
    MB,
    413,
    'file_too_large',
  ],
]

test('a caller that sends Expect with too large a Content-Length is refused before its body', async (t) => {
  const server = await startServer(t)
  const token = await server.token({ scopes: ['convert', 'manage'] })
  for (const [what, path, type, length, status, code] of REFUSED_HEADS) {
    await t.test(what, async () => {
      const outgoing = start(server.url, path, {
        token,
        headers: { 'content-type': type, 'content-length': String(length), expect: '100-continue' },
      })
      let asked = false
      outgoing.on('continue', () => (asked = true))
      outgoing.flushHeaders()
      assertProblem(await responseOf(outgoing), status, code)
      outgoing.destroy()
      assert.equal(asked, false)
    })
  }
})

test('a page limit above the archive limit applies, too', async (t) => {
  const server = await startServer(t, { TOLLMARK_MAX_HTML: '3MB', TOLLMARK_MAX_ZIP: '1MB' })
  assert.equal(
    (await convert(server.url, await server.token(), form(file('Page.html', pageOf(3 * MB)))))
      .status,
    200,
  )
})

test('limits are exact to the byte, even before the file’s kind is known', async (t) => {
  for (const [maxHtml, maxZip] of [
    [5000, 6000],
    [1000, 2000],
  ] as const) {
    const server = await startServer(t, {
      TOLLMARK_MAX_HTML: String(maxHtml),
      TOLLMARK_MAX_ZIP: String(maxZip),
    })
    const token = await server.token()
    const statusOf = async (name: string, content: string | Buffer): Promise<number> =>
      (await convert(server.url, token, form(file(name, content)))).status
    for (const [below, status] of [
      [1, 200],
      [0, 200],
      [-1, 413],
    ] as const) {
      assert.equal(await statusOf('Page.html', pageOf(maxHtml - below)), status)
      assert.equal(await statusOf('Export.zip', zipOf(maxZip - below, PAGE)), status)
    }
  }
})
