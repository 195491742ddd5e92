// How long the retention takes for a day of the ledger, and the run that follows, before a vacuum.
// `--rows N` of that day, `--kept N` of days that stay, `--keys N`. On SQLite, or with `--postgres`
// on a server of its own, with fsync, where the day is a partition; and there, with `--first`, rows
// from before the first partition.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { DAY } from '../server/common/clock.ts'
import { beginPartition, dropOldPartitions } from '../server/ledger/retention/partitions.ts'
import { deleteOldRequests } from '../server/ledger/retention/retention.ts'
import { openStore } from '../server/store/open.ts'
import { query, startPostgres } from '../test/support/postgres.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '200000' },
    kept: { type: 'string', default: '200000' },
    keys: { type: 'string', default: '60' },
    postgres: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
  },
})
const [old, kept, keys] = [Number(values.rows), Number(values.kept), Number(values.keys)]
/** Rows of one statement. */
const BATCH = 10_000

await using server = values.postgres ? await startPostgres({}) : null
const folder = mkdtempSync(join(tmpdir(), 'tollmark-retention-'))
const today = Math.floor(Date.now() / DAY) * DAY
try {
  const store = await openStore({
    data: folder,
    databaseUrl: server?.url ?? null,
    // Partitions begin a day after the migration.
    now: today - 3 * DAY,
  })
  const isPartitioned = values.postgres && !values.first
  /** Adds a day's first number to the numbers of its rows. */
  const shiftOf = async (day: number): Promise<number> => {
    if (!isPartitioned) return 0
    await beginPartition(store, day, DAY)
    const { first } = await store.db
      .selectFrom('request_partitions')
      .select('first')
      .orderBy('first', 'desc')
      .executeTakeFirstOrThrow()
    return first
  }
  const shifts = [await shiftOf(today - DAY), await shiftOf(today)]
  for (let from = 1; from <= old + kept; from += BATCH) {
    const to = Math.min(old + kept, from + BATCH - 1)
    await sql`
      with recursive numbers (n) as (select ${sql.lit(from)} union all select n + 1 from numbers where n < ${sql.lit(to)})
      insert into requests (seq, id, account_id, key_id, rpm, provider, model, endpoint, method, state, created_at, mono, instance, boot, status)
      select n + case when n > ${sql.lit(old)} then ${sql.lit(shifts[1])} else ${sql.lit(shifts[0])} end, 'req_00000000000000' || (10000000 + n), 'acc_0000000000000000000000', 'key_00000000000000000000' || (n % ${sql.lit(keys)}), 1000, 'openai', 'gpt-5',
        '/v1/chat/completions', 'POST', 'settled', case when n > ${sql.lit(old)} then ${sql.lit(today)} else ${sql.lit(today - DAY)} end, n, 'bench', 0, 200
      from numbers`.execute(store.db)
  }
  // All hours are in the daily sums.
  await sql`insert into usage_added (name, before) values ('days', ${sql.lit(today)})`.execute(
    store.db,
  )
  if (server)
    for (const command of ['vacuum analyze requests', 'checkpoint'])
      await query(server.url, command)
  const used = process.cpuUsage()
  const began = performance.now()
  const limit = { before: today, upTo: old + kept + (shifts[1] ?? 0) }
  const retain = async (after: number): Promise<number> => {
    if (!isPartitioned) return deleteOldRequests(store, limit, after)
    await dropOldPartitions(store, limit)
    return 0
  }
  const done = await retain(0)
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(used)
  const ended = performance.now()
  await retain(done)
  const next = performance.now() - ended
  const { left } = await store.reports
    .selectFrom('requests')
    .select((e) => e.fn.countAll<number>().as('left'))
    .executeTakeFirstOrThrow()
  if (Number(left) !== kept) throw new Error(`${left} rows are left, not ${kept}`)
  console.log(
    `${old} rows in ${seconds.toFixed(2)} s (${Math.round(old / seconds)} a second), ${((user + system) / 1e6).toFixed(2)} s of this process's processors; ${next.toFixed(0)} ms for the next run`,
  )
  await store.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
