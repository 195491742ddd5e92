// Work in progress is bounded by key, by account and in total, and free slots go to owners in turn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkSlots } from '../../../server/common/fairness/work-slots.ts'

const ownerOf = (key: string) => ({ account_id: key[0]!, key_id: key })

/** Slots, and the keys whose work has begun. */
function open(limits = { key: 2, account: 3, total: 4 }) {
  const slots = new WorkSlots(limits)
  const begun: string[] = []
  return {
    begun,
    ask: (...keys: string[]) =>
      keys.forEach((key) => slots.acquire(ownerOf(key), () => void begun.push(key))),
    end: (key: string) => slots.release(ownerOf(key)),
  }
}

test('a key, an account and all together have their number of slots', () => {
  const { begun, ask } = open()
  ask('a1', 'a1', 'a1')
  assert.deepEqual(begun, ['a1', 'a1'], 'two for a key')
  ask('a2', 'a2', 'a3')
  assert.deepEqual(begun, ['a1', 'a1', 'a2'], 'three for an account')
  ask('b1', 'b1', 'c1')
  assert.deepEqual(begun, ['a1', 'a1', 'a2', 'b1'], 'four in total')
})

test('a slot that becomes free goes to the next owner that may have it', () => {
  const { begun, ask, end } = open()
  ask('a1', 'a1', 'a1', 'a1', 'a2', 'a2', 'b1', 'b1', 'c1')
  begun.length = 0
  end('b1')
  assert.deepEqual(begun, ['b1'], 'the account a has three')
  end('a1')
  assert.deepEqual(begun, ['b1', 'c1'], 'accounts take turns')
  end('c1')
  assert.deepEqual(begun.slice(2), ['a2'], 'keys take turns')
  end('b1')
  assert.equal(begun.length, 3, 'the account a has three again')
})

test('work that ends as soon as it begins ends one after another', () => {
  const slots = new WorkSlots({ key: 1, account: 1, total: 1 })
  const owner = ownerOf('a1')
  let ended = 0
  slots.acquire(owner, () => {})
  for (let i = 0; i < 20_000; i++)
    slots.acquire(owner, () => {
      ended++
      slots.release(owner)
    })
  slots.release(owner)
  assert.equal(ended, 20_000)
})
