// A large body that is held goes up a few pieces in a turn of the event loop: an upstream that
// reads fast would else take all of it in one.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { TurnBudget } from '../../../server/common/fairness/turn-budget.ts'
import { destinationOf } from '../../../server/http1/client/client.ts'
import { RequestWriter } from '../../../server/http1/client/request-writer.ts'
import { until } from '../../support/until.ts'

const PIECE = Buffer.alloc(64 * 1024, 'x')
const PIECES = 200
const destination = destinationOf(new URL('https://api.openai.com'))

/** A socket that takes everything at once, and notes in which turn of the event loop. */
function greedySocket() {
  const turns: number[] = []
  let turn = 0
  const next = (): void => void (turn++, setImmediate(next).unref())
  next()
  const socket = {
    destroyed: false,
    writableLength: 0,
    cork() {},
    uncork() {},
    write: (bytes: Buffer | string) => (
      turns.push(...(bytes.length === PIECE.length ? [turn] : [])),
      true
    ),
  }
  return { socket, turns }
}

function send(socket: object, turns: TurnBudget, owner: string): RequestWriter {
  const body = {
    length: PIECES * PIECE.length,
    held: Array.from({ length: PIECES }, () => PIECE),
    heldTrailers: [],
    rest: null,
    observe: null,
    trailers: (raw: string[]) => raw,
  }
  const sending = new RequestWriter(
    socket as Socket,
    { destination, method: 'POST', path: '/', headers: [], body },
    (write) => turns.schedule({ account_id: owner, key_id: owner }, write),
  )
  sending.writeNow()
  return sending
}

test('each turn writes a few pieces, alternating between two bodies', async () => {
  const turns = new TurnBudget(2)
  const [one, other] = [greedySocket(), greedySocket()]
  const sendings = [send(one.socket, turns, 'a'), send(other.socket, turns, 'b')]
  await until(() => sendings.every(({ done }) => done))
  assert.equal(one.turns.length, PIECES)
  for (const { turns } of [one, other]) {
    const most = Math.max(
      ...[...Map.groupBy(turns, (turn) => turn).values()].map((all) => all.length),
    )
    assert.ok(most <= 8, `${most} pieces in a turn`)
  }
  assert.ok(Math.abs(one.turns.at(-1)! - other.turns.at(-1)!) <= 4, 'both end together')
})

test('a stopped body writes nothing more', async () => {
  const turns = new TurnBudget(1)
  const { socket, turns: written } = greedySocket()
  const sending = send(socket, turns, 'a')
  sending.stop()
  const before = written.length
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(written.length, before)
  assert.ok(before < PIECES)
})
