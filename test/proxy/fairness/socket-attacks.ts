// TABLE of what can be done with WebSockets to starve the others.
import { JSON_BODIES, type Body } from '../../../bench/parts/bodies.ts'
import { frameOf, OPCODE } from '../../../server/http1/websocket/frames.ts'
import { ENDLESS_MODEL, SILENT_MODEL } from '../../support/providers/socket-provider.ts'
import type { Attack, Scene } from './attack.ts'
import type { Hostile, Sent } from './hostile.ts'

const REALTIME = '/v1/realtime'
/** The largest message that passes. */
const MESSAGE_BYTES = 24 * 1024 * 1024
/** About as much is written at once. */
const BATCH_BYTES = 64 * 1024

/** The head of a handshake. */
const handshake = (key: string, address = `api.openai.com${REALTIME}?model=gpt-realtime`): string =>
  `GET /proxy/${address} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`

const text = (payload: string): Buffer => frameOf(OPCODE.text, Buffer.from(payload), true)
/** A frame over and over. */
function batch(frame: Buffer): Buffer {
  const times = Math.max(1, Math.floor(BATCH_BYTES / frame.length))
  return Buffer.concat(Array.from({ length: times }, () => frame))
}
/** One byte, as the first fragment of a message or a further one. */
function fragment(opcode: number): Buffer {
  const frame = frameOf(opcode, Buffer.from(' '), true)
  frame[0] = opcode
  return frame
}
/** A body as a message that OpenAI's sockets know. */
const inMessage = ({ bytes }: Body): Buffer =>
  frameOf(
    OPCODE.text,
    Buffer.concat([Buffer.from('{"type":"session.update","x":'), bytes, Buffer.from('}')]),
    true,
  )

/** Sockets that are opened, and what is sent on each of them. */
const sockets = (
  name: string,
  sent: (scene: Scene) => Sent,
  {
    against = ['TOLLMARK_MAX_OPEN'],
    responses = [101, 429, 503],
    at = ({ many }: Scene): number => Math.min(many, 50),
    ...more
  }: Partial<Pick<Attack, 'against' | 'responses' | 'large'>> & {
    at?: (scene: Scene) => number
  } = {},
): Attack => ({
  name: `sockets: ${name}`,
  against,
  others: 'proxy',
  responses,
  ...more,
  begin: (scene: Scene, hostile: Hostile) => {
    const each = sent(scene)
    return Promise.all(Array.from({ length: at(scene) }, () => hostile.open(each)))
  },
})

/**
 * What is sent on each socket without end, as fast as it is taken; a new socket where it closes.
 */
const flood = (
  name: string,
  frame: Buffer,
  { address, large = false }: { address?: string; large?: boolean } = {},
): Attack => {
  const pieces = batch(frame)
  return sockets(
    name,
    ({ key }) => ({ first: handshake(key, address), flood: pieces, again: 'when closed' }),
    { large },
  )
}

export const SOCKET_ATTACKS: readonly Attack[] = [
  flood('small messages', text('{"type":"input_audio_buffer.clear"}')),
  flood('messages of no bytes', text(''), { large: true }),
  flood(
    'audio in JSON at full speed',
    text(`{"type":"input_audio_buffer.append","audio":"${'A'.repeat(1_280)}"}`),
    { large: true },
  ),
  flood('binary audio at full speed', frameOf(OPCODE.binary, Buffer.alloc(640), true), {
    address: 'api.x.ai/v1/stt',
  }),
  flood('pings', frameOf(OPCODE.ping, Buffer.alloc(125), true), { large: true }),
  sockets('fragments of one byte', ({ key }) => ({
    first: Buffer.concat([Buffer.from(handshake(key)), fragment(OPCODE.text)]),
    flood: batch(fragment(OPCODE.continuation)),
    again: 'when closed',
  })),
  ...['short messages', 'deep lists', 'deeper than any limit', 'keys'].map((kind) =>
    sockets(
      `large messages: ${kind}`,
      ({ key, body }) => ({
        first: handshake(key),
        flood: inMessage(JSON_BODIES[kind]!(Math.min(body, MESSAGE_BYTES) - 4_096)),
        again: 'when closed',
      }),
      { at: () => 4, large: kind !== 'deep lists' },
    ),
  ),
  sockets(
    'messages that are never finished',
    ({ key, body }) => {
      const message = frameOf(OPCODE.text, Buffer.alloc(body - 4_096, ' '), true)
      const first = Buffer.concat([Buffer.from(handshake(key)), message.subarray(0, -1_024)])
      return { first, again: 'when closed' }
    },
    { at: ({ many }) => Math.min(many, 24), against: ['TOLLMARK_MAX_HELD', 'TOLLMARK_BODY_GRACE'] },
  ),
  sockets('a client that reads nothing', ({ key }) => ({
    first: handshake(key, `api.openai.com${REALTIME}?model=${ENDLESS_MODEL}`),
    reads: false,
  })),
  sockets(
    'handshakes that the provider never responds to',
    ({ key }) => ({
      first: handshake(key, `api.openai.com${REALTIME}?model=${SILENT_MODEL}`),
      again: 'when closed',
    }),
    { at: ({ many }) => many, against: ['TOLLMARK_MAX_OPEN', 'TOLLMARK_FIRST_BYTE_TIMEOUT'] },
  ),
  sockets('sockets that are opened and closed', ({ key }) => ({
    first: Buffer.concat([
      Buffer.from(handshake(key)),
      frameOf(OPCODE.close, Buffer.from([3, 232]), true),
    ]),
    again: 'when closed',
    leaves: true,
  })),
  sockets('sockets that idle', ({ key }) => ({ first: handshake(key) }), {
    at: ({ many }) => many * 4,
    large: true,
  }),
]
