// Requests that can wait for each other are written down in one unit of the store, and one that is
// in a hurry makes nobody wait, itself included.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLedger } from '../../../server/ledger/ledger.ts'
import { fromJson, type Json } from '../../../server/ledger/settlement/row-codec.ts'
import { reserve, type ReserveArgs } from '../../../server/ledger/admission/sqlite-reserve.ts'
import { openLog } from '../../../server/common/log.ts'
import type { Store } from '../../../server/store/store.ts'
import { usedFolder } from '../../support/templates.ts'
import { admissionRequest, openFor } from '../support/opened.ts'

/** Longer than any test. */
const FOREVER = 3_600_000
const patient = { closed: false }

test('a request that can wait shares the unit of the next urgent one', async (t) => {
  const { store, clock } = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  const units: number[] = []
  const run = (...call: Parameters<Store['run']>) => {
    if (call[0] === reserve) units.push(fromJson((call[1] as [Json<ReserveArgs>])[0]).size)
    return store.run(...call)
  }
  const ledger = await openLedger(
    Object.create(store, { run: { value: run } }) as Store,
    'ins',
    clock,
    openLog('silent'),
  )
  t.after(() => ledger.close())
  // Behind no other unit there is nothing to wait for.
  await ledger.admit(admissionRequest('k', null), patient, FOREVER)
  let admitted = 0
  const waiting = Array.from({ length: 3 }, () =>
    ledger.admit(admissionRequest('k', null), patient, FOREVER).then(() => admitted++),
  )
  await new Promise(setImmediate)
  await store.db.selectFrom('journal').select('seq').execute()
  assert.equal(admitted, 0)
  await ledger.admit(admissionRequest('k', null), patient, 0)
  await Promise.all(waiting)
  assert.deepEqual(units, [1, 4])
})
