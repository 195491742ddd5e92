// Clients of sockets that mean harm: no message outside of a key's scope goes up, whatever its
// spelling, fragments or frames, and nothing that is no WebSocket does.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { applyMask, FrameReader, frameOf, OPCODE } from '../../../server/http1/websocket/frames.ts'
import { until } from '../../support/until.ts'
import { OPENAI } from '../support/served.ts'
import { connectSocket, rowsOf, startSockets, withKey } from './support.ts'

const served = await startSockets({ after }, {}, ['OPENAI'], { TOLLMARK_MAX_BODY: '1MB' })
const PATH = `/proxy?url=${encodeURIComponent(`${OPENAI}/v1/realtime?model=gpt-realtime`)}`

/** A client that writes what it likes, and reads frames. */
interface RawClient {
  readonly socket: Socket
  /** The close code that came; null where the connection ended without. */
  readonly closed: Promise<number | null>
}

async function rawClient(secret: string, port = served.port): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(
    `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n`,
  )
  let bytes = Buffer.alloc(0)
  socket.on('data', (piece: Buffer) => (bytes = Buffer.concat([bytes, piece])))
  await until(() => bytes.includes('\r\n\r\n'))
  const head = bytes.indexOf('\r\n\r\n')
  assert.match(bytes.toString('latin1', 0, head), /^HTTP\/1\.1 101 /)
  assert.doesNotMatch(bytes.toString('latin1', 0, head), /extensions/i)
  const closed = once(socket, 'close').then(() => closeCode(bytes.subarray(head + 4)))
  return { socket, closed }
}

/** The code of the close frame among a server's frames. */
function closeCode(bytes: Buffer): number | null {
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = bytes[at + 1]!
    const [head, length] = short === 126 ? [4, bytes.readUInt16BE(at + 2)] : [2, short]
    if ((bytes[at]! & 15) === OPCODE.close) return length < 2 ? null : bytes.readUInt16BE(at + head)
    at += head + length
  }
  return null
}

const MASK = Buffer.from([1, 2, 3, 4])
function masked(payload: Buffer): Buffer {
  applyMask(payload, MASK.readInt32LE(0), 0)
  return payload
}
/** A frame of a client, with whatever bits. */
function frame(first: number, payload: Buffer | string, isMasked = true): Buffer {
  const body = Buffer.from(payload)
  const length =
    body.length < 126
      ? Buffer.from([body.length])
      : body.length < 65_536
        ? Buffer.from([126, body.length >> 8, body.length & 255])
        : Buffer.concat([Buffer.from([127, 0, 0, 0, 0]), uint32(body.length)])
  if (isMasked) length[0]! |= 0x80
  return Buffer.concat([
    Buffer.from([first]),
    length,
    ...(isMasked ? [MASK, masked(body)] : [body]),
  ])
}
const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const FIN = 0x80
const text = (payload: Buffer | string): Buffer => frame(FIN | OPCODE.text, payload)
const ping = (payload = ''): Buffer => frame(FIN | OPCODE.ping, payload)

/** TABLE of messages that name another model, at the place that `EVIL` marks. */
const SWITCHES: readonly string[] = [
  '{"type":"session.update","session":{"model":EVIL}}',
  '{"type":"session.update","session":{"type":"realtime","model":EVIL,"tools":[]}}',
  '{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":EVIL}}}}}',
  '{"type":"session.update","session":{"input_audio_transcription":{"model":EVIL}}}',
  '{"type":"session.update","session":{"tools":[{"type":"function","model":EVIL}]}}',
  '{"type":"session.update","model":EVIL}',
  '{"type":"transcription_session.update","session":{"input_audio_transcription":{"model":EVIL}}}',
  // The beta's guide shows its settings without `session`.
  '{"type":"transcription_session.update","input_audio_transcription":{"model":EVIL}}',
  '{"type":"response.create","response":{"model":EVIL}}',
  '{"type":"response.create","response":{"tools":[{"type":"mcp","model":EVIL}]}}',
  '{"type":"response.create","model":EVIL}',
  '{"type":"conversation.item.create","model":EVIL,"item":{"type":"message"}}',
  '{"type":"input_audio_buffer.append","audio":"AAAA","model":EVIL}',
  '{"type":"input_audio_buffer.append","audio":"AAAA","session":{"model":EVIL},"audio":"AAAA"}',
  '{"type":"session.unknown_event","session":{"engine":EVIL}}',
  '{"session":{"model":EVIL}}',
]
const NAME = '"evil-model"'

