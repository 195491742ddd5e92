// `verify` reads a day once. Days are of the wall clock, which the test moves; by the monotonic one
// all rows are in one minute.
import assert from 'node:assert/strict'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { deleteOldRequests } from '../../../server/ledger/retention/retention.ts'
import { addHours } from '../../../server/ledger/rollups/coarser.ts'
import { onEveryStore } from '../../support/stores.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, openFor, settlement } from '../support/opened.ts'

const DAY = 86_400_000

onEveryStore('verify reads a day once, and --all finds changes in it', async (t, place) => {
  const { store, ledger, clock } = await openFor(t, place)
  const now = clock.now()
  const today = now - (now % DAY)
  const pass = async (ago: number, count: number) => {
    clock.wallBy = today - ago * DAY + 1000 - now
    for (let i = 0; i < count; i++) {
      const asked = admissionRequest('k', null)
      const admission = await ledger.admit(asked)
      assert.ok(admission.admitted)
      ledger.settle(settlement(asked, admission))
    }
  }
  const settled = async (count: number) =>
    until(async () => {
      const rows = store.db.selectFrom('requests').select('seq').where('state', '=', 'settled')
      return (await rows.execute()).length === count
    })
  const verify = async (again = false, ago = 0) => {
    const { requests, sealed, missing, changed, violations } = await verifyWindows(store, {
      now: today - ago * DAY + 2 * 3_600_000,
      again,
    })
    return { requests, sealed, missing, changed: changed.length, exceeded: violations.length }
  }
  const sound = { missing: 0, changed: 0, exceeded: 0 }

  await pass(4, 3)
  const asked = admissionRequest('held', null)
  const held = await ledger.admit(asked)
  assert.ok(held.admitted)
  await pass(3, 3)
  await settled(6)
  await verify(false, 3)
  assert.deepEqual(await verify(false, 3), { ...sound, requests: 7, sealed: 0 }, 'one is open')
  ledger.settle(settlement(asked, held))
  await settled(7)
  assert.deepEqual(await verify(false, 3), { ...sound, requests: 7, sealed: 0 })
  assert.deepEqual(await verify(false, 3), { ...sound, requests: 7, sealed: 4 })
  await pass(2, 2)
  await pass(0, 2)
  await settled(11)
  assert.deepEqual(await verify(), { ...sound, requests: 11, sealed: 4 })
  assert.deepEqual(await verify(), { ...sound, requests: 11, sealed: 9 })
  assert.deepEqual(await verify(true), { ...sound, requests: 11, sealed: 0 })

  const rows = await store.db.selectFrom('requests').select('seq').orderBy('seq').execute()
  const limit = async (place: number, rpm: number | null) => {
    const { seq } = rows.at(place)!
    await store.write(store.db.updateTable('requests').set({ rpm }).where('seq', '=', seq))
  }
  // The ten of the key are in one minute, and eight of them in days that are not read.
  await limit(-1, 9)
  assert.deepEqual(await verify(), { ...sound, requests: 11, sealed: 9, exceeded: 1 })
  await limit(-1, null)
  await limit(4, 1)
  assert.deepEqual(await verify(), { ...sound, requests: 11, sealed: 9 })
  assert.deepEqual(await verify(true), {
    ...sound,
    requests: 11,
    sealed: 0,
    changed: 1,
    exceeded: 1,
  })
  await limit(4, null)

  clock.wallBy = 0
  await addHours(store, now)
  await deleteOldRequests(store, { before: today - 3 * DAY, upTo: 1_000_000 })
  assert.deepEqual(await verify(), { ...sound, requests: 11, sealed: 9 }, 'their sums are kept')
  assert.deepEqual(await verify(true), { ...sound, requests: 8, sealed: 0 })
  await store.write(store.db.deleteFrom('requests').where('seq', '=', rows.at(-3)!.seq))
  const missing = store.dialect === 'sqlite' ? 1 : 0
  const lost = { missing, changed: 1, exceeded: 0, requests: 7, sealed: 0 }
  assert.deepEqual(await verify(true), lost)
})
