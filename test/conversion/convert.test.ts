import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, convert, shareServer, startServer } from '../support/harness.ts'
import { zip } from '../support/zip.ts'

test('the response to an HTML page is Markdown', async () => {
  const server = await shareServer()
  const response = await convert(
    server.url,
    await server.token(),
    form(file('Team handbook.html', PAGE)),
  )
  assert.equal(response.status, 200, response.text)
  assert.equal(response.headers['content-type'], 'text/markdown; charset=utf-8')
  assert.equal(response.headers['content-length'], String(response.bytes.length))
  assert.match(response.text, /Be kind\./)
  assert.match(response.text, /[^\n]\n$/)
})

test('the response to format=json is JSON', async () => {
  const server = await shareServer()
  const response = await convert(
    server.url,
    await server.token(),
    form({ name: 'format', content: 'json' }, file('Team handbook.html', PAGE)),
  )
  assert.equal(response.status, 200, response.text)
  assert.equal(response.headers['content-type'], 'application/json')
  assert.equal(response.json()['object'], 'document')
})

test('a ZIP archive is converted, whatever its name says', async () => {
  const server = await shareServer()
  const archive = zip({ 'Team handbook 0123456789abcdef0123456789abcdef.html': PAGE })
  for (const name of ['Export.zip', 'Export.html', 'Export']) {
    const response = await convert(
      server.url,
      await server.token({ account: name }),
      form(file(name, archive)),
    )
    assert.equal(response.status, 200, response.text)
  }
})

/** TABLE of encodings that a page may come in. */
const ENCODINGS: [name: string, bytes: Buffer][] = [
  ['UTF-8', Buffer.from(PAGE)],
  ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${PAGE}`)],
  ['UTF-16LE with a byte order mark', Buffer.from(`\uFEFF${PAGE}`, 'utf16le')],
  ['UTF-16BE with a byte order mark', Buffer.from(`\uFEFF${PAGE}`, 'utf16le').swap16()],
  ['a declared charset', Buffer.from(PAGE.replace('utf-8', 'windows-1252'), 'latin1')],
]

for (const [name, bytes] of ENCODINGS) {
  test(`a page in ${name} is accepted`, async () => {
    const server = await shareServer()
    const response = await convert(server.url, await server.token(), form(file('Page.html', bytes)))
    assert.equal(response.status, 200, response.text)
  })
}

test('every response of the endpoint has the quota and a request id', async () => {
  const server = await shareServer()
  const token = await server.token()
  const responses = [
    await convert(server.url, token, form(file('Page.html', PAGE))),
    await convert(server.url, token, form()),
    await convert(server.url, undefined, form(file('Page.html', PAGE))),
  ]
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 400, 401],
  )
  for (const { headers, status } of responses) {
    // Nobody is told another one's quota.
    assert.equal(headers['ratelimit-policy'], status === 401 ? undefined : '"free";q=10;w=86400')
    if (status === 401) assert.equal(headers['ratelimit'], undefined)
    else assert.match(String(headers['ratelimit']), /^"free";r=\d+;t=\d+$/)
    assert.match(String(headers['x-request-id']), /^req_\w+$/)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
  assert.match(String(responses[0]?.headers['ratelimit']), /r=9;/)
  assert.match(String(responses[1]?.headers['ratelimit']), /r=9;/)
})

test('an unlimited plan sends no quota headers, and a compressed form is refused', async (t) => {
  const server = await startServer(t, { TOLLMARK_PLANS: '{"free":{"conversions_per_day":null}}' })
  const token = await server.token()
  const { status, headers } = await convert(server.url, token, form(file('Page.html', PAGE)))
  assert.deepEqual(
    [status, headers['ratelimit'], headers['ratelimit-policy']],
    [200, undefined, undefined],
  )
  const response = await convert(server.url, token, form(file('Page.html', PAGE)), {
    'content-encoding': 'gzip',
  })
  assertProblem(response, 415, 'unsupported_file_type')
  assert.match(response.text, /compressed \(Content-Encoding: gzip\)/)
})
