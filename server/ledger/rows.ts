// The writes of the ledger: procedures that run in the store's writer, many rows a call.
import { sql, type ExpressionBuilder } from 'kysely'
import type { Database, RequestRow, UsageHourRow } from '../store/schema.ts'
import type { Store } from '../store/open.ts'
import { all, procedure, run, type Steps } from '../store/procedure.ts'
import { statement, type Query, type QueryBuilder } from '../store/statement.ts'
import { fold, pack, unfold, unpack, type Columns, type Folded, type Packed } from './fold.ts'
import { WINDOW_MS } from './window.ts'

/** TABLE of what the admission of a request writes, in the order in which it is bound. */
const RESERVED = {
  common: ['account_id', 'key_id', 'rpm', 'provider', 'model', 'endpoint', 'method', 'created_at', 'mono'],
  own: ['id', 'context'],
} as const satisfies Columns<RequestRow>

/** TABLE of what its end writes. */
const ENDED = {
  common: ['state', 'status', 'error', 'credential_id', 'model'],
  own: ['first_byte_ms', 'total_ms', 'bytes_in', 'bytes_out', 'tokens_in', 'tokens_out', 'tokens_cached', 'tokens_reasoning'],
} as const satisfies Columns<RequestRow>

/** What tells, besides the model, the roll-up that a row belongs to. */
const WHOSE = ['account_id', 'key_id', 'provider', 'created_at'] as const satisfies (keyof RequestRow)[]

type ColumnOf<C extends Columns<RequestRow>> = C['common' | 'own'][number]

/** A request that is about to be let through. */
export type Reservation = Pick<RequestRow, ColumnOf<typeof RESERVED>>

/** What is known of a request when it is over; the model may have been learned late. */
export type Settlement = Pick<RequestRow, ColumnOf<typeof ENDED> | (typeof WHOSE)[number] | 'seq'> & { state: 'settled' | 'aborted' }

/** TABLE of a settlement as it travels. */
const SETTLED = {
  common: [...ENDED.common, ...WHOSE],
  own: [...ENDED.own, 'seq'],
} as const satisfies Columns<Settlement>

/** An admission that another process made. */
export type ForeignAdmission = { key_id: string; mono: number; seq: number; boot: number }

export type ReserveArgs = {
  instance: string
  /** The last admission of the ledger that the caller knows of. */
  seen: number
  /** Admissions before this moment of this boot no longer matter (microseconds, monotonic). */
  since: number
  boot: number
  /** The rows: see `reservations`. */
  rows: Folded
  /** For each key with a limit: how many admissions it had room for, these rows included. */
  room: [string, number][]
}

export type ReserveResult = {
  /** The newest admission of the ledger before these. The rows that were written follow it, in their order. */
  seen: number
  /** What other processes admitted since the last call; null: too much to list, so every window must be read again. */
  foreign: ForeignAdmission[] | null
  /** Places of the rows that were not written, because others took their room. */
  refused: number[]
}

/** More foreign admissions than this since the last call are not carried over one by one. */
const MOST_FOREIGN = 10_000
const HOUR = 3_600_000
/** Written out, not bound: only then do the indexes of what is under way, and of what has ended, serve a query. */
export const RESERVED_STATE = sql.lit('reserved' as const)

export const reservations = (rows: readonly Reservation[]): Folded => fold<Reservation>(RESERVED, rows)
export const settlements = (rows: readonly Settlement[]): Packed<Folded> => pack(fold<Settlement>(SETTLED, rows))
const reserved = (rows: Folded) => unfold<Pick<Reservation, (typeof RESERVED.common)[number]>>(RESERVED, rows)
const settled = (rows: Folded) => unfold<Pick<Settlement, (typeof SETTLED.common)[number]>>(SETTLED, rows)

/** SQL texts by query builder and name: compiling a query costs more than running it. */
const texts = new WeakMap<QueryBuilder, Map<string, string>>()

/** The text of a query that never changes; its parameters stand in the order of the query that `build` makes. */
function text(db: QueryBuilder, name: string, build: (db: QueryBuilder) => Query<unknown>): string {
  let known = texts.get(db)
  if (!known) texts.set(db, (known = new Map()))
  let sql = known.get(name)
  if (sql === undefined) known.set(name, (sql = statement(build(db)).sql))
  return sql
}

/** A row as `reserve` and `record` insert it. */
const reservedRow = (instance: string, boot: number) => ({ ...blank([...RESERVED.common, ...RESERVED.own]), seq: 0, instance, boot, state: RESERVED_STATE })

/** A query with a parameter for each of some columns; what they are bound to is given when it runs. */
const blank = <C extends string>(columns: readonly C[]) => Object.fromEntries(columns.map((column) => [column, null])) as Record<C, never>

/**
 * Writes reservations, as one unit with the check that no other process has taken their place: whatever others have admitted since the
 * caller last looked is subtracted from the room that the caller saw.
 */
