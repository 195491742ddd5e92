import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createSecret } from '../../server/common/issued-secrets.ts'
import { flushJournal } from '../../server/ledger/settlement/journal.ts'
import { respond, headerOf, type Script } from '../support/providers/fake.ts'
import { BINARY, chunked, SCRIPTED } from '../support/providers/scripts.ts'
import { until } from '../support/until.ts'
import { changeKey, revokeKey, type KeyInput } from '../../server/keys/keys.ts'
import { rotateKey } from '../../server/keys/rotation.ts'
import type { Store } from '../../server/store/store.ts'
import { begin, readResponse, type ReceivedResponse } from './support/relayed.ts'
import {
  ANTHROPIC,
  GOOGLE,
  OPENAI,
  raw,
  SECRETS,
  shareServed,
  startServed,
  type Served,
} from './support/served.ts'

const CHAT = `${OPENAI}/v1/chat/completions`
const JSON_TYPE = { 'Content-Type': 'application/json' }
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

/** The ledger's newest row, once it is complete. */
async function settled({ running }: Served, id?: string) {
  for (;;) {
    await running.store.run(flushJournal, null)
    let query = running.store.db.selectFrom('requests').selectAll().orderBy('seq', 'desc').limit(1)
    if (id !== undefined) query = query.where('id', '=', id)
    const row = await query.executeTakeFirst()
    if (row !== undefined && row.state !== 'reserved') return row
    await sleep(5)
  }
}

test('a request reaches the provider byte for byte, with our credential instead of the key', async () => {
  const served = await shareServed(
    respond(
      200,
      JSON_TYPE,
      '{"usage":{"prompt_tokens":11,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":4}}}',
    ),
  )
  const { secret, id } = await served.key()
  const body = '{"model" : "gpt-5",\n "messages":[ ], "z":1,"a":2}'
  const began = performance.now()
  const got = await served.send(secret, `${CHAT}?b=2&a=1`, {
    body,
    headers: {
      ...JSON_TYPE,
      'X-Proxy-Context-Key': 'conversation 7',
      Cookie: 'a=b',
      Origin: 'https://app.test',
      'X-Api-Key': 'theirs',
      'X-Stainless-Lang': 'js',
      'X-Stainless-OS': 'Linux',
    },
  })
  assert.equal(got.status, 200)
  const [received] = served.fake.requests
  assert.ok(received)
  assert.equal(received.sha256, sha256(body))
  assert.equal(received.target, '/v1/chat/completions?b=2&a=1')
  assert.equal(headerOf(received.rawHeaders, 'host'), 'api.openai.com')
  assert.equal(headerOf(received.rawHeaders, 'authorization'), `Bearer ${SECRETS.OPENAI_API_KEY}`)
  assert.equal(headerOf(received.rawHeaders, 'x-stainless-lang'), 'js')
  // As long a name as Content-Length, which is set anew.
  assert.equal(headerOf(received.rawHeaders, 'x-stainless-os'), 'Linux')
  for (const gone of ['cookie', 'origin', 'x-api-key', 'x-proxy-context-key'])
    assert.equal(headerOf(received.rawHeaders, gone), null, gone)
  assert.ok(!JSON.stringify(received.rawHeaders).includes('tmk_'))
  const row = await settled(served)
  assert.deepEqual(
    [
      row.key_id,
      row.provider,
      row.model,
      row.endpoint,
      row.method,
      row.state,
      row.status,
      row.tokens_in,
      row.tokens_out,
      row.tokens_cached,
      row.tokens_reasoning,
      row.bytes_in,
    ],
    [
      id,
      'openai',
      'gpt-5',
      '/v1/chat/completions',
      'POST',
      'settled',
      200,
      11,
      7,
      4,
      null,
      body.length,
    ],
  )
  assert.equal(row.id, headerOf(got.rawHeaders, 'x-proxy-request-id'))
  assert.deepEqual(
    [row.credential_id, row.error, row.bytes_out, row.context],
    ['env_openai', null, got.body.length, sha256('conversation 7').slice(0, 32)],
  )
  const [first, total] = [row.first_byte_ms!, row.total_ms!]
  assert.ok(
    0 <= first && first <= total && total <= Math.ceil(performance.now() - began),
    `${first} ms, ${total} ms`,
  )
})

