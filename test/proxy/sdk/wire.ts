// How providers write their responses: the few forms, so that a case gives only what matters in it.
import { crc32 } from 'node:zlib'
import { chunk, head, type Script } from '../../support/providers/fake.ts'

/**
 * Tokens that the ledger must hold of a response: in, out, cached, reasoning; null for what the
 * provider did not say.
 */
export type Tokens = readonly [
  input: number | null,
  output: number | null,
  cached: number | null,
  reasoning: number | null,
]

/** One response of a provider. */
export interface Wire {
  status?: number
  headers?: Readonly<Record<string, string>>
  /** Sent with a length, in one piece. */
  body?: Buffer | string
  /** Sent as chunks, one after the other. */
  pieces?: readonly (Buffer | string)[]
  /** After the last piece the connection breaks: closed without the last chunk, or reset. */
  breaks?: 'closed' | 'reset'
  tokens?: Tokens
}

/** A response as JSON. */
export const json = (body: unknown, more: Partial<Wire> = {}): Wire => ({
  ...more,
  headers: { 'Content-Type': 'application/json', ...more.headers },
  body: JSON.stringify(body),
})

/**
 * Server-sent events, one piece each; an event is its data, or a pair of name and data. Texts stay
 * as they are, all else becomes JSON.
 */
export const sse = (events: readonly unknown[], more: Partial<Wire> = {}): Wire => ({
  ...more,
  headers: {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache',
    ...more.headers,
  },
  pieces: events.map((event) => {
    const [name, data] = Array.isArray(event) ? (event as [string, unknown]) : [null, event]
    return `${name === null ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
  }),
})

/** Bytes of some type: an image, speech, a video. */
export const bytes = (type: string, body: Buffer, more: Partial<Wire> = {}): Wire => ({
  ...more,
  headers: { 'Content-Type': type, ...more.headers },
  body,
})

/** AWS's binary event stream: https://smithy.io/2.0/aws/amazon-eventstream.html */
export const eventStream = (
  events: readonly (readonly [type: string, data: unknown])[],
  more: Partial<Wire> = {},
): Wire => ({
  ...more,
  headers: { 'Content-Type': 'application/vnd.amazon.eventstream', ...more.headers },
  pieces: events.map(([type, data]) =>
    frame(
      { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
      Buffer.from(JSON.stringify(data)),
    ),
  ),
})

function frame(headers: Record<string, string>, payload: Buffer): Buffer {
  const fields = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + fields.length + payload.length, 0)
  prelude.writeUInt32BE(fields.length, 4)
  const withoutEnd = Buffer.concat([prelude, sum(prelude), fields, payload])
  return Buffer.concat([withoutEnd, sum(withoutEnd)])
}

function sum(data: Buffer): Buffer {
  const four = Buffer.alloc(4)
  four.writeUInt32BE(crc32(data))
  return four
}

/** A script that gives one response after the other. */
export function playing(responses: readonly Wire[]): Script {
  let next = 0
  return async (call) => {
    const {
      status = 200,
      headers = {},
      body,
      pieces,
      breaks,
    } = responses[next++] ?? { status: 500, body: 'nothing is scripted for this request' }
    await call.body()
    if (pieces === undefined) {
      const whole = Buffer.from(body ?? '')
      call.write(head(status, { ...headers, 'Content-Length': String(whole.length) }))
      if (call.received.method !== 'HEAD') call.write(whole)
      return
    }
    call.write(head(status, { ...headers, 'Transfer-Encoding': 'chunked' }))
    for (const piece of pieces) {
      call.write(chunk(piece))
      await new Promise(setImmediate)
    }
    if (breaks === undefined) call.write('0\r\n\r\n')
    // What was written must have left before the connection goes.
    else await call.pause(20)
    if (breaks === 'closed') call.socket.destroy()
    if (breaks === 'reset') call.reset()
  }
}
