// What caches and browsers keep of our responses: by one address different keys get different ones,
// and one address is no other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { call } from '../support/relayed.ts'
import { ANTHROPIC, FORMS, GOOGLE, OPENAI, shareServed } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const CACHED = {
  ...JSON_TYPE,
  'Cache-Control': 'public, max-age=600',
  ETag: '"1"',
  Vary: 'Accept-Encoding',
}
const valuesOf = (raw: readonly string[], name: string) =>
  raw.filter((_, i) => i % 2 === 1 && raw[i - 1]!.toLowerCase() === name)

test('a cacheable response has Vary for the headers it depends on', async () => {
  const { fake, key, send, port } = await shareServed(respond(200, CACHED, '{"data":[]}'))
  const { secret } = await key({ objects: 'upstream' })
  for (const form of FORMS) {
    for (const [method, address, status] of [
      ['GET', `${OPENAI}/v1/models`, 200],
      ['HEAD', `${ANTHROPIC}/v1/models`, 200],
      ['GET', `${GOOGLE}/v1beta/files/x`, 404],
      ['GET', `${OPENAI}/v1/files/x`, 304],
    ] as const) {
      fake.play(respond(status, CACHED, status === 200 && method === 'GET' ? '{"data":[]}' : ''))
      const got = await send(secret, address, { method, form })
      assert.equal(got.status, status)
      const varies = valuesOf(got.rawHeaders, 'vary').join(', ').split(', ')
      for (const name of [
        'Accept-Encoding',
        'authorization',
        'x-api-key',
        'x-goog-api-key',
        'api-key',
        'xi-api-key',
        'origin',
      ])
        assert.ok(varies.includes(name), `${method} ${address} ${name}: ${varies.join()}`)
      assert.equal(varies.includes('x-fal-target-url'), false)
    }
    fake.play(respond(200, CACHED, '{}'))
    assert.deepEqual(
      valuesOf(
        (
          await send(secret, `${OPENAI}/v1/chat/completions`, {
            form,
            body: '{"model":"m"}',
            headers: JSON_TYPE,
          })
        ).rawHeaders,
        'vary',
      ),
      ['Accept-Encoding'],
    )
  }
  // Where nothing says that it can be kept, the response is the provider's own.
  for (const headers of [JSON_TYPE, { ...JSON_TYPE, 'Cache-Control': 'no-store' }]) {
    fake.play(respond(200, headers, '{"data":[]}'))
    assert.deepEqual(
      valuesOf((await send(secret, `${OPENAI}/v1/models`, { method: 'GET' })).rawHeaders, 'vary'),
      [],
    )
  }
  for (const headers of [
    { ETag: '"1"' },
    { 'Last-Modified': 'Tue, 24 Nov 2026 00:00:00 GMT' },
    { 'Cache-Control': 'private, max-age=5' },
    { Expires: 'Tue, 24 Nov 2026 00:00:00 GMT' },
  ]) {
    fake.play(respond(200, { ...JSON_TYPE, ...headers }, '{"data":[]}'))
    assert.equal(
      valuesOf((await send(secret, `${OPENAI}/v1/models`, { method: 'GET' })).rawHeaders, 'vary')
        .length,
      1,
    )
  }
  fake.play(respond(200, CACHED, '{"data":[]}'))
  const named = await call(port, {
    method: 'GET',
    target: '/proxy',
    headers: { Authorization: `Bearer ${secret}`, 'x-fal-target-url': `${OPENAI}/v1/models` },
  })
  assert.match(valuesOf(named.rawHeaders, 'vary').join(), /x-fal-target-url/)
})

test('no response is cached for another address', async () => {
  const { fake, key, send } = await shareServed(
    respond(
      200,
      { ...CACHED, 'No-Vary-Search': 'params', 'Use-As-Dictionary': 'match="/*"' },
      '{"data":[]}',
    ),
  )
  const { secret } = await key()
  for (const form of FORMS) {
    const got = await send(secret, `${OPENAI}/v1/models`, { method: 'GET', form })
    assert.deepEqual(
      [
        got.status,
        headerOf(got.rawHeaders, 'no-vary-search'),
        headerOf(got.rawHeaders, 'use-as-dictionary'),
      ],
      [200, null, null],
    )
  }
  assert.equal(fake.requests.length, 2)
})

/** TABLE of content types, and whether a browser could make a page of what has them. */
const TYPES: [types: string[], page: boolean][] = [
  ...[
    'image/svg+xml',
    'image/foo+xml',
    'audio/x+xml',
    'video/xml',
    'image/png, text/html',
    'application/json, text/html',
    'application/json; x=1, text/html',
    'audio/mpeg,text/html',
    'image/png text/html',
    'image/',
    'text/plain',
    'application/xhtml+xml',
    'application/pdf',
    'image/SVG',
  ].map((type): [string[], boolean] => [[type], true]),
  [['application/json', 'text/html'], true],
  [['text/html', 'application/json'], true],
  [[], true],
  ...[
    'application/json',
    'Application/JSON; charset=utf-8',
    'image/png',
    'image/vnd.microsoft.icon',
    'audio/mpeg',
    'audio/L16; rate=24000; channels=1',
    'video/mp4',
    'text/event-stream; charset=utf-8',
    'application/octet-stream',
  ].map((type): [string[], boolean] => [[type], false]),
]

test('a fetched response is sandboxed by the type that browsers would use', async () => {
  const { fake, key, send } = await shareServed(respond(200, {}, 'x'))
  const { secret } = await key({ objects: 'upstream' })
  for (const [types, page] of TYPES) {
    const lines = types.map((type) => `Content-Type: ${type}\r\n`).join('')
    fake.play((asked) =>
      asked.write(Buffer.from(`HTTP/1.1 200 OK\r\n${lines}Content-Length: 1\r\n\r\nx`)),
    )
    const got = await send(secret, `${OPENAI}/v1/models`, {
      method: 'GET',
      headers: { Origin: 'https://app.test' },
    })
    const policy =
      got.status === 200 ? headerOf(got.rawHeaders, 'content-security-policy') : got.status
    assert.ok(
      page ? policy === 'sandbox' || policy === 502 : policy === null,
      `${types.join(' + ')}: ${policy}`,
    )
  }
})
