import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { CompiledQuery } from 'kysely'
import { addHours, addStep, type RollUp } from '../../../server/ledger/rollups/coarser.ts'
import { SOURCES, spansOf } from '../../../server/ledger/rollups/periods.ts'
import { REQUESTS_OF_KEY, requestsSinceTotals } from '../../../server/ledger/rollups/key-totals.ts'
import { readOverview } from '../../../server/ledger/reports/overview.ts'
import {
  readUsage,
  usageLines,
  usageOfKeys,
  type UsageLine,
  type UsageQuestion,
} from '../../../server/ledger/reports/usage.ts'
import { queryBuilder } from '../../../server/store/dialect.ts'
import { ledgerRow } from '../../support/ledger-row.ts'
import { onEveryStore } from '../../support/stores.ts'
import { admissionRequest, openFor } from '../support/opened.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

test('any period is covered by reading each of its hours exactly once', () => {
  const hour = fc.nat(24 * 6).map((n) => n * HOUR)
  const source = fc.constantFrom(...Object.values(SOURCES))
  fc.assert(
    fc.property(
      hour,
      hour,
      hour,
      source,
      fc.boolean(),
      fc.boolean(),
      (from, length, mark, source, hourly, isBegun) => {
        const to = from + length
        const spans = spansOf(
          from,
          to,
          {
            before: mark,
            upTo: isBegun ? { hour: mark, key_id: 'k', provider: 'p', model: 'm' } : null,
          },
          source,
          hourly,
        )
        const twice = spans.filter(({ upTo }) => upTo !== undefined)
        const isInDays =
          spans.some(({ table, to }) => table === source.days && to === mark) &&
          (mark % DAY !== 0 || source === SOURCES.totals)
        assert.deepEqual(
          twice.map(({ table, from, to }) => [table, from, to]),
          isBegun && isInDays ? [['usage_hours', mark, mark + HOUR]] : [],
        )
        assert.ok(twice.length === 0 || to > mark, 'what is taken off has been read twice')
        const read = spans
          .filter((span) => !twice.includes(span))
          .flatMap(({ table, from, to }) => {
            // A day's row holds what lies before the mark; days are taken whole.
            if (table === source.days)
              assert.ok(
                !hourly && from % DAY === 0 && to <= mark && (to % DAY === 0 || to === mark),
              )
            else if (table !== 'usage_hours') assert.ok(table === source.hours && to <= mark)
            return Array.from({ length: (to - from) / HOUR }, (_, i) => from + i * HOUR)
          })
        assert.deepEqual(
          read,
          Array.from({ length: length / HOUR }, (_, i) => from + i * HOUR),
        )
      },
    ),
  )
})

onEveryStore(
  'reports do not change when hours are added to coarser roll-ups, even twice or with open requests',
  async (t, place) => {
    const { store, ledger, clock } = await openFor(t, place)
    const now = clock.now()
    const rows: [ago: number, key: string, model: string][] = [
      [0, 'a', 'm'],
      [2 * HOUR, 'a', 'm'],
      [30 * HOUR, 'a', 'n'],
      [31 * HOUR, 'b', 'm'],
      [31 * HOUR, 'b', 'm'],
      [10 * DAY, 'a', 'm'],
    ]
    for (const [ago, key, model] of rows)
      await ledgerRow(store, { account: 'acc', key, model, at: now - ago })
    const reports = async () => [
      await readUsage(store, {
        account: 'acc',
        by: ['day', 'model'],
        from: now - 20 * DAY,
        to: now + 1,
      }),
      await readUsage(store, { account: null, by: ['key'], from: now - 31 * HOUR, to: now - HOUR }),
      await readUsage(store, {
        account: 'acc',
        by: ['hour'],
        from: now - 40 * HOUR,
        to: now + 1,
        key: 'b',
      }),
      await readUsage(store, {
        account: 'acc',
        by: ['key', 'day'],
        from: now - 20 * DAY,
        to: now + 1,
        top: 1,
      }),
      await readUsage(store, {
        account: null,
        by: ['key'],
        from: now - 11 * DAY,
        to: now - 25 * HOUR,
        top: 1,
      }),
      await readUsage(store, {
        account: 'acc',
        by: ['model'],
        from: now - 31 * HOUR,
        to: now - HOUR,
        top: 1,
      }),
      await readUsage(store, {
        account: 'acc',
        by: ['hour', 'provider'],
        from: now - 40 * HOUR,
        to: now - 30 * HOUR,
      }),
      await readOverview(store, { account: 'acc', range: 'month' }, now),
      await readOverview(store, { account: null, range: 'day', model: 'm' }, now),
      [...(await usageOfKeys(store, ['a', 'b', 'never']))],
    ]
    const before = await reports()
    await Promise.all([addHours(store, now, undefined, 1), addHours(store, now, undefined, 1)])
    const requestsIn = async (
      table: 'usage_days' | 'usage_account_days' | 'usage_account_hours' | 'usage_keys',
    ) =>
      Number(
        (
          await store.db
            .selectFrom(table)
            .select((e) => e.fn.sum<number>('requests').as('requests'))
            .executeTakeFirstOrThrow()
        ).requests,
      )
    for (const table of [
      'usage_days',
      'usage_account_days',
      'usage_account_hours',
      'usage_keys',
    ] as const)
      assert.equal(await requestsIn(table), 5, 'all but the hour that is not over')
    assert.deepEqual(await reports(), before)
    await addHours(store, now)
    assert.deepEqual(await reports(), before)

    const timed = (...by: ('day' | 'hour')[]) =>
      readUsage(store, { account: 'acc', by, from: now - 40 * HOUR, to: now + 1 })
    assert.deepEqual(
      await timed('day', 'hour'),
      await timed('hour'),
      'hours stay apart where days are asked for too',
    )

    // An hour waits for what is under way in it.
    const held = admissionRequest('a', null)
    const admission = await ledger.admit(held)
    assert.ok(admission.admitted)
    await addHours(store, now + 2 * HOUR)
    assert.equal(await requestsIn('usage_days'), 5)
  },
)

