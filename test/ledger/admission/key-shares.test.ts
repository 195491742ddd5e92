// What a process may admit without the store, as the number of processes and the time have it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyShares } from '../../../server/ledger/admission/key-shares.ts'
import { UNCOUNTED_MS } from '../../../server/ledger/admission/web-processes.ts'
import { movedClock } from '../support/opened.ts'

const asking = (rpm: number) => ({ key_id: 'k', rpm, child_id: null, child_rpm: null })

function opened(processes: number) {
  const clock = movedClock()
  const shares = new KeyShares(clock)
  const count = (number: number) => shares.countProcesses(number, clock.mono())
  count(processes)
  const admit = (rpm: number): string => {
    const { verdict } = shares.reserve(asking(rpm))
    if (verdict === 'admitted') shares.confirm(asking(rpm))
    return verdict
  }
  return { clock, shares, count, admit, most: (rpm: number) => mostOf(() => admit(rpm)) }
}

function mostOf(admit: () => string): number {
  let count = 0
  while (admit() === 'admitted') count++
  return count
}

test('a lone process may use the rest of its window immediately', () => {
  const { shares, most } = opened(1)
  for (let i = 0; i < 3; i++) shares.note(asking(5))
  shares.beginOutage()
  assert.equal(most(5), 2)
})

test('with other processes, nothing is available for a minute, then a share', () => {
  const { clock, shares, admit, most } = opened(2)
  shares.beginOutage()
  assert.equal(admit(7), 'unknown')
  clock.monoBy += 59_000
  assert.equal(admit(7), 'unknown')
  clock.monoBy += 3_500
  assert.equal(most(7), 3)
  assert.equal(admit(1), 'unknown', 'a share below one request is none')
})

test("a child key needs room in its own share and its parent's, and a refusal uses neither", () => {
  const { clock, shares } = opened(2)
  const child = (id: string) => ({ key_id: 'k', rpm: 8, child_id: id, child_rpm: 4 })
  const admit = (id: string): string => {
    const { verdict } = shares.reserve(child(id))
    if (verdict === 'admitted') shares.confirm(child(id))
    return verdict
  }
  shares.beginOutage()
  assert.equal(admit('a'), 'unknown')
  clock.monoBy += 63_000
  assert.equal(
    mostOf(() => admit('a')),
    2,
  )
  assert.equal(
    mostOf(() => admit('b')),
    2,
  )
  assert.equal(
    mostOf(() => admit('c')),
    0,
    'the share of the parent is used up',
  )
  assert.equal(shares.reserve({ ...child('d'), rpm: null, child_rpm: 1 }).verdict, 'unknown')
})

test('a stopped process counts for one more minute', () => {
  const { clock, shares, count, admit, most } = opened(2)
  count(1)
  shares.beginOutage()
  assert.equal(admit(4), 'unknown')
  shares.endOutage()
  clock.monoBy += 71_000
  count(1)
  shares.beginOutage()
  assert.equal(most(4), 4)
})

test('after a long outage each process keeps to its share until the others have written their rows', () => {
  const { clock, shares } = opened(2)
  shares.beginOutage()
  clock.monoBy += 30_000
  shares.endOutage()
  assert.ok(!shares.settling, 'nothing limited passed in a short one')
  shares.beginOutage()
  clock.monoBy += 61_000
  shares.endOutage()
  assert.ok(shares.settling)
  assert.equal(
    mostOf(() => shares.reserveSettling(asking(6)).verdict),
    3,
  )
  clock.monoBy += 71_000
  assert.ok(!shares.settling)
})

test('a process that was suspended before the outage ignores its earlier counts', () => {
  const { clock, shares, count, admit, most } = opened(1)
  clock.monoBy += UNCOUNTED_MS + 1
  shares.beginOutage()
  assert.equal(admit(5), 'unknown')
  shares.endOutage()
  count(1)
  shares.beginOutage()
  assert.equal(most(5), 5)
})
