// What a durable reservation and its settlement cost: rows per second, latency, CPU of each thread.
// `--rows N`, `--callers N,N,…`. With `--postgres` on a PostgreSQL of its own on this machine, with
// fsync, or on the one of TEST_DATABASE_URL (an empty database); then also the WAL of a row,
// counted from a checkpoint on, and its bytes with those of indexes and sums; `--vacuum` also what
// a vacuum between, and a reindex in the end, leave of them.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { systemClock } from '../server/common/clock.ts'
import { UNKNOWN_TOKENS } from '../server/common/token-kinds.ts'
import { newId } from '../server/common/ids.ts'
import { openLedger } from '../server/ledger/ledger.ts'
import { readUsage } from '../server/ledger/reports/usage.ts'
import { openLog } from '../server/common/log.ts'
import { enterInstance } from '../server/store/instance.ts'
import { openStore } from '../server/store/open.ts'
import { query, startPostgres } from '../test/support/postgres.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '30000' },
    callers: { type: 'string', default: '1,32,256' },
    postgres: { type: 'boolean', default: false },
    vacuum: { type: 'boolean', default: false },
  },
})
await using server =
  values.postgres && !process.env['TEST_DATABASE_URL'] ? await startPostgres({}) : null
const databaseUrl = values.postgres
  ? (server?.url ?? new URL(process.env['TEST_DATABASE_URL']!))
  : null

/** Evaluates a numeric SQL expression. */
async function ask(url: URL, expression: string): Promise<number> {
  const [row] = await query(url, `select (${expression})::float8 as value`)
  return z.object({ value: z.number() }).parse(row).value
}
const WAL = "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
const SIZE =
  "select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"

/** A line for each relation with at least a byte per row, and for the rows themselves. */
async function parts(url: URL, rows: number): Promise<string> {
  const relations = z.array(z.object({ name: z.string(), bytes: z.number() })).parse(
    await query(
      url,
      `select relname as name, pg_relation_size(oid)::float8 as bytes from pg_class
       where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace and pg_relation_size(oid) >= ${rows} order by 2 desc`,
    ),
  )
  const [row] = z
    .array(z.object({ bytes: z.number(), updates: z.number(), hot: z.number() }))
    .parse(
      await query(
        url,
        `select (select avg(pg_column_size(r)) from requests_first r)::float8 as bytes, n_tup_upd::float8 as updates, n_tup_hot_upd::float8 as hot
         from pg_stat_user_tables where relname = 'requests_first'`,
      ),
    )
  return [
    ...relations.map(
      ({ name, bytes }) => `  ${name.padEnd(24)} ${(bytes / rows).toFixed(0).padStart(6)} bytes`,
    ),
    `  a whole row              ${row?.bytes.toFixed(0).padStart(6)} bytes; ${row?.hot} of ${row?.updates} updates heap-only`,
  ].join('\n')
}

const folder = mkdtempSync(join(tmpdir(), 'tollmark-ledger-'))
const clock = systemClock(Date.now)
const log = openLog('silent')

try {
  const store = await openStore({ data: folder, databaseUrl, now: clock.now() })
  const instance = await enterInstance(store, clock.now, () => {})
  const ledger = await openLedger(store, instance.id, clock, log)
  let made = 0

  const one = async (caller: number): Promise<number> => {
    const started = clock.mono()
    made++
    const asking = {
      id: newId('req', clock.now()),
      account_id: 'acc_0000000000000000000000',
      key_id: `key_00000000000000000000${caller % 20}`,
      rpm: 1_000_000,
      provider: 'openai',
      model: 'gpt-5',
      endpoint: '/v1/chat/completions',
      method: 'POST',
      context: null,
      child_id: null,
      child_rpm: null,
      end_user: null,
    }
    const admission = await ledger.admit(asking)
    const wait = clock.mono() - started
    if (!admission.admitted) throw new Error('refused')
    ledger.settle({
      seq: admission.seq,
      account_id: asking.account_id,
      key_id: asking.key_id,
      provider: 'openai',
      created_at: admission.created_at,
      state: 'settled',
      model: 'gpt-5',
      status: 200,
      error: null,
      credential_id: 'env_openai',
      first_byte_ms: 5,
      total_ms: 9,
      bytes_in: 1024,
      bytes_out: 1536,
      ...UNKNOWN_TOKENS,
      tokens_in: 200,
      tokens_out: 300,
      upstream_request_id: null,
    })
    return wait
  }

  await Promise.all(Array.from({ length: 2_000 }, (_, i) => one(i)))
  for (const callers of values.callers.split(',').map(Number)) {
    const rows = callers === 1 ? Math.min(2_000, Number(values.rows)) : Number(values.rows)
    const waits: number[] = []
    if (databaseUrl) await query(databaseUrl, 'checkpoint')
    const wal = databaseUrl && (await ask(databaseUrl, WAL))
    const [all, main, started] = [process.cpuUsage(), process.threadCpuUsage(), clock.mono()]
    let left = rows
    await Promise.all(
      Array.from({ length: callers }, async (_, i) => {
        while (left-- > 0) waits.push(await one(i))
      }),
    )
    const seconds = (clock.mono() - started) / 1000
    const [allUsed, mainUsed] = [process.cpuUsage(all), process.threadCpuUsage(main)]
    const each = (used: { user: number; system: number }) => (used.user + used.system) / rows
    waits.sort((a, b) => a - b)
    console.log(
      `${String(callers).padStart(4)} callers: ${(rows / seconds).toFixed(0).padStart(6)} rows/s, wait ${waits[Math.floor(rows / 2)]!.toFixed(2)} ms median, ${waits[Math.floor(rows * 0.99)]!.toFixed(2)} ms p99; ` +
        `CPU each: ${each(mainUsed).toFixed(1)} µs here, ${(each(allUsed) - each(mainUsed)).toFixed(1)} µs in the writer${values.postgres ? ' (not the server)' : ''}`,
    )
    if (databaseUrl && wal !== null)
      console.log(
        `              ${(((await ask(databaseUrl, WAL)) - wal) / rows).toFixed(0)} bytes of WAL each, while ${seconds.toFixed(0)} s`,
      )
    if (databaseUrl && values.vacuum) {
      await query(databaseUrl, 'vacuum')
      console.log(
        `              ${((await ask(databaseUrl, SIZE)) / made).toFixed(0)} bytes a row on disk after a vacuum`,
      )
    }
  }
  await ledger.close()
  const asked = clock.mono()
  const lines = await readUsage(store, {
    account: null,
    by: ['day', 'model'],
    from: 0,
    to: clock.now() + 1,
  })
  const took = (clock.mono() - asked).toFixed(1)
  const size = databaseUrl
    ? await ask(databaseUrl, SIZE)
    : statSync(join(folder, 'tollmark.db')).size
  console.log(
    `usage of ${made} rows: ${lines.length} lines in ${took} ms; ${(size / made).toFixed(0)} bytes a row on disk`,
  )
  if (databaseUrl) console.log(await parts(databaseUrl, made))
  if (databaseUrl && values.vacuum) {
    await query(databaseUrl, 'reindex table requests')
    console.log(
      `after a reindex: ${((await ask(databaseUrl, SIZE)) / made).toFixed(0)} bytes a row on disk\n${await parts(databaseUrl, made)}`,
    )
  }
  await instance[Symbol.asyncDispose]()
  await store.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
