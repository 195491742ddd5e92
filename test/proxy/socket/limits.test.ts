// Limits of sockets: a window holds over many at once, also for responses that the provider begins
// by itself; bytes wait for whoever is slow; the ledger has every response, whatever happens to it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { frameOf, OPCODE } from '../../../server/http1/websocket/frames.ts'
import { until } from '../../support/until.ts'
import { OPENAI } from '../support/served.ts'
import {
  connectSocket,
  rowsOf,
  startSockets,
  withKey,
  type Behaviour,
  type Call,
} from './support.ts'

const REALTIME = `${OPENAI}/v1/realtime?model=gpt-realtime`
const served = await startSockets({ after })

/** The connection below a provider's socket. */
const rawOf = ({ request }: Call) => request.socket

let started = 0
/** Hears the end of a sentence in every second piece of audio. */
const LISTENS: Behaviour = {
  message: (call, event) => {
    if (event['type'] !== 'input_audio_buffer.append' || call.messages.length % 2 === 1) return
    const id = `resp_${++started}`
    call.send({ type: 'response.created', response: { id } })
    call.send({
      type: 'response.done',
      response: { id, usage: { input_tokens: 1, output_tokens: 1 } },
    })
  },
}

test('a limit is exact over 50 sockets with automatic responses', async () => {
  served.provider.behaviour = LISTENS
  const { secret, id } = await served.key({ rpm: 100 })
  const clients = Array.from({ length: 50 }, () =>
    connectSocket(served.port, REALTIME, [], withKey(secret)),
  )
  await Promise.all(clients.map(({ opened }) => opened))
  const speak = setInterval(() => {
    for (const { socket, send } of clients)
      if (socket.readyState === socket.OPEN)
        send({ type: 'input_audio_buffer.append', audio: 'AAAA' })
  }, 5)
  const codes = await Promise.all(clients.map(({ closed }) => closed))
  clearInterval(speak)
  assert.deepEqual(new Set(codes.map(({ code }) => code)), new Set([1013]))
  const rows = await rowsOf(served, id, 100)
  // Each has a row of its own; what was reserved and not used is aborted.
  assert.equal(
    rows.filter(({ state, tokens_in }) => state === 'settled' && tokens_in === 1).length,
    started,
  )
  assert.ok(started <= 100 && started >= 50, `${started}`)
})

test('a microphone that keeps sending does not cut the last response short', async () => {
  const id = 'resp_last'
  served.provider.behaviour = {
    message: (call) => call.send({ type: 'response.created', response: { id } }),
  }
  const key = await served.key({ rpm: 1 })
  const client = connectSocket(served.port, REALTIME, [], withKey(key.secret))
  await client.opened
  const audio = { type: 'input_audio_buffer.append', audio: 'AAAA' }
  client.send(audio)
  await until(() => client.events('response.created').length === 1)
  for (let i = 0; i < 3; i++) client.send(audio)
  // A pong shows that the audio before the ping has been decided on.
  client.socket.ping()
  await Promise.race([once(client.socket, 'pong'), client.closed])
  const call = served.provider.calls.at(-1)!
  assert.equal(call.messages.length, 1)
  call.send({
    type: 'response.done',
    response: { id, usage: { input_tokens: 1, output_tokens: 2 } },
  })
  assert.equal((await client.closed).code, 1013)
  assert.equal(client.events('response.done').length, 1)
  const [row] = await rowsOf(served, key.id, 1)
  assert.deepEqual([row!.state, row!.error, row!.tokens_out], ['settled', null, 2])
})