onEveryStore(
  'reports do not change after any step of adding hours to coarser roll-ups',
  async (t, place) => {
    const { store, clock } = await openFor(t, place)
    const now = clock.now()
    const day = Math.floor(now / DAY) * DAY - DAY
    // The last hour of a day, the first of the next, and one in its middle; each with rows of
    // several keys and models.
    for (const at of [day - HOUR, day, day + 9 * HOUR]) {
      for (const [key, model] of [
        ['a', 'm'],
        ['a', 'n'],
        ['b', 'm'],
        ['c', 'n'],
      ] as const)
        await ledgerRow(store, { account: 'acc', key, model, at })
    }
    const ends = [day, day + HOUR, day + 9 * HOUR, day + 10 * HOUR, now + 1]
    const reports = async () => [
      ...(await Promise.all(
        ends.map((to) =>
          readUsage(store, { account: 'acc', by: ['model'], from: now - 20 * DAY, to }),
        ),
      )),
      ...(await Promise.all(
        ends.map((to) =>
          readUsage(store, { account: 'acc', by: ['key'], from: now - 20 * DAY, to, top: 2 }),
        ),
      )),
      await readUsage(store, {
        account: 'acc',
        by: ['key', 'day'],
        from: now - 20 * DAY,
        to: now + 1,
      }),
      await readUsage(store, {
        account: 'acc',
        by: ['hour'],
        from: day - 2 * HOUR,
        to: now + 1,
        key: 'a',
      }),
      await readUsage(store, {
        account: null,
        by: ['day'],
        from: day - DAY,
        to: now + 1,
        model: 'n',
      }),
      await readOverview(store, { account: 'acc', range: 'month' }, now),
      [...(await usageOfKeys(store, ['a', 'b', 'c', 'never']))],
      (
        await store.db
          .selectFrom('usage_hours as u')
          .leftJoin('usage_keys', 'usage_keys.key_id', 'u.key_id')
          .leftJoin(requestsSinceTotals('acc').as('since'), 'since.key_id', 'u.key_id')
          .select(['u.key_id', REQUESTS_OF_KEY.as('all')])
          .distinct()
          .orderBy('u.key_id')
          .execute()
      ).map((row) => Number(row.all)),
    ]
    const before = await reports()
    let steps = 0
    for (const to of ['days', 'accounts', 'keys'] as const satisfies RollUp[]) {
      while (await store.run(addStep, { to, before: now, rows: 3 }))
        assert.deepEqual(await reports(), before, `${to}, step ${++steps}`)
    }
    assert.equal(steps, 3 * 3 * 2)
  },
)

onEveryStore('a report is correct while hours are added to coarser roll-ups', async (t, place) => {
  const { store, clock } = await openFor(t, place)
  const now = clock.now()
  // Hours of one day, of which the first has been added to it.
  const day = Math.floor(now / DAY) * DAY - DAY
  const rows: [hour: number, key: string][] = [
    [1, 'a'],
    [2, 'a'],
    [2, 'b'],
    [3, 'b'],
    [4, 'a'],
  ]
  for (const [hour, key] of rows)
    await ledgerRow(store, { account: 'acc', key, model: 'm', at: day + hour * HOUR })
  const addFirst = () => addHours(store, day + 2 * HOUR + 5 * MINUTE)
  /**
   * TABLE of what is added meanwhile: everything; or one step, of one row, behind which an hour
   * is half added.
   */
  const meanwhile = {
    'all hours': () => addHours(store, now),
    'a part of an hour': async () => {
      for (const to of ['days', 'accounts', 'keys'] as const)
        await store.run(addStep, { to, before: now, rows: 1 })
    },
  }
  const question: UsageQuestion = {
    account: 'acc',
    by: ['key', 'day'],
    from: now - 20 * DAY,
    to: now + 1,
    top: 1,
  }
  /**
   * Makes the report, and adds all hours before its statement of this number. @returns also how
   * many statements there were
   */
  const report = async (
    at: number,
    act: () => Promise<void> = addFirst,
  ): Promise<{ lines: UsageLine[]; statements: number }> => {
    const steps = usageLines.body(queryBuilder(store.dialect), question)
    let statements = 0
    for (let next = steps.next(); ; statements++) {
      if (next.done) return { lines: next.value, statements }
      if (statements === at) await act()
      const { sql, parameters } = next.value
      const { rows } = await store.db.executeQuery<object>(CompiledQuery.raw(sql, [...parameters]))
      next = steps.next({ rows, affected: rows.length })
    }
  }
  await addFirst()
  const { lines, statements } = await report(-1)
  for (const [what, act] of Object.entries(meanwhile))
    for (let at = 0; at < statements; at++) {
      assert.deepEqual((await report(at, act)).lines, lines, `${what}, before statement ${at}`)
      for (const table of [
        'usage_days',
        'usage_account_hours',
        'usage_account_days',
        'usage_keys',
        'usage_key_days',
        'usage_added',
      ] as const)
        await store.db.deleteFrom(table).execute()
      await addFirst()
    }
})
