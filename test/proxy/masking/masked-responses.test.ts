// An upstream's error or redirect that repeats our credential reaches the caller without it;
// everything else passes as it came.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { Mask } from '../../../server/proxy/masking/mask.ts'
import { respond, chunk, head, headerOf, type Script } from '../../support/providers/fake.ts'
import { chunked } from '../../support/providers/scripts.ts'
import { until } from '../../support/until.ts'
import { begin, readResponse } from '../support/relayed.ts'
import { OPENAI, raw, SECRETS, shareServed } from '../support/served.ts'

const CHAT = `${OPENAI}/v1/chat/completions`
const SECRET = SECRETS.OPENAI_API_KEY
const STARS = '*'.repeat(SECRET.length)
const said = (secret: string) =>
  JSON.stringify({
    error: { message: `Incorrect API key provided: ${secret}. Grüße 🙂`, code: 'invalid_api_key' },
  })
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** TABLE of content codings, as they are named and made. */
const CODINGS: [name: string, encode: (text: string) => Buffer][] = [
  ['gzip', (text) => gzipSync(text)],
  ['x-gzip', (text) => gzipSync(text)],
  ['br', (text) => brotliCompressSync(text)],
  ['deflate', (text) => deflateSync(text)],
  ['deflate', (text) => deflateRawSync(text)],
  ['zstd', (text) => zstdCompressSync(text)],
  ['gzip, br', (text) => brotliCompressSync(gzipSync(text))],
  ['identity, GZIP', (text) => gzipSync(text)],
]

test('in a plain error, its headers and its reason', async () => {
  const served = await shareServed(async (call) => {
    await call.body()
    const body = said(SECRET)
    call.write(
      `HTTP/1.1 401 Bad key ${SECRET}\r\nContent-Type: application/json\r\nX-Echo: Bearer ${SECRET}\r\nWWW-Authenticate: Bearer token="${SECRET}"\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    )
    call.write(Buffer.from(body))
  })
  const { secret } = await served.key()
  const text = await raw(
    served.port,
    `GET /proxy?url=${OPENAI}/v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
  )
  const expected = Buffer.from(said(STARS)).toString('latin1')
  assert.ok(text.startsWith(`HTTP/1.1 401 Bad key ${STARS}\r\n`), text)
  for (const line of [
    `X-Echo: Bearer ${STARS}`,
    `WWW-Authenticate: Bearer token="${STARS}"`,
    `Content-Length: ${expected.length}`,
    'X-Proxy-Error: upstream_credential_rejected',
  ])
    assert.ok(text.includes(`${line}\r\n`), line)
  assert.ok(text.endsWith(`\r\n\r\n${expected}`))
  assert.ok(!text.includes(SECRET))
})

test('of every status from 300 on, and of none below', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  for (const [status, masked] of [
    [200, false],
    [206, false],
    [300, true],
    [302, true],
    [399, true],
    [400, true],
    [403, true],
    [404, true],
    [429, true],
    [500, true],
    [529, true],
  ] as const) {
    served.fake.play(respond(status, { ...JSON_TYPE, 'X-Echo': SECRET }, said(SECRET)))
    const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
    const left = masked ? STARS : SECRET
    assert.deepEqual(
      [
        got.status,
        got.body.toString(),
        headerOf(got.rawHeaders, 'x-echo'),
        headerOf(got.rawHeaders, 'x-proxy-error'),
      ],
      [status, said(left), left, null],
      String(status),
    )
  }
})

test('in an encoded error, which is then sent unencoded; one without it passes unchanged', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  for (const [coding, encode] of CODINGS) {
    for (const repeats of [true, false]) {
      const wire = encode(said(repeats ? SECRET : 'sk-…'))
      for (const script of [
        respond(401, { ...JSON_TYPE, 'Content-Encoding': coding, Vary: 'Accept-Encoding' }, wire),
        chunked(401, ['Content-Encoding', coding], [wire.subarray(0, 9), wire.subarray(9)]),
      ]) {
        served.fake.play(script)
        const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
        const body = repeats ? Buffer.from(said(STARS)) : wire
        assert.deepEqual(
          [got.status, got.whole, headerOf(got.rawHeaders, 'content-encoding')],
          [401, true, repeats ? null : coding],
          coding,
        )
        assert.ok(got.body.equals(body), `${coding}: ${got.body.toString('latin1')}`)
        const length = headerOf(got.rawHeaders, 'content-length')
        assert.ok(
          length === null
            ? headerOf(got.rawHeaders, 'transfer-encoding') === 'chunked'
            : Number(length) === body.length,
          coding,
        )
      }
    }
  }
})

