// How many stamps of a window PostgreSQL reads to decide: those that matter, however many there
// are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { WIDTH_MS } from '../../../server/ledger/admission/postgres-reserve.ts'
import { placeOn } from '../../support/stores.ts'
import { openFor } from '../support/opened.ts'

/** Stamps of each owner, of one admission each: the first half has left the window. */
const STAMPS = 4_000

/** TABLE of limits, and how many of three requests pass. */
const CASES: [rpm: number, passed: number][] = [
  [1_000_000, 3],
  // The request 4,001 would be a window behind the first one that still counts, and so on.
  [STAMPS + 2, 3],
  [STAMPS, 3],
  [STAMPS / 2 + 3, 3],
  [STAMPS / 2 + 2, 2],
  [STAMPS / 2, 0],
  [10, 0],
]

test('PostgreSQL reads only the part of a window that can stop the wanted requests', async (t) => {
  const place = await placeOn.postgres(t)
  await openFor(t, place)
  const client = new Client({ connectionString: place.databaseUrl!.href })
  await client.connect()
  t.after(() => client.end())
  await client.query(
    `insert into admission_stamps (owner, first, last, mono)
     select owner, n, n, tollmark_ledger_time() - case when n <= ${STAMPS / 2} then 100000000 else 20000000 end
     from unnest(array['key', 'child']) as owner, generate_series(1, ${STAMPS}) as n`,
  )
  /** Rows of this connection's transactions. */
  const read = async (): Promise<number> => {
    const { rows } = await client.query<{ rows: string }>(
      `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) as rows from pg_stat_xact_user_tables where relname = 'admission_stamps'`,
    )
    return Number(rows[0]?.rows)
  }
  for (const [rpm, passed] of CASES)
    for (const owner of ['key', 'child']) {
      const asked =
        owner === 'key' ? { id: 'key', rpm } : { id: 'free', child: 'child', child_rpm: rpm }
      await client.query('begin')
      const before = await read()
      const { rows } = await client.query<{ passed: number[] }>(
        `select tollmark_admit('[]', $1, '{}', 'one', $2, null, null, 0)->'passed' as passed`,
        [JSON.stringify([{ ...asked, wanted: 3 }]), WIDTH_MS * 1000],
      )
      const count = (await read()) - before
      await client.query('rollback')
      assert.deepEqual(rows[0]?.passed, [passed], `${owner} of ${rpm}`)
      assert.ok(count > 0 && count <= 8, `${owner} of ${rpm}: ${count} read`)
    }
})
