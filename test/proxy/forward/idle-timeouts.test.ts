// No request is cut after a fixed time: the limits are on silence, and each piece, up or down,
// starts them anew.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { respond, chunk, head, headerOf } from '../../support/providers/fake.ts'
import { readResponse } from '../support/relayed.ts'
import { OPENAI, startServed } from '../support/served.ts'

const CHAT = `${OPENAI}/v1/chat/completions`
const FILES = `${OPENAI}/v1/files`
/** What streams through there; whatever else is read whole first. */
const FORM = 'multipart/form-data; boundary=b'
const JSON_TYPE = 'application/json'
/** Ten times the pause between two pieces: a busy machine may make one several times as long. */
const LIMITS = {
  TOLLMARK_FIRST_BYTE_TIMEOUT: '1s',
  TOLLMARK_IDLE_TIMEOUT: '1s',
  TOLLMARK_CONNECT_TIMEOUT: '1s',
}
const PAUSE_MS = 100
/** They take three times as long as any limit. */
const PIECES = 30

/** The beginning of a form, up to the content of its file: the rest streams. */
const FILE_BEGINS = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'

test('a response that takes three times as long as any timeout arrives complete', async (t) => {
  const served = await startServed(
    t,
    async (call) => {
      await call.body()
      call.write(head(200, ['Content-Type', 'text/event-stream', 'Transfer-Encoding', 'chunked']))
      for (let i = 0; i < PIECES; i++) {
        await call.pause(PAUSE_MS)
        call.write(chunk(`data: ${i}\n\n`))
      }
      call.write('0\r\n\r\n')
    },
    LIMITS,
  )
  const { secret } = await served.key()
  const got = await served.send(secret, CHAT, {
    body: '{"model":"gpt-5","stream":true}',
    headers: { 'Content-Type': JSON_TYPE },
  })
  assert.deepEqual(
    [got.status, got.whole, got.body.toString().match(/data: /g)?.length],
    [200, true, PIECES],
  )
})

test('a request that takes three times as long as any timeout arrives complete', async (t) => {
  const served = await startServed(t, respond(200, {}, 'ok'), LIMITS)
  const { secret } = await served.key()
  const path = `/proxy?url=${encodeURIComponent(FILES)}`
  const request = httpRequest({
    port: served.port,
    host: '127.0.0.1',
    method: 'POST',
    path,
    agent: false,
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': FORM,
      'content-length': String(FILE_BEGINS.length + PIECES),
    },
  })
  const responded = once(request, 'response') as Promise<[IncomingMessage]>
  request.write(FILE_BEGINS)
  for (let i = 0; i < PIECES; i++) {
    request.write('x')
    await sleep(PAUSE_MS)
  }
  request.end()
  const got = await readResponse((await responded)[0])
  assert.deepEqual(
    [got.status, got.body.toString(), served.fake.requests[0]!.body.toString()],
    [200, 'ok', FILE_BEGINS + 'x'.repeat(PIECES)],
  )
})

test('a stalled request is abandoned, whether or not it is buffered first', async (t) => {
  const served = await startServed(t, (call) => call.gone(), LIMITS)
  const rows: [address: string, type: string, begins: string, status: number, code: string][] = [
    [FILES, FORM, FILE_BEGINS, 504, 'upstream_timeout'],
    [CHAT, JSON_TYPE, '{"model":"gpt-5",', 408, 'body_too_slow'],
  ]
  const { secret } = await served.key()
  for (const [address, type, begins, status, code] of rows) {
    const socket = connect({ port: served.port, host: '127.0.0.1' })
    socket.write(
      `POST /proxy?url=${encodeURIComponent(address)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\n${begins}`,
    )
    const [got] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    assert.match(
      got.toString(),
      new RegExp(`^HTTP/1\\.1 ${status} [^]*X-Proxy-Error: ${code}\\r\\n`),
      address,
    )
  }
})

test('a buffered body must average 16 KB/s; a streamed one must only keep moving', async (t) => {
  const served = await startServed(t, respond(200, { 'Content-Type': 'application/json' }, '{}'), {
    TOLLMARK_BODY_GRACE: '300ms',
  })
  const { secret } = await served.key()
  const drip = async (address: string, type: string, begins: string, mostPieces: number) => {
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': type,
      'content-length': String(begins.length + mostPieces),
    }
    const request = httpRequest({
      port: served.port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/proxy?url=${encodeURIComponent(address)}`,
      agent: false,
      headers,
    })
    request.on('error', () => {})
    const responded = once(request, 'response') as Promise<[IncomingMessage]>
    const state = { hasResponse: false }
    void responded.then(() => (state.hasResponse = true))
    const began = performance.now()
    request.write(begins)
    for (let i = 0; i < mostPieces && !state.hasResponse; i++) {
      await sleep(50)
      request.write(' ')
    }
    const got = await readResponse((await responded)[0])
    request.destroy()
    return {
      status: got.status,
      code: headerOf(got.rawHeaders, 'x-proxy-error'),
      after: performance.now() - began,
    }
  }
  // 16,384 bytes are in time for one second.
  const [none, some, streamed] = await Promise.all([
    drip(CHAT, JSON_TYPE, ' ', 200),
    drip(CHAT, JSON_TYPE, ' '.repeat(16_384), 200),
    drip(FILES, FORM, FILE_BEGINS, 30),
  ])
  for (const { status, code } of [none, some])
    assert.deepEqual([status, code], [408, 'body_too_slow'])
  assert.ok(none.after >= 290 && some.after >= 990, `${none.after} ms, ${some.after} ms`)
  assert.equal(streamed.status, 200)
})
