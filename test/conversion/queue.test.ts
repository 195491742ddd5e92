import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversionQueue, type ConversionQueueLimits } from '../../server/conversion/queue.ts'
import { Problem } from '../../server/common/errors.ts'

const never = new AbortController().signal

/** Conversions that end when the test says so, and the order in which they began. */
function started(limits: ConversionQueueLimits) {
  const queue = createConversionQueue(limits)
  const order: string[] = []
  const turns: Disposable[] = []
  const enter = async (account: string, signal = never): Promise<void> => {
    const turn = await queue.enter(account, signal)
    order.push(account)
    turns.push(turn)
  }
  const end = async (): Promise<void> => {
    turns.shift()?.[Symbol.dispose]()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { queue, order, enter, end }
}

test('accounts take turns, however many conversions one of them has', async () => {
  const { order, enter, end } = started({ atOnce: 1, queue: 100 })
  for (const account of ['a', 'a', 'a', 'a', 'b', 'b', 'c']) void enter(account)
  await new Promise((resolve) => setImmediate(resolve))
  for (let round = 0; round < 7; round++) await end()
  assert.deepEqual(order.join(''), 'abcabaa')
})

test('an account without a running conversion does not wait long for those of others', async () => {
  const { queue, order, enter, end } = started({ atOnce: 2, queue: 100, patience: 5 })
  const entered = ['a', 'a', 'a', 'b', 'b', 'c', 'd'].map((account) => enter(account))
  await Promise.all([entered[3], entered[5]])
  assert.deepEqual([order.join(''), queue.waiting], ['aabc', 3])
  // Two of four end: one place is left to those that have none running.
  await end()
  assert.equal(order.join(''), 'aabcd')
  await end()
  assert.equal(order.join(''), 'aabcda')
})

test('at most two conversions of an account run, even when converters are idle', async () => {
  const { queue, order, enter, end } = started({ atOnce: 4, queue: 100 })
  for (const account of ['a', 'a', 'a', 'a', 'b']) void enter(account)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([order.join(''), queue.waiting], ['aab', 2])
  await end()
  assert.deepEqual([order.join(''), queue.waiting], ['aaba', 1])
})

test('an account that fills its queue is refused with 429, and others can still queue', async () => {
  const { queue, enter } = started({ atOnce: 1, queue: 8 })
  const outcomes = Array.from({ length: 11 }, () =>
    enter('a').then(
      () => 'ran',
      (error: Problem) => error.status,
    ),
  )
  assert.equal(queue.waiting, 8)
  assert.deepEqual(await Promise.all([outcomes[0], ...outcomes.slice(9)]), ['ran', 429, 429])
  const others = ['b', 'c'].map((account) =>
    enter(account).catch(() => assert.fail(`${account} is refused`)),
  )
  assert.equal(queue.waiting, 10)
  assert.ok(others)
})

test('a caller that disconnects while waiting loses its turn, and the others continue', async () => {
  const { queue, order, enter, end } = started({ atOnce: 1, queue: 8 })
  await enter('a')
  const leaving = new AbortController()
  const left = enter('b', leaving.signal)
  const stays = enter('c')
  leaving.abort(new Error('left'))
  await assert.rejects(left, /left/)
  await end()
  await stays
  assert.deepEqual([order.join(''), queue.waiting], ['ac', 0])
})

test("a job counts among its account's running conversions", async () => {
  const queue = createConversionQueue({ atOnce: 8, queue: 8 })
  const { signal } = new AbortController()
  const turn = await queue.enter('a', signal)
  const job = queue.beginJob('a')
  assert.ok(job)
  assert.equal(queue.beginJob('a'), null, 'two run')
  assert.deepEqual(queue.running(), [['a', 2]])
  const waiting = queue.enter('a', signal)
  const other = await queue.enter('b', signal)
  assert.equal(queue.waiting, 1)
  job[Symbol.dispose]()
  const next = await waiting
  for (const one of [turn, other, next]) one[Symbol.dispose]()
  assert.deepEqual(queue.running(), [])
})
