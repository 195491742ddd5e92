// Inspection is shared out: no slice is long, accounts take turns, and so do the keys of each, and
// what nobody waits for any more ends at once. The clock and the event loop are the test's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Owner } from '../../../server/common/fairness/account-key-queue.ts'
import {
  InspectionQueue,
  SLICE_BYTES,
  MAX_STEP_BYTES,
  SLICE_MS,
  STEP_BYTES,
  type SlicedTask,
} from '../../../server/proxy/inspect/scheduler.ts'

/** A queue whose turns the test takes, with a clock that only the tasks' steps move. */
function startQueue() {
  let now = 0
  const turns: (() => void)[] = []
  const queue = new InspectionQueue(
    () => now,
    (turn) => turns.push(turn),
  )
  return {
    queue,
    pass: (ms: number) => void (now += ms),
    /** Runs the next slice. @returns false where there is none */
    turn: () => {
      const next = turns.shift()
      next?.()
      return next !== undefined
    },
    waiting: () => turns.length,
  }
}

/** A key, by default of an account of its own. */
const ownerOf = (key: string, account = `account of ${key}`): Owner => ({
  account_id: account,
  key_id: key,
})

/** A task of so many steps, each of which takes a time and is noted. */
function work(name: string, steps: number, log: string[], took: () => void = () => {}): SlicedTask {
  let left = steps
  return {
    step() {
      log.push(name)
      took()
      return --left === 0 ? 'done' : 'more'
    },
  }
}

test('a slice ends with the step that uses up its time', async () => {
  const { queue, pass, turn } = startQueue()
  const log: string[] = []
  const { done } = queue.run(
    ownerOf('key'),
    work('a', 10, log, () => pass(SLICE_MS * 0.6)),
  )
  const slices: number[] = []
  for (let before = 0; turn(); before = log.length) slices.push(log.length - before)
  // The first step's time is not measured, so that a short body costs no look at the clock.
  assert.deepEqual(slices, [3, 3, 3, 1])
  assert.equal(await done, true)
})

test('a slice handles a bounded number of bytes, however fast, in steps that grow', async () => {
  const { queue, turn } = startQueue()
  let slice: number[] = []
  let left = 10 * SLICE_BYTES
  const { done } = queue.run(ownerOf('key'), {
    step(_, bytes) {
      slice.push(bytes)
      left -= bytes
      return left > 0 ? 'more' : 'done'
    },
  })
  for (; turn(); slice = []) {
    assert.equal(
      slice.reduce((sum, bytes) => sum + bytes, 0),
      SLICE_BYTES,
    )
    assert.equal(slice[0], STEP_BYTES)
    slice.forEach((bytes, i) => assert.ok(bytes <= Math.min(STEP_BYTES * 2 ** i, MAX_STEP_BYTES)))
  }
  assert.equal(await done, true)
})

test('the event loop runs between two slices, and one turn is requested at a time', () => {
  const { queue, waiting, turn } = startQueue()
  for (let i = 0; i < 10; i++) queue.run(ownerOf(`key ${i % 3}`), work('a', 1_000, []))
  for (let i = 0; i < 20; i++) {
    assert.equal(waiting(), 1)
    turn()
  }
})

test('keys take turns, as do the requests of a key', () => {
  const { queue, pass, turn } = startQueue()
  const log: string[] = []
  const slow = () => pass(SLICE_MS * 2)
  for (const name of ['a1', 'a2', 'a3']) queue.run(ownerOf('a'), work(name, 4, log, slow))
  queue.run(ownerOf('b'), work('b1', 4, log, slow))
  // Each slice is two steps of these.
  for (let i = 0; i < 6; i++) turn()
  assert.deepEqual(
    log.filter((_, i) => i % 2 === 0 || log[i] !== log[i - 1]),
    ['a1', 'b1', 'a2', 'b1', 'a3', 'a1'],
  )
})

test('a key with many bodies delays another by one slice at a time', async () => {
  const { queue, pass, turn } = startQueue()
  const log: string[] = []
  const slow = () => pass(SLICE_MS * 2)
  for (let i = 0; i < 50; i++) queue.run(ownerOf('loud'), work('loud', 100, log, slow))
  turn()
  const { done } = queue.run(ownerOf('quiet'), work('quiet', 2, log, slow))
  const before = log.length
  while (!log.includes('quiet')) turn()
  assert.ok(log.length - before <= 4, log.slice(before).join())
  assert.equal(await done, true)
})

test('an account with many keys gets as many turns as one with a single key', () => {
  const { queue, pass, turn } = startQueue()
  const log: string[] = []
  const slow = () => pass(SLICE_MS * 2)
  for (let i = 0; i < 30; i++) queue.run(ownerOf(`key ${i}`, 'loud'), work('loud', 100, log, slow))
  queue.run(ownerOf('quiet'), work('quiet', 100, log, slow))
  for (let i = 0; i < 20; i++) turn()
  const quiet = log.filter((name) => name === 'quiet').length
  assert.equal(quiet, log.length / 2, log.join())
})

test('a cancelled task takes no further step, and the others go on', async () => {
  const { queue, pass, turn } = startQueue()
  const log: string[] = []
  const slow = () => pass(SLICE_MS * 2)
  const gone = queue.run(ownerOf('a'), work('gone', 100, log, slow))
  const stays = queue.run(ownerOf('a'), work('stays', 4, log, slow))
  turn()
  gone.cancel()
  gone.cancel()
  assert.equal(await gone.done, false)
  const before = log.length
  while (turn());
  assert.deepEqual(new Set(log.slice(before)), new Set(['stays']))
  assert.equal(await stays.done, true)
  assert.equal(turn(), false)
})

test('a task that waits for input takes no turns and resumes when it arrives', async () => {
  const { queue, turn, waiting } = startQueue()
  let resume = (): void => {}
  let steps = 0
  const { done } = queue.run(ownerOf('a'), {
    step: (more) => {
      resume = more
      return ++steps === 3 ? 'done' : 'waiting'
    },
  })
  turn()
  assert.deepEqual([steps, waiting()], [1, 0])
  for (const expected of [2, 3]) {
    resume()
    resume()
    assert.equal(waiting(), 1)
    turn()
    assert.equal(steps, expected)
  }
  resume()
  assert.equal(waiting(), 0)
  assert.equal(await done, true)
})

test('a waiting task can be cancelled and is not resumed', async () => {
  const { queue, turn, waiting } = startQueue()
  let resume = (): void => {}
  const { done, cancel } = queue.run(ownerOf('a'), {
    step: (more) => {
      resume = more
      return 'waiting'
    },
  })
  turn()
  cancel()
  resume()
  assert.equal(waiting(), 0)
  assert.equal(await done, false)
})

test('a step that throws ends its own task alone', async () => {
  const { queue, turn } = startQueue()
  const broken = queue.run(ownerOf('a'), { step: () => assert.fail('broken') })
  const whole = queue.run(ownerOf('a'), work('whole', 2, []))
  const failed = assert.rejects(broken.done, /broken/)
  while (turn());
  await failed
  assert.equal(await whole.done, true)
})

test('short work is done synchronously', () => {
  const { queue, waiting } = startQueue()
  assert.equal(queue.runNow(work('a', 3, [])), true)
  assert.equal(waiting(), 0)
})
