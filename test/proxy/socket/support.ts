// A server before a scripted provider that speaks WebSocket, and clients of it.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer, type ClientOptions, type RawData } from 'ws'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { temporaryFolder, type Ends } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'
import { startServed, TARGETS, type Served } from '../support/served.ts'

/** A socket as the provider sees it. */
export interface Call {
  readonly socket: WebSocket
  readonly request: IncomingMessage
  /** Messages that came, as text. */
  readonly messages: string[]
  /** Whether each of them was binary. */
  readonly binary: boolean[]
  /** The client's close frame. */
  closed: { code: number; reason: string } | null
  send(event: unknown): void
}

/** What the provider does when a message comes, or with a socket that is opened. */
export interface Behaviour {
  opened?(call: Call): void
  message?(call: Call, event: Record<string, unknown>, text: string): void
  /** The JSON that a request without an upgrade gets. */
  respond?(request: IncomingMessage): unknown
  /** Responds to a handshake instead of agreeing; gives the status. */
  refuse?(request: IncomingMessage): number | null
}

export interface Provider {
  readonly origin: string
  readonly calls: Call[]
  behaviour: Behaviour
}

/** The provider's id of each handshake. */
export const UPSTREAM_ID = 'req_upstream'

export async function startProvider(t: Ends, behaviour: Behaviour = {}): Promise<Provider> {
  const server = createServer()
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (protocols) => [...protocols][0] ?? false,
  })
  sockets.on('headers', (headers) => headers.push(`X-Request-Id: ${UPSTREAM_ID}`))
  const provider = { origin: '', calls: [] as Call[], behaviour }
  server.on('request', (request, response) => {
    request.resume()
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(provider.behaviour.respond?.(request) ?? {}))
  })
  server.on('upgrade', (request, socket, head) => {
    const status = provider.behaviour.refuse?.(request) ?? null
    if (status !== null) {
      const body = '{"error":{"message":"no"}}'
      socket.end(
        `HTTP/1.1 ${status} No\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      return
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const call: Call = {
        socket: webSocket,
        request,
        messages: [],
        binary: [],
        closed: null,
        send: (event) => webSocket.send(typeof event === 'string' ? event : JSON.stringify(event)),
      }
      provider.calls.push(call)
      webSocket.on('error', () => {})
      webSocket.on('close', (code, reason) => (call.closed = { code, reason: String(reason) }))
      webSocket.on('message', (data: RawData, isBinary: boolean) => {
        const text = Buffer.isBuffer(data) ? data.toString('utf8') : ''
        call.messages.push(text)
        call.binary.push(isBinary)
        let event: unknown = {}
        try {
          event = JSON.parse(text)
        } catch {}
        provider.behaviour.message?.(call, event as Record<string, unknown>, text)
      })
      provider.behaviour.opened?.(call)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  provider.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => {
    for (const client of sockets.clients) client.terminate()
    server.close()
  })
  return provider
}

export interface SocketServed extends Served {
  readonly provider: Provider
}

/** A server whose providers are one that speaks WebSocket. */
export async function startSockets(
  t: Ends,
  behaviour: Behaviour = {},
  ids: readonly string[] = ['OPENAI'],
  env: Record<string, string> = {},
  data = temporaryFolder(t),
): Promise<SocketServed> {
  const provider = await startProvider(t, behaviour)
  const settings = {
    ...Object.fromEntries(ids.map((id) => [`TOLLMARK_UPSTREAM_${id}`, provider.origin])),
    ...env,
  }
  const served = await startServed(t, ({ socket }) => void socket.destroy(), settings, data)
  return { ...served, provider }
}

/** A client's socket through the proxy. */
export interface Client {
  readonly socket: WebSocket
  readonly messages: string[]
  readonly opened: Promise<void>
  /** Resolves with the close frame. */
  readonly closed: Promise<{ code: number; reason: string }>
  send(event: unknown): void
  /** The events of a type that have come. */
  events(type: string): Record<string, unknown>[]
}

export function connectSocket(
  port: number,
  address: string,
  protocols: readonly string[] = [],
  options: ClientOptions & { form?: 'parameter' | 'base-url' } = {},
): Client {
  const { form = 'parameter', ...rest } = options
  const url = `ws://127.0.0.1:${port}${TARGETS[form](address)}`
  const socket = new WebSocket(url, [...protocols], { perMessageDeflate: true, ...rest })
  const messages: string[] = []
  socket.on('message', (data: RawData) => messages.push(String(data)))
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  const opened = new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  opened.catch(() => {})
  return {
    socket,
    messages,
    opened,
    closed,
    send: (event) => socket.send(typeof event === 'string' ? event : JSON.stringify(event)),
    events: (type) =>
      messages
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .filter((event) => event['type'] === type),
  }
}

/** With the key in `Authorization`. */
export const withKey = (secret: string): ClientOptions => ({
  headers: { Authorization: `Bearer ${secret}` },
})

/** The response to a handshake that was not agreed to. */
export async function refusedHandshake(
  client: Client,
): Promise<{ status: number; code: string | undefined; body: string }> {
  client.socket.removeAllListeners('error')
  client.socket.on('error', () => {})
  const [, response] = (await once(client.socket, 'unexpected-response')) as [
    unknown,
    IncomingMessage,
  ]
  let body = ''
  for await (const piece of response) body += String(piece)
  return {
    status: response.statusCode ?? 0,
    code: response.headers['x-proxy-error']?.toString(),
    body,
  }
}

/**
 * A key's rows in the ledger, the oldest first, once there are so many (null: any number) and none
 * is reserved but `open`.
 */
export async function rowsOf(served: SocketServed, key: string, count: number | null, open = 0) {
  const read = async () => {
    await served.running.store.run(flushJournal, null)
    return served.running.store.db
      .selectFrom('requests')
      .selectAll()
      .where('key_id', '=', key)
      .orderBy('seq')
      .execute()
  }
  await until(async () => {
    const rows = await read()
    return (
      rows.length > 0 &&
      rows.length === (count ?? rows.length) &&
      rows.filter(({ state }) => state === 'reserved').length === open
    )
  })
  return read()
}
