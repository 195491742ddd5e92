// A WebSocket where the proxy knows none: it says so, in the provider's way, and sends nothing on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { flushJournal } from '../../server/ledger/settlement/journal.ts'
import { respond } from '../support/providers/fake.ts'
import { until } from '../support/until.ts'
import { GOOGLE, OPENAI, raw, startServed } from './support/served.ts'

const handshake = (address: string, secret: string, upgrade: string) =>
  `GET /proxy?url=${encodeURIComponent(address)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: Upgrade, keep-alive\r\nUpgrade: ${upgrade}\r\n` +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
/** The next request on the same connection. */
const NEXT = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

test('a WebSocket is refused with a sentence, and the connection stays usable', async (t) => {
  const served = await startServed(t, respond(200, {}, 'ok'))
  const { secret } = await served.key()
  const openai = await raw(
    served.port,
    handshake(`${OPENAI}/v1/models`, secret, 'websocket') + NEXT,
  )
  assert.match(openai, /^HTTP\/1\.1 400 /)
  assert.match(openai, /X-Proxy-Error: upgrade_not_supported\r\n/i)
  assert.match(
    openai,
    /\{"error":\{"message":"The proxy does not support WebSockets at this address[^"]+","type":"invalid_request_error","param":null,"code":"upgrade_not_supported"\}\}/,
  )
  assert.match(openai, /HTTP\/1\.1 200 /)
  const google = await raw(
    served.port,
    handshake(`${GOOGLE}/v1beta/models`, secret, 'WebSocket') + NEXT,
  )
  assert.match(google, /"status":"INVALID_ARGUMENT"/)
  assert.equal(served.fake.requests.length, 0)
  await served.running.store.run(flushJournal, null)
  assert.equal(
    (await served.running.store.db.selectFrom('requests').select('id').execute()).length,
    0,
  )
})

test('a WebSocket without a valid key gets only that error', async (t) => {
  const served = await startServed(t, respond(200, {}, 'ok'))
  const { secret } = await served.key()
  const [letter] = secret.slice(-1)
  const wrong = `${secret.slice(0, -1)}${letter === 'a' ? 'b' : 'a'}`
  for (const [key, status, code] of [
    ['nothing', 401, 'invalid_api_key'],
    [wrong, 401, 'invalid_api_key'],
    [secret, 400, 'upgrade_not_supported'],
  ] as const) {
    const got = await raw(served.port, handshake(`${OPENAI}/v1/models`, key, 'websocket') + NEXT)
    assert.match(
      got,
      new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*X-Proxy-Error: ${code}\\r\\n`, 'i'),
    )
  }
  assert.equal(served.fake.requests.length, 0)
})

test('an upgrade that may be ignored is ignored', async (t) => {
  // Java's HttpClient offers HTTP/2 so, with every request.
  const served = await startServed(t, respond(200, {}, 'ok'))
  const { secret } = await served.key()
  const socket = connect({ port: served.port, host: '127.0.0.1' })
  let got = ''
  socket.on('data', (bytes: Buffer) => (got += bytes.toString('latin1')))
  socket.write(handshake(`${OPENAI}/v1/models`, secret, 'h2c'))
  await until(() => got.endsWith('ok'))
  // The connection goes on.
  socket.write(NEXT)
  await once(socket, 'close')
  assert.match(got, /^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /)
  assert.equal(served.fake.requests.length, 1)
  assert.ok(!served.fake.requests[0]!.rawHeaders.some((text) => /^(upgrade|h2c)$/i.test(text)))
})

test('a handshake that is sent before an earlier request has its response is refused', async (t) => {
  const served = await startServed(t, respond(200, {}, 'ok'))
  const { secret } = await served.key()
  const realtime = handshake(`${OPENAI}/v1/realtime?model=gpt-realtime`, secret, 'websocket')
  const before = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
  for (const earlier of [before, before + before, `GET /openapi.json${before.slice(10)}`]) {
    const got = await raw(served.port, earlier + realtime + NEXT)
    assert.match(
      got,
      /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 400 [^]*Connection: close\r\n[^]*upgrade_not_supported[^]*\}$/,
    )
  }
  assert.equal(served.fake.requests.length, 0)
})