/** TABLE of encoded errors that are not what their headers say, and what the caller gets. */
const ODD: [name: string, script: Script, status: number, body: string | Buffer][] = [
  [
    'not encoded at all',
    respond(400, { 'Content-Encoding': 'gzip' }, said(SECRET)),
    400,
    said(STARS),
  ],
  [
    'a charset in place of a coding',
    respond(400, { 'Content-Encoding': 'utf-8' }, said(SECRET)),
    400,
    said(STARS),
  ],
  ['an unknown coding of nothing', respond(400, { 'Content-Encoding': 'foo, gzip' }, ''), 400, ''],
  ['an encoded nothing', respond(400, { 'Content-Encoding': 'gzip' }, ''), 400, ''],
  [
    'bytes behind its end',
    respond(
      400,
      { 'Content-Encoding': 'br' },
      Buffer.concat([brotliCompressSync(said(SECRET)), Buffer.from('more')]),
    ),
    400,
    said(STARS),
  ],
  [
    'just short enough',
    respond(
      400,
      { 'Content-Encoding': 'gzip' },
      gzipSync(`${' '.repeat(1024 * 1024 - SECRET.length)}${SECRET}`),
    ),
    400,
    `${' '.repeat(1024 * 1024 - SECRET.length)}${STARS}`,
  ],
]

test('an encoded error that is invalid, truncated or too long', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  const send = () => served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
  for (const [name, script, status, body] of ODD) {
    served.fake.play(script)
    const got = await send()
    assert.deepEqual(
      [got.status, got.whole, got.body.toString() === body.toString()],
      [status, true, true],
      name,
    )
  }
  // What cannot be looked through is not passed on: no such encoding, cut off, spoilt behind its
  // end, a coding that is unknown.
  const noise = Buffer.from(Array.from({ length: 1024 * 1024 + 1 }, (_, i) => (i * i) & 0xff))
  const unclear: [coding: string, wire: Buffer][] = [
    ['br', noise],
    ['gzip', noise],
    ['gzip', gzipSync(said(SECRET)).subarray(0, -8)],
    ['zstd', zstdCompressSync(said(SECRET)).subarray(0, -3)],
    ['gzip', Buffer.concat([gzipSync(said(SECRET)), Buffer.from('more')])],
    ['foo', gzipSync(said(SECRET))],
    ['foo', Buffer.from(said(SECRET))],
    ['foo, gzip', gzipSync(said(SECRET))],
    ['gzip, foo', gzipSync(said(SECRET))],
    ['gzip, gzip, gzip, gzip, gzip', gzipSync(said(SECRET))],
  ]
  for (const [coding, wire] of unclear) {
    served.fake.play(respond(400, { 'Content-Encoding': coding }, wire))
    const got = await send()
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
      [502, 'upstream_unreachable'],
      `${coding} ${wire.length}`,
    )
    assert.ok(!got.body.includes(SECRET.slice(0, 16)), coding)
  }
  served.fake.play(
    respond(401, { 'Content-Encoding': 'gzip', 'X-Echo': SECRET }, gzipSync(said(SECRET))),
  )
  const bodiless = await served.send(secret, CHAT, { method: 'HEAD' })
  assert.deepEqual(
    [
      bodiless.status,
      headerOf(bodiless.rawHeaders, 'content-encoding'),
      headerOf(bodiless.rawHeaders, 'x-echo'),
    ],
    [401, 'gzip', STARS],
  )
})

test('a long encoded error is decoded as it streams, and reset where decoding fails', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  const long = `${'a'.repeat(900_000)}${SECRET}${'b'.repeat(1_200_000)} ${SECRET}`
  const shown = long.replaceAll(SECRET, STARS)
  /** TABLE of encoded errors: short before they are decoded, or long. */
  const cases: [coding: string, wire: Buffer][] = [
    ['gzip', gzipSync(long)],
    ['gzip', gzipSync(long, { level: 0 })],
    ['br', brotliCompressSync(long)],
    ['zstd', zstdCompressSync(long)],
    ['gzip, br', brotliCompressSync(gzipSync(long))],
  ]
  for (const [coding, wire] of cases) {
    const pieces = Array.from({ length: Math.ceil(wire.length / 10_007) }, (_, i) =>
      wire.subarray(i * 10_007, (i + 1) * 10_007),
    )
    for (const script of [
      respond(401, { ...JSON_TYPE, 'Content-Encoding': coding }, wire),
      chunked(401, ['Content-Encoding', coding], pieces, ['X-Sum', SECRET]),
    ]) {
      served.fake.play(script)
      const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
      assert.deepEqual(
        [
          got.status,
          got.whole,
          headerOf(got.rawHeaders, 'content-encoding'),
          headerOf(got.rawHeaders, 'content-length'),
        ],
        [401, true, null, null],
        coding,
      )
      assert.ok(got.body.toString() === shown, `${coding}: ${got.body.length} bytes`)
    }
  }
  const states = async () =>
    (
      await served.running.store.db.selectFrom('requests').select('state').orderBy('seq').execute()
    ).map(({ state }) => state)
  /** TABLE of errors that end within their coding, or decode without end. */
  for (const wire of [gzipSync(long).subarray(0, -9), gzipSync(Buffer.alloc(40_000_000, ' '))]) {
    served.fake.play(respond(500, { 'Content-Encoding': 'gzip' }, wire))
    const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
    assert.deepEqual([got.status, got.whole], [500, false])
    await until(async () => (await states()).at(-1) !== 'reserved')
    assert.equal((await states()).at(-1), 'settled')
    assert.ok(!got.body.includes(SECRET))
  }
})

