// While a server drains, a connection is not closed right behind a response that promised to keep it:
// a balancer may be sending the next request on it at that very moment.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { ConnectionProblems } from '../../server/common/connection-errors.ts'
import { createTurns } from '../../server/common/fairness/turn-budget.ts'
import { openLog } from '../../server/common/log.ts'
import type { HttpExchange } from '../../server/http1/exchange.ts'
import { listen } from '../../server/http1/listen.ts'
import { until } from '../support/until.ts'

const REQUEST = 'GET /proxy/a.example/ HTTP/1.1\r\nHost: h\r\n\r\n'

test('a response that began before the drain is followed by one more on its connection', async (t) => {
  const exchanges: HttpExchange[] = []
  const server = await listen(
    {
      direct: {
        path: '/proxy',
        handle: (exchange) => {
          exchanges.push(exchange)
          exchange.writeHead(200, 'OK', [])
          exchange.write(Buffer.from('part'))
          exchange.flush()
        },
      },
      other: (_incoming, outgoing) => void outgoing.end(),
    },
    {
      host: '127.0.0.1',
      port: 0,
      headersTimeout: 10_000,
      maxConnections: 0,
      trustProxy: false,
      errors: new ConnectionProblems(openLog('silent'), Date.now),
      turns: createTurns,
      clock: Date.now,
    },
  )
  t.after(() => server.close({ graceMs: 0 }))
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8')
  let received = ''
  socket.on('data', (text: string) => (received += text))
  const end = (at: number): void => {
    exchanges[at]?.end()
    exchanges[at]?.flush()
  }
  socket.write(REQUEST)
  await until(() => received.includes('part'))
  assert.match(received, /^Connection: keep-alive\r$/m)
  server.closeAfterResponses()
  end(0)
  await until(() => received.endsWith('0\r\n\r\n'))
  received = ''
  socket.write(REQUEST)
  await until(() => received.includes('part'))
  assert.match(received, /^Connection: close\r$/m)
  const closed = once(socket, 'close')
  end(1)
  await closed
  assert.ok(received.endsWith('0\r\n\r\n'))
})
