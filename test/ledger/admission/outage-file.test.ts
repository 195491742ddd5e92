// The file that keeps what was admitted while the store was away.
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLedger, type AdmissionRequest } from '../../../server/ledger/ledger.ts'
import { OutageLog } from '../../../server/ledger/admission/outage-log.ts'
import { verifyWindows } from '../../../server/ledger/reports/verify.ts'
import { openLog } from '../../../server/common/log.ts'
import { listLogs, logPath } from '../../../server/store/synced-log.ts'
import type { Place } from '../../support/place.ts'
import { onEveryStore, openAt } from '../../support/stores.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, movedClock, openFor, settlement } from '../support/opened.ts'
import { STOPPABLE } from '../support/stoppable.ts'

const OUTAGE = { maxOutage: 60_000, onTrouble: () => {} }

/** Leaves the file of a process that was killed: its instance is none of this process's. */
async function leaveFile(
  { data }: Place,
  requests: readonly AdmissionRequest[],
  { ago = 0, ended = 0 }: { ago?: number; ended?: number } = {},
): Promise<string> {
  const clock = movedClock()
  const file = new OutageLog(join(data, 'outage'), 'ins_dead', clock.boot)
  const [created_at, mono] = [clock.now() - ago, Math.floor((clock.mono() - ago) * 1000)]
  await Promise.all(requests.map((request) => file.reserve({ ...request, created_at, mono })))
  for (const request of requests.slice(0, ended))
    file.settle(request.id, settlement(request, { seq: -1, created_at }))
  await file.close()
  return file.path
}

const requestsOf = (key: string, rpm: number | null, count: number): AdmissionRequest[] =>
  Array.from({ length: count }, () => admissionRequest(key, rpm))

onEveryStore(
  "a killed process's outage rows are in the ledger before anything else passes",
  async (t, place) => {
    const left = requestsOf('k', 5, 4)
    const path = await leaveFile(place, left, { ended: 2 })
    const { ledger, store } = await openFor(t, place)
    assert.ok(!existsSync(path))
    const rows = await store.db
      .selectFrom('requests')
      .select(['id', 'state', 'tokens_out', 'outage', 'instance'])
      .orderBy('seq')
      .execute()
    assert.deepEqual(
      rows.map(({ instance, ...row }) => ({
        ...row,
        // A row that is complete does not say it on PostgreSQL.
        instance: store.dialect === 'postgres' ? 'ins_dead' : instance,
      })),
      left.map(({ id }, at) => ({
        id,
        state: at < 2 ? 'settled' : 'unknown',
        tokens_out: at < 2 ? 4 : null,
        outage: 1,
        instance: 'ins_dead',
      })),
    )
    const admitted: boolean[] = []
    for (const request of requestsOf('k', 5, 3))
      admitted.push((await ledger.admit(request)).admitted)
    assert.deepEqual(admitted, [true, false, false])
    const proof = await verifyWindows(store)
    assert.deepEqual([proof.requests, proof.outage, proof.violations], [5, 4, []])
    const { counted } = await store.db
      .selectFrom('usage_hours')
      .select((e) => e.fn.sum<number>('requests').as('counted'))
      .executeTakeFirstOrThrow()
    assert.equal(Number(counted), 4)
  },
)

onEveryStore('replaying an outage file twice changes nothing', async (t, place) => {
  const left = requestsOf('k', 5, 3)
  for (const ended of [1, 3]) {
    await leaveFile(place, left, { ended })
    await (await openFor(t, place)).close()
  }
  const store = await openAt(t, place)
  const rows = await store.db.selectFrom('requests').select(['id', 'state']).execute()
  assert.deepEqual(rows.map(({ id }) => id).sort(), left.map(({ id }) => id).sort())
  assert.ok(rows.every(({ state }) => state === 'settled'))
  const { counted } = await store.db
    .selectFrom('usage_hours')
    .select((e) => [
      e.fn.sum<number>('requests').as('requests'),
      e.fn.sum<number>('unknown').as('unknown'),
    ])
    .executeTakeFirstOrThrow()
    .then((sums) => ({ counted: [Number(sums.requests), Number(sums.unknown)] }))
  assert.deepEqual(counted, [3, 0])
})

onEveryStore('admissions older than a minute are in no window', async (t, place) => {
  await leaveFile(place, requestsOf('k', 5, 5), { ago: 61_000 })
  const { ledger, store } = await openFor(t, place)
  for (const request of requestsOf('k', 5, 5)) assert.ok((await ledger.admit(request)).admitted)
  assert.equal((await ledger.admit(admissionRequest('k', 5))).admitted, false)
  const proof = await verifyWindows(store)
  assert.deepEqual([proof.requests, proof.violations], [10, []])
})

