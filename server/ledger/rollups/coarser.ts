// Coarser roll-ups, derived from those by hour when an hour is over, so that no request waits for
// them: by day; over all keys of an account; and the totals of each key. Each has a mark: hours
// below it have been added, and all others are read from usage_hours, so that nothing is late or
// counted twice. An hour is added in steps, so that no admission waits long for the writer. The
// mark also has the position within the hour, and readers subtract that part, because usage_hours
// has it, too. Only changes to an hour below the mark are missed: the end of a request that was
// abandoned (its process was suspended until it was expired), or a wall clock that was set back by
// more than an hour.
import { sql } from 'kysely'
import { DAY, HOUR, MINUTE } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import { first, procedure, run, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import type { Mark, Span } from './periods.ts'
import { flushSteps } from '../settlement/journal.ts'
import { endOfStretch, within, type Stretch } from './stretches.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'
import { SUMS, added } from './hourly.ts'

/** How long after its end an hour is added (milliseconds). */
const SETTLED_AFTER = 5 * MINUTE

/**
 * TABLE of roll-ups, and how an hour is added to each. Their names are those of the marks in
 * usage_added.
 */
const ROLL_UPS = { days: addToDays, accounts: addToAccounts, keys: addToKeys } as const

/** The name of a coarser roll-up. */
export type RollUp = keyof typeof ROLL_UPS

const NOTHING: Mark = { before: 0, upTo: null }
/** The key columns of an hour's roll-ups. */
const PARTS = ['key_id', 'provider', 'model'] as const

/** How far a roll-up has been filled. */
export function* markOf(db: QueryBuilder, name: RollUp): Steps<Mark> {
  const row = yield* first(
    db
      .selectFrom('usage_added')
      .select(['before', 'key_id', 'provider', 'model'])
      .where('name', '=', name),
  )
  if (row === undefined) return NOTHING
  const { before, key_id, provider, model } = row
  return {
    before,
    upTo:
      key_id === null || provider === null || model === null
        ? null
        : { hour: before, key_id, provider, model },
  }
}

const isSame = (one: Mark, other: Mark): boolean =>
  one.before === other.before && PARTS.every((name) => one.upTo?.[name] === other.upTo?.[name])

/**
 * Maximum number of reads that may be invalidated by hours added meanwhile; after that, only hours
 * are read, which is always correct, but slow. An hour of many steps takes a second or two, so
 * reads that only a step invalidated get more tries.
 */
const TRIES = 3
const TRIES_WITHIN_HOURS = 20

/**
 * Reads a roll-up of several statements with its mark. The result is valid only if the mark is
 * unchanged; if it has moved, everything is read again.
 */
export function* withMark<R>(
  db: QueryBuilder,
  name: RollUp,
  read: (mark: Mark) => Steps<R>,
): Steps<R> {
  for (let tries = 0, hours = 0; hours < TRIES && tries < TRIES_WITHIN_HOURS; tries++) {
    const mark = yield* markOf(db, name)
    const found = yield* read(mark)
    const then = yield* markOf(db, name)
    if (isSame(then, mark)) return found
    if (then.before !== mark.before) hours++
  }
  return yield* read(NOTHING)
}

/** Rows of usage_hours added in one step: 10 µs each, for which admissions wait. */
const STEP_ROWS = 500

/**
 * Adds the next part of the next finished hour to a roll-up; returns whether there was one. Open
 * requests of the hour delay it.
 *
 * @param args.rows maximum number of rows of usage_hours
 */
export const addStep = procedure(
  import.meta.url,
  'addStep',
  function* (db, { to, before, rows }: { to: RollUp; before: number; rows: number }) {
    const { before: mark, upTo: after } = yield* markOf(db, to)
    const hour = after === null ? yield* nextHour(db, mark, before) : mark
    if (hour === null) return false
    const end = yield* endOfStretch(db, hourSpan(hour), {}, after, rows)
    yield* ROLL_UPS[to](db, hour, { after, to: end })
    const [key_id, provider, model] = PARTS.map((name) => (end === null ? null : String(end[name])))
    const row = { before: end === null ? hour + HOUR : hour, key_id, provider, model }
    yield* run(
      db
        .insertInto('usage_added')
        .values({ name: to, ...row })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row)),
    )
    return true
  },
)

