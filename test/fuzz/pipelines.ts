// Requests behind each other on one connection, for our own reader and for Node's server, with
// handshakes, tunnels, half-closed and reset sockets among them.
import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { ConnectionProblems } from '../../server/common/connection-errors.ts'
import { createTurns } from '../../server/common/fairness/turn-budget.ts'
import { openLog } from '../../server/common/log.ts'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import { valueOf } from '../../server/http1/header-fields.ts'
import { listen, type RunningServer } from '../../server/http1/listen.ts'
import { NodeExchange } from '../../server/http1/node-exchange.ts'
import { asksForWebSocket } from '../../server/http1/websocket/handshake.ts'
import type { Chance } from './chance.ts'
import { PIECES } from './http.ts'
import type { Target } from './target.ts'

/** Connections of one case, all at once, and requests of each. */
const AT_ONCE = 8
const MOST = 6
/** A connection on which nothing has moved for so long (milliseconds) has had its responses. */
const QUIET_MS = 40
/** How long responses may take, and requests of closed connections to end (milliseconds). */
const END_MS = 5_000
const FEW_PIECES = 8
const LARGE = Buffer.alloc(300_000, 'l')

/** One request of a connection. */
interface Asked {
  readonly method: string
  readonly bytes: string
  /** Whether the next request has its response in any case. */
  readonly goesOn: boolean
}

const HANDSHAKE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

const H2C = 'Connection: Upgrade\r\nUpgrade: h2c\r\n'

/** TABLE of what stands behind the request line; the number of a request is in its headers. */
const KINDS: readonly ((chance: Chance) => { fields: string; body: string; goesOn: boolean })[] = [
  () => ({ fields: '', body: '', goesOn: true }),
  () => ({ fields: 'Content-Length: 5\r\n', body: 'hello', goesOn: true }),
  () => ({
    fields: 'Transfer-Encoding: chunked\r\n',
    body: '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
    goesOn: true,
  }),
  () => ({
    fields: 'Transfer-Encoding: chunked\r\nTrailer: T\r\n',
    body: '1\r\nx\r\n0\r\nT: v\r\n\r\n',
    goesOn: true,
  }),
  (chance) => {
    const body = 'x'.repeat(chance.below(100_000))
    return { fields: `Content-Length: ${body.length}\r\n`, body, goesOn: true }
  },
  () => ({
    fields: 'Expect: 100-continue\r\nContent-Length: 5\r\n',
    body: 'hello',
    goesOn: false,
  }),
  () => ({ fields: HANDSHAKE, body: '', goesOn: false }),
  () => ({ fields: `${HANDSHAKE}Content-Length: 0\r\n`, body: '', goesOn: false }),
  () => ({ fields: `${HANDSHAKE}Content-Length: 5\r\n`, body: 'hello', goesOn: false }),
  () => ({ fields: H2C, body: '', goesOn: false }),
  () => ({ fields: `${H2C}Content-Length: 5\r\n`, body: 'hello', goesOn: false }),
  () => ({
    fields: `${H2C}Transfer-Encoding: chunked\r\n`,
    body: '2\r\nhe\r\n0\r\nContent-Length: 3\r\n\r\n',
    goesOn: false,
  }),
  () => ({ fields: 'Connection: close\r\n', body: '', goesOn: false }),
]

const TARGETS = [
  '/now',
  '/later',
  '/large',
  '/body',
  '/proxy/now',
  '/proxy/later',
  '/proxy/large',
  '/proxy/body',
  '/proxy/interim',
  '/proxy/trailers',
  '/proxy/switch',
  '/proxy/broken',
  '/proxyless',
  'http://x/proxy/now',
  '*',
]

