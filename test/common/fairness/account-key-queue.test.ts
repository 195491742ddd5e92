import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AccountKeyQueue } from '../../../server/common/fairness/account-key-queue.ts'

type Item = { account_id: string; key_id: string; n: number }
const queueOf = (most: number): AccountKeyQueue<Item> => new AccountKeyQueue(most, (item) => item)
const item = (key_id: string, n: number, account_id = key_id[0]!): Item => ({
  account_id,
  key_id,
  n,
})
const names = (items: readonly Item[]): string[] => items.map(({ key_id, n }) => `${key_id}${n}`)

test("a burst of one key is interleaved with other keys' requests", () => {
  const queue = queueOf(10_000)
  for (let n = 0; n < 1_000; n++) queue.push(item('a1', n))
  queue.push(item('b1', 0))
  queue.push(item('a2', 0))
  assert.deepEqual(names(queue.take(4)), ['a10', 'b10', 'a20', 'a11'])
  assert.equal(queue.size, 998)
})

test("each key's requests are first in, first out, and none is lost or duplicated", () => {
  const step = fc.oneof(
    fc.record({
      key: fc.constantFrom('a1', 'a2', 'b1', 'c1', 'c2', 'c3'),
      take: fc.constant(0),
      whole: fc.constant(''),
    }),
    fc.record({
      key: fc.constant(''),
      take: fc.integer({ min: 1, max: 5 }),
      whole: fc.constant(''),
    }),
    fc.record({ key: fc.constant(''), take: fc.constant(0), whole: fc.constantFrom('a1', 'b1') }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = queueOf(1_000)
      const waiting = new Map<string, number[]>()
      const isNext = ({ key_id, n }: Item): void => assert.equal(waiting.get(key_id)?.shift(), n)
      for (const [n, { key, take, whole }] of steps.entries()) {
        if (key !== '') {
          assert.equal(queue.push(item(key, n)), null)
          waiting.set(key, [...(waiting.get(key) ?? []), n])
        }
        if (take > 0) {
          const size = queue.size
          const taken = queue.take(take)
          assert.equal(taken.length, Math.min(take, size))
          taken.forEach(isNext)
        }
        if (whole !== '') queue.takeKey(whole).forEach(isNext)
        if (n % 7 === 0) queue.tidy()
        assert.equal(queue.size, [...waiting.values()].flat().length)
      }
      queue.clear().forEach(isNext)
      assert.equal(queue.size, 0)
      assert.deepEqual([...waiting.values()].flat(), [])
    }),
  )
})

test('a key whose next request does not fit waits without blocking others', () => {
  const queue = queueOf(100)
  for (let n = 0; n < 3; n++) for (const key of ['a1', 'b1']) queue.push(item(key, n))
  const once = new Set<string>()
  const fits = ({ key_id }: Item): boolean => !once.has(key_id) && Boolean(once.add(key_id))
  assert.deepEqual(names(queue.take(10, fits)), ['a10', 'b10'])
  assert.deepEqual(names(queue.take(10)), ['a11', 'b11', 'a12', 'b12'])
})

test('free slots are open to all; when full, the largest holder makes room', () => {
  const queue = queueOf(10)
  for (let n = 0; n < 10; n++) assert.equal(queue.push(item('a1', n)), null)
  assert.deepEqual(
    queue.push(item('a1', 10)),
    item('a1', 10),
    'nobody is pushed out by its own kind',
  )
  for (let n = 0; n < 5; n++)
    assert.deepEqual(queue.push(item('b1', n)), item('a1', 9 - n), 'the newest goes')
  assert.deepEqual(queue.push(item('b1', 5)), item('b1', 5), 'its share is used up')
  // Within an account its keys have shares too.
  assert.deepEqual(queue.push(item('a2', 0)), item('a1', 4))
  assert.equal(queue.size, 10)
  assert.deepEqual(names(queue.take(4)), ['a10', 'b10', 'a20', 'b11'])
})
