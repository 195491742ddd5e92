// What a process may admit without the store, as the number of processes and the time have it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyShares } from '../../../server/ledger/admission/key-shares.ts'
import { countWebProcesses } from '../../../server/ledger/admission/store-monitor.ts'
import { enterInstance } from '../../../server/store/instance.ts'
import { onEveryStore, openAt } from '../../support/stores.ts'
import { movedClock } from '../support/opened.ts'

function opened(processes: number) {
  const clock = movedClock()
  const shares = new KeyShares(clock)
  shares.countProcesses(processes)
  const admit = (rpm: number): string => {
    const { verdict } = shares.reserve('k', rpm)
    if (verdict === 'admitted') shares.confirm('k')
    return verdict
  }
  return { clock, shares, admit, most: (rpm: number) => mostOf(() => admit(rpm)) }
}

function mostOf(admit: () => string): number {
  let count = 0
  while (admit() === 'admitted') count++
  return count
}

test('a process that is alone may use what its own window leaves, at once', () => {
  const { shares, most } = opened(1)
  for (let i = 0; i < 3; i++) shares.note('k')
  shares.beginOutage()
  assert.equal(most(5), 2)
})

test('beside others nothing is known to be left for a minute, and then a share is', () => {
  const { clock, shares, admit, most } = opened(2)
  shares.beginOutage()
  assert.equal(admit(7), 'unknown')
  clock.monoBy += 59_000
  assert.equal(admit(7), 'unknown')
  clock.monoBy += 1_500
  assert.equal(most(7), 3)
  assert.equal(admit(1), 'unknown', 'a share below one request is none')
})

test('a process that has ended counts for a minute more', () => {
  const { clock, shares, admit, most } = opened(2)
  shares.countProcesses(1)
  shares.beginOutage()
  assert.equal(admit(4), 'unknown')
  shares.endOutage()
  clock.monoBy += 71_000
  shares.countProcesses(1)
  shares.beginOutage()
  assert.equal(most(4), 4)
})

test('after a long outage each process keeps to its share until the others have brought in theirs', () => {
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
    mostOf(() => shares.reserveSettling('k', 6).verdict),
    3,
  )
  clock.monoBy += 71_000
  assert.ok(!shares.settling)
})

onEveryStore('processes that only work have no share', async (t, place) => {
  const store = await openAt(t, place, Date.now())
  const roles = ['all', 'web', 'worker']
  for (const role of roles) {
    const instance = await enterInstance(store, Date.now, () => {}, role)
    t.after(() => instance[Symbol.asyncDispose]())
  }
  assert.equal(await store.run(countWebProcesses, null), 2)
})
