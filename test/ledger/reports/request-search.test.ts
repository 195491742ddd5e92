// Searching the ledger gives every row that matches, however its days, its gaps and the jumps of
// its numbers are, and reads little where the roll-ups say that nothing matches.
import assert from 'node:assert/strict'
import { LEDGER_COLUMNS } from '../../../server/common/ledger-columns.ts'
import type { RequestFilter } from '../../../server/ledger/reports/request-filter.ts'
import { listRequests } from '../../../server/ledger/reports/requests.ts'
import { addHours } from '../../../server/ledger/rollups/coarser.ts'
import { addUp, sumOf } from '../../../server/ledger/rollups/hourly.ts'
import { outcomeOf } from '../../../server/ledger/outcome.ts'
import type { Store } from '../../../server/store/store.ts'
import type { RequestRow, UsageHourRow } from '../../../server/store/schema.ts'
import type { Statement } from '../../../server/store/statement.ts'
import { recording } from '../../support/recording.ts'
import { onEveryStore, openAt } from '../../support/stores.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = 20_000 * DAY + 5 * HOUR

/** Days ago on which there were requests. */
const DAYS = [60, 59, 31, 30, 12, 11, 3, 1, 0]
const OF_A_DAY = 16

const NOTHING = Object.fromEntries(
  Object.entries(LEDGER_COLUMNS).map(([name, { type }]) => [name, type === 'text' ? '' : 0]),
)

/** The ledger, oldest first: the numbers jump every day, and once the clock was set back. */
const ROWS: readonly RequestRow[] = DAYS.flatMap((ago, day) =>
  Array.from({ length: OF_A_DAY }, (_, i): RequestRow => {
    const key = `key_${i % 3}`
    const seq = day * 1_000_000 + i + 1
    const back = i === 9 ? HOUR / 2 : 0
    return {
      ...(NOTHING as unknown as RequestRow), // every column has a value
      ...Object.fromEntries(
        Object.entries(LEDGER_COLUMNS).flatMap(([name, column]) =>
          'nullable' in column ? [[name, null]] : [],
        ),
      ),
      seq,
      id: `req_${String(seq).padStart(9, '0')}`,
      created_at: NOW - ago * DAY - 4 * HOUR + i * (HOUR / 5) - back,
      mono: seq,
      instance: '',
      account_id: key === 'key_2' ? 'other' : 'acc',
      key_id: key,
      provider: ago === 31 && i === 4 ? 'rare' : 'openai',
      endpoint: '/v1/responses',
      method: 'POST',
      model: ago > 30 && i % 5 === 0 ? 'old' : 'gpt-5',
      state: i === 13 ? 'aborted' : ago === 12 && i === 12 ? 'unknown' : 'settled',
      status: ago === 60 && i < 3 ? 500 : i % 4 === 3 ? 429 : i === 6 && ago === 11 ? 302 : 200,
      error: ago === 59 && i === 7 ? 'upstream_cut' : null,
      end_user: i === 1 && ago > 11 ? 'somebody' : null,
    }
  }),
)

/** TABLE of filters: whose requests, times, and everything else. */
const WHOSE: readonly RequestFilter[] = [
  { account: 'acc' },
  { account: 'acc', key: 'key_0' },
  { account: null, key: 'key_2' },
  { account: null },
]
const TIMES: readonly Partial<RequestFilter>[] = [
  {},
  { from: NOW - 59 * DAY - HOUR, to: NOW - 11 * DAY - HOUR },
]
const OTHERS: readonly Partial<RequestFilter>[] = [
  {},
  { status: '5xx' },
  { status: '404' },
  { status: '429' },
  { status: '302' },
  { outcome: 'failed' },
  { outcome: 'succeeded', model: 'old' },
  { state: 'aborted' },
  { outcome: 'unknown' },
  { provider: 'rare' },
  { model: 'nothing' },
  { end_user: 'somebody' },
]

/**
 * TABLE of filters of which few rows or none match, and how often at most a search reads four rows.
 * The account has 99, of which 40 did not simply succeed.
 */
const FEW_READS: readonly [filter: Partial<RequestFilter>, most: number][] = [
  [{ model: 'nothing' }, 2],
  [{ key: 'key_0', provider: 'nobody' }, 2],
  [{ provider: 'rare' }, 5],
]

function matches(row: RequestRow, filter: RequestFilter): boolean {
  const { account, key, end_user, model, provider, state, outcome, status, from, to } = filter
  const is = (wanted: unknown, value: unknown) => wanted === undefined || wanted === value
  return (
    (account === null || account === row.account_id) &&
    is(key, row.key_id) &&
    is(end_user, row.end_user) &&
    is(model, row.model) &&
    is(provider, row.provider) &&
    is(state, row.state) &&
    is(outcome, outcomeOf(row)) &&
    (status === undefined ||
      String(row.status) === status ||
      status === `${String(row.status)[0]}xx`) &&
    row.created_at >= (from ?? 0) &&
    row.created_at < (to ?? Infinity)
  )
}

/** Writes the rows and their roll-ups; those of the last day are not added to the coarser ones. */
async function fill(store: Store): Promise<void> {
  const sums = new Map<string, UsageHourRow>()
  for (const row of ROWS) addUp(sumOf(sums, row), row, [])
  await store.db
    .insertInto('requests')
    .values([...ROWS])
    .execute()
  await store.db
    .insertInto('usage_hours')
    .values([...sums.values()])
    .execute()
  await addHours(store, NOW - DAY)
}

/** All pages of a filter, and how many statements read rows of the ledger for them. */
async function search(
  store: Store,
  filter: RequestFilter,
  budget: Parameters<typeof listRequests>[4],
): Promise<{ ids: string[]; reads: number }> {
  const statements: Statement[] = []
  const recorded = recording(store, statements)
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const { rows, next, searchedTo } = await listRequests(recorded, filter, 10, cursor, budget)
    ids.push(...rows.map(({ id }) => id))
    assert.ok(rows.length === 10 || next === null || searchedTo !== null)
    assert.notEqual(next ?? '', cursor)
    cursor = next ?? undefined
  } while (cursor !== undefined)
  return { ids, reads: statements.filter(({ sql }) => sql.includes('"endpoint"')).length }
}

onEveryStore('a search gives every row that matches, newest first', async (t, place) => {
  const store = await openAt(t, place, NOW)
  await fill(store)
  const filters = WHOSE.flatMap((whose) => OTHERS.map((other) => ({ ...whose, ...other })))
  // Each statement takes a round trip to PostgreSQL.
  const every = store.dialect === 'postgres' ? 5 : 1
  for (const [at, one] of filters.filter((_, i) => i % every === 0).entries()) {
    const filter = { ...one, ...TIMES[at % TIMES.length] }
    const expected = ROWS.filter((row) => matches(row, filter)).map(({ id }) => id)
    // Pages that stop early, and pages that only end when they are full.
    const rows = at % 3 === 0 ? 12 : Infinity
    const { ids } = await search(store, filter, { rows, ms: Infinity, width: 4 })
    assert.deepEqual(ids, expected.toReversed(), JSON.stringify({ ...filter, rows }))
  }
  for (const [few, most] of FEW_READS) {
    const filter = { account: 'acc', ...few }
    const { reads } = await search(store, filter, { rows: Infinity, ms: Infinity, width: 4 })
    assert.ok(reads <= most, `${JSON.stringify(few)}: ${reads} reads`)
  }
})