test('the ledger has one name for a model, however a request spells it', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), (origin) => ({
    GOOGLE_VERTEX_API_KEY: 'AQ.upstream',
    TOLLMARK_UPSTREAM_VERTEX: origin,
  }))
  const VERTEX = 'https://aiplatform.googleapis.com'
  const calls = [
    { address: `${GOOGLE}/v1beta/models/gemini-x:generateContent`, body: '{}' },
    { address: `${GOOGLE}/v1beta/cachedContents`, body: '{"model":"models/gemini-x"}' },
    { address: `${VERTEX}/v1/publishers/google/models/gemini-x:generateContent`, body: '{}' },
  ]
  for (const models of [null, ['gemini-x'], ['other']]) {
    const { secret } = await served.key({ models })
    for (const { address, body } of calls) {
      const got = await served.send(secret, address, { body, headers: JSON_TYPE })
      if (models?.includes('other')) {
        assert.match(got.body.toString(), /may not use the model \\"gemini-x\\"/, address)
        continue
      }
      assert.equal(got.status, 200, address)
      const id = headerOf(got.rawHeaders, 'x-proxy-request-id')!
      assert.equal((await settled(served, id)).model, 'gemini-x', `${address} ${models}`)
    }
  }
})

test("every response has the ledger's request id beside the provider's own", async () => {
  const theirs = { 'X-Request-Id': 'theirs', 'X-Proxy-Request-Id': 'also theirs' }
  const served = await shareServed(respond(200, theirs, '{}'))
  const { secret } = await served.key()
  const idsOf = ({ rawHeaders }: ReceivedResponse): (string | null)[] =>
    ['x-request-id', 'x-proxy-request-id'].map((name) => headerOf(rawHeaders, name))
  const [upstreams, ours] = idsOf(
    await served.send(secret, CHAT, { body: '{"model":"gpt-5"}', headers: JSON_TYPE }),
  )
  assert.deepEqual([upstreams, (await settled(served)).id], ['theirs', ours])
  for (const sent of [
    await served.send('tmk_none', CHAT),
    await served.send(secret, CHAT, { method: 'OPTIONS' }),
    await served.send(secret, 'https://nowhere.test/'),
  ]) {
    const [id, proxyId] = idsOf(sent)
    assert.match(id ?? '', /^req_/)
    assert.equal(proxyId, id)
  }
})

test('every response to a limited key shows the remaining requests, unless the provider sends its own limits', async () => {
  const served = await shareServed(respond(200, {}, '{}'))
  const { secret } = await served.key({ rpm: 3 })
  const unlimited = await served.key()
  const ask = (key: string, address = CHAT) =>
    served.send(key, address, { body: '{"model":"gpt-5"}', headers: JSON_TYPE })
  const told = ({ rawHeaders }: ReceivedResponse) =>
    ['ratelimit-policy', 'ratelimit'].map((name) =>
      headerOf(rawHeaders, name)?.replace(/t=(\d|[1-5]\d|60)$/, 't=T'),
    )
  const policy = '"rpm";q=3;w=60'
  // Refused before its key is authenticated.
  const odd = await served.send(secret, 'https://u:p@nowhere.test/')
  assert.deepEqual([odd.status, ...told(odd)], [400, policy, '"rpm";r=3;t=T'])
  // A refusal takes nothing.
  for (const left of ['"rpm";r=3;t=T', '"rpm";r=2;t=T']) {
    assert.deepEqual(told(await ask(secret, 'https://nowhere.test/')), [policy, left])
    if (left.includes('3')) assert.deepEqual(told(await ask(secret)), [policy, '"rpm";r=2;t=T'])
  }
  served.fake.play(respond(200, { 'RateLimit-Limit': '7' }, '{}'))
  assert.deepEqual(told(await ask(secret)), [undefined, undefined])
  served.fake.play(respond(500, {}, '{}'))
  assert.equal((await ask(secret)).status, 500)
  const refused = await ask(secret)
  assert.deepEqual([refused.status, ...told(refused)], [429, policy, '"rpm";r=0;t=T'])
  assert.deepEqual(told(await ask(unlimited.secret)), [undefined, undefined])
})

test('every kind of response passes unchanged', async () => {
  const served = await shareServed(respond(500, {}))
  for (const models of [null, ['gpt-*']]) {
    const { secret } = await served.key({ models })
    for (const { name, script, status, headers, body, trailers } of SCRIPTED) {
      served.fake.play(script)
      const got = await served.send(secret, CHAT, { body: '{"model":"gpt-5"}', headers: JSON_TYPE })
      assert.deepEqual(
        [got.status, got.whole, sha256(got.body), got.trailers],
        [status, true, sha256(body), trailers ?? []],
        name,
      )
      const ours = new Set([
        'connection',
        'keep-alive',
        'transfer-encoding',
        'content-length',
        'x-request-id',
        'x-proxy-request-id',
        'trailer',
      ])
      const kept = (list: string[]) => list.filter((_, i) => !ours.has(list[i & ~1]!.toLowerCase()))
      assert.deepEqual(kept(got.rawHeaders), kept(headers), name)
    }
  }
})