/** TABLE of ways to send a message. */
const WAYS: Readonly<Record<string, (message: string) => Buffer[]>> = {
  'as it is': (message) => [text(message)],
  'in two fragments': (message) => fragments(message, Math.ceil(message.length / 2)),
  'in fragments of three bytes': (message) => fragments(message, 3),
  'in fragments with pings between': (message) =>
    fragments(message, 7).flatMap((one) => [one, ping('x')]),
  'a byte of the wire at a time': (message) =>
    [...text(message)].map((byte) => Buffer.from([byte])),
  'in a binary frame': (message) => [frame(FIN | OPCODE.binary, message)],
  'behind an empty fragment': (message) => [
    frame(OPCODE.text, ''),
    frame(FIN | OPCODE.continuation, message),
  ],
  'behind a harmless one': (message) => [
    Buffer.concat([text('{"type":"input_audio_buffer.clear"}'), text(message)]),
  ],
  'behind a byte order mark': (message) => [text(`\ufeff${message}`)],
  'with its name escaped': (message) => [text(message.replace('evil', 'ev\\u0069l'))],
  'with its key escaped': (message) => [text(message.replace(/"(model|engine)"/, '"\\u006dodel"'))],
  'with its key in capitals': (message) => [text(message.replace('"model"', '"Model"'))],
  'with its key twice, the other one allowed': (message) => [
    text(message.replace(`"model":${NAME}`, `"model":"gpt-realtime","model":${NAME}`)),
  ],
  'with its type twice': (message) => [
    text(message.replace('{"type"', '{"type":"input_audio_buffer.clear","type"')),
  ],
  'with a name that is a list': (message) => [text(message.replace(NAME, `[${NAME}]`))],
  'with an object for a name': (message) => [text(message.replace(NAME, `{"id":${NAME}}`))],
  'in a list': (message) => [text(`[${message}]`)],
  'behind another value': (message) => [text(`{} ${message}`)],
  'with a comment': (message) => [text(`/* */${message}`)],
  'with a comma too many': (message) => [text(message.replace(/\}$/, ',}'))],
  'cut off': (message) => [text(message.slice(0, -1))],
  'in UTF-16': (message) => [frame(FIN | OPCODE.binary, Buffer.from(message, 'utf16le'))],
  'under 100,000 lists': (message) => [
    text(`{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},${message.slice(1)}`),
  ],
  'behind half a megabyte': (message) => [
    text(`{"pad":"${'x'.repeat(500_000)}",${message.slice(1)}`),
  ],
}

const fragments = (message: string, size: number): Buffer[] => {
  const pieces = message.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
  return pieces.map((piece, i) =>
    frame(
      (i === pieces.length - 1 ? FIN : 0) | (i === 0 ? OPCODE.text : OPCODE.continuation),
      piece,
    ),
  )
}

/** Whether some reader could find the other model in a message that went up. */
const leadsElsewhere = (message: string): boolean => /ev(?:i|\\u0069)l/i.test(message)

/** Frames of a flood. */
const FLOOD = 100_000

const scoped = await served.key({ models: ['gpt-realtime'] })

for (const [way, send] of Object.entries(WAYS))
  test(`no message for another model is forwarded ${way}`, async () => {
    // One key opens only a hundred such sockets without a delay.
    const { secret } = await served.key({ models: ['gpt-realtime'] })
    await Promise.all(
      SWITCHES.map(async (message) => {
        const client = await rawClient(secret)
        for (const piece of send(message.replace('EVIL', NAME))) client.socket.write(piece)
        assert.equal(await client.closed, 1008, message)
      }),
    )
    const passed = served.provider.calls.flatMap(({ messages }) => messages)
    assert.deepEqual(passed.filter(leadsElsewhere), [])
  })