onEveryStore('writing after the file was closed is refused and loses no row', async (t, place) => {
  const left = requestsOf('k', null, 2)
  const late = admissionRequest('k', null)
  const clock = movedClock()
  const file = new OutageLog(join(place.data, 'outage'), 'ins_dead', clock.boot)
  const at = { created_at: clock.now(), mono: Math.floor(clock.mono() * 1000) }
  for (const request of left) await file.reserve({ ...request, ...at })
  await file.close()
  file.settle(left[0]!.id, settlement(left[0]!, { seq: -1, created_at: at.created_at }))
  await assert.rejects(file.reserve({ ...late, ...at }), { code: 'unavailable' })
  await assert.rejects(file.prove(), { code: 'unavailable' })
  const { store } = await openFor(t, place)
  const rows = await store.db.selectFrom('requests').select('id').orderBy('seq').execute()
  assert.deepEqual(
    rows.map(({ id }) => id),
    left.map(({ id }) => id),
  )
})

onEveryStore('a torn last line loses nothing that was acknowledged', async (t, place) => {
  const left = requestsOf('k', null, 3)
  const path = await leaveFile(place, left)
  appendFileSync(path, '0badcafe {"row":{"id":"req_torn","account')
  const { store } = await openFor(t, place)
  const rows = await store.db.selectFrom('requests').select('id').execute()
  assert.equal(rows.length, 3)
  assert.ok(!existsSync(path))
})

for (const [dialect, placeOf] of Object.entries(STOPPABLE)) {
  test(`${dialect}: a request is in the outage file before it is admitted, and the file goes once the ledger has its rows`, async (t) => {
    const place = await placeOf(t)
    const { ledger } = await openFor(t, place, movedClock(), OUTAGE)
    assert.ok(ledger.admitsAlone())
    place.stop()
    const request = admissionRequest('k', 5)
    const admission = await ledger.admit(request)
    assert.ok(admission.admitted)
    assert.ok(ledger.failing() && ledger.admitsAlone())
    const [file] = await listLogs(join(place.data, 'outage'))
    assert.ok(file && readFileSync(file.path, 'utf8').includes(request.id))
    ledger.settle(settlement(request, admission))
    await until(() => readFileSync(file.path, 'utf8').includes('"tokens_out":4'))
    place.goOn()
    await until(() => !ledger.failing())
    assert.ok(!existsSync(file.path))
  })

  test(`${dialect}: no request passes or is counted if the outage file cannot be written`, async (t) => {
    const place = await placeOf(t)
    const opened = await openFor(t, place, movedClock(), OUTAGE)
    const [row] = await opened.store.db.selectFrom('instances').select('id').execute()
    mkdirSync(join(place.data, 'outage'))
    symlinkSync('/dev/full', logPath(join(place.data, 'outage'), row?.id ?? ''))
    // Before the ledger notices that the store fails.
    assert.equal(await opened.ledger.canAdmitAlone(), false)
    place.stop()
    // What is on its way to the store when it stops may be written all the same.
    await until(() => opened.ledger.failing())
    assert.equal(await opened.ledger.canAdmitAlone(), false)
    for (let i = 0; i < 3; i++)
      await assert.rejects(opened.ledger.admit(admissionRequest('k', 2)), {
        name: 'StoreError',
        code: 'full',
      })
    assert.equal(opened.ledger.leftFor('k', 2).requests, 2)
    place.goOn()
    await until(() => !opened.ledger.failing())
    const asked = await Promise.all(requestsOf('k', 2, 3).map((one) => opened.ledger.admit(one)))
    assert.equal(asked.filter(({ admitted }) => admitted).length, 2)
    const { violations } = await verifyWindows(opened.store)
    assert.deepEqual(violations, [])
  })

  test(`${dialect}: no request passes without the store if the folder does not outlive the process`, async (t) => {
    const place = await placeOf(t)
    const store = await openAt(t, place, Date.now())
    const ledger = await openLedger(store, 'ins', movedClock(), openLog('silent'), {
      maxOutage: 60_000,
      folder: null,
    })
    t.after(() => ledger.close())
    place.stop()
    await assert.rejects(ledger.admit(admissionRequest('free', null)), { name: 'StoreError' })
    assert.equal(await ledger.canAdmitAlone(), false)
    place.goOn()
    await until(() => !ledger.failing())
  })
}