test('no part of a response names our account or has hop-by-hop headers', async () => {
  const ours = 'Set-Cookie: a=b\r\nopenai-organization: org-ours\r\n'
  const served = await shareServed((one) => {
    one.write(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nKeep-Alive: timeout=5\r\n${ours}\r\n`)
    one.write(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${ours}\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n${ours}\r\n`,
    )
  })
  const { secret } = await served.key()
  const text = await raw(
    served.port,
    `GET /proxy?url=${OPENAI}/v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: close\r\n\r\n`,
  )
  assert.match(
    text,
    /^HTTP\/1\.1 103 [^]*?Link: <\/a>\r\n\r\nHTTP\/1\.1 200 [^]*\r\n0\r\nX-Sum: 1\r\n\r\n$/,
  )
  assert.doesNotMatch(text, /a=b|org-ours|timeout=5/)
})

test('bodies of every kind are forwarded unchanged, buffered or streamed', async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{}'))
  const large = Buffer.concat([
    Buffer.from('{"model":"gpt-5","x":"'),
    Buffer.alloc(3_000_000, 'y'),
    Buffer.from('"}'),
  ])
  for (const models of [null, ['gpt-*']]) {
    const { secret } = await served.key({ models })
    for (const body of [
      large,
      [large.subarray(0, 9), large.subarray(9)],
      '{"model":"gpt-5"}',
    ] as const) {
      const got = await served.send(secret, CHAT, {
        body: body as Buffer | Buffer[] | string,
        headers: JSON_TYPE,
      })
      assert.equal(got.status, 200)
      const received = served.fake.requests.at(-1)!
      assert.equal(received.sha256, sha256(Array.isArray(body) ? large : (body as string | Buffer)))
      assert.equal(
        headerOf(received.rawHeaders, 'transfer-encoding'),
        Array.isArray(body) ? 'chunked' : null,
      )
    }
    const { secret: any } = await served.key()
    const part = 'Content-Disposition: form-data; name="file"; filename="a"'
    const form = Buffer.concat([
      Buffer.from(`--boundary-of-x\r\n${part}\r\n\r\n`),
      BINARY,
      Buffer.from('\r\n--boundary-of-x--\r\n'),
    ])
    for (const [path, body] of [
      ['audio/transcriptions', form],
      ['files', form],
    ] as const) {
      await served.send(any, `${OPENAI}/v1/${path}`, {
        body,
        headers: { 'Content-Type': 'multipart/form-data; boundary=boundary-of-x' },
      })
      assert.equal(served.fake.requests.at(-1)!.sha256, sha256(body), path)
    }
  }
})

/** TABLE of requests that are refused: what was sent, the response, and the code. */
const REFUSED: {
  name: string
  method?: string
  address: string
  scoped?: true
  body?: string
  headers?: Record<string, string>
  status: number
  code: string
}[] = [
  {
    name: 'unknown host',
    address: 'https://example.com/v1',
    status: 403,
    code: 'upstream_not_allowed',
  },
  {
    name: 'http',
    address: 'http://api.openai.com/v1/models',
    status: 400,
    code: 'invalid_upstream_url',
  },
  {
    name: 'another port',
    address: 'https://api.openai.com:8443/v1/models',
    status: 403,
    code: 'upstream_not_allowed',
  },
  {
    name: 'look-alike host',
    address: 'https://api.openai.com.evil.test/v1',
    status: 403,
    code: 'upstream_not_allowed',
  },
  {
    name: 'user name',
    address: 'https://api.openai.com@evil.test/',
    status: 400,
    code: 'invalid_upstream_url',
  },
  {
    name: 'metadata service',
    address: 'https://169.254.169.254/latest',
    status: 403,
    code: 'upstream_not_allowed',
  },
  {
    name: 'minting',
    address: `${OPENAI}/v1/realtime/calls`,
    body: '{}',
    status: 403,
    code: 'endpoint_not_allowed',
  },
  {
    name: 'administration',
    method: 'GET',
    address: `${OPENAI}/v1/organization/admin_api_keys`,
    status: 403,
    code: 'endpoint_not_allowed',
  },
  {
    name: 'a model out of scope',
    scoped: true,
    address: CHAT,
    body: '{"model":"o3"}',
    status: 403,
    code: 'model_not_allowed',
  },
  {
    name: 'no model',
    scoped: true,
    address: CHAT,
    body: '{}',
    status: 403,
    code: 'model_not_allowed',
  },
  {
    name: 'two models',
    scoped: true,
    address: CHAT,
    body: '{"model":"gpt-5","model":"gpt-5"}',
    status: 400,
    code: 'ambiguous_body',
  },
  {
    name: 'not JSON',
    scoped: true,
    address: CHAT,
    body: 'model=gpt-5',
    status: 400,
    code: 'ambiguous_body',
  },
  {
    name: 'unknown endpoint',
    scoped: true,
    address: `${OPENAI}/v9/new`,
    body: '{"model":"gpt-5"}',
    status: 403,
    code: 'endpoint_not_allowed',
  },
  { name: 'method', method: 'PROPFIND', address: CHAT, status: 405, code: 'method_not_allowed' },
]