/** TABLE of bytes that are no WebSocket, and the code that they are closed with. */
const BROKEN: readonly [what: string, bytes: Buffer | Buffer[], code: number][] = [
  ['a frame without a mask', frame(FIN | OPCODE.text, '{}', false), 1002],
  ...[0x40, 0x20, 0x10, 0x70].map((bits): (typeof BROKEN)[number] => [
    `a frame with the reserved bits ${bits}`,
    frame(FIN | bits | OPCODE.text, '{"type":"response.create"}'),
    1002,
  ]),
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode): (typeof BROKEN)[number] => [
    `a frame of opcode ${opcode}`,
    frame(FIN | opcode, ''),
    1002,
  ]),
  ['a fragmented ping', frame(OPCODE.ping, 'x'), 1002],
  ['a fragmented close', frame(OPCODE.close, ''), 1002],
  ['a long ping', frame(FIN | OPCODE.ping, 'x'.repeat(126)), 1002],
  ['a long close', frame(FIN | OPCODE.close, 'x'.repeat(200)), 1002],
  ['half a close code', frame(FIN | OPCODE.close, 'x'), 1002],
  ['a continuation of nothing', frame(FIN | OPCODE.continuation, '{}'), 1002],
  ['a message in a message', Buffer.concat([frame(OPCODE.text, '{'), text('{}')]), 1002],
  [
    'a length with leading zeros',
    Buffer.concat([Buffer.from([FIN | OPCODE.text, 0x80 | 126, 0, 2]), MASK, Buffer.from('{}')]),
    1002,
  ],
  [
    'a long length with leading zeros',
    Buffer.concat([
      Buffer.from([FIN | OPCODE.text, 0xff, 0, 0, 0, 0, 0, 0, 0, 2]),
      MASK,
      Buffer.from('{}'),
    ]),
    1002,
  ],
  [
    'a frame of 2^63 bytes',
    Buffer.from([FIN | OPCODE.text, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]),
    1009,
  ],
  [
    'a frame of 4 GB',
    Buffer.from([FIN | OPCODE.text, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]),
    1009,
  ],
  [
    'a message of too many fragments',
    [
      frame(OPCODE.text, '{'),
      ...Array.from({ length: 20 }, () => frame(OPCODE.continuation, ' '.repeat(60_000))),
    ],
    1009,
  ],
  [
    'a message of 20,000 fragments',
    [
      frame(OPCODE.text, '{'),
      Buffer.concat(Array.from({ length: 20_000 }, () => frame(OPCODE.continuation, ' '))),
    ],
    1009,
  ],
]

for (const [what, bytes, code] of BROKEN)
  test(`${what} is closed with ${code} and not forwarded`, async () => {
    served.provider.calls.length = 0
    const client = await rawClient(scoped.secret)
    for (const piece of [bytes].flat()) client.socket.write(piece)
    assert.equal(await client.closed, code)
    await until(() => served.provider.calls.every((call) => call.closed !== null))
    assert.deepEqual(
      served.provider.calls.flatMap(({ messages }) => messages),
      [],
    )
  })

/** Collects the frames of messages, as they come, without the control frames between them. */
function dataFrames() {
  const parts: Buffer[] = []
  let isData = false
  const keep = (raw: Buffer): void => {
    if (!isData) return
    parts.push(Buffer.from(raw))
    frames.bytes += raw.length
  }
  const reader = new FrameReader(
    {
      onFrame: ({ opcode }, raw) => {
        isData = opcode < OPCODE.close
        keep(raw)
      },
      onPayload: keep,
      onFrameEnd: () => {},
    },
    true,
  )
  const frames = {
    bytes: 0,
    read: (bytes: Buffer): void => {
      for (let at = 0; at < bytes.length;) at = reader.next(bytes, at)
    },
    all: () => Buffer.concat(parts),
  }
  return frames
}

/** TABLE of how a message comes: bytes of a fragment, and of a piece of the connection. */
const PIECES: readonly [fragment: number, piece: number][] = [
  [Infinity, Infinity],
  [Infinity, 50_001],
  [1000, 70_000],
  [70_003, 9_999],
  [17, Infinity],
]

for (const [size, piece] of PIECES)
  test(`a message in fragments of ${size} bytes, in pieces of ${piece}, keeps its frames`, async () => {
    served.provider.calls.length = 0
    const { secret } = await served.key()
    const client = await rawClient(secret)
    const up = dataFrames()
    // Before the provider's own reader, which takes the masks off in place.
    served.provider.calls[0]?.request.socket.prependListener('data', up.read)
    const frames: Buffer[] = []
    const sent = [10, 3_000, 200_000].map((length) =>
      JSON.stringify({ type: 'session.update', pad: 'äbc'.repeat(length / 4) }),
    )
    const bytes = Buffer.concat(
      sent.flatMap((message) => {
        const all = Buffer.from(message)
        const parts = []
        for (let at = 0; at < all.length; at += size) {
          const part = frameOf(
            at === 0 ? OPCODE.text : OPCODE.continuation,
            all.subarray(at, at + Math.min(size, all.length)),
            true,
          )
          if (at + size < all.length) part[0]! &= 0x7f
          parts.push(part)
          frames.push(part)
          if (at === 0) parts.push(ping('x'))
        }
        return parts
      }),
    )
    for (let at = 0; at < bytes.length; at += piece)
      client.socket.write(bytes.subarray(at, at + Math.min(piece, bytes.length)))
    await until(() => served.provider.calls[0]?.messages.length === sent.length)
    assert.deepEqual(served.provider.calls[0]!.messages, sent)
    await until(() => up.bytes >= Buffer.concat(frames).length)
    assert.ok(up.all().equals(Buffer.concat(frames)), 'byte for byte')
    client.socket.destroy()
  })