export const reserve = procedure(import.meta.url, 'reserve', function* (db, packed: Packed<ReserveArgs>): Steps<ReserveResult> {
  const args = unpack(packed)
  const { instance, boot } = args
  // The 1 is written out: SQLite plans a query anew whenever the parameter of its LIMIT is bound again.
  const last = yield { sql: text(db, 'newest', (db) => db.selectFrom('requests').select('seq').orderBy('seq', 'desc').limit(sql.lit(1))), parameters: [] }
  const seen = (last.rows[0] as { seq: number } | undefined)?.seq ?? 0
  let foreign: ForeignAdmission[] | null = []
  if (seen > args.seen) {
    foreign = yield* all(
      db
        .selectFrom('requests')
        .select(['key_id', 'mono', 'seq', 'boot'])
        .where('seq', '>', args.seen)
        .where('instance', '<>', instance)
        .orderBy('seq')
        .limit(MOST_FOREIGN + 1),
    )
  }
  const room = new Map(args.room)
  if (foreign.length > MOST_FOREIGN) {
    foreign = null
    for (const key of room.keys()) room.set(key, 0)
  } else {
    for (const { key_id, mono, boot: on } of foreign) {
      const left = room.get(key_id)
      if (left !== undefined && (mono >= args.since || on !== boot)) room.set(key_id, left - 1)
    }
  }
  // Also where nobody else has admitted anything since: the caller may have heard of others after it decided.
  const insert = text(db, 'insert', (db) => db.insertInto('requests').values(reservedRow(instance, boot)))
  const refused: number[] = []
  let seq = seen
  for (const [place, { common, own }] of reserved(args.rows).entries()) {
    const { key_id, rpm } = common.row
    const left = rpm === null ? undefined : room.get(key_id)
    if (left !== undefined && left <= 0) {
      refused.push(place)
      continue
    }
    if (left !== undefined) room.set(key_id, left - 1)
    yield { sql: insert, parameters: [...common.values, ...own, ++seq, instance, boot] }
  }
  return { seen, foreign, refused }
})

/**
 * Writes rows of requests that were let through already, once each, whatever the windows say: some of them may be there. Gives the place of each.
 *
 * @param args.rows see `reservations`
 */
export const record = procedure(import.meta.url, 'record', function* (db, { instance, boot, rows }: Pick<ReserveArgs, 'instance' | 'boot' | 'rows'>): Steps<number[]> {
  const last = yield* all(db.selectFrom('requests').select('seq').orderBy('seq', 'desc').limit(1))
  const numbers: number[] = []
  const sql = text(db, 'record', (db) =>
    db.insertInto('requests').values(reservedRow(instance, boot)).onConflict((conflict) => conflict.column('id').doNothing()),
  )
  let seq = last[0]?.seq ?? 0
  for (const { common, own } of reserved(rows)) {
    const written = yield { sql, parameters: [...common.values, ...own, seq + 1, instance, boot] }
    if (written.affected > 0) numbers.push(++seq)
    else numbers.push((yield* all(db.selectFrom('requests').select('seq').where('id', '=', String(own[RESERVED.own.indexOf('id')]))))[0]!.seq)
  }
  return numbers
})

/** Rows that are read at once. */
const PAGE = 10_000

/** Admissions of all keys since a moment of a boot's clock (microseconds), or of the ledger's own where that has one. */
export async function recall(store: Store, { boot, since }: { boot: number; since: number }): Promise<{ key_id: string; mono: number }[]> {
  const found: { key_id: string; mono: number }[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await store.db.selectFrom('requests').select(['seq', 'key_id', 'mono', 'boot']).where('seq', '<', before).orderBy('seq', 'desc').limit(PAGE).execute()
    const recent = rows.filter((row) => row.boot === boot && row.mono >= since)
    found.push(...recent)
    if (recent.length === 0 || rows.length < PAGE) return found
    before = rows.at(-1)!.seq
  }
}

/** An admission of a key as `recent` gives it. */
type Recent = ForeignAdmission & { created_at: number }

/**
 * The newest admissions of a key, all that its window can need: those since a moment of this boot (microseconds, monotonic), or as many as its limit.
 *
 * Rows lie in the order in which they became durable, their times do not quite: a unit is stamped before it waits for the store. That is never as
 * long as a window, so behind a row which is older than `since` by a window there is none to find.
 */
export const recent = procedure(import.meta.url, 'recent', function* (db, args: { key: string; most: number; since: number; boot: number }): Steps<{ seen: number; rows: Recent[] }> {
  const { key, most, since, boot } = args
  const oldest = since - WINDOW_MS * 1000
  const rows: Recent[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; before = rows.at(-1)!.seq) {
    const page = yield* all(
      db
        .selectFrom('requests')
        .select(['key_id', 'mono', 'seq', 'created_at', 'boot'])
        .where('key_id', '=', key)
        .where('seq', '<', before)
        .orderBy('seq', 'desc')
        .limit(most),
    )
    rows.push(...page)
    if (page.length < most || page.some((row) => row.boot !== boot || row.mono < oldest)) break
  }
  const newest = yield* all(db.selectFrom('requests').select('seq').orderBy('seq', 'desc').limit(1))
  return { seen: newest[0]?.seq ?? 0, rows }
})