test("a refused request gets its code in the provider's error format and is never sent", async (t) => {
  const served = await startServed(t, respond(200, {}))
  const [any, scoped] = [await served.key(), await served.key({ models: ['gpt-*'] })]
  for (const row of REFUSED) {
    const { secret } = row.scoped ? scoped : any
    const got = await served.send(secret, row.address, {
      method: row.method ?? 'POST',
      ...(row.body === undefined ? {} : { body: row.body }),
      headers: { ...JSON_TYPE, ...row.headers },
    })
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
      [row.status, row.code],
      row.name,
    )
    assert.ok(headerOf(got.rawHeaders, 'x-proxy-request-id'), row.name)
    const allowed = row.status === 405 ? 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' : null
    assert.equal(headerOf(got.rawHeaders, 'allow'), allowed, row.name)
    assert.ok(JSON.parse(got.body.toString()).error.message.length > 10, row.name)
    const names = got.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
    assert.deepEqual(names, [...new Set(names)], row.name)
  }
  const google = await served.send('tmk_wrong', `${GOOGLE}/v1beta/models`, { method: 'GET' })
  assert.deepEqual(
    [google.status, JSON.parse(google.body.toString()).error.status],
    [401, 'UNAUTHENTICATED'],
  )
  const anthropic = await served.send(scoped.secret, `${ANTHROPIC}/v1/messages`, {
    body: '{"model":"claude-x"}',
    headers: JSON_TYPE,
  })
  assert.deepEqual([anthropic.status, JSON.parse(anthropic.body.toString()).type], [403, 'error'])
  assert.equal(served.fake.connections, 0)
  await served.running.store.run(flushJournal, null)
  assert.equal(
    (await served.running.store.db.selectFrom('requests').select('id').execute()).length,
    0,
  )
})

test('invalid keys are refused', async () => {
  const served = await shareServed(respond(200, {}, 'ok'))
  const expired = await served.key({ expires_at: Date.now() - 1 })
  const bound = await served.key({ allowed_origins: ['https://app.test'] })
  const typo = `${bound.secret.slice(0, -1)}${bound.secret.endsWith('0') ? '1' : '0'}`
  const cases: [secret: string, origin: string | null, status: number, code: string | null][] = [
    [expired.secret, null, 401, 'api_key_expired'],
    [typo, 'https://app.test', 401, 'invalid_api_key'],
    ['', null, 401, 'invalid_api_key'],
    [bound.secret, 'https://app.test', 200, null],
    [bound.secret, 'https://evil.test', 403, 'origin_not_allowed'],
    [bound.secret, null, 403, 'origin_not_allowed'],
  ]
  for (const [secret, origin, status, code] of cases) {
    const got = await served.send(secret, CHAT, {
      body: '{}',
      headers: origin === null ? {} : { Origin: origin },
    })
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
      [status, code],
      `${secret.slice(0, 20)} ${origin}`,
    )
    assert.ok(!got.body.includes(secret) || secret === '')
    if (origin !== null) assert.equal(headerOf(got.rawHeaders, 'access-control-allow-origin'), '*')
  }
})

test('a full limit is a 429 with the actual wait, and only admitted requests reach the provider', async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { secret } = await served.key({ rpm: 5 })
  const began = performance.now()
  const responses = await Promise.all(
    Array.from({ length: 60 }, () => served.send(secret, CHAT, { body: '{}', headers: JSON_TYPE })),
  )
  assert.equal(responses.filter(({ status }) => status === 200).length, 5)
  const took = performance.now() - began
  assert.equal(served.fake.requests.length, 5)
  for (const { status, rawHeaders } of responses) {
    if (status === 200) continue
    assert.equal(status, 429)
    const wait = Number(headerOf(rawHeaders, 'retry-after-ms'))
    assert.ok(wait >= Math.floor(59_999 - took) && wait <= 60_000, `${wait} ms after ${took} ms`)
    assert.equal(headerOf(rawHeaders, 'retry-after'), String(Math.ceil(wait / 1000)))
    assert.equal(headerOf(rawHeaders, 'ratelimit-policy'), '"rpm";q=5;w=60')
    assert.equal(headerOf(rawHeaders, 'ratelimit'), `"rpm";r=0;t=${Math.ceil(wait / 1000)}`)
  }
})

