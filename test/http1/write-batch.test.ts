// Writes of one turn of the event loop go out together, in callbacks that are each short.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scheduleFlush } from '../../server/http1/write-batch.ts'
import { until } from '../support/until.ts'

/** What a writer wrote, in which turn of the event loop, and in which callback of that turn. */
interface Written {
  i: number
  turn: number
  callback: number
}

function recorder() {
  const written: Written[] = []
  let turn = 0
  let callback = 0
  let open = false
  const count = (): void => void (turn++, written.length < 1000 && setImmediate(count).unref())
  setImmediate(count).unref()
  const write = (i: number): void => {
    if (!open) callback++
    open = true
    // Runs when this callback is over, before the next.
    process.nextTick(() => (open = false))
    written.push({ i, turn, callback })
  }
  return {
    written,
    writer: (i: number, more?: () => void) => ({ writeNow: () => (write(i), more?.()) }),
  }
}

test('a long batch is written in one turn, in order, in callbacks of at most 16 writers', async () => {
  const { written, writer } = recorder()
  // One that joins while others write comes in the next turn.
  scheduleFlush(writer(0, () => scheduleFlush(writer(40))))
  for (let i = 1; i < 40; i++) scheduleFlush(writer(i))
  await until(() => written.length === 41)
  assert.deepEqual(
    written.map(({ i }) => i),
    Array.from({ length: 41 }, (_, i) => i),
  )
  assert.deepEqual(
    [...Map.groupBy(written, ({ turn }) => turn).values()].map((all) => all.length),
    [40, 1],
  )
  assert.deepEqual(
    [...Map.groupBy(written, ({ callback }) => callback).values()].map((all) => all.length),
    [16, 16, 8, 1],
  )
})

test('every writer is flushed in the turn in which it was registered', async () => {
  const slow = {
    writeNow: () => {
      for (const end = performance.now() + 0.1; performance.now() < end;);
    },
  }
  let turn = 0
  let joined = 0
  let writtenIn = 0
  const next = (): void => {
    turn++
    for (let i = 0; i < 50; i++) scheduleFlush(slow)
    if (turn === 20) scheduleFlush({ writeNow: () => void (writtenIn = turn) })
    if (turn === 20) joined = turn
    if (turn < 40) setImmediate(next)
  }
  setImmediate(next)
  await until(() => writtenIn > 0)
  assert.equal(writtenIn, joined)
})
