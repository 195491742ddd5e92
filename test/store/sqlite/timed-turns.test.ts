// Reports wait for their own account's, not for those of others.
import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { StoreError } from '../../../server/store/store-error.ts'
import { onEveryStore, openAt } from '../../support/stores.ts'
import { longRead } from '../long-read.ts'

const SHORT = { times: 40, most: 10 }

onEveryStore('an account with many long reports delays only its own reports', async (t, place) => {
  const store = await openAt(t, place)
  const [busy, other] = [store.readingFor('acc_busy'), store.readingFor('acc_other')]
  let done = 0
  const many = Array.from({ length: 30 }, () =>
    busy.read(longRead, { times: 20, most: 2_000 }).then(() => done++),
  )
  await turn()
  assert.equal((await other.read(longRead, { times: 2, most: 10 })).times, 2)
  assert.ok(done <= 6, `${done} of 30 were done before`)
  assert.equal((await other.reports.selectFrom('accounts').select('id').execute()).length, 0)
  await Promise.all(many)
})

onEveryStore('lookups and short reports do not wait for a long report', async (t, place) => {
  const store = await openAt(t, place)
  // Both threads are started.
  await Promise.all([
    store.readingFor('acc_other').read(longRead, SHORT),
    store.lookingUpFor('acc_other').read(longRead, SHORT),
  ])
  let done = 0
  const long = Array.from({ length: 12 }, (_, i) =>
    store
      .readingFor(`acc_${i % 3}`)
      .read(longRead, { times: 10, most: 40_000 })
      .then(() => done++),
  )
  await turn()
  assert.equal((await store.lookingUpFor('acc_other').read(longRead, SHORT)).times, 40)
  assert.equal(done, 0, 'a look-up')
  // By the statement it would take 40 turns of three long statements each, and so all of the
  // others' reports.
  await store.readingFor('acc_other').read(longRead, SHORT)
  assert.ok(done <= 3, `${done} of 12 were done before`)
  await Promise.all(long)
})

onEveryStore(
  'waiting reports are bounded per account, and results are transferred',
  async (t, place) => {
    const store = await openAt(t, place)
    const [busy, other] = [store.readingFor('acc_busy'), store.readingFor('acc_other')]
    const asked = Promise.allSettled(
      Array.from({ length: 110 }, () => busy.read(longRead, { times: 1, most: 10 })),
    )
    const { bytes } = await other.read(longRead, { times: 1, most: 10 })
    assert.deepEqual(bytes, new Uint8Array([7, 7, 7]))
    const refused = (await asked).filter((one) => one.status === 'rejected')
    assert.equal(refused.length, 9)
    for (const { reason } of refused)
      assert.ok(reason instanceof StoreError && reason.code === 'crowded')
    // The server itself reads as nobody, and whatever a request waits for takes no turns.
    assert.equal((await store.read(longRead, { times: 1, most: 10 })).times, 1)
    assert.equal((await store.readNow(longRead, { times: 1, most: 10 })).times, 1)
  },
)
