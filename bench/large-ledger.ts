// A large ledger on a PostgreSQL of its own, a million rows and a partition a day, at several sizes
// (`--rows N,N,…`, in millions): bytes a row, how long the pages of the dashboard wait for their
// data, how fast `verify` reads the rows that are new and the days that are sealed; at the end, how
// long the retention of the oldest day takes. Needs a gigabyte of disk for two million rows.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { createToken } from '../server/accounts/tokens.ts'
import { serve } from '../server/app/serve.ts'
import { DAY, HOUR } from '../server/common/clock.ts'
import { openLog } from '../server/common/log.ts'
import { readConfig } from '../server/config/settings.ts'
import { verifyWindows } from '../server/ledger/reports/verify.ts'
import { beginPartition, dropOldPartitions } from '../server/ledger/retention/partitions.ts'
import { addHours } from '../server/ledger/rollups/coarser.ts'
import { query, startPostgres } from '../test/support/postgres.ts'
import { dashboardPaths } from './parts/dashboard-pages.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1,5,20' },
    rounds: { type: 'string', default: '5' },
  },
})
const sizes = values.rows.split(',').map((one) => Number(one) * 1_000_000)
const PER_DAY = 1_000_000
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Rows of one statement. */
const BATCH = 100_000
/** How many pages are named, the slowest first. */
const SHOWN = 3

await using postgres = await startPostgres({ max_wal_size: '4GB', synchronous_commit: 'off' })
const { url } = postgres
const folder = mkdtempSync(join(tmpdir(), 'tollmark-large-'))
const settings = { TOLLMARK_DATA: folder, TOLLMARK_DATA_PERSISTENT: 'yes', LOG_LEVEL: 'silent' }
const log = openLog('silent')
const server = await serve(
  readConfig({ PORT: '0', DATABASE_URL: url.href, TOLLMARK_ROLE: 'web', ...settings }),
  log,
)
const { store } = server
const now = Date.now()
const start = Math.floor(now / DAY) * DAY - Math.ceil(Math.max(...sizes) / PER_DAY) * DAY
try {
  const { token } = await createToken(
    store,
    { name: null, plan: 'free' },
    { name: 'bench', scopes: ['manage'], expiresAt: null },
    now,
  )
  await query(url, keysOf(token.account_id))
  await query(url, 'update migrations set applied_at = 0')
  for (let day = start; day < now; day += DAY) await beginPartition(store, day, DAY)
  let filled = 0
  for (const size of sizes) {
    const before = filled
    for (; filled < size; filled += BATCH)
      await query(url, rowsOf(token.account_id, filled + 1, Math.min(size, filled + BATCH)))
    await query(url, 'vacuum analyze requests')
    await query(url, rollUpsOf(before, size))
    await addHours(store, now)
    await report(size, token.secret)
  }
  const began = performance.now()
  await dropOldPartitions(store, { before: start + DAY, upTo: Number.MAX_SAFE_INTEGER })
  console.log(`retention of ${PER_DAY} rows: ${secondsSince(began)} s`)
} finally {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
}

/** 64 keys: eight of ten belong to the account, the others to three more. */
function keysOf(account: string): string {
  return `
    insert into accounts (id, name, plan, role, created_at, disabled)
      select 'acc_' || n, 'account ' || n, 'free', 'member', ${now}, 0 from generate_series(1, 3) n;
    insert into keys (id, account_id, name, public_id, created_at, revision, objects, read_only, disabled)
      select 'key_' || lpad(n::text, 22, '0'), case when n % 10 < 8 then '${account}' else 'acc_' || (1 + n % 3) end, 'key ' || n, 'bench' || n, ${now}, -n, 'upstream', 0, 0
      from generate_series(0, 63) n`
}

/** An SQL expression: the time of a row. */
function timeOf(n: number | string): string {
  return `${start} + ${n}::bigint * ${DAY} / ${PER_DAY}`
}

/** An SQL expression: the text of a row's key, of four. */
function pick(...texts: string[]): string {
  return `(array['${texts.join(`', '`)}'])[1 + key % 4]`
}

/** An SQL expression: eight digits of a number, as ids begin with (server/common/ids.ts). */
function base62(n: string): string {
  const digit = (power: number) => `substr('${BASE62}', (${n} / ${62 ** power} % 62)::int + 1, 1)`
  return [7, 6, 5, 4, 3, 2, 1, 0].map(digit).join(' || ')
}