/** The next finished hour after a mark without open requests. */
function* nextHour(db: QueryBuilder, mark: number, before: number): Steps<number | null> {
  const next = yield* first(
    db.selectFrom('usage_hours').select('hour').where('hour', '>=', mark).orderBy('hour').limit(1),
  )
  if (!next || next.hour + HOUR > before) return null
  yield* flushSteps(db)
  const held = yield* first(
    db
      .selectFrom('requests')
      .select('seq')
      .where('state', '=', RESERVED_STATE)
      .where('created_at', '<', next.hour + HOUR)
      .limit(1),
  )
  return held === undefined ? next.hour : null
}

const hourSpan = (hour: number): Span => ({ table: 'usage_hours', from: hour, to: hour + HOUR })

/**
 * Adds every hour that is over; any number of processes may do so at once. A store with old data
 * has many hours: `goesOn` can end the run between two steps, and after each step, admissions have
 * the writer for as long as it took.
 *
 * @param rows rows of usage_hours added in one step
 */
export async function addHours(
  store: Store,
  now: number,
  goesOn: () => boolean = () => true,
  rows = STEP_ROWS,
): Promise<void> {
  for (const to of Object.keys(ROLL_UPS) as RollUp[]) {
    for (let more = true; more && goesOn();) {
      const began = performance.now()
      more = await store.run(addStep, { to, before: now - SETTLED_AFTER, rows })
      const took = performance.now() - began
      if (more) await new Promise((resolve) => setTimeout(resolve, took))
    }
  }
}

/** A time as a typed parameter: PostgreSQL would treat a bare one as text. */
const bound = (time: number) => sql<number>`cast(${time} as bigint)`
const dayOf = (hour: number) => bound(hour - (hour % DAY))

/** The columns of an hour's sums that are inserted into each roll-up, besides its key and time. */
const HOUR_SUMS = ['provider', 'model', 'account_id', ...SUMS] as const

/** The part of an hour to add. */
const rowsOf = (db: QueryBuilder, hour: number, stretch: Stretch) =>
  within(db.selectFrom('usage_hours'), hourSpan(hour), {}, stretch)

function* addToDays(db: QueryBuilder, hour: number, stretch: Stretch): Steps<void> {
  yield* run(
    db
      .insertInto('usage_days')
      .columns(['day', 'key_id', ...HOUR_SUMS])
      .expression(rowsOf(db, hour, stretch).select([dayOf(hour).as('day'), 'key_id', ...HOUR_SUMS]))
      .onConflict((conflict) =>
        conflict.columns(['key_id', 'day', 'provider', 'model']).doUpdateSet(added('usage_days')),
      ),
  )
}

function* addToAccounts(db: QueryBuilder, hour: number, stretch: Stretch): Steps<void> {
  const sums = rowsOf(db, hour, stretch)
    .select((h) => [
      'provider',
      'model',
      'account_id',
      ...SUMS.map((name) => h.fn.sum<number>(name).as(name)),
    ])
    .groupBy(['account_id', 'provider', 'model'])
  yield* run(
    db
      .insertInto('usage_account_hours')
      .columns([...HOUR_SUMS, 'hour'])
      .expression(sums.select(bound(hour).as('hour')))
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'hour', 'provider', 'model'])
          .doUpdateSet(added('usage_account_hours')),
      ),
  )
  yield* run(
    db
      .insertInto('usage_account_days')
      .columns([...HOUR_SUMS, 'day'])
      .expression(sums.select(dayOf(hour).as('day')))
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'day', 'provider', 'model'])
          .doUpdateSet(added('usage_account_days')),
      ),
  )
}

function* addToKeys(db: QueryBuilder, hour: number, stretch: Stretch): Steps<void> {
  yield* run(
    db
      .insertInto('usage_keys')
      .columns(['key_id', 'account_id', ...SUMS])
      .expression(
        rowsOf(db, hour, stretch)
          .select((h) => [
            'key_id',
            h.fn.min('account_id').as('account_id'),
            ...SUMS.map((name) => h.fn.sum<number>(name).as(name)),
          ])
          .groupBy('key_id'),
      )
      .onConflict((conflict) => conflict.column('key_id').doUpdateSet(added('usage_keys'))),
  )
  yield* run(
    db
      .insertInto('usage_key_days')
      .columns(['key_id', 'day', 'requests'])
      .expression((e) =>
        e
          .selectFrom('usage_keys')
          .select(['key_id', dayOf(hour).as('day'), 'requests'])
          .where('key_id', 'in', rowsOf(db, hour, stretch).select('key_id')),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['key_id', 'day'])
          .doUpdateSet((e) => ({ requests: e.ref('excluded.requests') })),
      ),
  )
}
