// The writes of the ledger: procedures that run in the store's writer, many rows a call.
import { sql, type ExpressionBuilder } from 'kysely'
import type { Database } from '../store/schema.ts'
import { all, procedure, run, type Steps } from '../store/procedure.ts'
import { statement, type Query, type QueryBuilder, type SqlValue } from '../store/statement.ts'

/** A request that is about to be let through. */
export type Reservation = {
  id: string
  account_id: string
  key_id: string
  rpm: number | null
  provider: string
  model: string | null
  endpoint: string
  method: string
  context: string | null
  created_at: number
  /** Microseconds of the machine's monotonic clock, and the boot that it counts from. */
  mono: number
  boot: number
}

/** What is known of a request when it is over. */
export type Settlement = {
  id: string
  account_id: string
  key_id: string
  provider: string
  created_at: number
  state: 'settled' | 'aborted'
  model: string | null
  status: number | null
  error: string | null
  credential_id: string | null
  first_byte_ms: number | null
  total_ms: number
  bytes_in: number
  bytes_out: number
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
}

/** An admission that another process made. */
export type ForeignAdmission = { key_id: string; mono: number; seq: number; boot: number }

export type ReserveArgs = {
  instance: string
  /** The last admission of the ledger that the caller knows of. */
  seen: number
  /** Admissions before this moment of this boot no longer matter (microseconds, monotonic). */
  since: number
  boot: number
  rows: Reservation[]
  /** For each key with a limit: how many admissions it had room for, these rows included. */
  room: [string, number][]
}

export type ReserveResult = {
  /** The newest admission of the ledger, for the next call. */
  seen: number
  /** What other processes admitted since the last call; null: too much to list, so every window must be read again. */
  foreign: ForeignAdmission[] | null
  /** Ids of the rows that were not written, because others took their place. */
  refused: string[]
}

/** More foreign admissions than this since the last call are not carried over one by one. */
const MOST_FOREIGN = 10_000
const HOUR = 3_600_000
/** Written out, not bound: only then does the index of reserved rows serve the query. */
const RESERVED = sql<'reserved'>`'reserved'`

/** SQL texts by query builder and name: compiling a query costs more than running it. */
const texts = new WeakMap<QueryBuilder, Map<string, string>>()

/** The statement of a query whose text never changes; `parameters` stand in the order of the query that `build` makes. */
function fixed(db: QueryBuilder, name: string, build: (db: QueryBuilder) => Query<unknown>, parameters: SqlValue[]) {
  let known = texts.get(db)
  if (!known) texts.set(db, (known = new Map()))
  let sql = known.get(name)
  if (sql === undefined) known.set(name, (sql = statement(build(db)).sql))
  return { sql, parameters }
}

function insert(db: QueryBuilder, row: Reservation, instance: string) {
  const { id, account_id, key_id, rpm, provider, model, endpoint, method, context, created_at, mono, boot } = row
  const values = { id, account_id, key_id, rpm, provider, model, endpoint, method, context, state: 'reserved' as const, created_at, instance, mono, boot }
  return fixed(db, 'insert', (db) => db.insertInto('requests').values(values), [
    id, account_id, key_id, rpm, provider, model, endpoint, method, context, 'reserved', created_at, instance, mono, boot,
  ])
}

/**
 * Writes reservations, as one unit with the check that no other process has taken their place: whatever others have admitted since the
 * caller last looked is subtracted from the room that the caller saw.
 */
