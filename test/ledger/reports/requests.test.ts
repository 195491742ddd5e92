import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { RequestFilter } from '../../../server/ledger/reports/request-filter.ts'
import { listRequests, requestPage } from '../../../server/ledger/reports/requests.ts'
import { queryBuilder } from '../../../server/store/dialect.ts'
import type { Store } from '../../../server/store/store.ts'
import { raw } from '../../support/recording.ts'
import { onEveryStore } from '../../support/stores.ts'
import { until } from '../../support/until.ts'
import { admissionRequest, openFor, settlement } from '../support/opened.ts'

const HOUR = 3_600_000

/** The ids of all rows that fit, by pages of five. @param most rows that each page may look at */
async function listed(store: Store, filter: RequestFilter, most?: number): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null | undefined
  do {
    const page = await listRequests(
      store,
      filter,
      5,
      cursor ?? undefined,
      most === undefined ? { ms: Infinity } : { rows: most, width: most },
    )
    assert.ok(
      page.rows.length <= 5 && (most !== undefined || page.next === null || page.rows.length === 5),
    )
    ids.push(...page.rows.map(({ id }) => id))
    cursor = page.next
  } while (cursor !== null)
  return ids
}

onEveryStore(
  'a period gives its rows, newest first, even if the clock was set back',
  async (t, place) => {
    const { store, ledger, clock } = await openFor(t, place)
    const made: { id: string; at: number }[] = []
    for (const hours of [0, 1, 5, 5, 4.5, 6, 9, 8.5, 20, 21]) {
      clock.wallBy = hours * HOUR
      const one = admissionRequest('k', null)
      const admission = await ledger.admit(one)
      assert.ok(admission.admitted)
      made.unshift({ id: one.id, at: admission.created_at })
    }
    const start = made.at(-1)!.at
    for (const [from, to] of [
      [-1, 30],
      [4.4, 6.5],
      [4.8, 5.5],
      [8.4, 8.9],
      [7, 8],
      [20.5, 40],
      [30, 40],
      [-9, -1],
      [undefined, 5.5],
      [5.5, undefined],
    ]) {
      const span = {
        from: from === undefined ? undefined : start + from * HOUR,
        to: to === undefined ? undefined : start + to * HOUR,
      }
      const { rows: shown } = await listRequests(store, { account: null, ...span }, 100, undefined)
      const expected = made.filter(
        ({ at }) => at >= (span.from ?? -Infinity) && at < (span.to ?? Infinity),
      )
      assert.deepEqual(
        shown.map(({ id }) => id),
        expected.map(({ id }) => id),
        `${from} to ${to}`,
      )
    }
  },
)

onEveryStore(
  'ended and open requests form one list, also by account, by model, and page by page',
  async (t, place) => {
    const { store, ledger } = await openFor(t, place)
    const made: { id: string; model: string; open: boolean }[] = []
    for (let i = 0; i < 24; i++) {
      const one = { ...admissionRequest('k', null), model: ['often', 'also', 'open'][i % 3]! }
      const admission = await ledger.admit(one)
      assert.ok(admission.admitted)
      const open = one.model === 'open' || i % 4 === 0
      if (!open) ledger.settle(settlement(one, admission))
      made.unshift({ id: one.id, model: one.model, open })
    }
    const account = admissionRequest('k', null).account_id
    while (
      (await listRequests(store, { account, state: 'settled' }, 100, undefined)).rows.length <
      made.filter(({ open }) => !open).length
    )
      await delay(10)
    for (const whose of [account, null, 'acc_other']) {
      for (const model of [undefined, 'often', 'open', 'nobody']) {
        for (const state of [undefined, 'reserved', 'settled', 'aborted'] as const) {
          const fits = made.filter(
            (one) =>
              whose !== 'acc_other' &&
              one.model === (model ?? one.model) &&
              (state === undefined ||
                (state === 'reserved' ? one.open : state === 'settled' && !one.open)),
          )
          const name = `${whose} ${model} ${state}`
          for (const key of [undefined, 'k']) {
            assert.deepEqual(
              await listed(store, { account: whose, model, state, key }),
              fits.map(({ id }) => id),
              name,
            )
            // Also where a page looks at few rows: then it may hold none, and says where to go on.
            assert.deepEqual(
              await listed(store, { account: whose, model, state, key }, 3),
              fits.map(({ id }) => id),
              name,
            )
          }
          assert.deepEqual(
            await listed(store, { account: whose, model, state, key: 'other' }),
            [],
            name,
          )
        }
      }
    }
  },
)

onEveryStore('a request that ends while a list is read is in it once', async (t, place) => {
  const { store, ledger } = await openFor(t, place)
  const one = admissionRequest('k', null)
  const admission = await ledger.admit(one)
  assert.ok(admission.admitted)
  const filter = { account: one.account_id, key: 'k' }
  const [open] = (await listRequests(store, filter, 5, undefined)).rows
  assert.equal(open?.outcome, 'in_progress')
  const steps = requestPage.body(queryBuilder(store.dialect), { filter, limit: 5 })
  let next = steps.next()
  for (let isOpen = true; !next.done;) {
    const { rows } = await store.db.executeQuery<object>(raw(next.value))
    if (isOpen && rows.some((row) => 'id' in row && row.id === one.id)) {
      isOpen = false
      ledger.settle(settlement(one, admission))
      await until(
        async () =>
          (await listRequests(store, { ...filter, state: 'settled' }, 5, undefined)).rows.length >
          0,
      )
    }
    next = steps.next({ rows, affected: rows.length })
  }
  assert.deepEqual(
    next.value.rows.map(({ id, outcome }) => [id, outcome]),
    [[one.id, 'succeeded']],
  )
})