test('in a long error of escapes, plain and encoded, which arrives whole, searched in slices', async (t) => {
  const search = t.mock.method(Mask.prototype, 'search')
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  const keptTexts = async () =>
    (
      await served.running.store.db
        .selectFrom('upstream_errors')
        .select('text')
        .orderBy('created_at')
        .execute()
    ).map(({ text }) => text)
  let kept = (await keptTexts()).length
  const echo = '%73%6b%2d'.repeat(20_000)
  const sent = Buffer.from(`${echo}${SECRET}${echo}`)
  for (const [headers, wire] of [
    [{}, sent],
    [{ 'Content-Encoding': 'gzip' }, gzipSync(sent)],
  ] as const) {
    served.fake.play(respond(400, { ...JSON_TYPE, ...headers }, wire))
    const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
    assert.deepEqual([got.status, got.whole], [400, true])
    assert.equal(got.body.toString(), `${echo}${STARS}${echo}`)
    // The ledger's text of it, too.
    await until(async () => (await keptTexts()).length === kept + 1)
    assert.equal((await keptTexts()).at(-1), echo.slice(0, 2_048))
    kept++
  }
  const longest = Math.max(...search.mock.calls.map(({ arguments: [bytes] }) => bytes.length))
  assert.ok(longest < 1_024, `${longest} bytes at once`)
})

test('in a streamed error, at every split; other bytes are not delayed', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  const text = `event: error\ndata: ${said(SECRET)}\n\n`
  for (const size of [1, 5, SECRET.length, 1_000]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
      Buffer.from(text.slice(i * size, (i + 1) * size), 'utf8'),
    )
    served.fake.play(chunked(500, ['Content-Type', 'text/event-stream'], pieces, ['X-Sum', SECRET]))
    const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
    assert.deepEqual(
      [got.whole, got.body.toString(), got.trailers],
      [true, Buffer.concat(pieces).toString().replace(SECRET, STARS), ['X-Sum', STARS]],
      String(size),
    )
  }
  const { promise: more, resolve: goOn } = Promise.withResolvers<void>()
  served.fake.play(async (call) => {
    await call.body()
    call.write(
      Buffer.concat([
        Buffer.from(head(400, ['Transfer-Encoding', 'chunked'])),
        chunk(`: hello\n\ndata: ${SECRET.slice(0, 4)}`),
      ]),
    )
    await more
    call.write(Buffer.concat([chunk(SECRET.slice(4)), Buffer.from('0\r\n\r\n')]))
  })
  const response = await begin(served.port, {
    target: `/proxy?url=${encodeURIComponent(CHAT)}`,
    headers: { Authorization: `Bearer ${secret}`, ...JSON_TYPE },
    body: '{}',
  })
  const [first] = (await once(response, 'data')) as [Buffer]
  assert.equal(first.toString(), ': hello\n\ndata: ')
  goOn()
  assert.equal((await readResponse(response)).body.toString(), STARS)
})

test('an error that ends early is reset for the caller, or replaced if none of it was sent', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  for (const [coding, status] of [
    ['identity', 400],
    ['gzip', 502],
  ] as const) {
    served.fake.play(async (call) => {
      await call.body()
      call.write(head(400, ['Content-Length', '1000', 'Content-Encoding', coding]))
      call.write(Buffer.concat([Buffer.from('some of it '), Buffer.from(SECRET.slice(0, 9))]))
      await call.pause(20)
      call.reset()
    })
    const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
    assert.deepEqual([got.status, got.whole], [status, status === 502], coding)
    assert.ok(!got.body.includes(SECRET.slice(0, 9)))
  }
})