function request(chance: Chance, number: number): Asked {
  const kind = chance.pick(KINDS)(chance)
  if (chance.happens(0.05))
    return {
      method: 'CONNECT',
      bytes: `CONNECT x:443 HTTP/1.1\r\nHost: x\r\n${kind.fields}\r\n${kind.body}`,
      goesOn: false,
    }
  if (chance.happens(0.02))
    return { method: 'PRI', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', goesOn: false }
  const hasBody = kind.body !== ''
  const method = hasBody ? 'POST' : chance.pick(['GET', 'GET', 'HEAD', 'OPTIONS'])
  const target = chance.pick(TARGETS)
  const version = chance.happens(0.95) ? 1 : 0
  return {
    method,
    bytes: `${method} ${target} HTTP/1.${version}\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nX-Number: ${number}\r\n${kind.fields}\r\n${kind.body}`,
    goesOn: kind.goesOn && version === 1 && target !== '/proxy/broken',
  }
}

/** What a client does once it has sent everything. */
type Ending = 'waits' | 'half-closes' | 'resets' | 'reads late'

function connection(chance: Chance) {
  const asked = Array.from({ length: 1 + chance.below(MOST) }, (_, i) => request(chance, i))
  const isMutated = chance.happens(0.2)
  const isPlain = !isMutated && asked.every(({ goesOn }) => goesOn)
  if (isPlain) asked.push({ method: 'GET', bytes: lastRequest(asked.length), goesOn: true })
  const text = asked.map(({ bytes }) => bytes).join('')
  const bytes = Buffer.from(isMutated ? chance.mutated(text, PIECES) : text, 'latin1')
  const split = chance.split(bytes)
  // Heads in many pieces are read slowly.
  const isSlow = isPlain && split.length > FEW_PIECES
  const pieces = isSlow || chance.happens(0.4) ? [bytes] : split
  const ending: Ending = chance.pick(['waits', 'waits', 'half-closes', 'resets', 'reads late'])
  // Of a half-closed connection, only the side that has it answers.
  const isAnswered = isPlain && (ending === 'waits' || ending === 'reads late')
  return { asked, isMutated, isAnswered, pieces, ending }
}

/** A request after which the server closes the connection. */
const lastRequest = (number: number): string =>
  `GET /now HTTP/1.1\r\nHost: x\r\nX-Number: ${number}\r\nConnection: close\r\n\r\n`

type Connection = ReturnType<typeof connection>

/** The requests that handlers have, and what each does with its own. */
class Handlers {
  /** The requests in progress. */
  readonly open = new Set<object>()
  /** What went wrong. */
  readonly faults: Error[] = []

  /** A request for `/proxy`, of either side. */
  readonly handle = (exchange: HttpExchange): void => {
    this.open.add(exchange)
    let isOver = false
    const end = (): void => {
      if (isOver) this.faults.push(new Error(`${exchange.target} ends twice`))
      isOver = true
      this.open.delete(exchange)
    }
    const respond = (): void => this.#respond(exchange, end)
    exchange.watch({ onDrain() {}, onFinish: end, onClose: end })
    const { body, target } = exchange
    if (target.endsWith('later') || target.endsWith('broken')) return void setTimeout(respond, 2)
    if (body === null || !target.endsWith('body')) return respond()
    exchange.writeContinue()
    body.read({
      onData() {
        body.pause()
        setImmediate(() => body.resume())
      },
      onEnd: respond,
      onAborted() {},
    })
  }

  #respond(exchange: HttpExchange, end: () => void): void {
    const { target } = exchange
    if (exchange.closed || exchange.headersSent) return
    if (target.endsWith('switch') && asksForWebSocket(exchange.headers) && exchange.canSwitch) {
      const raw = exchange.switchProtocols(['Connection', 'Upgrade', 'Upgrade', 'websocket'])
      if (raw === null) return exchange.reset()
      return raw.read({
        onData() {},
        onDrain() {},
        onEnd: () => raw.end(),
        onShutdown() {},
        onClose: end,
      })
    }
    if (target.endsWith('interim')) exchange.writeInterim(103, 'Early Hints', ['Link', 'x'])
    const number = ['X-Number', valueOf(exchange.headers, 'x-number') ?? '']
    const body = target.endsWith('large') ? LARGE : Buffer.from('ok')
    const isChunked = target.endsWith('trailers') || target.endsWith('broken')
    exchange.writeHead(
      200,
      'OK',
      isChunked ? number : [...number, 'Content-Length', String(body.length)],
    )
    exchange.write(body)
    if (target.endsWith('broken')) {
      exchange.flush()
      return exchange.reset()
    }
    exchange.end(target.endsWith('trailers') ? ['T', 'v'] : [])
    exchange.flush()
  }

  /** A request of Node's server for another path. */
  readonly other = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { url = '' } = incoming
    if (url.startsWith('/proxy/')) return this.handle(new NodeExchange(incoming, outgoing))
    this.open.add(outgoing)
    outgoing.once('close', () => this.open.delete(outgoing))
    const respond = (): void => {
      if (outgoing.destroyed) return
      outgoing.setHeader('X-Number', incoming.headers['x-number'] ?? '')
      outgoing.end(url.endsWith('large') ? LARGE : 'ok')
    }
    incoming.on('error', () => {})
    if (url.endsWith('later')) setTimeout(respond, 2)
    else if (url.endsWith('body')) incoming.resume().once('end', respond)
    else respond()
  }
}