/** Rows with ids, models and provider's request ids of the usual lengths, in the order of time. */
function rowsOf(account: string, from: number, to: number): string {
  return `
    insert into requests (seq, created_at, mono, rpm, status, first_byte_ms, total_ms, bytes_in, bytes_out, tokens_in, tokens_out, tokens_cached, id, account_id, key_id,
      provider, endpoint, method, state, model, credential_id, upstream_request_id)
    select at / ${DAY} * 100000000000 + n, at, at * 1000, 100000, case when luck % 100 = 0 then 429 else 200 end, 100 + luck % 900, 900 + luck % 20000, 500 + luck % 9000, 300 + luck % 40000,
      100 + luck % 9000, 10 + luck % 2000, case when luck % 3 = 0 then luck % 4000 end, 'req_' || ${base62('at')} || substr(md5(n::text), 1, 14),
      case when key % 10 < 8 then '${account}' else 'acc_' || (1 + key % 3) end, 'key_' || lpad(key::text, 22, '0'), ${pick('openai', 'openai', 'anthropic', 'google')},
      ${pick('/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1beta/models/gemini-2.5-flash:generateContent')}, 'POST',
      case when luck % 200 = 1 then 'aborted' else 'settled' end, case when luck % 100000 = 7 then 'o3' else ${pick('gpt-5-mini', 'gpt-5', 'claude-sonnet-4-5', 'gemini-2.5-flash')} end,
      'env_openai', case when key % 4 < 3 then 'req_' || md5((n * 7)::text) end
    from (select n, ${timeOf('n')} as at, (hashint8(n) & 2147483647)::bigint as luck, hashint8(n + 1000000007) & 63 as key
      from (select generate_series(${from}::bigint, ${to}) n) as numbers) as made`
}

/** The hourly roll-ups of rows. */
function rollUpsOf(from: number, to: number): string {
  return `
    insert into usage_hours (hour, key_id, provider, model, account_id, requests, errors, aborted, unknown, unmetered, bytes_in, bytes_out, tokens_in, tokens_out,
      tokens_cached, answered, first_byte_ms, total_ms)
    select created_at - created_at % ${HOUR} as at, key_id, provider, model, min(account_id), count(*), count(*) filter (where state = 'settled' and status >= 400),
      count(*) filter (where state = 'aborted'), 0, 0, sum(bytes_in), sum(bytes_out), sum(tokens_in), sum(tokens_out), sum(tokens_cached), count(*), sum(first_byte_ms), sum(total_ms)
    from requests where created_at > ${timeOf(from)} and created_at <= ${timeOf(to)} group by at, key_id, provider, model
    on conflict do nothing`
}

async function report(rows: number, secret: string): Promise<void> {
  const relations = z.array(z.object({ name: z.string(), bytes: z.number() })).parse(
    await query(
      url,
      `select regexp_replace(relname, '_\\d+', '') as name, sum(pg_relation_size(oid))::float8 as bytes from pg_class
       where relname like 'requests\\_%' and relkind in ('r', 'i') group by 1 order by 2 desc`,
    ),
  )
  const sum = relations.reduce((total, { bytes }) => total + bytes, 0)
  console.log(
    `${rows} rows, ${(sum / rows).toFixed(0)} bytes each: ${relations.map(({ name, bytes }) => `${name} ${(bytes / rows).toFixed(0)}`).join(', ')}`,
  )
  const pages = await pageTimes(secret)
  console.log(
    `  slowest of ${pages.length} pages: ${pages
      .slice(0, SHOWN)
      .map(({ path, median }) => `${median.toFixed(0)} ms ${path}`)
      .join(', ')}`,
  )
  for (const what of ['new', 'sealed']) {
    const began = performance.now()
    const { requests, sealed, violations } = await verifyWindows(store, { now, again: false })
    console.log(
      `  verify, ${what} days: ${secondsSince(began)} s for ${requests - sealed} rows read, ${sealed} sealed, ${violations.length} violations`,
    )
  }
}

/** Median times of the dashboard's pages, the slowest first. */
async function pageTimes(secret: string): Promise<{ path: string; median: number }[]> {
  const pages: { path: string; median: number }[] = []
  for (const path of dashboardPaths('key_'.padEnd(26, '0'), now)) {
    const times: number[] = []
    for (let round = 0; round < Number(values.rounds); round++) {
      const began = performance.now()
      const response = await fetch(`${server.url}/api/v1/${path}`, {
        headers: { authorization: `Bearer ${secret}` },
      })
      await response.arrayBuffer()
      if (!response.ok) throw new Error(`${path}: ${response.status}`)
      times.push(performance.now() - began)
    }
    times.sort((a, b) => a - b)
    pages.push({ path, median: times[Math.floor(times.length / 2)] ?? 0 })
  }
  return pages.sort((a, b) => b.median - a.median)
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(2)
}