export const reserve = procedure(import.meta.url, 'reserve', function* (db, args: ReserveArgs): Steps<ReserveResult> {
  const newest = yield fixed(db, 'newest', (db) => db.selectFrom('requests').select('seq').orderBy('seq', 'desc').limit(1), [1])
  const seen = (newest.rows[0] as { seq: number } | undefined)?.seq ?? 0
  let foreign: ForeignAdmission[] | null = []
  if (seen > args.seen) {
    const found = yield fixed(
      db,
      'foreign',
      (db) =>
        db
          .selectFrom('requests')
          .select(['key_id', 'mono', 'seq', 'boot'])
          .where('seq', '>', args.seen)
          .where('instance', '<>', args.instance)
          .limit(MOST_FOREIGN + 1),
      [args.seen, args.instance, MOST_FOREIGN + 1],
    )
    foreign = found.rows as ForeignAdmission[]
  }
  const refused: string[] = []
  if (foreign.length > MOST_FOREIGN) {
    const limited = new Set(args.room.map(([key]) => key))
    for (const row of args.rows) if (limited.has(row.key_id)) refused.push(row.id)
    foreign = null
  } else if (foreign.length > 0) {
    const room = new Map(args.room)
    for (const { key_id, mono, boot } of foreign) {
      const left = room.get(key_id)
      if (left !== undefined && (mono >= args.since || boot !== args.boot)) room.set(key_id, left - 1)
    }
    for (const row of args.rows) {
      const left = room.get(row.key_id)
      if (left === undefined) continue
      if (left <= 0) refused.push(row.id)
      else room.set(row.key_id, left - 1)
    }
  }
  const out = refused.length > 0 ? new Set(refused) : null
  let written = 0
  for (const row of args.rows) {
    if (out?.has(row.id)) continue
    yield insert(db, row, args.instance)
    written++
  }
  return { seen: seen + written, foreign, refused }
})

/** The newest admissions of a key, as many as its limit: all that its window can need. */
export const recent = procedure(import.meta.url, 'recent', function* (db, { key, most }: { key: string; most: number }): Steps<{ seen: number; rows: (ForeignAdmission & { created_at: number })[] }> {
  const rows = yield* all(
    db
      .selectFrom('requests')
      .select(['key_id', 'mono', 'seq', 'created_at', 'boot'])
      .where('key_id', '=', key)
      .orderBy('seq', 'desc')
      .limit(most),
  )
  const newest = yield* all(db.selectFrom('requests').select('seq').orderBy('seq', 'desc').limit(1))
  return { seen: newest[0]?.seq ?? 0, rows }
})

/** Completes rows and adds them to the roll-ups. A row that is complete already stays as it is. */
export const settle = procedure(import.meta.url, 'settle', function* (db, rows: Settlement[]): Steps<void> {
  const sums = new Map<string, Sum>()
  for (const row of rows) {
    const { affected } = yield update(db, row, 'reserved')
    if (affected > 0) addUp(sums, row, row.state)
    // Somebody took this process for dead too early: the row has been counted once.
    else if ((yield update(db, row, 'unknown')).affected > 0) addUp(sums, row, row.state, true)
  }
  for (const sum of sums.values()) yield upsert(db, sum)
})

function update(db: QueryBuilder, row: Settlement, from: 'reserved' | 'unknown') {
  const { id, state, model, status, error, credential_id, first_byte_ms, total_ms, bytes_in, bytes_out } = row
  const { tokens_in, tokens_out, tokens_cached, tokens_reasoning } = row
  const values = { state, model, status, error, credential_id, first_byte_ms, total_ms, bytes_in, bytes_out, tokens_in, tokens_out, tokens_cached, tokens_reasoning }
  return fixed(db, 'update', (db) => db.updateTable('requests').set(values).where('id', '=', id).where('state', '=', from), [
    state, model, status, error, credential_id, first_byte_ms, total_ms, bytes_in, bytes_out, tokens_in, tokens_out, tokens_cached, tokens_reasoning,
    id, from,
  ])
}

/** What one row of the roll-ups gains. */
type Sum = {
  hour: number
  key_id: string
  provider: string
  model: string
  account_id: string
  requests: number
  errors: number
  aborted: number
  unknown: number
  unmetered: number
  bytes_in: number
  bytes_out: number
  tokens_in: number | null
  tokens_out: number | null
  tokens_cached: number | null
  tokens_reasoning: number | null
  answered: number
  first_byte_ms: number
  total_ms: number
}

type Counted = Pick<Settlement, 'account_id' | 'key_id' | 'provider' | 'created_at' | 'model'> & Partial<Settlement>

