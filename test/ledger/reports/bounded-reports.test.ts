// A report reads a bounded number of roll-ups in one statement, however many keys and models an
// hour has: others have their turns in between.
import assert from 'node:assert/strict'
import { CompiledQuery, sql } from 'kysely'
import { FEWEST_ROWS, MOST_ROWS } from '../../../server/ledger/rollups/summing.ts'
import {
  usageLines,
  type UsageLine,
  type UsageQuestion,
} from '../../../server/ledger/reports/usage.ts'
import { queryBuilder } from '../../../server/store/dialect.ts'
import type { Store } from '../../../server/store/store.ts'
import { onEveryStore, openAt } from '../../support/stores.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const ROWS = 12_000

/**
 * Roll-ups of one request each: a quarter as many keys, with two models in each of two steps of
 * time, of an account; beside them another account's.
 */
async function fill(
  store: Store,
  table: 'usage_hours' | 'usage_days',
  step: number,
): Promise<void> {
  const time = sql.ref(table === 'usage_hours' ? 'hour' : 'day')
  await store.db.executeQuery(
    sql`
      insert into ${sql.table(table)} (${time}, key_id, provider, model, account_id, requests, errors, aborted, unknown, unmetered, bytes_in, bytes_out, tokens_in, answered, first_byte_ms, total_ms)
      with recursive n (i) as (select 0 union all select i + 1 from n where i < ${sql.lit(ROWS - 1)})
      select ${sql.lit(100 * DAY)} + (i % 2) * ${sql.lit(step)}, 'key_' || (i / 4), 'openai', 'm' || (i / 2 % 2), case when i % 8 < 4 then 'mine' else 'theirs' end, 1, 0, 0, 0, 0, 10, 20, 3, 1, 5, 7 from n
    `.compile(store.db),
  )
}

/** A report, and for each of its statements that sums how many roll-ups it read. */
async function report(
  store: Store,
  question: UsageQuestion,
): Promise<{
  lines: UsageLine[]
  read: number[]
  statements: { sql: string; parameters: readonly unknown[] }[]
}> {
  const steps = usageLines.body(queryBuilder(store.dialect), question)
  const read: number[] = []
  const statements = []
  let next = steps.next()
  while (!next.done) {
    statements.push(next.value)
    const { rows } = await store.db.executeQuery<object>(
      CompiledQuery.raw(next.value.sql, [...next.value.parameters]),
    )
    const sums = rows as { requests?: number | string | null }[]
    if (sums.some(({ requests }) => requests !== undefined))
      read.push(sums.reduce((all, { requests }) => all + Number(requests ?? 0), 0))
    next = steps.next({ rows, affected: rows.length })
  }
  return { lines: next.value, read, statements }
}

const WHOLE = { from: 0, to: 1_000 * DAY }

for (const [table, step] of [
  ['usage_hours', HOUR],
  ['usage_days', DAY],
] as const) {
  onEveryStore(
    `reports over ${ROWS} roll-ups of ${table} in two steps of time`,
    async (t, place) => {
      const store = await openAt(t, place)
      await fill(store, 'usage_hours', step)
      if (table === 'usage_days') {
        await fill(store, 'usage_days', DAY)
        await store.db.executeQuery(
          sql`insert into usage_added (name, before) values ('days', ${sql.lit(101 * DAY + HOUR)})`.compile(
            store.db,
          ),
        )
      }
      // As its autovacuum does by itself.
      if (store.dialect === 'postgres')
        await store.db.executeQuery(sql`analyze usage_hours, usage_days`.compile(store.db))
      const inMine = ROWS / 2
      /** TABLE of reports: how many lines they have, and requests in all. */
      const cases: [
        question: Omit<UsageQuestion, 'from' | 'to'>,
        lines: number,
        requests: number,
      ][] = [
        [{ account: 'mine', by: ['key', 'model'] }, inMine / 2, inMine],
        // So many that they are sorted in turns.
        [{ account: null, by: ['key', 'model'] }, ROWS / 2, ROWS],
        [{ account: null, by: ['provider'] }, 1, ROWS],
        [{ account: 'mine', by: ['model'], model: 'm1' }, 1, inMine / 2],
        [{ account: 'mine', by: ['key'], key: 'key_8' }, 1, 4],
        [{ account: 'mine', by: ['key'], top: 3 }, 4, inMine],
        [{ account: null, by: ['key'], keys: ['key_0', 'key_1', 'key_2999'] }, 3, 12],
        [
          { account: null, by: ['key'], keys: Array.from({ length: 600 }, (_, i) => `key_${i}`) },
          600,
          2_400,
        ],
        [{ account: 'nobody', by: ['model'] }, 0, 0],
      ]
      for (const [question, lines, requests] of cases) {
        const what = JSON.stringify({ ...question, keys: question.keys?.length })
        const got = await report(store, { ...question, ...WHOLE })
        const sum = got.lines.reduce((all, line) => all + Number(line.requests), 0)
        assert.deepEqual([got.lines.length, sum], [lines, requests], what)
        const names =
          question.top === undefined
            ? got.lines.map(({ key_id = '', model = '' }) => `${key_id} ${model}`)
            : []
        assert.deepEqual(names, names.toSorted(), what)
        assert.ok(
          got.read.every((rows) => rows <= MOST_ROWS),
          `${what}: ${got.read.join(' ')}`,
        )
        // Where each roll-up is a line of its own, there are few of them.
        if (lines > FEWEST_ROWS)
          assert.ok(
            got.read.every((rows) => rows <= FEWEST_ROWS) &&
              got.read.length >= requests / FEWEST_ROWS,
            `${what}: ${got.read.join(' ')}`,
          )
        if (store.dialect !== 'sqlite') continue
        for (const { sql: text, parameters } of got.statements) {
          const { rows } = await store.db.executeQuery<{ detail: string }>(
            CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
          )
          const plan = rows.map(({ detail }) => detail).join('; ')
          assert.doesNotMatch(
            plan,
            /SCAN usage_(?:hours|days)(?! USING (?:COVERING )?INDEX)|FOR ORDER BY/,
            `${what}: ${text}`,
          )
        }
      }
      const [one] = (await report(store, { account: 'mine', by: ['day'], ...WHOLE })).lines
      const { bytes_in, bytes_out, tokens_in, tokens_out, total_ms } = one!
      assert.deepEqual(
        [Number(bytes_in), Number(bytes_out), Number(tokens_in), tokens_out, Number(total_ms)],
        [
          inMine * (table === 'usage_days' ? 5 : 10),
          inMine * (table === 'usage_days' ? 10 : 20),
          inMine * (table === 'usage_days' ? 1.5 : 3),
          null,
          7,
        ],
      )
    },
  )
}
