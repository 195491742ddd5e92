// When the caller leaves, the provider hears of it at once, and the ledger says so with what had
// been used by then.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { chunk, head, type Call } from '../../support/providers/fake.ts'
import { until } from '../../support/until.ts'
import type { ResponseListener, HttpExchange } from '../../../server/http1/exchange.ts'
import { relay } from '../../../server/proxy/forward/forward-request.ts'
import type { OutboundRequest, HttpClient } from '../../../server/http1/client/client.ts'
import { ANTHROPIC, startServed } from '../support/served.ts'

const START =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":9,"output_tokens":1}}}\n\n'

/** TABLE of moments at which a caller leaves. */
const MOMENTS: {
  name: string
  plays: (call: Call) => Promise<void>
  waits: (responded: Promise<[IncomingMessage]>) => Promise<unknown>
  tokens: number | null
}[] = [
  {
    name: 'before there is a response',
    plays: (call) => call.gone(),
    waits: () => Promise.resolve(),
    tokens: null,
  },
  {
    name: 'in the midst of a stream',
    plays: async (call) => {
      call.write(head(200, ['Content-Type', 'text/event-stream', 'Transfer-Encoding', 'chunked']))
      call.write(chunk(START))
      await call.gone()
    },
    waits: async (responded) => {
      const [response] = await responded
      response.on('error', () => {})
      await once(response, 'data')
    },
    tokens: 9,
  },
]

const CASES = MOMENTS.flatMap((moment) => [
  { ...moment, isShared: false },
  { ...moment, name: `${moment.name}, on a connection that began elsewhere`, isShared: true },
])

for (const { name, plays, waits, tokens, isShared } of CASES) {
  test(`a disconnect by the caller cancels the provider's work: ${name}`, async (t) => {
    const served = await startServed(t, plays)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    if (isShared) {
      const [livez] = (await once(
        get({ port: served.port, host: '127.0.0.1', path: '/livez', agent }),
        'response',
      )) as [IncomingMessage]
      await livez.resume().toArray()
    }
    const { secret } = await served.key()
    const path = `/proxy?url=${encodeURIComponent(`${ANTHROPIC}/v1/messages`)}`
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const request = httpRequest({
      port: served.port,
      host: '127.0.0.1',
      method: 'POST',
      path,
      agent,
      headers,
    })
    request.on('error', () => {})
    const responded = once(request, 'response') as Promise<[IncomingMessage]>
    responded.catch(() => {})
    request.end('{"model":"claude","stream":true,"messages":[]}')
    await until(() => served.fake.requests.length === 1)
    await waits(responded)
    assert.equal(request.reusedSocket, isShared)
    request.destroy()
    await until(() => served.fake.requests[0]!.abandoned)
    const rows = () => served.running.store.db.selectFrom('requests').selectAll().execute()
    await until(async () => (await rows()).some(({ state }) => state !== 'reserved'))
    const [row] = await rows()
    assert.deepEqual([row!.state, row!.tokens_in, row!.model], ['aborted', tokens, 'claude'])
  })
}

test('a disconnect before the response is noticed in less than half a second', async (t) => {
  const served = await startServed(t, (call) => call.gone())
  const { secret } = await served.key()
  const noticed: number[] = []
  for (let i = 0; i < 3; i++) {
    const socket = connect({ port: served.port, host: '127.0.0.1' })
    socket.write(requestWith(secret))
    await until(() => served.fake.requests.length === i + 1)
    const left = performance.now()
    socket.destroy()
    await until(() => served.fake.requests[i]!.abandoned)
    noticed.push(performance.now() - left)
  }
  // A busy machine may delay one.
  assert.ok(Math.min(...noticed) < 500, `noticed after ${noticed.map(Math.round).join(', ')} ms`)
})

function requestWith(secret: string): string {
  const body = '{"model":"claude","stream":true,"messages":[]}'
  return [
    `POST /proxy?url=${encodeURIComponent(`${ANTHROPIC}/v1/messages`)} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${secret}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}\r\n\r\n${body}`,
  ].join('\r\n')
}

test('the provider gets nothing, or nothing more, from a caller that has disconnected', async () => {
  const heard: string[] = []
  const sender: HttpClient = {
    send() {
      heard.push('sent')
      return { bytesSent: 7, pause() {}, resume() {}, abort: () => void heard.push('aborted') }
    },
    close() {},
  }
  const passing = {
    mask: null,
    owner: { account_id: 'a', key_id: 'k' },
    head: (_: number, raw: string[]) => raw,
    fields: (raw: string[]) => raw,
    body() {},
    maskedText() {},
  }
  const ends = (caller: Partial<HttpExchange>) =>
    relay(sender, {} as OutboundRequest, caller as HttpExchange, passing)
  assert.equal((await ends({ closed: true })).outcome, 'aborted')
  assert.deepEqual(heard, [])
  assert.equal(
    (await ends({ closed: false, watch: (watcher: ResponseListener) => watcher.onClose() }))
      .outcome,
    'aborted',
  )
  assert.deepEqual(heard, ['sent', 'aborted'])
})

test('a half-closed caller gets its response, even a stream', async (t) => {
  const served = await startServed(t, async (call) => {
    await call.body()
    call.write(head(200, ['Content-Type', 'text/event-stream', 'Transfer-Encoding', 'chunked']))
    for (let i = 0; i < 3; i++) {
      call.write(chunk(START))
      await new Promise((resolve) => setImmediate(resolve))
    }
    call.write('0\r\n\r\n')
  })
  const { secret } = await served.key()
  const livez = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
  for (const before of ['', livez]) {
    const socket = connect({ port: served.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end(before + requestWith(secret))
    const text = Buffer.concat((await socket.toArray()) as Buffer[]).toString()
    const own = before === '' ? text : text.slice(text.indexOf('HTTP/1.1', 1))
    assert.match(own, /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)*HTTP\/1\.1 200 /)
    assert.equal(own.split('message_start').length - 1, 6)
    assert.ok(own.endsWith('\r\n0\r\n\r\n'))
  }
})
