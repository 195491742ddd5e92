import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { addHours } from '../../server/ledger/added.ts'
import { SOURCES, spansOf } from '../../server/ledger/days.ts'
import { readOverview } from '../../server/ledger/overview.ts'
import { readUsage, usageOfKeys } from '../../server/ledger/usage.ts'
import { ledgerRow } from '../http/ledger-row.ts'
import { onEveryStore } from '../stores.ts'
import { asking, openFor } from './opened.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]

test('whatever time is asked for, every hour of it is read once, and nothing besides', () => {
  const hour = fc.nat(24 * 6).map((n) => n * HOUR)
  const source = fc.constantFrom(...Object.values(SOURCES))
  fc.assert(
    fc.property(hour, hour, hour, source, fc.boolean(), (from, length, mark, source, hourly) => {
      const to = from + length
      const read = spansOf(from, to, mark, source, hourly).flatMap(({ table, from, to }) => {
        // A day's row holds what lies before the mark; days are taken whole.
        if (table === source.days) assert.ok(!hourly && from % DAY === 0 && to <= mark && (to % DAY === 0 || to === mark))
        else if (table !== 'usage_hours') assert.ok(table === source.hours && to <= mark)
        return Array.from({ length: (to - from) / HOUR }, (_, i) => from + i * HOUR)
      })
      assert.deepEqual(read, Array.from({ length: length / HOUR }, (_, i) => from + i * HOUR))
    }),
  )
})

onEveryStore('reports are the same before and after hours are added to coarser roll-ups, also twice and while requests are under way', async (t, place) => {
  const { store, ledger, clock } = await openFor(t, place)
  const now = clock.now()
  const rows: [ago: number, key: string, model: string][] = [[0, 'a', 'm'], [2 * HOUR, 'a', 'm'], [30 * HOUR, 'a', 'n'], [31 * HOUR, 'b', 'm'], [31 * HOUR, 'b', 'm'], [10 * DAY, 'a', 'm']]
  for (const [ago, key, model] of rows) await ledgerRow(store, { account: 'acc', key, model, at: now - ago })
  const reports = async () => [
    await readUsage(store, { account: 'acc', by: ['day', 'model'], from: now - 20 * DAY, to: now + 1 }),
    await readUsage(store, { account: null, by: ['key'], from: now - 31 * HOUR, to: now - HOUR }),
    await readUsage(store, { account: 'acc', by: ['hour'], from: now - 40 * HOUR, to: now + 1, key: 'b' }),
    await readUsage(store, { account: 'acc', by: ['key', 'day'], from: now - 20 * DAY, to: now + 1, top: 1 }),
    await readUsage(store, { account: null, by: ['key'], from: now - 11 * DAY, to: now - 25 * HOUR, top: 1 }),
    await readUsage(store, { account: 'acc', by: ['model'], from: now - 31 * HOUR, to: now - HOUR, top: 1 }),
    await readUsage(store, { account: 'acc', by: ['hour', 'provider'], from: now - 40 * HOUR, to: now - 30 * HOUR }),
    await readOverview(store, { account: 'acc', range: 'month' }, now),
    await readOverview(store, { account: null, range: 'day', model: 'm' }, now),
    [...(await usageOfKeys(store, ['a', 'b', 'never']))],
  ]
  const before = await reports()
  await Promise.all([addHours(store, now), addHours(store, now)])
  const requestsIn = async (table: 'usage_days' | 'usage_account_days' | 'usage_account_hours' | 'usage_keys') =>
    Number((await store.db.selectFrom(table).select((e) => e.fn.sum<number>('requests').as('requests')).executeTakeFirstOrThrow()).requests)
  for (const table of ['usage_days', 'usage_account_days', 'usage_account_hours', 'usage_keys'] as const) assert.equal(await requestsIn(table), 5, 'all but the hour that is not over')
  assert.deepEqual(await reports(), before)
  await addHours(store, now)
  assert.deepEqual(await reports(), before)

  const timed = (...by: ('day' | 'hour')[]) => readUsage(store, { account: 'acc', by, from: now - 40 * HOUR, to: now + 1 })
  assert.deepEqual(await timed('day', 'hour'), await timed('hour'), 'hours stay apart where days are asked for too')

  // An hour waits for what is under way in it.
  const held = asking('a', null)
  const admission = await ledger.admit(held)
  assert.ok(admission.admitted)
  await addHours(store, now + 2 * HOUR)
  assert.equal(await requestsIn('usage_days'), 5)
})