test('tokens are read from every form of response', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  const usage = '{"id":"x","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}'
  const gemini = '{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":6}}'
  const forms: [name: string, address: string, script: Script][] = [
    ['JSON', CHAT, respond(200, JSON_TYPE, usage)],
    ['gzip', CHAT, respond(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, gzipSync(usage))],
    [
      'SSE',
      CHAT,
      chunked(
        200,
        ['Content-Type', 'text/event-stream'],
        ['data: {"choices":[]}\n\n', `data: ${usage}\n\n`, 'data: [DONE]\n\n'],
      ),
    ],
    [
      'array',
      `${GOOGLE}/v1beta/models/gemini-x:streamGenerateContent`,
      chunked(200, ['Content-Type', 'application/json'], ['[{"candidates":[]}', `,${gemini}`, ']']),
    ],
  ]
  for (const [name, address, script] of forms) {
    served.fake.play(script)
    const got = await served.send(secret, address, { body: '{"model":"m"}', headers: JSON_TYPE })
    const row = await settled(served, headerOf(got.rawHeaders, 'x-proxy-request-id')!)
    assert.deepEqual([row.tokens_in, row.tokens_out], [5, 6], name)
  }
})

test('any model name and any token count can be stored', async () => {
  const served = await shareServed(respond(200, {}))
  const { secret } = await served.key()
  const long = randomBytes(1_400).toString('base64url')
  const counted = (count: string) => `{"usage":{"prompt_tokens":${count},"completion_tokens":6}}`
  const rows: [
    name: string,
    address: string,
    model: string | null,
    response: string,
    tokens: number | null,
  ][] = [
    [
      'a long name in the path',
      `${GOOGLE}/v1beta/models/${long}:generateContent`,
      null,
      counted('5'),
      5,
    ],
    ['a long name in the query', `${CHAT}?model=${long}`, null, counted('5'), 5],
    ['an empty name', `${CHAT}?model=`, null, counted('5'), 5],
    ['a name of NULs', `${CHAT}?model=${'%00'.repeat(300)}`, '\0'.repeat(300), counted('5'), 5],
    ['a count beyond all integers', `${CHAT}?model=m`, 'm', counted('1e300'), null],
    [
      'a count beyond the integers that JavaScript can add',
      `${CHAT}?model=m`,
      'm',
      counted('9000000000000000000'),
      null,
    ],
  ]
  for (const [name, address, model, text, tokens] of rows) {
    served.fake.play(respond(200, JSON_TYPE, text))
    const got = await served.send(secret, address, { body: '{}', headers: JSON_TYPE })
    const row = await settled(served, headerOf(got.rawHeaders, 'x-proxy-request-id')!)
    assert.deepEqual(
      [row.model?.replaceAll('\ufffd', '\0') ?? null, row.tokens_in, row.tokens_out],
      [model, tokens, 6],
      name,
    )
  }
})

test('provider failures are reported and recorded', async (t) => {
  const served = await startServed(t, respond(500, {}), { TOLLMARK_FIRST_BYTE_TIMEOUT: '1s' })
  const { secret } = await served.key()
  const rows: [script: Script, status: number, code: string][] = [
    [(one) => one.reset(), 502, 'upstream_unreachable'],
    [(one) => one.gone(), 504, 'upstream_timeout'],
  ]
  for (const [script, status, code] of rows) {
    served.fake.play(script)
    const failed = await served.send(secret, CHAT, { body: '{"model":"m"}', headers: JSON_TYPE })
    assert.deepEqual([failed.status, headerOf(failed.rawHeaders, 'x-proxy-error')], [status, code])
    const row = await settled(served, headerOf(failed.rawHeaders, 'x-proxy-request-id')!)
    assert.deepEqual(
      [row.state, row.status, row.error, row.credential_id, row.first_byte_ms, row.tokens_in],
      ['settled', status, code, 'env_openai', null, null],
    )
  }
  assert.equal(served.fake.requests.length, 2)
})

test('a key in the place of a model is neither repeated nor recorded', async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { secret: other } = createSecret('tmk')
  const sent = { body: JSON.stringify({ model: other }), headers: JSON_TYPE }
  const { secret } = await served.key({})
  assert.equal((await served.send(secret, CHAT, sent)).status, 200)
  assert.equal((await settled(served)).model, `${other.slice(0, 17)}…`)
  const scoped = await served.key({ models: ['gpt-5'] })
  const refused = await served.send(scoped.secret, CHAT, sent)
  assert.equal(refused.status, 403)
  assert.match(refused.body.toString(), new RegExp(`model ..${other.slice(0, 17)}…`))
})

