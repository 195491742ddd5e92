// Our data path without steps 1 to 6: PORT UPSTREAM-PORT. Forwards requests under /proxy unchanged.
import { createServer } from 'node:http'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import { ConnectionRouter, createRouterTurns } from '../../server/http1/connection-router.ts'
import { ConnectionProblems } from '../../server/common/connection-errors.ts'
import { createTurns } from '../../server/common/fairness/turn-budget.ts'
import { countBuffersTowardHeapLimit } from '../../server/common/external-memory.ts'
import { openLog } from '../../server/common/log.ts'
import { relay } from '../../server/proxy/forward/forward-request.ts'
import { createHttpClient, destinationOf } from '../../server/http1/client/client.ts'

countBuffersTowardHeapLimit()
const [port = '0', upstream = '0'] = process.argv.slice(2)
const sender = createHttpClient(
  {
    connect: 10_000,
    firstByte: 60_000,
    idle: 60_000,
    keepAlive: 15_000,
    maxIdlePerDestination: 256,
  },
  () => performance.now(),
  createTurns,
)
const destination = destinationOf(
  new URL('https://api.openai.com'),
  new URL(`http://127.0.0.1:${upstream}`),
)
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host'])
const endToEnd = (headers: readonly string[]): string[] =>
  headers.filter((_, i) => !HOP_BY_HOP.has(headers[i & ~1]!.toLowerCase()))

function handle(caller: HttpExchange): void {
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
          trailers: (raw: string[]) => raw,
        }
  const passing = {
    head: (_: number, headers: string[]) => endToEnd(headers),
    fields: (raw: string[]) => raw,
    mask: null,
    owner: { account_id: 'a', key_id: 'k' },
    body() {},
    maskedText() {},
  }
  void relay(
    sender,
    {
      destination,
      method,
      path: target.slice('/proxy'.length),
      headers: endToEnd(caller.headers),
      body: outgoing,
      onBodyReleased: null,
    },
    caller,
    passing,
  )
}

const server = createServer()
void new ConnectionRouter(server, {
  path: '/proxy',
  handle,
  timeouts: { head: 15_000, keepAlive: 60_000 },
  errors: new ConnectionProblems(openLog('silent'), Date.now),
  now: Date.now,
  turns: createRouterTurns(createTurns),
})
server.listen(Number(port), '127.0.0.1')
