// OpenAI's realtime sockets through the proxy: the handshake, each response a row, and what a key
// may do.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { until } from '../../support/until.ts'
import { FORMS, OPENAI, SECRETS } from '../support/served.ts'
import {
  connectSocket,
  refusedHandshake,
  rowsOf,
  startSockets,
  withKey,
  type Behaviour,
} from './support.ts'

const REALTIME = `${OPENAI}/v1/realtime?model=gpt-realtime`
const USAGE = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: { text_tokens: 119, audio_tokens: 13, cached_tokens: 64 },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
}

/** Responds to each `response.create`, and announces its session. */
let responses = 0
const CONVERSES: Behaviour = {
  opened: (call) => call.send({ type: 'session.created', session: { model: 'gpt-realtime' } }),
  message: (call, event) => {
    if (event['type'] !== 'response.create') return
    const id = `resp_${++responses}`
    call.send({ type: 'response.created', response: { id, status: 'in_progress' } })
    call.send({ type: 'response.output_text.delta', response_id: id, delta: 'Hi' })
    call.send({ type: 'response.done', response: { id, status: 'completed', usage: USAGE } })
  },
}

const served = await startSockets({ after })

/** A new key, and the provider's behaviour from now on. */
async function keyFor(behaviour: Behaviour = {}, wishes = {}) {
  served.provider.behaviour = behaviour
  served.provider.calls.length = 0
  return served.key(wishes)
}

for (const form of FORMS)
  test(`a conversation passes, and each response is a row (${form})`, async () => {
    const { secret, id } = await keyFor(CONVERSES)
    const client = connectSocket(served.port, REALTIME, [], { ...withKey(secret), form })
    await client.opened
    assert.equal(client.socket.extensions, '')
    await until(() => client.events('session.created').length === 1)
    client.send({ type: 'response.create' })
    await until(() => client.events('response.done').length === 1)
    client.send({ type: 'response.create' })
    await until(() => client.events('response.done').length === 2)
    client.socket.close(1000, 'bye')
    assert.deepEqual(await client.closed, { code: 1000, reason: 'bye' })
    const [call] = served.provider.calls
    assert.deepEqual(call!.closed, { code: 1000, reason: 'bye' })
    assert.equal(call!.request.url, '/v1/realtime?model=gpt-realtime')
    const rows = await rowsOf(served, id, 3)
    assert.deepEqual(
      rows.map(
        ({
          key_id,
          model,
          endpoint,
          method,
          status,
          state,
          tokens_in,
          tokens_out,
          tokens_cached,
          tokens_audio_in,
          tokens_audio_out,
        }) => [
          key_id,
          model,
          endpoint,
          method,
          status,
          state,
          tokens_in,
          tokens_out,
          tokens_cached,
          tokens_audio_in,
          tokens_audio_out,
        ],
      ),
      [
        [id, 'gpt-realtime', '/v1/realtime', 'GET', 101, 'settled', 132, 121, 64, 13, 91],
        [id, 'gpt-realtime', '/v1/realtime', 'GET', 101, 'settled', 132, 121, 64, 13, 91],
        [id, 'gpt-realtime', '/v1/realtime', 'GET', 101, 'aborted', null, null, null, null, null],
      ],
    )
    assert.ok(rows[0]!.bytes_in! > 0 && rows[0]!.bytes_out! > 0)
  })

/** TABLE of messages that name an object; `ID` is where. */
const NAMING: readonly [kind: 'conv' | 'resp' | 'msg', message: string][] = [
  ['conv', '{"type":"response.create","response":{"conversation":"ID"}}'],
  ['resp', '{"type":"response.create","response":{"previous_response_id":"ID"}}'],
  ['msg', '{"type":"response.create","response":{"input":[{"type":"item_reference","id":"ID"}]}}'],
  ['msg', '{"type":"conversation.item.retrieve","item_id":"ID"}'],
  ['msg', '{"type":"conversation.item.delete","item_id":"ID"}'],
  ['resp', '{"type":"response.cancel","response_id":"ID"}'],
]

