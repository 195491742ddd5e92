// Responses that come again and again are read in turns: what many of them send at the same time
// does not hold up the response of another key.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import {
  createHttpClient,
  destinationOf,
  type PendingRequest,
} from '../../../server/http1/client/client.ts'
import { until } from '../../support/until.ts'
import { createTurns } from '../../../server/common/fairness/turn-budget.ts'

const LIMITS = {
  connect: 10_000,
  firstByte: 10_000,
  idle: 10_000,
  keepAlive: 1_000,
  maxIdlePerDestination: 1,
}
const STREAMS = 150
const EVENTS = 60

/** An upstream that responds with an event in each turn of its event loop. */
async function busyUpstream() {
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        let left = EVENTS
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
        const next = (): void =>
          void (
            socket.write(left-- > 0 ? '3\r\nabc\r\n' : '0\r\n\r\n'),
            left >= 0 && setTimeout(next, 1)
          )
        next()
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    dial: destinationOf(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
    close: () => server.close(),
  }
}

test('many busy responses of one key are read a few at a time and completely', async (t) => {
  const upstream = await busyUpstream()
  const sender = createHttpClient(LIMITS, () => performance.now(), createTurns)
  t.after(() => (sender.close(), upstream.close()))
  let turn = 0
  const count = (): void => void (turn++, ended < STREAMS && setImmediate(count))
  let ended = 0
  setImmediate(count)
  const pieces: { turn: number; again: boolean }[] = []
  let bytes = 0
  const calls: PendingRequest[] = Array.from({ length: STREAMS }, (_, i) => {
    let heard = 0
    return sender.send(
      {
        destination: upstream.dial,
        method: 'GET',
        path: '/',
        headers: [],
        body: null,
        owner: { account_id: 'a', key_id: 'a' },
      },
      {
        onInterim() {},
        // One whose caller is slow stays paused, whoever has its turn.
        onHead: () => void (i === 0 && setImmediate(() => calls[0]!.pause())),
        onBody: (chunk) => void (bytes += chunk.length),
        // The first two pieces of each may come at any time.
        onPause: () => void pieces.push({ turn, again: heard++ > 1 }),
        onEnd: () => void ended++,
        onError: (error) => assert.fail(error),
      },
    )
  })
  await until(() => ended === STREAMS - 1)
  calls[0]!.resume()
  await until(() => ended === STREAMS)
  assert.equal(bytes, STREAMS * EVENTS * 3)
  const inTurns = [
    ...Map.groupBy(
      pieces.filter(({ again }) => again),
      (piece) => piece.turn,
    ).values(),
  ].map((all) => all.length)
  // All may come at once as long as nobody has had to wait.
  const inLongTurns = inTurns
    .filter((pieces) => pieces > 64)
    .reduce((all, pieces) => all + pieces, 0)
  const share = inLongTurns / inTurns.reduce((all, pieces) => all + pieces, 0)
  assert.ok(
    share < 0.25,
    `${Math.round(100 * share)} % of the pieces were read in turns of more than 64`,
  )
})
