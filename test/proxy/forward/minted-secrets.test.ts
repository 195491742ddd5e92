// An endpoint that no row knows may mint a credential: its response never passes, for any key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { respond, chunk, head, headerOf, type Script } from '../../support/providers/fake.ts'
import { chunked } from '../../support/providers/scripts.ts'
import { OPENAI, shareServed } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const UNKNOWN = `${OPENAI}/v1/of/tomorrow`
const EK = 'ek_68a1b2c3d4e5f60718293a4b'
const JWT = `eyJhbGciOiJIUzI1NiJ9.${'a1B2'.repeat(900)}.c3D4-e5_f6`

/** TABLE of responses that hand out access. */
const MINTED: [type: string, body: string][] = [
  ...[
    { client_secret: EK },
    { client_secret: { value: EK, expires_at: 1 } },
    { id: 'x', session: { clientSecret: EK } },
    { data: [{ id: 1 }, { api_key: EK }] },
    { 'API-Key': EK },
    { key_value: EK },
    { secret: EK },
    { access_token: JWT, expires_in: 30 },
    { token: JWT },
    { tokens: ['x', EK] },
    {
      Credentials: {
        AccessKeyId: 'x',
        SecretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      },
    },
  ].map((body): [string, string] => ['application/json', JSON.stringify(body, null, 1)]),
  ['application/json', `{"client\\u005fsecret":"${EK}"}`],
  ['application/problem+json; charset=utf-8', `[{"token":"${EK}"}]`],
  ['text/plain', `{"token":"${EK}"}`],
  ['application/x-www-form-urlencoded', `x=1&access_token=${EK}&y=2`],
  ['text/xml', `<R><SessionToken>${EK}</SessionToken></R>`],
]

/** TABLE of ordinary responses. */
const ORDINARY: [type: string, body: string][] = [
  ...[
    { id: 'thing_68a1b2c3d4e5f607', object: 'thing' },
    {
      tokens: [{ token: 'internationalization', logprob: -1 }, { token: ' 12345678901234567890' }],
    },
    { usage: { total_tokens: 1234567890123456 }, next_page_token: EK, token_count: EK },
    { choices: [{ message: { content: `{"client_secret":"${EK}"}` } }] },
    { text: `The api_key is ${EK}` },
    { client_secret: null, api_key: '', secret: 'x' },
    { key: 'uploads/68a1b2c3/file-name-of-theirs.pdf', monkey: EK },
  ].map((body): [string, string] => ['application/json', JSON.stringify(body)]),
  ['application/json', ''],
  ['text/plain', 'Keep your token secret.'],
]

test("an unknown endpoint's response that contains a credential is replaced by 403", async () => {
  const { fake, key, send } = await shareServed(respond(200, {}))
  const keys = [await key(), await key({ objects: 'upstream' })]
  for (const [type, body] of MINTED) {
    const headers = { 'Content-Type': type }
    const pieces = [...body].map((one) => Buffer.from(one))
    const scripts: Script[] = [
      respond(201, headers, body),
      respond(200, { ...headers, 'Content-Encoding': 'gzip' }, gzipSync(body)),
      respond(200, { ...headers, 'Content-Encoding': 'br' }, brotliCompressSync(body)),
      ...(type === 'text/plain'
        ? []
        : [
            chunked(
              200,
              ['Content-Type', type],
              pieces.slice(0, 200).concat(Buffer.concat(pieces.slice(200))),
            ),
          ]),
    ]
    for (const script of scripts) {
      for (const { secret } of keys) {
        fake.play(script)
        const got = await send(secret, UNKNOWN, { body: '{}', headers: JSON_TYPE })
        assert.deepEqual(
          [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
          [403, 'endpoint_not_allowed'],
          `${type} ${body.slice(0, 100)}`,
        )
        assert.ok(!got.body.includes(EK) && !got.body.includes(JWT.slice(0, 40)))
      }
    }
  }
})

test('a response in an unknown content coding is replaced, too', async () => {
  const { fake, key, send } = await shareServed(respond(200, {}))
  const { secret } = await key()
  const body = Buffer.from(JSON.stringify({ client_secret: EK }))
  for (const [coding, wire] of [
    ['compress', body],
    ['foo, gzip', gzipSync(body)],
    ['gzip, foo', gzipSync(body)],
  ] as const) {
    fake.play(respond(200, { ...JSON_TYPE, 'Content-Encoding': coding }, wire))
    const got = await send(secret, UNKNOWN, { body: '{}', headers: JSON_TYPE })
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
      [403, 'endpoint_not_allowed'],
      coding,
    )
    assert.match(got.body.toString(), /a content coding that the proxy cannot read/)
  }
  fake.play(respond(200, { ...JSON_TYPE, 'Content-Encoding': 'foo' }, ''))
  assert.equal((await send(secret, UNKNOWN, { body: '{}', headers: JSON_TYPE })).status, 200)
})

test('any other response passes unchanged, and a stream is not delayed', async () => {
  const { fake, key, send } = await shareServed(respond(200, {}))
  const { secret } = await key()
  for (const [type, body] of ORDINARY) {
    for (const [coding, wire] of [
      [null, Buffer.from(body)],
      ['gzip', gzipSync(body)],
    ] as const) {
      fake.play(
        respond(200, { 'Content-Type': type, ...(coding && { 'Content-Encoding': coding }) }, wire),
      )
      const got = await send(secret, UNKNOWN, { body: '{}', headers: JSON_TYPE })
      assert.equal(got.status, 200, body)
      assert.deepEqual([got.whole, got.body.equals(wire)], [true, true], body)
    }
  }
  const long = JSON.stringify({ text: 'x'.repeat(600_000) })
  for (const script of [
    respond(200, JSON_TYPE, long),
    chunked(200, ['Content-Type', 'application/json'], [Buffer.from(long)]),
    respond(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, gzipSync(long, { level: 0 })),
  ]) {
    fake.play(script)
    const got = await send(secret, UNKNOWN, { body: '{}', headers: JSON_TYPE })
    assert.deepEqual([got.status, got.whole], [200, true])
  }
  // An error is no credential, and an endpoint that a row knows is read by its row.
  fake.play(respond(400, JSON_TYPE, `{"token":"${EK}"}`))
  assert.equal((await send(secret, UNKNOWN, { body: '{}', headers: JSON_TYPE })).status, 400)
  fake.play(respond(200, JSON_TYPE, `{"token":"${EK}"}`))
  const chat = { body: '{"model":"m"}', headers: JSON_TYPE }
  assert.equal((await send(secret, `${OPENAI}/v1/chat/completions`, chat)).status, 200)
  for (const type of ['text/event-stream', 'text/plain']) {
    fake.play(async (call) => {
      await call.body()
      call.write(head(200, ['Content-Type', type, 'Transfer-Encoding', 'chunked']))
      call.write(chunk('data: {}\n\n'))
      await call.pause(20)
      call.reset()
    })
    const got = await send(secret, UNKNOWN, { body: '{}', headers: JSON_TYPE })
    assert.deepEqual([got.status, got.whole, got.body.toString()], [200, false, 'data: {}\n\n'])
  }
})