test('a request without a credential releases everything: limit and ledger are unchanged', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { secret } = await served.key({ rpm: 1 })
  const ask = (address: string) =>
    served.send(secret, address, { body: '{"model":"m"}', headers: JSON_TYPE })
  for (let i = 0; i < 3; i++) {
    const missing = await ask('https://api.mistral.ai/v1/chat/completions')
    assert.deepEqual(
      [missing.status, headerOf(missing.rawHeaders, 'x-proxy-error')],
      [502, 'upstream_credential_missing'],
    )
  }
  const passed = await ask(CHAT)
  assert.equal(passed.status, 200)
  await settled(served, headerOf(passed.rawHeaders, 'x-proxy-request-id')!)
  assert.equal(
    (await served.running.store.db.selectFrom('requests').select('id').execute()).length,
    1,
  )
})

test('two Authorization or Origin headers are refused, whatever their values', async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { secret } = await served.key()
  const key = `Authorization: Bearer ${secret}\r\n`
  const rows: [lines: string, status: number][] = [
    [key, 200],
    [`${key}${key}`, 400],
    [`${key}authorization: Bearer sk-other\r\n`, 400],
    [`${key}Origin: https://a.test\r\nORIGIN: https://a.test\r\n`, 400],
    [`${key}Origin: https://a.test\r\n`, 200],
  ]
  // By either door: that of our own reader, and that of Node's server.
  for (const before of ['', 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n']) {
    for (const [lines, status] of rows) {
      const text = await raw(
        served.port,
        `${before}GET /proxy?url=${OPENAI}/v1/models HTTP/1.1\r\nHost: x\r\n${lines}Connection: close\r\n\r\n`,
      )
      const proxied = text.slice(text.lastIndexOf('HTTP/1.1 '))
      assert.match(proxied, new RegExp(`^HTTP/1.1 ${status} `), lines)
      if (status === 400)
        assert.match(
          proxied,
          /X-Proxy-Error: malformed_request\r\n[^]*"code":"malformed_request"/,
          lines,
        )
    }
  }
})

test('concurrent requests are limited, and refused ones do not count', async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const served = await startServed(
    t,
    (one) => released.then(() => respond(200, JSON_TYPE, '{}')(one)),
    { TOLLMARK_MAX_OPEN: '2' },
  )
  const { secret } = await served.key()
  const send = (key: string) => served.send(key, CHAT, { body: '{}', headers: JSON_TYPE })
  for (let i = 0; i < 3; i++) assert.equal((await send('tmk_x')).status, 401)
  const underWay = [send(secret), send(secret)]
  await until(() => served.fake.requests.length === 2)
  const over = await send(secret)
  assert.deepEqual(
    [
      over.status,
      headerOf(over.rawHeaders, 'x-proxy-error'),
      headerOf(over.rawHeaders, 'retry-after'),
    ],
    [503, 'service_unavailable', '5'],
  )
  release()
  assert.deepEqual(
    (await Promise.all(underWay)).map(({ status }) => status),
    [200, 200],
  )
  await until(async () => (await send(secret)).status === 200)
})

/**
 * TABLE of requests whose bodies are read before the provider sees any of them: of which key, how
 * they end, and what they get.
 */
const HELD: [
  what: string,
  wishes: Partial<KeyInput>,
  address: string,
  body: string | Buffer[],
  script: Script,
  status: number,
][] = [
  ['passes', { models: ['gpt-*'] }, CHAT, '{"model":"gpt-5"}', respond(200, JSON_TYPE, '{}'), 200],
  ['names another model', { models: ['gpt-*'] }, CHAT, '{"model":"o3"}', respond(200, {}), 403],
  ['cannot be read', { models: ['gpt-*'] }, CHAT, '{"model":', respond(200, {}), 400],
  ['is too large', { models: ['gpt-*'] }, CHAT, [Buffer.alloc(1_500, 32)], respond(200, {}), 413],
  [
    'is too large to be looked through for objects',
    {},
    `${OPENAI}/v1/responses`,
    [Buffer.alloc(1_500, 32)],
    respond(200, JSON_TYPE, '{}'),
    413,
  ],
  [
    'is too large, and may name any object',
    { objects: 'upstream' },
    `${OPENAI}/v1/responses`,
    [Buffer.alloc(1_500, 32)],
    respond(200, JSON_TYPE, '{}'),
    200,
  ],
  [
    'finds no credential',
    { models: ['*'] },
    'https://api.mistral.ai/v1/chat/completions',
    '{"model":"m"}',
    respond(200, {}),
    502,
  ],
  [
    'finds no provider',
    { models: ['gpt-*'] },
    CHAT,
    '{"model":"gpt-5"}',
    (one) => one.reset(),
    502,
  ],
]

