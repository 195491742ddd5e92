// A proxy with nothing but its data path: everything that comes in goes to one fake provider, and
// its response back.
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { HttpExchange } from '../../../server/http1/exchange.ts'
import type { RawHeaders } from '../../../server/http1/header-fields.ts'
import { openRouter } from '../../support/router.ts'
import { NodeExchange } from '../../../server/http1/node-exchange.ts'
import { relay } from '../../../server/proxy/forward/forward-request.ts'
import type { RelayResult } from '../../../server/proxy/forward/forwarded-request.ts'
import {
  createHttpClient,
  destinationOf,
  type Destination,
  type ClientLimits,
} from '../../../server/http1/client/client.ts'
import { startFake, type FakeProvider, type Script } from '../../support/providers/fake.ts'
import { createTurns } from '../../../server/common/fairness/turn-budget.ts'

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'host',
  'content-length',
  'expect',
  'te',
  'upgrade',
])

export const LIMITS: ClientLimits = {
  connect: 2_000,
  firstByte: 10_000,
  idle: 10_000,
  keepAlive: 4_000,
  maxIdlePerDestination: 64,
}

export type Rig = {
  fake: FakeProvider
  port: number
  /** How each request ended, in the order in which they did. */
  ends: RelayResult[]
}

/**
 * By which door requests come in: our own reader's, or that of Node's server. Nothing may depend on
 * it.
 */
export type Door = 'ours' | 'node'

export type RigOptions = Partial<ClientLimits> & {
  destination?: (fake: FakeProvider) => Destination
  door?: Door
}

/** Starts a fake provider and a bare relay before it; both end with the test. */
async function startRig(t: TestContext, script: Script, options: RigOptions = {}): Promise<Rig> {
  const { destination: dialTo, door = 'ours', ...limits } = options
  const fake = await startFake(script)
  const upstream = createHttpClient({ ...LIMITS, ...limits }, () => performance.now(), createTurns)
  const destination =
    dialTo?.(fake) ?? destinationOf(new URL('https://api.test'), new URL(fake.origin))
  const ends: RelayResult[] = []
  const handle = (caller: HttpExchange): void => {
    const { body, method, target } = caller
    const outgoing =
      body === null
        ? null
        : {
            length: body.length,
            held: [],
            heldTrailers: [],
            rest: body,
            observe: null,
            trailers: (raw: RawHeaders) => raw,
          }
    caller.writeContinue()
    void relay(
      upstream,
      { destination, method, path: target, headers: endToEnd(caller.headers), body: outgoing },
      caller,
      {
        mask: null,
        owner: { account_id: 'a', key_id: 'k' },
        head: (_, headers) =>
          headers.filter(
            (__, i) =>
              !['connection', 'keep-alive', 'transfer-encoding'].includes(
                headers[i & ~1]!.toLowerCase(),
              ),
          ),
        fields: (raw) => raw,
        body: () => {},
        maskedText: () => {},
      },
    ).then((ended) => {
      ends.push(ended)
      if (ended.outcome === 'failed') fail(caller, ended)
      return ended
    })
  }
  const server = createServer({ requestTimeout: 0 }, (incoming, outgoing) =>
    handle(new NodeExchange(incoming, outgoing)),
  )
  const front =
    door === 'ours' ? openRouter(server, handle, { head: 15_000, keepAlive: 5_000 }) : null
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    upstream.close()
    front?.destroyBusy()
    server.closeAllConnections()
    server.close()
    await fake.close()
  })
  return { fake, port: (server.address() as AddressInfo).port, ends }
}

function fail(caller: HttpExchange, { error }: RelayResult): void {
  caller.writeHead(error?.code === 'timeout' ? 504 : 502, 'Failed', [])
  caller.end()
  caller.flush()
}

/** A test that is run with each door. */
export function both(
  name: string,
  run: (rig: (script: Script, options?: RigOptions) => Promise<Rig>) => Promise<void>,
): void {
  for (const door of ['ours', 'node'] as const)
    test(`${name} (${door})`, (t) =>
      run((script, options) => startRig(t, script, { ...options, door })))
}

function endToEnd(headers: readonly string[]): RawHeaders {
  return headers.filter((_, i) => !HOP_BY_HOP.has(headers[i & ~1]!.toLowerCase()))
}

export type ReceivedResponse = {
  status: number
  rawHeaders: string[]
  body: Buffer
  trailers: string[]
  /** Whether the response ended the way a complete one does. */
  whole: boolean
  /** Each piece with the monotonic time of its arrival. */
  pieces: { at: number; bytes: Buffer }[]
  headAt: number
}

export type Sent = {
  method?: string
  target?: string
  headers?: Record<string, string>
  body?: Buffer | string | Buffer[]
  trailers?: [string, string][]
}

/** One request to the proxy. */
export async function call(port: number, sent: Sent): Promise<ReceivedResponse> {
  return readResponse(await begin(port, sent))
}

/**
 * Sends a request, a list of buffers in chunks; resolves to the response when its head has come.
 */
export async function begin(
  port: number,
  { method = 'POST', target = '/proxy', headers = {}, body, trailers }: Sent,
): Promise<IncomingMessage> {
  const framing =
    body === undefined
      ? {}
      : Array.isArray(body)
        ? { 'transfer-encoding': 'chunked' }
        : { 'content-length': String(Buffer.byteLength(body)) }
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method,
    path: target,
    headers: { ...framing, ...headers },
    agent: false,
  })
  const responded = once(request, 'response') as Promise<[IncomingMessage]>
  responded.catch(() => {})
  // Where the connection is reset in the middle of the response, the request says so too.
  request.on('error', () => {})
  if (Array.isArray(body)) {
    for (const piece of body) request.write(piece)
    if (trailers) request.addTrailers(trailers)
    request.end()
  } else request.end(body)
  const [response] = await responded
  return response
}

/** Reads a response to its end, whichever way it ends. */
export async function readResponse(response: IncomingMessage): Promise<ReceivedResponse> {
  const headAt = performance.now()
  const pieces: ReceivedResponse['pieces'] = []
  response.on('data', (bytes: Buffer) => pieces.push({ at: performance.now(), bytes }))
  response.on('error', () => {})
  await new Promise((resolve) => response.on('close', resolve))
  return {
    status: response.statusCode!,
    rawHeaders: response.rawHeaders,
    body: Buffer.concat(pieces.map(({ bytes }) => bytes)),
    trailers: response.rawTrailers,
    whole: response.complete,
    pieces,
    headAt,
  }
}