test('a slow client and a slow provider exert back-pressure', async () => {
  const piece = 'x'.repeat(1_000_000)
  const { secret } = await served.key()
  let sent = 0
  served.provider.behaviour = {
    opened: ({ socket }) => {
      socket.send(piece, function next(error) {
        sent++
        if (!error && sent < 60) socket.send(piece, next)
      })
    },
  }
  const before = process.memoryUsage().rss
  const client = connectSocket(served.port, REALTIME, [], withKey(secret))
  await client.opened
  client.socket.pause()
  await until(() => client.socket.isPaused)
  let last = -1
  await until(async () => {
    const isStill = last === sent
    last = sent
    await new Promise((resolve) => setTimeout(resolve, 50))
    return isStill
  })
  assert.ok(sent < 40, `${sent} MB went into nothing`)
  assert.ok(process.memoryUsage().rss - before < 200_000_000)
  client.socket.resume()
  await until(() => client.messages.length === 60)
  assert.ok(client.messages.every((text) => text.length === piece.length))

  served.provider.calls[served.provider.calls.length - 1]!.socket.pause()
  for (let i = 0; i < 60; i++)
    client.send({ type: 'conversation.item.create', item: { content: [{ text: piece }] } })
  await until(async () => {
    const isStill = last === client.socket.bufferedAmount
    last = client.socket.bufferedAmount
    await new Promise((resolve) => setTimeout(resolve, 50))
    return isStill
  })
  assert.ok(client.socket.bufferedAmount > 20_000_000, `${client.socket.bufferedAmount}`)
  const call = served.provider.calls.at(-1)!
  call.socket.resume()
  await until(() => call.messages.length === 60)
  client.socket.terminate()
})

test('all bytes of a response that arrives in one piece are in its row', async () => {
  const id = 'resp_short'
  const response = Buffer.concat(
    [
      { type: 'response.created', response: { id } },
      { type: 'response.done', response: { id, usage: { input_tokens: 1, output_tokens: 2 } } },
    ].map((event) => frameOf(OPCODE.text, Buffer.from(JSON.stringify(event)), false)),
  )
  served.provider.behaviour = { message: (call) => void rawOf(call).write(response) }
  const key = await served.key()
  const client = connectSocket(served.port, REALTIME, [], withKey(key.secret))
  await client.opened
  client.send({ type: 'response.create' })
  await until(() => client.messages.length === 2)
  client.socket.close()
  await client.closed
  const [row] = await rowsOf(served, key.id, null)
  assert.deepEqual([row!.state, row!.bytes_out], ['settled', response.length])
})

test('an idle socket is closed', async (t) => {
  // Its own server, because on a slow machine the sockets of other tests are idle for as long.
  const impatient = await startSockets(t, {}, ['OPENAI'], { TOLLMARK_IDLE_TIMEOUT: '1s' })
  const { secret, id } = await impatient.key()
  const client = connectSocket(impatient.port, REALTIME, [], withKey(secret))
  await client.opened
  assert.deepEqual(await client.closed, { code: 1001, reason: 'Nothing was sent.' })
  await rowsOf(impatient, id, 1)
})

test('a provider that disconnects, or sends invalid frames, is distinguished from one that closes', async () => {
  for (const [what, breaks, code] of [
    ['breaks off', (call) => call.socket.terminate(), 1006],
    [
      'sends a masked frame',
      (call) => void rawOf(call).write(Buffer.from([0x81, 0x82, 1, 2, 3, 4, 5, 6])),
      1014,
    ],
    [
      'sends reserved bits',
      (call) => void rawOf(call).write(Buffer.from([0xc1, 0x01, 0x20])),
      1014,
    ],
    ['sends no frame', (call) => void rawOf(call).write('HTTP/1.1 200 OK\r\n\r\n'), 1014],
    ['closes', (call) => call.socket.close(4001, 'enough'), 4001],
  ] as const satisfies [string, (call: Call) => void, number][]) {
    served.provider.behaviour = {
      message: (call) => {
        call.send({ type: 'response.created', response: { id: 'resp_x' } })
        breaks(call)
      },
    }
    const { secret, id } = await served.key()
    const client = connectSocket(served.port, REALTIME, [], withKey(secret))
    await client.opened
    client.send({ type: 'response.create' })
    assert.equal((await client.closed).code, code, what)
    // The next row may have been on its way.
    const rows = await rowsOf(served, id, null)
    assert.equal(rows[0]!.state, 'settled', what)
    assert.equal(rows[0]!.error, code === 4001 ? null : 'upstream_unreachable', what)
  }
})