/** Completes rows and adds them to the roll-ups. A row that is complete already stays as it is. @param packed see `settlements` */
export const settle = procedure(import.meta.url, 'settle', function* (db, packed: Packed<Folded>): Steps<void> {
  const sums = new Map<string, UsageHourRow>()
  const complete = (from: RequestRow['state']) =>
    text(db, `settle ${from}`, (db) => db.updateTable('requests').set(blank([...ENDED.common, ...ENDED.own])).where('seq', '=', 0).where('state', '=', sql.lit(from)))
  const [usual, mistaken] = [complete('reserved'), complete('unknown')]
  const sumByCommon = new Map<object, UsageHourRow>()
  for (const { common, own } of settled(unpack(packed))) {
    const parameters = [...common.values.slice(0, ENDED.common.length), ...own]
    const open = (yield { sql: usual, parameters }).affected > 0
    // Somebody took this process for dead too early: the row has been counted once.
    const counted = !open && (yield { sql: mistaken, parameters }).affected > 0
    if (!open && !counted) continue
    let sum = sumByCommon.get(common)
    if (!sum) sumByCommon.set(common, (sum = sumOf(sums, common.row)))
    addUp(sum, common.row, own as (number | null)[], counted)
  }
  for (const sum of sums.values()) yield upsert(db, sum)
})

/** The roll-up that a row belongs to. */
function sumOf(sums: Map<string, UsageHourRow>, row: Pick<Settlement, (typeof WHOSE)[number] | 'model'>): UsageHourRow {
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
  return sum
}

/** Counts a row that has ended. @param numbers its values of `ENDED.own` @param counted as unknown, because its process was taken for dead too early */
function addUp(sum: UsageHourRow, { state, status }: Pick<RequestRow, 'state' | 'status'>, numbers: readonly (number | null)[], counted = false): void {
  const [first_byte_ms = null, total_ms = null, bytes_in = null, bytes_out = null, tokens_in = null, tokens_out = null, tokens_cached = null, tokens_reasoning = null] = numbers
  if (counted) {
    sum.unknown--
    sum.unmetered--
  } else sum.requests++
  if (state === 'unknown') sum.unknown++
  if (state === 'aborted') sum.aborted++
  if (state === 'settled' && (status === null || status >= 400)) sum.errors++
  if (tokens_in === null && tokens_out === null) sum.unmetered++
  sum.bytes_in += bytes_in ?? 0
  sum.bytes_out += bytes_out ?? 0
  sum.tokens_in = plus(sum.tokens_in, tokens_in)
  sum.tokens_out = plus(sum.tokens_out, tokens_out)
  sum.tokens_cached = plus(sum.tokens_cached, tokens_cached)
  sum.tokens_reasoning = plus(sum.tokens_reasoning, tokens_reasoning)
  if (first_byte_ms === null || total_ms === null) return
  sum.answered++
  sum.first_byte_ms += first_byte_ms
  sum.total_ms += total_ms
}

/** What nobody said stays unknown: it is not 0. */
function plus(sum: number | null, more: number | null): number | null {
  return more === null ? sum : (sum ?? 0) + more
}

/** TABLE of the columns of a roll-up that are added up; of the second kind, null is neutral. */
const COUNTS = ['requests', 'errors', 'aborted', 'unknown', 'unmetered', 'bytes_in', 'bytes_out', 'answered', 'first_byte_ms', 'total_ms'] as const
const TOKENS = ['tokens_in', 'tokens_out', 'tokens_cached', 'tokens_reasoning'] as const

function upsert(db: QueryBuilder, sum: UsageHourRow) {
  const sql = text(db, 'upsert', (db) =>
    db
      .insertInto('usage_hours')
      .values(sum)
      .onConflict((conflict) =>
        conflict.columns(['key_id', 'hour', 'provider', 'model']).doUpdateSet((e) => ({
          ...Object.fromEntries(COUNTS.map((column) => [column, e(`usage_hours.${column}`, '+', e.ref(`excluded.${column}`))])),
          ...Object.fromEntries(
            TOKENS.map((column) => {
              const [old, more] = [e.ref(`usage_hours.${column}`), e.ref(`excluded.${column}`)]
              return [column, e.fn.coalesce(e(`usage_hours.${column}`, '+', more), old, more)]
            }),
          ),
        })),
      ),
  )
  return { sql, parameters: Object.values(sum) }
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
  const sums = new Map<string, UsageHourRow>()
  for (const row of rows) addUp(sumOf(sums, row), { state: 'unknown', status: null }, [])
  yield* run(db.updateTable('requests').set({ state: 'unknown' }).where(leftBehind))
  for (const sum of sums.values()) yield upsert(db, sum)
  return rows.length
})

function leftBehind(e: ExpressionBuilder<Database, 'requests'>) {
  return e.and([e('state', '=', RESERVED_STATE), e('instance', 'not in', e.selectFrom('instances').select('instances.id'))])
}