test("the session's ids pass, and another key's do not", async () => {
  const hex = 'f00d'.repeat(12)
  const stored = {
    id: `resp_${hex}`,
    conversation: { id: `conv_${hex}` },
    output: [{ id: `msg_${hex}`, type: 'message', role: 'assistant', content: [] }],
  }
  const owner = await keyFor({
    respond: ({ url }) => (url === '/v1/responses' ? stored : stored.conversation),
  })
  for (const [path, body] of [
    ['conversations', '{}'],
    ['responses', '{"model":"gpt-5","input":"x"}'],
  ]) {
    const response = await fetch(
      `http://127.0.0.1:${served.port}/proxy/api.openai.com/v1/${path}`,
      {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${owner.secret}`,
          'Content-Type': 'application/json',
        },
        body: body!,
      },
    )
    assert.equal(response.status, 200, await response.text())
  }
  for (const wishes of [{}, { models: ['gpt-realtime'] }]) {
    const { secret } = await keyFor({}, wishes)
    for (const [kind, message] of NAMING) {
      served.provider.calls.length = 0
      const own = message.replace('ID', `${kind}_${'beef'.repeat(12)}`)
      const client = connectSocket(served.port, REALTIME, [], withKey(secret))
      await client.opened
      client.send(own)
      await until(() => served.provider.calls[0]?.messages.length === 1)
      served.provider.calls[0]!.send({ type: 'error' })
      client.send(message.replace('ID', `${kind}_${hex}`))
      assert.equal((await client.closed).code, 1008, message)
      assert.deepEqual(served.provider.calls[0]!.messages, [own])
    }
  }
})

test('a response on a transcription socket is recorded as such', async () => {
  const { secret } = await keyFor(CONVERSES)
  const client = connectSocket(
    served.port,
    `${OPENAI}/v1/realtime?intent=transcription`,
    [],
    withKey(secret),
  )
  await client.opened
  client.send({ type: 'response.create' })
  const { code, reason } = await client.closed
  assert.equal(code, 1008)
  assert.match(reason, /^This socket is only for transcription or translation/)
})

test('over HTTP/1.0 no socket is opened with the provider', async () => {
  const { secret, id } = await keyFor()
  const socket = connect(served.port, '127.0.0.1')
  socket.write(
    `GET /proxy?url=${encodeURIComponent(REALTIME)} HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  )
  const [response] = (await once(socket, 'data')) as [Buffer]
  assert.match(String(response), /^HTTP\/1\.1 400 [\s\S]*upgrade_not_supported/)
  socket.destroy()
  assert.equal(served.provider.calls.length, 0)
  const rows = await served.running.store.db
    .selectFrom('requests')
    .selectAll()
    .where('key_id', '=', id)
    .execute()
  assert.deepEqual(rows, [])
})

/** What connections begin with: the first are read by our own parser, the second by Node's. */
for (const [before, reader] of [
  ['', 'ours'],
  ['GET /livez HTTP/1.1\r\nHost: x\r\n\r\n', "Node's"],
] as const)
  test(`a handshake may offer other protocols, and say that it has no body (${reader})`, async (t) => {
    const { secret } = await keyFor()
    for (const extra of [
      'Upgrade: h2c, websocket\r\n',
      'Upgrade: websocket, h2c\r\nContent-Length: 0\r\n',
      'Upgrade: h2c\r\nUpgrade: WebSocket\r\n',
      'Upgrade: websocket\r\nContent-Length: 0\r\n',
    ]) {
      const socket = connect(served.port, '127.0.0.1')
      t.after(() => socket.destroy())
      let got = ''
      socket.on('data', (bytes: Buffer) => (got += bytes.toString('latin1')))
      socket.write(before)
      await until(() => before === '' || got.endsWith('}'))
      got = ''
      socket.write(
        `GET /proxy?url=${encodeURIComponent(REALTIME)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: Upgrade\r\n${extra}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      )
      await until(() => /HTTP\/1\.1 (101|400) .*\r\n[^]*\r\n\r\n/.test(got))
      assert.match(
        got,
        /HTTP\/1\.1 101 [^]*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/,
        extra,
      )
      const [call] = served.provider.calls.splice(0)
      assert.equal(call?.request.headers['content-length'], undefined)
      assert.equal(call?.request.headers.upgrade, 'websocket')
      socket.destroy()
    }
  })

test('a request with a body is no handshake', async (t) => {
  const { secret } = await keyFor()
  for (const extra of [
    'Content-Length: 1\r\n\r\nx',
    'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ]) {
    const socket = connect(served.port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write(
      `GET /proxy?url=${encodeURIComponent(REALTIME)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: Upgrade\r\nUpgrade: h2c, websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n${extra}`,
    )
    const [response] = (await once(socket, 'data')) as [Buffer]
    assert.match(String(response), /^HTTP\/1\.1 400 [^]*malformed_request/)
  }
  assert.equal(served.provider.calls.length, 0)
})

test('an invalid handshake gets the version that is spoken', async () => {
  const { secret } = await keyFor()
  const socket = connect(served.port, '127.0.0.1')
  socket.write(
    `GET /proxy?url=${encodeURIComponent(REALTIME)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n\r\n`,
  )
  const [response] = (await once(socket, 'data')) as [Buffer]
  assert.match(String(response), /^HTTP\/1\.1 400 [^]*\r\nSec-WebSocket-Version: 13\r\n/)
  socket.destroy()
})

test('a model in the address makes the socket a conversation, whatever the intent', async () => {
  const { secret, id } = await keyFor(CONVERSES)
  const client = connectSocket(served.port, `${REALTIME}&intent=transcription`, [], withKey(secret))
  await client.opened
  client.send({ type: 'response.create' })
  await until(() => client.events('response.done').length === 1)
  client.socket.close()
  await client.closed
  const rows = await rowsOf(served, id, 2)
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['settled', 'aborted'],
  )
})

test('the provider gets our credential, and only the protocols from the caller', async () => {
  const { secret } = await keyFor({})
  const client = connectSocket(
    served.port,
    REALTIME,
    ['realtime', `openai-insecure-api-key.${secret}`, 'openai-beta.realtime-v1'],
    {
      headers: {
        Cookie: 'a=b',
        Origin: 'https://app.test',
        'OpenAI-Project': 'p',
        'X-Own': '1',
        // As Firefox sends them.
        'Sec-Fetch-Mode': 'websocket',
        'Sec-Fetch-Dest': 'websocket',
      },
    },
  )
  await client.opened
  assert.equal(client.socket.protocol, 'realtime')
  const { headers, rawHeaders } = served.provider.calls[0]!.request
  assert.equal(headers.authorization, `Bearer ${SECRETS.OPENAI_API_KEY}`)
  assert.equal(
    headers['sec-websocket-protocol'],
    'realtime,openai-beta.realtime-v1'.replace(',', ', '),
  )
  assert.equal(headers['x-own'], '1')
  for (const name of [
    'cookie',
    'origin',
    'sec-fetch-dest',
    'openai-project',
    'sec-websocket-extensions',
  ])
    assert.equal(headers[name], undefined, name)
  assert.ok(!rawHeaders.some((text) => text.includes(secret)))
  client.socket.close()
  await client.closed
})

test('a handshake that the provider refuses gets its response', async () => {
  const { secret, id } = await keyFor({ refuse: () => 429 })
  const refused = await refusedHandshake(connectSocket(served.port, REALTIME, [], withKey(secret)))
  assert.deepEqual(refused, { status: 429, code: undefined, body: '{"error":{"message":"no"}}' })
  const [row] = await rowsOf(served, id, 1)
  assert.equal(row!.status, 429)
})

test('a refused handshake never reaches the provider', async () => {
  const { secret } = await keyFor({}, { models: ['gpt-realtime-mini'] })
  const limited = await served.key({ rpm: 1 })
  const first = connectSocket(served.port, REALTIME, [], withKey(limited.secret))
  await first.opened
  for (const [address, key, status, code] of [
    [REALTIME, 'nothing', 401, 'invalid_api_key'],
    [REALTIME, secret, 403, 'model_not_allowed'],
    [`${OPENAI}/v1/realtime`, secret, 403, 'model_not_allowed'],
    [
      `${OPENAI}/v1/realtime?model=gpt-realtime-mini&model=gpt-realtime`,
      secret,
      403,
      'model_not_allowed',
    ],
    [`${OPENAI}/v1/responses`, secret, 403, 'endpoint_not_allowed'],
    [`${OPENAI}/v1/models`, secret, 400, 'upgrade_not_supported'],
    ['https://example.com/v1/realtime?model=gpt-realtime', secret, 403, 'upstream_not_allowed'],
    [REALTIME, limited.secret, 429, 'rate_limit_exceeded'],
  ] as const) {
    const refused = await refusedHandshake(connectSocket(served.port, address, [], withKey(key)))
    assert.deepEqual([refused.status, refused.code], [status, code], address)
  }
  assert.equal(served.provider.calls.length, 1)
  first.socket.close()
  await rowsOf(served, limited.id, 1)
})

test('a full window closes the socket with the provider’s own rate error', async () => {
  const { secret, id } = await keyFor(CONVERSES, { rpm: 2 })
  const client = connectSocket(served.port, REALTIME, [], withKey(secret))
  await client.opened
  for (let i = 0; i < 3; i++) client.send({ type: 'response.create' })
  const { code } = await client.closed
  assert.equal(code, 1013)
  const [error] = client.events('error')
  assert.deepEqual(
    { ...(error!['error'] as object), message: '' },
    {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: '',
      param: null,
      event_id: null,
    },
  )
  const asked = served.provider.calls[0]!.messages.filter((text) =>
    text.includes('response.create'),
  )
  assert.equal(asked.length, 2)
  const rows = await rowsOf(served, id, 2)
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['settled', 'settled'],
  )
})

test('a message outside the scope is refused in the provider’s error format', async () => {
  const { secret, id } = await keyFor(CONVERSES, { models: ['gpt-realtime'] })
  const client = connectSocket(served.port, REALTIME, [], withKey(secret))
  await client.opened
  client.send({ type: 'session.update', session: { instructions: 'Be brief.' } })
  client.send({
    type: 'session.update',
    session: { audio: { input: { transcription: { model: 'whisper-1' } } } },
  })
  const { code } = await client.closed
  assert.equal(code, 1008)
  assert.match(
    JSON.stringify(client.events('error')),
    /"code":"model_not_allowed","message":"This key may not use the model \\"whisper-1\\"/,
  )
  assert.equal(served.provider.calls[0]!.messages.length, 1)
  await rowsOf(served, id, 1)
})

test('a revoked key’s sockets are closed within seconds', async () => {
  const key = await keyFor(CONVERSES)
  const client = connectSocket(served.port, REALTIME, [], withKey(key.secret))
  await client.opened
  const at = performance.now()
  await served.running.store.db
    .updateTable('keys')
    .set({ disabled: 1, revision: 1e9 })
    .where('id', '=', key.id)
    .execute()
  const { code } = await client.closed
  assert.equal(code, 1008)
  // 300 ms on an idle machine.
  assert.ok(performance.now() - at < 10_000)
  assert.match(JSON.stringify(client.events('error')), /api_key_disabled/)
})

test('an upgrade on a reused connection passes, too', async () => {
  const { secret, id } = await keyFor(CONVERSES)
  const { Agent, get } = await import('node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  after(() => agent.destroy())
  const [response] = await once(get(`http://127.0.0.1:${served.port}/livez`, { agent }), 'response')
  response.resume()
  await once(response, 'end')
  const client = connectSocket(served.port, REALTIME, [], { ...withKey(secret), agent })
  await client.opened
  client.send({ type: 'response.create' })
  await until(() => client.events('response.done').length === 1)
  client.socket.close()
  await client.closed
  await rowsOf(served, id, 2)
})

test('sockets are closed with 1001 when the server is stopped', async (t) => {
  const served = await startSockets(t, CONVERSES)
  const { secret } = await served.key()
  const client = connectSocket(served.port, REALTIME, [], withKey(secret))
  await client.opened
  const stopping = served.running[Symbol.asyncDispose]()
  assert.deepEqual(await client.closed, { code: 1001, reason: 'The proxy was stopped.' })
  await stopping
})
