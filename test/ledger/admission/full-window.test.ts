// What is known of a full window without asking the store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readRefusals } from '../../../server/ledger/refusals/limit-counts.ts'
import { Window, WINDOW_MS } from '../../../server/ledger/admission/sliding-window.ts'
import { onEveryStore } from '../../support/stores.ts'
import { admissionRequest, openFor, pass } from '../support/opened.ts'

onEveryStore(
  'a window is reported full after a refusal until the next request can pass',
  async (t, place) => {
    const { ledger, clock } = await openFor(t, place)
    assert.equal(ledger.fullFor('k', 2), null)
    for (let i = 0; i < 2; i++) {
      assert.equal(ledger.fullFor('k', 2), null)
      assert.ok((await ledger.admit(admissionRequest('k', 2))).admitted)
    }
    const refused = await ledger.admit(admissionRequest('k', 2))
    assert.ok(!refused.admitted)
    const known = ledger.fullFor('k', 2)
    assert.ok(
      known !== null && known <= refused.wait && known > refused.wait - 5_000,
      `${known} of ${refused.wait}`,
    )

    // Another limit, another key, and none at all are not in question.
    assert.equal(ledger.fullFor('k', 3), null)
    assert.equal(ledger.fullFor('k', null), null)
    assert.equal(ledger.fullFor('other', 2), null)

    // It changes nothing, and ends when the wait is over.
    assert.ok((await ledger.admit(admissionRequest('k', 3))).admitted)
    await pass(place, known, clock)
    assert.equal(ledger.fullFor('k', 2), null)
    await pass(place, WINDOW_MS, clock)
    assert.ok((await ledger.admit(admissionRequest('k', 2))).admitted)
  },
)

onEveryStore('requests refused for a full window are counted like the others', async (t, place) => {
  const { ledger, store, clock } = await openFor(t, place)
  const from = clock.now()
  for (let i = 0; i < 3; i++) await ledger.admit(admissionRequest('k', 2))
  for (let i = 0; i < 4; i++)
    if (ledger.fullFor('k', 2) !== null) ledger.countRefusal({ key_id: 'k', account_id: 'acc' })
  await ledger.close()
  assert.deepEqual([...(await readRefusals(store, { account: 'acc', from }))], [['k', 5]])
})

/**
 * What can happen to a window: time passes, a request asks, a pending one becomes durable or is
 * withdrawn, another process admits one.
 */
const event = fc.oneof(
  fc.record({
    kind: fc.constant('pass' as const),
    by: fc.oneof(fc.integer({ min: 0, max: 70_000 }), fc.constantFrom(0.001, 59_999.999, 60_000)),
  }),
  fc.record({
    kind: fc.constantFrom('ask' as const, 'confirm' as const, 'withdraw' as const, 'add' as const),
    by: fc.constant(0),
  }),
)

test('a window is never reported full where a request could pass after withdrawals', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(event, { maxLength: 200 }),
      (limit, events) => {
        const window = new Window()
        const durable: number[] = []
        let now = 1_000_000
        for (const { kind, by } of events) {
          now += by
          if (kind === 'ask') window.ask(limit, now)
          else if (kind === 'add') window.add(now)
          else if (window.pending > 0 && kind === 'confirm') window.confirm(now)
          else if (window.pending > 0 && kind === 'withdraw') window.withdraw()
          else if (kind !== 'pass') continue
          if (kind === 'add' || kind === 'confirm') durable.push(now)
          const pending = window.pending
          const wait = window.fullFor(limit, now)
          assert.equal(window.pending, pending)
          if (wait === null) continue
          assert.ok(wait >= 0 && wait <= WINDOW_MS)
          assert.ok(durable.filter((at) => now - at <= WINDOW_MS).length >= limit)
          assert.equal(window.ask(limit, now).pass, false)
        }
      },
    ),
  )
})
