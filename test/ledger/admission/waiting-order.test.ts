// Requests of one key that wait while the rest of its limit is being written.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openLog } from '../../../server/common/log.ts'
import { openLedger, type CallerState, type Ledger } from '../../../server/ledger/ledger.ts'
import { reserve } from '../../../server/ledger/admission/sqlite-reserve.ts'
import { StoreError } from '../../../server/store/store-error.ts'
import type { Store } from '../../../server/store/store.ts'
import { usedFolder } from '../../support/templates.ts'
import { admissionRequest, openFor } from '../support/opened.ts'

/** More than are decided in one turn of the event loop. */
const WAITING = 600

/** A ledger whose batches a test holds back, and ends as it likes. */
async function openHeld(
  t: TestContext,
): Promise<{ ledger: Ledger; batch(): Promise<PromiseWithResolvers<void>> }> {
  const opened = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  let begun = Promise.withResolvers<PromiseWithResolvers<void>>()
  const run: Store['run'] = async (procedure, args) => {
    if (Object.is(procedure, reserve)) {
      const end = Promise.withResolvers<void>()
      begun.resolve(end)
      begun = Promise.withResolvers()
      await end.promise
    }
    return opened.store.run(procedure, args)
  }
  const store = Object.create(opened.store, { run: { value: run } }) as Store
  const ledger = await openLedger(store, 'ins', opened.clock, openLog('silent'))
  t.after(() => ledger.close())
  return { ledger, batch: () => begun.promise }
}

test('the request that has waited longest gets a place that becomes free', async (t) => {
  const { ledger, batch } = await openHeld(t)
  const admitted: number[] = []
  const first = batch()
  const asked = Array.from({ length: WAITING }, async (_, at) => {
    if ((await ledger.admit(admissionRequest('k', 1))).admitted) admitted.push(at)
  })
  const failed = await first
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  const second = batch()
  failed.reject(new StoreError('failed', 'not now'))
  await assert.rejects(asked[0]!, { code: 'failed' })
  ;(await second).resolve()
  await Promise.all(asked.slice(1))
  assert.deepEqual(admitted, [1])
})

test('waiting requests are not decided again before a batch has ended', async (t) => {
  const { ledger, batch } = await openHeld(t)
  let decisions = 0
  const caller: CallerState = {
    get closed() {
      decisions++
      return false
    },
  }
  const first = batch()
  const asked = Array.from({ length: WAITING }, () =>
    ledger.admit(admissionRequest('k', 1), caller),
  )
  const written = await first
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  const before = decisions
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  const after = decisions
  written.resolve()
  const admitted = (await Promise.all(asked)).filter((one) => one.admitted)
  assert.deepEqual([after, admitted.length], [before, 1])
})