function addUp(sums: Map<string, Sum>, row: Counted, state: 'settled' | 'aborted' | 'unknown', wasUnknown = false): void {
  const hour = row.created_at - (row.created_at % HOUR)
  const model = row.model ?? ''
  const name = `${hour} ${row.key_id} ${row.provider} ${model}`
  let sum = sums.get(name)
  if (!sum) {
    sum = {
      hour, key_id: row.key_id, provider: row.provider, model, account_id: row.account_id,
      requests: 0, errors: 0, aborted: 0, unknown: 0, unmetered: 0, bytes_in: 0, bytes_out: 0,
      tokens_in: null, tokens_out: null, tokens_cached: null, tokens_reasoning: null, answered: 0, first_byte_ms: 0, total_ms: 0,
    }
    sums.set(name, sum)
  }
  if (wasUnknown) {
    sum.unknown--
    sum.unmetered--
  } else sum.requests++
  if (state === 'unknown') sum.unknown++
  if (state === 'aborted') sum.aborted++
  if (state === 'settled' && (row.status == null || row.status >= 400)) sum.errors++
  if (row.tokens_in == null && row.tokens_out == null) sum.unmetered++
  sum.bytes_in += row.bytes_in ?? 0
  sum.bytes_out += row.bytes_out ?? 0
  sum.tokens_in = plus(sum.tokens_in, row.tokens_in)
  sum.tokens_out = plus(sum.tokens_out, row.tokens_out)
  sum.tokens_cached = plus(sum.tokens_cached, row.tokens_cached)
  sum.tokens_reasoning = plus(sum.tokens_reasoning, row.tokens_reasoning)
  if (row.first_byte_ms == null || row.total_ms == null) return
  sum.answered++
  sum.first_byte_ms += row.first_byte_ms
  sum.total_ms += row.total_ms
}

/** What nobody said stays unknown: it is not 0. */
function plus(sum: number | null, more: number | null | undefined): number | null {
  return more == null ? sum : (sum ?? 0) + more
}

function upsert(db: QueryBuilder, sum: Sum) {
  return fixed(
    db,
    'upsert',
    (db) =>
      db
        .insertInto('usage_hours')
        .values(sum)
        .onConflict((conflict) =>
          conflict.columns(['key_id', 'hour', 'provider', 'model']).doUpdateSet((e) => {
            const known = (column: 'tokens_in' | 'tokens_out' | 'tokens_cached' | 'tokens_reasoning') =>
              e.fn.coalesce(e(`usage_hours.${column}`, '+', e.ref(`excluded.${column}`)), e.ref(`usage_hours.${column}`), e.ref(`excluded.${column}`))
            return {
              requests: e('usage_hours.requests', '+', e.ref('excluded.requests')),
              errors: e('usage_hours.errors', '+', e.ref('excluded.errors')),
              aborted: e('usage_hours.aborted', '+', e.ref('excluded.aborted')),
              unknown: e('usage_hours.unknown', '+', e.ref('excluded.unknown')),
              unmetered: e('usage_hours.unmetered', '+', e.ref('excluded.unmetered')),
              bytes_in: e('usage_hours.bytes_in', '+', e.ref('excluded.bytes_in')),
              bytes_out: e('usage_hours.bytes_out', '+', e.ref('excluded.bytes_out')),
              tokens_in: known('tokens_in'),
              tokens_out: known('tokens_out'),
              tokens_cached: known('tokens_cached'),
              tokens_reasoning: known('tokens_reasoning'),
              answered: e('usage_hours.answered', '+', e.ref('excluded.answered')),
              first_byte_ms: e('usage_hours.first_byte_ms', '+', e.ref('excluded.first_byte_ms')),
              total_ms: e('usage_hours.total_ms', '+', e.ref('excluded.total_ms')),
            }
          }),
        ),
    Object.values(sum),
  )
}

/** The newest admission of the ledger. */
export const newest = procedure(import.meta.url, 'newest', function* (db): Steps<number> {
  const rows = yield* all(db.selectFrom('requests').select('seq').orderBy('seq', 'desc').limit(1))
  return rows[0]?.seq ?? 0
})

/** Requests that are under way in processes which are no longer there: nobody can say any more how they ended. Gives how many there were. */
export const abandon = procedure(import.meta.url, 'abandon', function* (db): Steps<number> {
  const rows = yield* all(db.selectFrom('requests').select(['account_id', 'key_id', 'provider', 'created_at', 'model']).where(leftBehind))
  if (rows.length === 0) return 0
  const sums = new Map<string, Sum>()
  for (const row of rows) addUp(sums, row, 'unknown')
  yield* run(db.updateTable('requests').set({ state: 'unknown' }).where(leftBehind))
  for (const sum of sums.values()) yield upsert(db, sum)
  return rows.length
})

function leftBehind(e: ExpressionBuilder<Database, 'requests'>) {
  return e.and([e('state', '=', RESERVED), e('instance', 'not in', e.selectFrom('instances').select('instances.id'))])
}
