// Coarser roll-ups, made from those by hour when an hour is over, so that no request waits for them: by day; over all keys of an
// account; and the totals of each key. Each has a mark: hours below it have been added, all others are read from usage_hours, so that
// nothing is late or doubled. Only what comes for an hour below the mark is missed: the end of a request that was written off (its
// process stood still for long enough to be taken for dead), or a wall clock that was set back by more than an hour.
import { sql } from 'kysely'
import { DAY, HOUR, MINUTE } from '../clock.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import type { QueryBuilder } from '../store/statement.ts'
import { enterJournal } from './journal.ts'
import { RESERVED_STATE } from './rows.ts'
import { SUMS, added } from './sums.ts'

/** How long after its end an hour is added. */
const SETTLED_AFTER = 5 * MINUTE

/** TABLE of roll-ups: how an hour is added to each. Their names are those of the marks in usage_added. */
const ROLL_UPS = { days: addToDays, accounts: addToAccounts, keys: addToKeys } as const

export type RollUp = keyof typeof ROLL_UPS

/** What lies before this moment (milliseconds since 1970) has been added to a roll-up; 0: nothing yet. */
export function* addedBefore(db: QueryBuilder, name: RollUp): Steps<number> {
  return (yield* first(db.selectFrom('usage_added').select('before').where('name', '=', name)))?.before ?? 0
}

/** Reads that may be overtaken by an hour that is added meanwhile; then hours alone are read, which is right whatever is added. */
const TRIES = 3

/**
 * Reads a roll-up of several statements with its mark. What was read is only right while the mark stands: where it has moved, it is
 * read again.
 */
export function* withMark<R>(db: QueryBuilder, name: RollUp, read: (before: number) => Steps<R>): Steps<R> {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = yield* addedBefore(db, name)
    const found = yield* read(before)
    if ((yield* addedBefore(db, name)) === before) return found
  }
  return yield* read(0)
}

/** Adds the next hour that is over to a roll-up; gives whether there was one. Requests of it that are still under way hold it up. */
export const addHour = procedure(import.meta.url, 'addHour', function* (db, { to, before }: { to: RollUp; before: number }) {
  const mark = yield* addedBefore(db, to)
  const next = yield* first(db.selectFrom('usage_hours').select('hour').where('hour', '>=', mark).orderBy('hour').limit(1))
  if (!next || next.hour + HOUR > before) return false
  yield* enterJournal(db)
  if (yield* first(db.selectFrom('requests').select('seq').where('state', '=', RESERVED_STATE).where('created_at', '<', next.hour + HOUR).limit(1))) return false
  yield* ROLL_UPS[to](db, next.hour)
  const row = { name: to, before: next.hour + HOUR }
  yield* run(db.insertInto('usage_added').values(row).onConflict((conflict) => conflict.column('name').doUpdateSet({ before: row.before })))
  return true
})

/**
 * Adds every hour that is over; any number of processes may. A store that was filled before has many: `goesOn` ends it between two, and
 * admissions have the writer for as long as each took.
 */
export async function addHours(store: Store, now: number, goesOn: () => boolean = () => true): Promise<void> {
  for (const to of Object.keys(ROLL_UPS) as RollUp[]) {
    for (let more = true; more && goesOn(); ) {
      const began = performance.now()
      more = await store.run(addHour, { to, before: now - SETTLED_AFTER })
      const took = performance.now() - began
      if (more) await new Promise((resolve) => setTimeout(resolve, took))
    }
  }
}

/** The hour that is added, and its day. PostgreSQL would take a bare parameter for text. */
const bound = (time: number) => sql<number>`cast(${time} as bigint)`
const dayOf = (hour: number) => bound(hour - (hour % DAY))

/** The sums of an hour, by key or over all keys of an account, as what is inserted. */
const HOUR_SUMS = ['provider', 'model', 'account_id', ...SUMS] as const

function* addToDays(db: QueryBuilder, hour: number): Steps<void> {
  yield* run(
    db
      .insertInto('usage_days')
      .columns(['day', 'key_id', ...HOUR_SUMS])
      .expression((e) => e.selectFrom('usage_hours').select([dayOf(hour).as('day'), 'key_id', ...HOUR_SUMS]).where('hour', '=', hour))
      .onConflict((conflict) => conflict.columns(['key_id', 'day', 'provider', 'model']).doUpdateSet(added('usage_days'))),
  )
}

function* addToAccounts(db: QueryBuilder, hour: number): Steps<void> {
  const sums = db
    .selectFrom('usage_hours')
    .select((h) => ['provider', 'model', 'account_id', ...SUMS.map((name) => h.fn.sum<number>(name).as(name))])
    .where('hour', '=', hour)
    .groupBy(['account_id', 'provider', 'model'])
  yield* run(
    db
      .insertInto('usage_account_hours')
      .columns([...HOUR_SUMS, 'hour'])
      .expression(sums.select(bound(hour).as('hour')))
      .onConflict((conflict) => conflict.columns(['account_id', 'hour', 'provider', 'model']).doUpdateSet(added('usage_account_hours'))),
  )
  yield* run(
    db
      .insertInto('usage_account_days')
      .columns([...HOUR_SUMS, 'day'])
      .expression(sums.select(dayOf(hour).as('day')))
      .onConflict((conflict) => conflict.columns(['account_id', 'day', 'provider', 'model']).doUpdateSet(added('usage_account_days'))),
  )
}

function* addToKeys(db: QueryBuilder, hour: number): Steps<void> {
  yield* run(
    db
      .insertInto('usage_keys')
      .columns(['key_id', 'account_id', ...SUMS])
      .expression((e) =>
        e
          .selectFrom('usage_hours')
          .select((h) => ['key_id', h.fn.min('account_id').as('account_id'), ...SUMS.map((name) => h.fn.sum<number>(name).as(name))])
          .where('hour', '=', hour)
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
          .where('key_id', 'in', (k) => k.selectFrom('usage_hours').select('key_id').where('hour', '=', hour)),
      )
      .onConflict((conflict) => conflict.columns(['key_id', 'day']).doUpdateSet((e) => ({ requests: e.ref('excluded.requests') }))),
  )
}