test('a buffered body is freed when its request ends, however it ends', async (t) => {
  const served = await startServed(t, respond(500, {}), { TOLLMARK_MAX_BODY: '1000' })
  for (const [what, wishes, address, body, script, status] of HELD) {
    served.fake.play(script)
    const { secret } = await served.key(wishes)
    assert.equal(
      (await served.send(secret, address, { body, headers: JSON_TYPE })).status,
      status,
      what,
    )
    await until(async () => (await served.metric('held_bytes')) === 0)
  }
})

test('a large buffered body is forwarded byte for byte, with a length or in chunks', async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { secret } = await served.key({ models: ['gpt-*'] })
  const whole = Buffer.from(`{"model":"gpt-5","input":"${'äbc'.repeat(1_500_000)}"}`)
  const chunks: Buffer[] = []
  for (let at = 0, size = 1; at < whole.length; at += size, size = (size * 7) % 100_003)
    chunks.push(whole.subarray(at, at + size))
  for (const body of [whole, chunks]) {
    assert.equal((await served.send(secret, CHAT, { body, headers: JSON_TYPE })).status, 200)
    assert.equal(served.fake.requests.at(-1)!.sha256, sha256(whole))
  }
})

test('redirects are passed on; to an allowed host they lead through the proxy', async () => {
  const served = await shareServed(
    respond(302, { Location: `${GOOGLE}/v1beta/files/x:download?alt=media` }),
  )
  const { secret } = await served.key({ objects: 'upstream' })
  const inside = await served.send(secret, `${GOOGLE}/v1beta/files/x:download`, { method: 'GET' })
  assert.equal(
    headerOf(inside.rawHeaders, 'location'),
    `/proxy?url=${encodeURIComponent(`${GOOGLE}/v1beta/files/x:download?alt=media`)}`,
  )
  served.fake.play(respond(307, { Location: 'https://storage.example.com/blob' }))
  const outside = await served.send(secret, `${GOOGLE}/v1beta/files/x:download`, { method: 'GET' })
  assert.deepEqual(
    [outside.status, headerOf(outside.rawHeaders, 'location')],
    [307, 'https://storage.example.com/blob'],
  )
  assert.equal(served.fake.requests.length, 2)
})

test('only the key that created an object can reach it', async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{"id":"file-abc","object":"file"}'))
  const [mine, theirs] = [await served.key(), await served.key()]
  await served.send(mine.secret, `${OPENAI}/v1/files`, {
    body: '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ny\r\n--x--\r\n',
    headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
  })
  assert.equal(
    (await served.send(mine.secret, `${OPENAI}/v1/files/file-abc`, { method: 'GET' })).status,
    200,
  )
  const foreign = await served.send(theirs.secret, `${OPENAI}/v1/files/file-abc`, { method: 'GET' })
  assert.deepEqual(
    [foreign.status, headerOf(foreign.rawHeaders, 'x-proxy-error')],
    [403, 'endpoint_not_allowed'],
  )
})

test('100 Continue is sent once the request is admitted', async () => {
  const served = await shareServed(respond(200, {}, 'ok'))
  const { secret } = await served.key()
  const head = (key: string) =>
    `POST /proxy?url=${encodeURIComponent(CHAT)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n`
  assert.match(
    await raw(served.port, `${head(secret)}{}`),
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
  )
  assert.match(await raw(served.port, head('tmk_x')), /^HTTP\/1\.1 401 /)
  assert.equal(headerOf(served.fake.requests[0]!.rawHeaders, 'expect'), null)
})

test('preflights need no key', async () => {
  const served = await shareServed(respond(200, {}))
  const got = await served.send('', CHAT, {
    method: 'OPTIONS',
    headers: { Origin: 'https://a.test', 'Access-Control-Request-Headers': 'x-custom' },
  })
  assert.equal(got.status, 204)
  assert.match(
    headerOf(got.rawHeaders, 'access-control-allow-headers')!,
    /Authorization.*x-custom/i,
  )
})