test('an unfinished message is evicted for a key within its share', async (t) => {
  const { port, key, provider } = await startSockets(t, {}, ['OPENAI'], {
    TOLLMARK_MAX_BODY: '1MB',
    TOLLMARK_MAX_HELD: '4MB',
  })
  const [greedy, modest] = [await key(), await key()]
  const message = '{"type":"session.update"}'.padEnd(900_000)
  const unfinished = []
  for (let i = 0; i < 2; i++) {
    const client = await rawClient(greedy.secret, port)
    const pong = once(client.socket, 'data')
    client.socket.write(Buffer.concat([frame(OPCODE.text, message), ping()]))
    await pong
    unfinished.push(client)
  }
  const other = await rawClient(modest.secret, port)
  other.socket.write(text(message))
  await until(() => provider.calls[2]?.messages.length === 1)
  assert.equal(await unfinished[1]!.closed, 1013)
  assert.equal(unfinished[0]!.socket.readyState, 'open')
  for (const { socket } of [unfinished[0]!, other]) socket.destroy()
})

test('floods of control frames and empty fragments delay no other socket', async () => {
  const { secret } = await served.key()
  const other = connectSocket(
    served.port,
    `${OPENAI}/v1/realtime?model=gpt-realtime`,
    [],
    withKey(secret),
  )
  await other.opened
  const flood = await rawClient(scoped.secret)
  const crumbs = await rawClient(scoped.secret)
  let pongs = 0
  flood.socket.on('data', ({ length }: Buffer) => (pongs += length / 2))
  flood.socket.write(Buffer.concat(Array.from({ length: FLOOD }, () => ping())))
  crumbs.socket.write(
    Buffer.concat([
      frame(OPCODE.text, '{'),
      ...Array.from({ length: FLOOD }, () => frame(OPCODE.continuation, '')),
    ]),
  )
  await until(() => pongs > 0)
  const pong = once(other.socket, 'pong')
  other.socket.ping()
  await pong
  assert.ok(pongs < FLOOD, 'the flood was read in one go')
  for (const { socket } of [flood, crumbs]) socket.destroy()
  other.socket.terminate()
})

test('half-closed and cut connections end on both sides', async () => {
  const { secret, id } = await served.key()
  for (const leave of [
    (socket: Socket) => void socket.end(),
    (socket: Socket) => void socket.destroy(),
    (socket: Socket) => void socket.resetAndDestroy(),
    (socket: Socket) => void socket.end(frame(OPCODE.text, '{"type":').subarray(0, 9)),
    (socket: Socket) => void socket.end(frameOf(OPCODE.close, Buffer.alloc(0), true)),
  ]) {
    served.provider.calls.length = 0
    const client = await rawClient(secret)
    leave(client.socket)
    await client.closed
    await until(() => served.provider.calls[0]!.closed !== null)
  }
  await rowsOf(served, id, 5)
})

test('messages that a client sent before it left are forwarded', async () => {
  const { secret } = await served.key()
  const item = JSON.stringify({
    type: 'conversation.item.create',
    item: { content: [{ type: 'input_text', text: 'x'.repeat(200_000) }] },
  })
  const messages = Buffer.concat(Array.from({ length: 4 }, () => frame(0x81, item)))
  const close = frameOf(OPCODE.close, Buffer.from([0x0f, 0xa0]), true)
  for (const [last, code] of [
    [close, 4000],
    [Buffer.alloc(0), 1006],
  ] as const) {
    served.provider.calls.length = 0
    const { socket, closed } = await rawClient(secret)
    socket.end(Buffer.concat([messages, last]))
    await closed
    const call = served.provider.calls[0]!
    await until(() => call.closed !== null)
    assert.equal(call.closed?.code, code)
    assert.equal(call.messages.filter((text) => text === item).length, 4)
  }
})
