// What did not happen counts nowhere: neither a request whose caller left, nor one of a unit that
// failed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { openLedger, type Ledger } from '../../../server/ledger/ledger.ts'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { reserve } from '../../../server/ledger/admission/sqlite-reserve.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { openLog } from '../../../server/common/log.ts'
import { StoreError } from '../../../server/store/store-error.ts'
import type { Store } from '../../../server/store/store.ts'
import { onEveryStore } from '../../support/stores.ts'
import { usedFolder } from '../../support/templates.ts'
import { admissionRequest, openFor } from '../support/opened.ts'

const gone = { closed: true }

/** How many of many requests at once pass: all that the window has room for. */
async function room(ledger: Ledger, key: string, rpm: number): Promise<number> {
  const responses = await Promise.all(
    Array.from({ length: 2 * rpm }, () => ledger.admit(admissionRequest(key, rpm))),
  )
  return responses.filter(({ admitted }) => admitted).length
}

onEveryStore('a disconnected caller uses no room and has no row', async (t, place) => {
  const { ledger, store } = await openFor(t, place)
  const left = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      ledger.admit(admissionRequest('k', 10), i % 2 === 0 ? gone : undefined),
    ),
  )
  // Those that leave before they are decided, and those that leave while they wait for their unit.
  assert.equal(left.filter((one) => one.status === 'rejected').length, 10)
  assert.equal(left.filter((one) => one.status === 'fulfilled' && one.value.admitted).length, 10)
  const callers = Array.from({ length: 8 }, () => ({ closed: false }))
  const late = callers.map((caller) => ledger.admit(admissionRequest('late', 8), caller))
  for (const caller of callers.slice(0, 3)) caller.closed = true
  assert.equal(
    (await Promise.allSettled(late)).filter(({ status }) => status === 'rejected').length,
    3,
  )
  assert.equal(await room(ledger, 'late', 8), 3)
  await store.run(flushJournal, null)
  assert.equal((await store.db.selectFrom('requests').select('id').execute()).length, 18)
})

/**
 * One burst: how many ask of which key, which of them leave at once or a little later, and whether
 * the units that hold them fail.
 */
const burst = fc.record({
  asked: fc.array(
    fc.record({
      key: fc.constantFrom('a', 'b'),
      leaves: fc.constantFrom('never', 'never', 'before', 'soon'),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  fails: fc.boolean(),
  waited: fc.boolean(),
})

test('after cancellations and failures, exactly as many pass as the written rows allow', async (t) => {
  const { store, clock } = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  let failing = false
  const run = (...call: Parameters<Store['run']>) =>
    failing && call[0] === reserve
      ? Promise.reject(new StoreError('failed', 'not now'))
      : store.run(...call)
  const ledger = await openLedger(
    Object.create(store, { run: { value: run } }) as Store,
    'ins',
    clock,
    openLog('silent'),
  )
  t.after(() => ledger.close())
  const RPM = 10
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 6 }), async (bursts) => {
      round++
      const asked: Promise<unknown>[] = []
      let admitted = { a: 0, b: 0 }
      for (const { asked: some, fails, waited } of bursts) {
        failing = fails
        for (const { key, leaves } of some) {
          const caller = { closed: leaves === 'before' }
          const one = ledger.admit(admissionRequest(`${key}${round}`, RPM), caller).then(
            (response) =>
              response.admitted && (admitted = { ...admitted, [key]: admitted[key] + 1 }),
            (error: unknown) => assert.ok(error instanceof StoreError),
          )
          asked.push(one)
          if (leaves === 'soon') setImmediate(() => (caller.closed = true))
        }
        if (waited) await Promise.all(asked)
      }
      await Promise.all(asked)
      failing = false
      for (const key of ['a', 'b'] as const)
        assert.equal(await room(ledger, `${key}${round}`, RPM), RPM - admitted[key])
    }),
    { numRuns: 40 },
  )
  assert.deepEqual((await verifyWindows(store)).violations, [])
})
