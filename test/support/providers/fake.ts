// A fake provider: a raw TCP server on the loopback. A script decides every byte and pause, and it
// records exactly what it receives. Node's HTTP server would hide the faults that tests need.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls'

/** One request as it arrived. */
export type Received = {
  method: string
  target: string
  /** Name, value, name, value, … in the order of the wire. */
  rawHeaders: string[]
  /** The body without transfer framing. */
  body: Buffer
  sha256: string
  trailers: string[]
  /** Number of its connection, and its number on that connection, both from 1. */
  connection: number
  turn: number
  /**
   * When the head and the last byte of the body arrived (null until then), in monotonic
   * milliseconds.
   */
  headAt: number
  bodyAt: number | null
  /** Whether the client closed the connection before the script ended. */
  abandoned: boolean
}

/** A request for a script, and the raw connection to respond on. */
export type Call = {
  received: Received
  socket: Socket
  /** Resolves when the whole request body has arrived. */
  body(): Promise<Buffer>
  /** Resolves when the client has closed the connection. */
  gone(): Promise<void>
  /** Writes raw bytes (text is latin1). */
  write(bytes: string | Buffer): void
  /** Resolves after a time, or when the connection closes. */
  pause(milliseconds: number): Promise<void>
  /** Closes with a TCP reset; over TLS only if there is unread data. */
  reset(): void
}

export type Script = (call: Call) => void | Promise<void>

export type FakeProvider = {
  /** `http://127.0.0.1:PORT` (or https). */
  origin: string
  port: number
  /** Everything that arrived, oldest first. */
  requests: Received[]
  /** Number of connections so far. */
  connections: number
  /** Replaces the script for later requests. */
  play(script: Script): void
  close(): Promise<void>
}

/** A response with a Content-Length. */
export function respond(
  status: number,
  headers: Record<string, string>,
  body: string | Buffer = '',
): Script {
  return async (call) => {
    await call.body()
    const bytes = Buffer.from(body)
    call.write(head(status, { ...headers, 'Content-Length': String(bytes.length) }))
    if (call.received.method !== 'HEAD') call.write(bytes)
  }
}

/** The text of a response head. */
export function head(status: number, headers: Record<string, string> | string[]): string {
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers).flat()
  let text = `HTTP/1.1 ${status} Scripted\r\n`
  for (let i = 0; i < pairs.length; i += 2) text += `${pairs[i]}: ${pairs[i + 1]}\r\n`
  return `${text}\r\n`
}

/** One piece of a chunked body. */
export function chunk(bytes: string | Buffer): Buffer {
  const data = Buffer.from(bytes)
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')])
}

/** Starts a fake provider on a free port of the loopback; `tls` makes it an https one. */
export async function startFake(script: Script, tls?: TlsOptions): Promise<FakeProvider> {
  const sockets = new Set<Socket>()
  let current = script
  const fake: FakeProvider = {
    origin: '',
    port: 0,
    requests: [],
    connections: 0,
    play: (next) => (current = next),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  const accept = (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    serve(socket, ++fake.connections, fake.requests, (call) => current(call))
  }
  const server: Server = tls ? createTlsServer(tls, accept) : createServer(accept)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  fake.port = (server.address() as AddressInfo).port
  fake.origin = `${tls ? 'https' : 'http'}://127.0.0.1:${fake.port}`
  return fake
}

/** Reads requests from one connection and runs the script for each. */
function serve(socket: Socket, connection: number, requests: Received[], script: Script): void {
  let pieces: Buffer[] = []
  let waiting = 0
  let wake: (() => void) | null = null
  let ended = false
  let turn = 0
  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes)
    waiting += bytes.length
    wake?.()
  })
  const gone = new Promise<void>((resolve) => {
    const end = () => {
      ended = true
      wake?.()
      resolve()
    }
    socket.on('end', end)
    socket.on('close', end)
  })
  const more = async (): Promise<void> => {
    if (ended) throw new Error('closed')
    await new Promise<void>((resolve) => (wake = resolve))
  }
  const lacks = (length: number): boolean => waiting < length
  const take = async (length: number): Promise<Buffer> => {
    while (lacks(length)) await more()
    const whole = Buffer.concat(pieces)
    pieces = [whole.subarray(length)]
    waiting -= length
    return whole.subarray(0, length)
  }
  const until = async (mark: string): Promise<string> => {
    for (;;) {
      const whole = Buffer.concat(pieces)
      pieces = [whole]
      const at = whole.indexOf(mark)
      if (at >= 0) return (await take(at + mark.length)).toString('latin1').slice(0, -mark.length)
      await more()
    }
  }

  const readBody = async (received: Received): Promise<Buffer> => {
    const length = headerOf(received.rawHeaders, 'content-length')
    const parts: Buffer[] = []
    if (headerOf(received.rawHeaders, 'transfer-encoding') !== null) {
      for (;;) {
        const size = Number.parseInt(await until('\r\n'), 16)
        if (size === 0) break
        parts.push(await take(size))
        await take(2)
      }
      for (let line = await until('\r\n'); line !== ''; line = await until('\r\n'))
        received.trailers.push(...fields(line))
    } else if (length !== null) parts.push(await take(Number(length)))
    const body = Buffer.concat(parts)
    received.body = body
    received.sha256 = createHash('sha256').update(body).digest('hex')
    received.bodyAt = performance.now()
    return body
  }

  const run = async (): Promise<void> => {
    for (;;) {
      const [line = '', ...lines] = (await until('\r\n\r\n')).split('\r\n')
      const [method = '', target = ''] = line.split(' ')
      const received: Received = {
        method,
        target,
        rawHeaders: lines.flatMap(fields),
        body: Buffer.alloc(0),
        sha256: '',
        trailers: [],
        connection,
        turn: ++turn,
        headAt: performance.now(),
        bodyAt: null,
        abandoned: false,
      }
      requests.push(received)
      const body = readBody(received)
      body.catch(() => {})
      void gone.then(() => (received.abandoned = received.abandoned || !done))
      let done = false
      await script({
        received,
        socket,
        body: () => body,
        gone: () => gone,
        write: (bytes) =>
          void (
            socket.writable &&
            socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
          ),
        pause: (milliseconds) =>
          Promise.race([sleep(milliseconds, undefined, { ref: false }), gone]),
        reset: () =>
          void (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy()),
      })
      done = true
      await body
    }
  }
  // A closed connection ends the script; scripts that expect one await `gone`.
  run().catch(() => {})
}

function fields(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}

/** The value of a header in a raw list (name in lower case), or null. */
export function headerOf(rawHeaders: string[], name: string): string | null {
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.toLowerCase() === name) return rawHeaders[i + 1]!
  return null
}
