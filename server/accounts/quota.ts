// The daily quota, exact to one conversion. A conversion is reserved when its upload has arrived,
// and counted durably before the response. Otherwise it is refunded, but conversions that started
// and failed only as often a day as the plan has conversions, so that failing on purpose costs.
//
// If a process is killed, its counted conversions stay counted and its reservations are deleted
// with its instance (store/instance.ts). So no day has more successes than the quota, and only
// responses in flight are lost; an Idempotency-Key fetches those without converting again.
import { DAY } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import type { Store } from '../store/store.ts'
import { first, run, type Steps } from '../store/procedure.ts'
import type { QueryBuilder } from '../store/statement.ts'
import type { Plan } from './plans.ts'

/** Days for which counts are kept. */
const KEPT_DAYS = 90

/** A conversion that was admitted and is not counted yet. */
export interface Reservation {
  readonly id: string
  readonly account: string
  /** The UTC day it counts on: the day it was admitted. */
  readonly day: number
  readonly limit: number | null
}

/** The UTC day of a timestamp, in days since 1970. */
function utcDay(now: number): number {
  return Math.floor(now / DAY)
}

/** When the quota resets: the next midnight UTC, in milliseconds since 1970. */
export function nextReset(now: number): number {
  return (utcDay(now) + 1) * DAY
}

/** Seconds from `now` to the next UTC day, at least one. */
export function secondsToReset(now: number): number {
  return Math.max(1, Math.ceil((nextReset(now) - now) / 1000))
}

/** Counted and reserved conversions of a day. */
function usedQuery(db: QueryBuilder, account: string, day: number) {
  return db.selectNoFrom((e) => {
    const counted = e
      .selectFrom('quota_days')
      .select('used')
      .where('account_id', '=', account)
      .where('day', '=', day)
    const reserved = e
      .selectFrom('reservations')
      .select(e.fn.countAll<number>().as('count'))
      .where('account_id', '=', account)
      .where('day', '=', day)
    return [e.fn.coalesce(counted, e.lit(0)).as('counted'), reserved.as('reserved')]
  })
}

function* usedSteps(
  db: QueryBuilder,
  account: string,
  day: number,
): Steps<{ counted: number; reserved: number }> {
  const used = yield* first(usedQuery(db, account, day))
  return { counted: used?.counted ?? 0, reserved: used?.reserved ?? 0 }
}

/**
 * The lock of every procedure that reserves or counts for an account. Without it, a burst of
 * requests would only collide.
 */
export function quotaLock(account: string): string {
  return `quota ${account}`
}

/**
 * Admits a conversion if the quota allows, inside a procedure. `full`: others have reserved the
 * rest and may release it.
 */
export function* reserve(
  db: QueryBuilder,
  { id, account, day, limit }: Reservation,
  instance: string,
): Steps<'reserved' | 'full' | 'used up'> {
  if (limit !== null) {
    const { counted, reserved } = yield* usedSteps(db, account, day)
    if (counted >= limit) return 'used up'
    if (counted + reserved >= limit) return 'full'
  }
  yield* run(
    db.insertInto('reservations').values({ id, account_id: account, day, instance_id: instance }),
  )
  return 'reserved'
}

/**
 * Turns a reservation into a counted conversion, inside a procedure. False if it can no longer
 * count: the reservation was lost (the process was suspended so long that it was considered dead)
 * and others have used up the quota since.
 */
export function* count(db: QueryBuilder, { id, account, day, limit }: Reservation): Steps<boolean> {
  const wasReserved = (yield* run(db.deleteFrom('reservations').where('id', '=', id))) === 1
  if (!wasReserved && limit !== null) {
    const { counted, reserved } = yield* usedSteps(db, account, day)
    if (counted + reserved >= limit) return false
  }
  yield* run(
    db
      .insertInto('quota_days')
      .values({ account_id: account, day, used: 1, given_back: 0 })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'day'])
          .doUpdateSet((e) => ({ used: e('quota_days.used', '+', 1) })),
      ),
  )
  yield* run(
    db
      .deleteFrom('quota_days')
      .where('account_id', '=', account)
      .where('day', '<', day - KEPT_DAYS),
  )
  return true
}

/**
 * Whether one more failed conversion can be refunded; counts the refund. For procedures that hold
 * the account's lock.
 *
 * @param limit conversions per day of the plan, which is also the number of refunds; null means no
 *   limit
 */
export function* countRefund(
  db: QueryBuilder,
  { account, day, limit }: Pick<Reservation, 'account' | 'day' | 'limit'>,
): Steps<boolean> {
  if (limit === null) return true
  const row = yield* first(
    db
      .selectFrom('quota_days')
      .select('given_back')
      .where('account_id', '=', account)
      .where('day', '=', day),
  )
  if ((row?.given_back ?? 0) >= limit) return false
  yield* run(
    db
      .insertInto('quota_days')
      .values({ account_id: account, day, used: 0, given_back: 1 })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'day'])
          .doUpdateSet((e) => ({ given_back: e('quota_days.given_back', '+', 1) })),
      ),
  )
  return true
}

/**
 * Refunds a counted conversion, if that is still allowed today. For procedures that hold the
 * account's lock.
 */
export function* refund(
  db: QueryBuilder,
  counted: Pick<Reservation, 'account' | 'day' | 'limit'>,
): Steps<void> {
  if (!(yield* countRefund(db, counted))) return
  const { account, day } = counted
  yield* run(
    db
      .updateTable('quota_days')
      .set((e) => ({ used: e('used', '-', 1) }))
      .where('account_id', '=', account)
      .where('day', '=', day)
      .where('used', '>', 0),
  )
}

/** A reservation for one conversion; `reserve` stores it. */
export function newReservation(account: string, plan: Plan, now: number): Reservation {
  return { id: newId('res', now), account, day: utcDay(now), limit: plan.conversionsPerDay }
}

/** The error for an account without quota left. */
export function quotaExceeded(plan: Plan, now: number): Problem {
  const detail =
    plan.conversionsPerDay === 0
      ? `The plan "${plan.name}" includes no conversions. Ask the operator for another plan.`
      : `You've used ${allUsed(plan.conversionsPerDay)} (plan "${plan.name}"). Your quota resets at 00:00 UTC.`
  return new Problem('quota_exceeded', detail, { retryAfter: secondsToReset(now) })
}

function allUsed(conversions: number | null): string {
  if (conversions === 1) return "today's conversion"
  return conversions === 2
    ? "both of today's conversions"
    : `all ${conversions} of today's conversions`
}

/** Conversions of this UTC day that an account has used or reserved. */
export async function usedToday(store: Store, account: string, now: number): Promise<number> {
  const { counted, reserved } = await usedQuery(
    store.db,
    account,
    utcDay(now),
  ).executeTakeFirstOrThrow()
  return (counted ?? 0) + (reserved ?? 0)
}

/**
 * Whether an account has used all conversions of this UTC day. Ignores reservations, which may be
 * released.
 */
export async function isUsedUp(
  store: Store,
  account: string,
  { conversionsPerDay }: Plan,
  now: number,
): Promise<boolean> {
  if (conversionsPerDay === null) return false
  const row = await store.db
    .selectFrom('quota_days')
    .select('used')
    .where('account_id', '=', account)
    .where('day', '=', utcDay(now))
    .executeTakeFirst()
  return (row?.used ?? 0) >= conversionsPerDay
}
