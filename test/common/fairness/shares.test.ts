import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairShares, Slot } from '../../../server/common/fairness/shares.ts'

/** Shares of eight places, two for each owner, and the names of the work that was dropped. */
function opened() {
  const shares = new FairShares({ slots: 8, always: true })
  const dropped: string[] = []
  const enter = (owner: string, name = owner) =>
    shares.acquire(owner, () => void dropped.push(name))
  return { shares, dropped, enter }
}

test('free slots are open to all; when full, each owner has its share', () => {
  const { shares, dropped, enter } = opened()
  for (let nth = 0; nth < 8; nth++) assert.ok(enter('a', `a${nth}`) instanceof Slot)
  assert.equal(enter('a'), 'share')
  assert.ok(enter('b') instanceof Slot)
  assert.ok(enter('b') instanceof Slot)
  assert.equal(enter('b'), 'share')
  assert.deepEqual(dropped, ['a7', 'a6'])
  assert.deepEqual([shares.used, shares.usedBy('a'), shares.usedBy('b')], [8, 6, 2])
})

test('work that cannot be evicted stays, and others get additional slots', () => {
  const { shares, dropped, enter } = opened()
  for (let nth = 0; nth < 8; nth++) {
    const place = enter('a')
    assert.ok(place instanceof Slot)
    place.pin()
  }
  for (const owner of ['b', 'c', 'd', 'e'])
    for (let nth = 0; nth < 2; nth++) assert.ok(enter(owner) instanceof Slot)
  assert.deepEqual([shares.used, dropped], [16, []])
  assert.ok(enter('f') instanceof Slot, 'an owner without a place always gets one')
  assert.equal(enter('f'), 'full')
})

test('an owner within its share is never evicted, and a slot is released once', () => {
  const { shares, dropped, enter } = opened()
  const places = ['a', 'b', 'c', 'd'].flatMap((owner) => [enter(owner), enter(owner)])
  assert.ok(enter('e') instanceof Slot)
  assert.deepEqual([shares.used, dropped], [9, []])
  for (const place of places) {
    assert.ok(place instanceof Slot)
    place.release()
    place.release()
    place.evict()
  }
  assert.deepEqual([shares.used, shares.usedBy('a'), dropped], [1, 0, []])
})

test("with countless owners, even an owner's first slot is refused in the end", () => {
  const shares = new FairShares({ slots: 2, always: false })
  const given = Array.from({ length: 6 }, (_, index) => shares.acquire(`owner ${index}`))
  assert.deepEqual(
    given.map((place) => (typeof place === 'string' ? place : 'given')),
    ['given', 'given', 'given', 'given', 'full', 'full'],
  )
})