test('a connection can mix proxied requests with others', async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{"a":1}'))
  const { secret } = await served.key({ models: ['gpt-*'] })
  const proxied = (last: string) =>
    `POST /proxy?url=${encodeURIComponent(CHAT)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n${last}Content-Length: 17\r\n\r\n{"model":"gpt-5"}`
  const live = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
  const text = await raw(
    served.port,
    `${proxied('')}${live}${proxied('')}${live}${proxied('Connection: close\r\n')}`,
  )
  assert.deepEqual(text.match(/\{"a":1\}|\{"status":"ok"/g), [
    '{"a":1}',
    '{"status":"ok"',
    '{"a":1}',
    '{"status":"ok"',
    '{"a":1}',
  ])
  assert.equal(served.fake.requests.length, 3)
})

test('a key stops working the moment it is disabled, rotated or revoked', async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { secret, id } = await served.key()
  const status = async (text: string): Promise<number> =>
    (await served.send(text, CHAT, { body: '{}', headers: JSON_TYPE })).status
  const { store, keys } = served.running
  const known = async (change: Promise<unknown>): Promise<void> => {
    await change
    await keys?.refresh()
  }
  assert.deepEqual([await status(secret), await status(secret)], [200, 200])
  await known(changeKey(store, id, null, { disabled: true }, Date.now()))
  assert.equal(await status(secret), 401)
  await known(changeKey(store, id, null, { disabled: false }, Date.now()))
  assert.equal(await status(secret), 200)
  const next = (await rotateKey(store, id, null, 0, Date.now())).secret
  await known(Promise.resolve())
  assert.deepEqual([await status(secret), await status(next), await status(next)], [401, 200, 200])
  await known(revokeKey(store, id, null, Date.now()))
  assert.deepEqual([await status(secret), await status(next)], [401, 401])
})

/**
 * TABLE of what becomes of a key while the body of its request is on its way, and what that request
 * gets.
 */
const MEANWHILE: [
  what: string,
  change: (store: Store, id: string) => Promise<unknown>,
  code: string,
][] = [
  ['revoked', (store, id) => revokeKey(store, id, null, Date.now()), 'invalid_api_key'],
  [
    'disabled',
    (store, id) => changeKey(store, id, null, { disabled: true }, Date.now()),
    'api_key_disabled',
  ],
  ['replaced', (store, id) => rotateKey(store, id, null, 0, Date.now()), 'api_key_expired'],
  [
    'limited to other models',
    (store, id) => changeKey(store, id, null, { models: ['o*'] }, Date.now()),
    'model_not_allowed',
  ],
  [
    'limited to other providers',
    (store, id) => changeKey(store, id, null, { providers: ['google'] }, Date.now()),
    'upstream_not_allowed',
  ],
]

test("a key that changes while its request's body is read is checked in its new state", async () => {
  const served = await shareServed(respond(200, JSON_TYPE, '{}'))
  const { running, port, fake } = served
  for (const [what, change, code] of MEANWHILE) {
    const { secret, id } = await served.key({ models: ['gpt-*'] })
    const socket = connect({ port, host: '127.0.0.1' })
    socket.write(
      `POST /proxy?url=${encodeURIComponent(CHAT)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: 17\r\nExpect: 100-continue\r\n\r\n{`,
    )
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 /)
    await change(running.store, id)
    await running.keys?.refresh()
    socket.write('"model":"gpt-5"}')
    assert.match(String(await once(socket, 'data')), new RegExp(`X-Proxy-Error: ${code}\r\n`), what)
    socket.destroy()
  }
  assert.deepEqual(fake.requests, [])
})

test('on shutdown, streams may finish within the timeout, and the rest is reset', async (t) => {
  let finish = () => {}
  const served = await startServed(t, async (one) => {
    await one.body()
    one.write(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n',
    )
    if (one.received.turn === 1 && one.received.connection === 1)
      await new Promise<void>((resolve) => (finish = resolve))
    else await one.gone()
    one.write('9\r\ndata: 2\n\n\r\n0\r\n\r\n')
  })
  const { secret } = await served.key()
  const begun = async () => {
    const response = await begin(served.port, {
      target: `/proxy?url=${encodeURIComponent(CHAT)}`,
      headers: { Authorization: `Bearer ${secret}`, ...JSON_TYPE },
      body: '{}',
    })
    await once(response, 'readable')
    return response
  }
  const [ends, goesOn] = [readResponse(await begun()), readResponse(await begun())]
  const stopping = served.running[Symbol.asyncDispose]()
  finish()
  const whole = await ends
  assert.deepEqual([whole.whole, whole.body.toString()], [true, 'data: 1\n\ndata: 2\n\n'])
  const cut = await goesOn
  assert.deepEqual([cut.whole, cut.body.toString()], [false, 'data: 1\n\n'])
  await stopping
})
