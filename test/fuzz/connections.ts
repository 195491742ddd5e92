// Connections over real sockets, both ways: whatever comes, each request has one response, and
// nobody gets what was meant for another.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, METHODS } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import { openRouter } from '../support/router.ts'
import {
  createHttpClient,
  destinationOf,
  type Destination,
  type ResponseHandler,
  type OutboundRequest,
  type HttpClient,
} from '../../server/http1/client/client.ts'
import type { Chance } from './chance.ts'
import { responses, requests } from './http.ts'
import { nodesRequests } from './oracle.ts'
import type { Target } from './target.ts'
import { createTurns } from '../../server/common/fairness/turn-budget.ts'

/** Connections of one case, all at once. */
const AT_ONCE = 8
/** A connection on which nothing has moved for so long (milliseconds) has had its responses. */
const QUIET_MS = 40

const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Writes pieces, each in a turn of its own. */
async function send(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return
    if (piece.length > 0) socket.write(piece)
    await turn()
  }
}

/** Everything that comes until the connection is closed, or is quiet. */
function received(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const timer = setTimeout(() => socket.destroy(), QUIET_MS)
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
      timer.refresh()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
  })
}

/** The statuses of responses that stand behind each other, each with a length. */
function statusesOf(text: string): number[] {
  const statuses: number[] = []
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) break
    const head = text.slice(at, end)
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]
    assert.ok(
      status !== undefined,
      `a response begins with a status line: ${JSON.stringify(text.slice(at, at + 80))}`,
    )
    statuses.push(Number(status))
    at =
      end + 4 + (status === '100' ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0))
  }
  return statuses
}

/** Responds at once, behind the body, or reads it with pauses, as the target says. */
function respond(caller: HttpExchange): void {
  const say = (): void => {
    if (caller.headersSent || caller.closed) return
    // A method that nobody knows is refused, as the proxy does it.
    caller.writeHead(METHODS.includes(caller.method) ? 200 : 405, 'OK', ['Content-Length', '2'])
    // A HEAD has the length of what it would have had.
    caller.write(Buffer.from('ok'))
    caller.end()
    caller.flush()
  }
  caller.watch({ onDrain() {}, onFinish() {}, onClose() {} })
  if (caller.body === null || caller.target.endsWith('early')) return say()
  const { body } = caller
  caller.writeContinue()
  body.read({
    onData() {
      if (!caller.target.endsWith('paused')) return
      body.pause()
      setImmediate(() => body.resume())
    },
    onEnd: say,
    onAborted() {},
  })
}

/**
 * Of callers' connections: no more responses than Node takes requests, each of them whole, and
 * nothing thrown.
 */
export async function callers(): Promise<Target> {
  const server = createHttpServer(
    (incoming, outgoing) => void incoming.resume().on('end', () => outgoing.end()),
  )
  const front = openRouter(server, respond, { head: 1_000, keepAlive: 1_000 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const make = (chance: Chance) => {
    const bytes = requests(chance, ['/proxy?url=late', '/proxy?url=early', '/proxy?url=paused'])
    return { bytes, pieces: chance.split(bytes) }
  }
  const one = async ({ bytes, pieces }: ReturnType<typeof make>): Promise<void> => {
    const socket = connect(portOf(server), '127.0.0.1').setNoDelay(true)
    const all = received(socket)
    await send(socket, pieces)
    // A HEAD's response has a length and no body, which this reading of responses does not know.
    if (bytes.includes('HEAD')) return void (await all)
    const statuses = statusesOf(await all)
    // Node's parser ends at a method that it does not know. We respond with 405, and go on behind
    // it.
    if (statuses.includes(405)) return
    const taken = statuses.filter((status) => status === 200).length
    // Those to early responses, whose bodies never came, are no whole requests to Node.
    if (bytes.includes('early')) return
    const theirs = await nodesRequests(bytes)
    assert.ok(
      taken <= theirs.length,
      `${taken} responses, where Node takes ${theirs.length} requests: ${JSON.stringify(bytes.toString('latin1'))}`,
    )
  }
  return {
    run: async (chance) =>
      void (await Promise.all(Array.from({ length: AT_ONCE }, () => make(chance)).map(one))),
    async [Symbol.asyncDispose]() {
      front.destroyBusy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const MARKER = 'the response to the second'

/** How a request ended: its body where it has come whole, else null. Throws where it ends twice. */
function ask(sender: HttpClient, destination: Destination, path: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    let [body, heads, ends] = ['', 0, 0]
    const end = (found: string | null): void => {
      if (++ends > 1 || heads > 1) reject(new Error(`${path} has ${heads} heads and ${ends} ends`))
      else setImmediate(() => resolve(found))
    }
    const incoming: ResponseHandler = {
      onInterim() {},
      onPause() {},
      onHead: () => void heads++,
      onBody: (chunk) => void (body += chunk.toString('latin1')),
      onEnd: () => end(body),
      onError: () => end(null),
    }
    const outgoing: OutboundRequest = { destination, method: 'GET', path, headers: [], body: null }
    sender.send(outgoing, incoming)
  })
}

/**
 * Of connections to providers: one end for each request, and never a byte of one response in
 * another.
 */
export async function providers(): Promise<Target> {
  const plays = new Map<string, { pieces: Buffer[]; ends: boolean }>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket
      .setNoDelay(true)
      .on('error', () => {})
      .on('close', () => sockets.delete(socket))
    socket.on('data', (bytes: Buffer) => {
      const path = /^GET (\S+)/.exec(bytes.toString('latin1'))?.[1] ?? ''
      const play = plays.get(path)
      if (play === undefined)
        return void socket.write(
          `HTTP/1.1 200 OK\r\nContent-Length: ${MARKER.length}\r\n\r\n${MARKER}`,
        )
      void send(socket, play.pieces).then(() => (play.ends ? socket.end() : undefined))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const limits = {
    connect: 1_000,
    firstByte: 50,
    idle: 50,
    keepAlive: 4_000,
    maxIdlePerDestination: 8,
  }
  const sender = createHttpClient(limits, () => performance.now(), createTurns)
  const destination = destinationOf(
    new URL('https://api.test'),
    new URL(`http://127.0.0.1:${portOf(server)}`),
  )
  let count = 0
  const make = (chance: Chance): string => {
    const path = `/${++count}`
    plays.set(path, { pieces: chance.split(responses(chance)), ends: chance.happens(0.5) })
    return path
  }
  const one = async (path: string): Promise<void> => {
    await ask(sender, destination, path)
    plays.delete(path)
    const second = await ask(sender, destination, '/second')
    // A connection may be spoilt by what came behind the first response: then there is none, but
    // never another one.
    assert.ok(
      second === null || second === MARKER,
      `the second request got ${JSON.stringify(second)}`,
    )
  }
  return {
    run: async (chance) =>
      void (await Promise.all(Array.from({ length: AT_ONCE }, () => make(chance)).map(one))),
    async [Symbol.asyncDispose]() {
      sender.close()
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
