import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { addHours, spansOf } from '../../server/ledger/days.ts'
import { readUsage, usageOfKeys } from '../../server/ledger/usage.ts'
import { ledgerRow } from '../http/ledger-row.ts'
import { temporaryFolder } from '../temporary.ts'
import { asking, openFor } from './opened.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]

test('whatever time is asked for, every hour of it is read once, and nothing besides', () => {
  const hour = fc.nat(24 * 6).map((n) => n * HOUR)
  fc.assert(
    fc.property(hour, hour, hour, (from, length, mark) => {
      const to = from + length
      const read = spansOf(from, to, mark).flatMap(({ table, from, to }) => {
        // A day's row holds what lies before the mark; days are taken whole.
        if (table === 'usage_days') assert.equal(from % DAY, 0)
        if (table === 'usage_days') assert.ok(to <= mark && (to % DAY === 0 || to === mark))
        return Array.from({ length: (to - from) / HOUR }, (_, i) => from + i * HOUR)
      })
      assert.deepEqual(read, Array.from({ length: length / HOUR }, (_, i) => from + i * HOUR))
    }),
  )
})

test('reports are the same before and after hours are added to their days, also twice and while requests are under way', async (t) => {
  const { store, ledger, clock } = await openFor(t, { data: temporaryFolder(t), databaseUrl: null })
  const now = clock.now()
  const rows: [ago: number, key: string, model: string][] = [[0, 'a', 'm'], [2 * HOUR, 'a', 'm'], [30 * HOUR, 'a', 'n'], [31 * HOUR, 'b', 'm'], [31 * HOUR, 'b', 'm'], [10 * DAY, 'a', 'm']]
  for (const [ago, key, model] of rows) await ledgerRow(store, { account: 'acc', key, model, at: now - ago })
  const reports = async () => [
    await readUsage(store, { account: 'acc', by: ['day', 'model'], from: now - 20 * DAY, to: now + 1 }),
    await readUsage(store, { account: null, by: ['key'], from: now - 31 * HOUR, to: now - HOUR }),
    await readUsage(store, { account: 'acc', by: ['hour'], from: now - 40 * HOUR, to: now + 1, key: 'b' }),
    [...(await usageOfKeys(store, ['a', 'b']))],
  ]
  const before = await reports()
  await Promise.all([addHours(store, now), addHours(store, now)])
  const days = await store.db.selectFrom('usage_days').select((e) => e.fn.sum<number>('requests').as('requests')).executeTakeFirstOrThrow()
  assert.equal(days.requests, 5, 'all but the hour that is not over')
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
  assert.deepEqual(await store.db.selectFrom('usage_days').select((e) => e.fn.sum<number>('requests').as('requests')).executeTakeFirstOrThrow(), days)
})