test('in the address of a redirect or an upload, and nowhere else below 300', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  /** TABLE of addresses that a response gives, and what the caller sees of them. */
  const cases: [status: number, name: string, address: string, shown: string][] = [
    [
      302,
      'Location',
      `https://files.example/a?sig=${SECRET}`,
      `https://files.example/a?sig=${STARS}`,
    ],
    [
      307,
      'Location',
      `https://files.example/a?sig=${SECRET.replaceAll('-', '%2D')}`,
      `https://files.example/a?sig=${'*'.repeat(SECRET.replaceAll('-', '%2D').length)}`,
    ],
    [
      302,
      'Location',
      `/v1/files/x/content?token=${SECRET}`,
      `/proxy?url=${encodeURIComponent(`${OPENAI}/v1/files/x/content?token=`)}${STARS}`,
    ],
    [201, 'Content-Location', `/v1/x?k=${SECRET}`, `/v1/x?k=${STARS}`],
    [
      200,
      'X-Goog-Upload-URL',
      `https://files.example/upload?k=${SECRET}`,
      `https://files.example/upload?k=${STARS}`,
    ],
    [302, 'Location', 'https://files.example/a', 'https://files.example/a'],
  ]
  for (const [status, name, address, shown] of cases) {
    served.fake.play(respond(status, { [name]: address, 'X-Echo': SECRET }, said(SECRET)))
    const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
    const left = status >= 300 ? STARS : SECRET
    assert.deepEqual(
      [
        got.status,
        headerOf(got.rawHeaders, name.toLowerCase()),
        headerOf(got.rawHeaders, 'x-echo'),
        got.body.toString(),
      ],
      [status, shown, left, said(left)],
      address,
    )
  }
})

test('in headers and reason of an interim response, and in trailers', async () => {
  const served = await shareServed(async (call) => {
    await call.body()
    call.write(
      `HTTP/1.1 103 Hints ${SECRET}\r\nLink: </a?k=${SECRET}>; rel=preload\r\nX-Echo: Bearer ${SECRET}\r\n\r\n`,
    )
    call.write(
      Buffer.concat([
        Buffer.from(head(200, ['Transfer-Encoding', 'chunked'])),
        chunk('{}'),
        Buffer.from(`0\r\nX-Sum: ${SECRET}\r\n\r\n`),
      ]),
    )
  })
  const { secret } = await served.key()
  const text = await raw(
    served.port,
    `GET /proxy?url=${OPENAI}/v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
  )
  const [interim = ''] = text.split('\r\n\r\n')
  assert.deepEqual(interim.split('\r\n'), [
    `HTTP/1.1 103 Hints ${STARS}`,
    `Link: </a?k=${STARS}>; rel=preload`,
    `X-Echo: Bearer ${STARS}`,
  ])
  assert.ok(text.includes(`X-Sum: ${STARS}\r\n`), text)
})

test('in an error in UTF-16 or hexadecimal, and where the end truncates it', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
  const hex = Buffer.from(SECRET).toString('hex')
  const cut = SECRET.slice(0, -2)
  /** TABLE of error bodies, and what the caller gets of them. */
  const cases: [name: string, body: Buffer, shown: Buffer][] = [
    ['UTF-16LE', utf16(said(SECRET)), utf16(said(STARS))],
    ['UTF-16BE', utf16(said(SECRET)).swap16(), utf16(said(STARS)).swap16()],
    ['hexadecimal', Buffer.from(`key: ${hex}.`), Buffer.from(`key: ${'*'.repeat(hex.length)}.`)],
    ['cut', Buffer.from(`key: ${cut}`), Buffer.from(`key: ${'*'.repeat(cut.length)}`)],
    ['UTF-16LE, cut', utf16(`key: ${cut}`), utf16(`key: ${'*'.repeat(cut.length)}`)],
  ]
  for (const [name, body, shown] of cases) {
    const pieces = Array.from({ length: Math.ceil(body.length / 7) }, (_, i) =>
      body.subarray(i * 7, (i + 1) * 7),
    )
    const scripts: Script[] = [
      respond(500, {}, body),
      chunked(500, [], pieces),
      respond(500, { 'Content-Encoding': 'gzip' }, gzipSync(body)),
    ]
    for (const [i, script] of scripts.entries()) {
      served.fake.play(script)
      const got = await served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })
      assert.deepEqual(
        [got.whole, got.body.toString('latin1')],
        [true, shown.toString('latin1')],
        `${name} ${i}`,
      )
    }
  }
})
