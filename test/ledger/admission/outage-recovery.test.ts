// An outage that begins while the one before it is ending.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Admission, AdmissionBackend } from '../../../server/ledger/admission/backend.ts'
import { OutageFallback } from '../../../server/ledger/admission/outage-fallback.ts'
import { OutageLog } from '../../../server/ledger/admission/outage-log.ts'
import { exchangeCounts } from '../../../server/ledger/admission/web-processes.ts'
import { openLog } from '../../../server/common/log.ts'
import { StoreError } from '../../../server/store/store-error.ts'
import type { Store } from '../../../server/store/store.ts'
import { usedFolder } from '../../support/templates.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, openFor } from '../support/opened.ts'

test('requests pass again if an outage began and ended while the file of the last was removed', async (t) => {
  const { store, clock } = await openFor(t, { data: usedFolder(t), databaseUrl: null })
  const away = new StoreError('unavailable', 'away')
  let isAway = false
  const run: Store['run'] = (procedure, args, ...rest) =>
    isAway && Object.is(procedure, exchangeCounts)
      ? Promise.reject(away)
      : store.run(procedure, args, ...rest)
  const backend: AdmissionBackend = {
    fullFor: () => null,
    leftFor: () => null,
    submit: (one) =>
      queueMicrotask(() =>
        isAway ? one.reject(away) : one.resolve({ admitted: true, seq: 99, created_at: 0 }),
      ),
    settle: async () => {},
    recordAdmitted: async (rows) => {
      if (isAway) throw away
      return rows.map((_, at) => at + 1)
    },
    recentAdmissions: async () => [],
    close: async () => {},
  }
  const removing = Promise.withResolvers<void>()
  const removed = Promise.withResolvers<void>()
  const remove = OutageLog.prototype.remove
  t.mock.method(OutageLog.prototype, 'remove', async function (this: OutageLog) {
    await remove.call(this)
    removing.resolve()
    await removed.promise
  })
  const fallback = await OutageFallback.open(backend, {
    store: Object.create(store, { run: { value: run } }) as Store,
    clock,
    log: openLog('silent'),
    instance: 'ins',
    maxOutage: 60_000,
    folder: temporaryFolder(t),
    settle: () => {},
  })
  t.after(() => fallback.close())
  const ask = () =>
    new Promise<Admission>((resolve, reject) => {
      const request = admissionRequest('k', null)
      fallback.submit({ request, caller: { closed: false }, patience: 0, resolve, reject })
    })
  const seqOf = async () => {
    const admission = await ask()
    return admission.admitted ? admission.seq : null
  }
  isAway = true
  assert.equal(await seqOf(), -1)
  isAway = false
  await removing.promise
  isAway = true
  await until(() => fallback.state === 'outage')
  assert.equal(await seqOf(), -2)
  isAway = false
  await until(() => fallback.state === 'recovering')
  const queued = ask()
  removed.resolve()
  await until(() => fallback.state === 'online', 10_000)
  assert.equal((await queued).admitted, true)
  assert.equal(await seqOf(), 99)
})