/** Sends the pieces, ends as the case says, and returns everything that came. */
async function converse(port: number, { pieces, ending, isAnswered }: Connection): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setNoDelay(true)
  const received = receive(socket, isAnswered ? END_MS : QUIET_MS)
  if (ending === 'reads late') socket.pause()
  for (const piece of pieces) {
    if (socket.destroyed) break
    if (piece.length > 0) socket.write(piece)
    await turn()
  }
  if (ending === 'half-closes') socket.end()
  else if (ending === 'resets') socket.resetAndDestroy()
  else if (ending === 'reads late') setTimeout(() => socket.resume(), QUIET_MS / 2)
  return received
}

/** @param quiet how long nothing may move (milliseconds) */
function receive(socket: Socket, quiet: number): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const timer = setTimeout(() => socket.destroy(), quiet)
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
      timer.refresh()
    })
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
  })
}

/**
 * The numbers of the requests that have whole responses, in order.
 * @throws if the bytes are not responses to the requests in their order
 */
function responsesIn(text: string, { asked }: Connection): number[] {
  const numbers: number[] = []
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) break
    const head = text.slice(at, end)
    const shown = JSON.stringify(text.slice(at, at + 120))
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
    assert.ok(status >= 100, `a response begins with a status line: ${shown}`)
    at = end + 4
    if (status === 101) break
    if (status < 200) continue
    const number = /\r\nx-number: (\d+)/i.exec(head)?.[1]
    if (number === undefined) {
      assert.notEqual(status, 503, 'every slot of an address is released')
      assert.match(head, /\r\nconnection: close/i, `an error ends its connection: ${shown}`)
    } else {
      const last = numbers.at(-1) ?? -1
      assert.ok(Number(number) > last, `response ${number} comes behind ${last}`)
    }
    const isHead = number !== undefined && asked[Number(number)]?.method === 'HEAD'
    const to = isHead ? at : endOfBody(text, at, head)
    if (to === null) break
    at = to
    if (number !== undefined) numbers.push(Number(number))
  }
  return numbers
}

/** Where a body ends; null if it does not. */
function endOfBody(text: string, at: number, head: string): number | null {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length !== undefined) return text.length < at + Number(length) ? null : at + Number(length)
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) return text.length
  for (;;) {
    const line = /^([0-9a-f]+)\r\n/i.exec(text.slice(at, at + 20))
    if (line === null) return null
    const size = Number.parseInt(line[1]!, 16)
    at += line[0].length + size + 2
    if (size > 0) continue
    const end = text.indexOf('\r\n\r\n', at - 4)
    return end < 0 ? null : end + 4
  }
}

async function check(port: number, made: Connection): Promise<void> {
  const text = await converse(port, made)
  if (made.isMutated) return
  const numbers = responsesIn(text, made)
  if (!made.isAnswered) return
  const sent = made.asked.map(({ bytes }) => bytes.slice(0, 60))
  assert.equal(numbers.length, made.asked.length, `each request has a response: ${sent.join('|')}`)
}

/** Waits until no request is in progress. */
async function untilOver({ open }: Handlers): Promise<void> {
  const until = performance.now() + END_MS
  while (open.size > 0) {
    assert.ok(performance.now() < until, `${open.size} requests of closed connections never end`)
    await turn()
  }
}

/**
 * Of requests behind each other on one connection: each has its response or its end, in order, and
 * nothing is thrown.
 */
export async function pipelines(): Promise<Target> {
  const handlers = new Handlers()
  const { handle, other, faults } = handlers
  // An exception in a callback would end the process, without the seed.
  process.setUncaughtExceptionCaptureCallback((error) => faults.push(error))
  const server: RunningServer = await listen(
    { direct: { path: '/proxy', handle }, other },
    {
      host: '127.0.0.1',
      port: 0,
      headersTimeout: 10_000,
      // Requests are counted, not connections: a slot that is never released is noticed.
      maxConnections: 2 * AT_ONCE * MOST,
      trustProxy: true,
      errors: new ConnectionProblems(openLog('silent'), Date.now),
      turns: createTurns,
      clock: Date.now,
    },
  )
  return {
    run: async (chance) => {
      const cases = Array.from({ length: AT_ONCE }, () => connection(chance))
      await Promise.all(cases.map((one) => check(server.port, one)))
      await untilOver(handlers)
      const [fault] = faults.splice(0)
      if (fault !== undefined) throw fault
    },
    async [Symbol.asyncDispose]() {
      process.setUncaughtExceptionCaptureCallback(null)
      await server.close({ graceMs: 0 })
    },
  }
}
