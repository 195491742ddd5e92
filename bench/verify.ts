// How fast `verify` reads a ledger: all of it, then with its days sealed. `--rows N`, `--days N`;
// on SQLite, or with `--postgres` on a server of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { DAY, HOUR } from '../server/common/clock.ts'
import { verifyWindows } from '../server/ledger/reports/verify.ts'
import { openStore } from '../server/store/open.ts'
import { startPostgres } from '../test/support/postgres.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '20' },
    postgres: { type: 'boolean', default: false },
  },
})
const [rows, days] = [Number(values.rows), Number(values.days)]
/** Rows of one statement. */
const BATCH = 20_000
const KEYS = 60

await using server = values.postgres ? await startPostgres({}) : null
const folder = mkdtempSync(join(tmpdir(), 'tollmark-verify-'))
const today = Math.floor(Date.now() / DAY) * DAY
try {
  const store = await openStore({
    data: folder,
    databaseUrl: server?.url ?? null,
    now: Date.now(),
  })
  const start = today - days * DAY
  const gap = (days * DAY) / rows
  for (let from = 1; from <= rows; from += BATCH) {
    const to = Math.min(rows, from + BATCH - 1)
    // A key's rows keep their distance by both clocks.
    await sql`
      with recursive numbers (n) as (select ${sql.lit(from)} union all select n + 1 from numbers where n < ${sql.lit(to)})
      insert into requests (seq, id, account_id, key_id, rpm, provider, model, endpoint, method, state, created_at, mono, instance, boot, status)
      select n, 'req_' || n, 'acc', 'key_' || (n % ${sql.lit(KEYS)}), 1000, 'openai', 'gpt-5', '/v1/chat/completions', 'POST', 'settled',
        ${sql.lit(start)} + cast(n * ${sql.lit(gap)} as bigint), cast(n * ${sql.lit(gap)} as bigint) * 1000, 'bench', 0, 200
      from numbers`.execute(store.db)
  }
  for (const again of [false, false, true]) {
    const before = process.cpuUsage()
    const began = performance.now()
    const proof = await verifyWindows(store, { now: today + DAY + 2 * HOUR, again })
    const seconds = (performance.now() - began) / 1000
    const { user, system } = process.cpuUsage(before)
    console.log(
      `${proof.requests} rows, ${proof.sealed} of them sealed${again ? ', all read again' : ''}: ${seconds.toFixed(2)} s (${Math.round(proof.requests / seconds)} rows a second), ` +
        `${((user + system) / 1e6).toFixed(2)} s of this process's processors, ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`,
    )
  }
  await store.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
