// The daily quota, exact to one. A conversion is reserved when its upload has been received, and counted, durably, before its success is
// answered; every other end gives it back, but those in which it was tried only as often a day as the plan has conversions: failing on purpose costs.
//
// A killed process: what it had counted stays counted, what it had only reserved is given back with its instance (store/instance.ts). So no
// day ever has more successes than the quota, and none is lost but one whose answer was on its way at that very moment; an
// Idempotency-Key fetches that answer without a second conversion.
import { DAY } from '../clock.ts'
import { Problem } from '../errors.ts'
import { newId } from '../id.ts'
import type { Store } from '../store/open.ts'
import { first, run, type Steps } from '../store/procedure.ts'
import type { QueryBuilder } from '../store/statement.ts'
import type { Plan } from './plans.ts'

/** Days whose counts are kept, for people who look back. */
const KEPT_DAYS = 90

/** A conversion that has been let in. */
export interface Reservation {
  readonly id: string
  readonly account: string
  /** The UTC day that it counts on: the one on which it was let in. */
  readonly day: number
  readonly limit: number | null
}

/** The UTC day of a moment, in days since 1970. */
function dayOf(now: number): number {
  return Math.floor(now / DAY)
}

/** When the quota of the day comes back: the next midnight, UTC, in milliseconds since 1970. */
export function resetOf(now: number): number {
  return (dayOf(now) + 1) * DAY
}

/** Seconds from `now` to the next UTC day, at least one. */
export function secondsToReset(now: number): number {
  return Math.max(1, Math.ceil((resetOf(now) - now) / 1000))
}

/** Conversions of a day: counted, and reserved. */
function usedQuery(db: QueryBuilder, account: string, day: number) {
  return db.selectNoFrom((e) => {
    const counted = e.selectFrom('quota_days').select('used').where('account_id', '=', account).where('day', '=', day)
    const reserved = e.selectFrom('reservations').select(e.fn.countAll<number>().as('count')).where('account_id', '=', account).where('day', '=', day)
    return [e.fn.coalesce(counted, e.lit(0)).as('counted'), reserved.as('reserved')]
  })
}

function* usedSteps(db: QueryBuilder, account: string, day: number): Steps<{ counted: number; reserved: number }> {
  const used = yield* first(usedQuery(db, account, day))
  return { counted: used?.counted ?? 0, reserved: used?.reserved ?? 0 }
}

/** The lock of every procedure that reserves or counts for an account: a burst of its requests would do nothing but collide. */
export function quotaLock(account: string): string {
  return `quota ${account}`
}

/** Lets a conversion in where the quota allows it, as part of a procedure. `full`: others have reserved the rest, and may give it back. */
export function* reserve(db: QueryBuilder, { id, account, day, limit }: Reservation, instance: string): Steps<'reserved' | 'full' | 'used up'> {
  if (limit !== null) {
    const { counted, reserved } = yield* usedSteps(db, account, day)
    if (counted >= limit) return 'used up'
    if (counted + reserved >= limit) return 'full'
  }
  yield* run(db.insertInto('reservations').values({ id, account_id: account, day, instance_id: instance }))
  return 'reserved'
}

/**
 * Turns a reservation into a counted conversion, as part of a procedure. False where it can no longer count: the reservation was
 * lost (the process stood still for so long that it was taken for dead) and others have used up the quota since.
 */
export function* count(db: QueryBuilder, { id, account, day, limit }: Reservation): Steps<boolean> {
  const held = (yield* run(db.deleteFrom('reservations').where('id', '=', id))) === 1
  if (!held && limit !== null) {
    const { counted, reserved } = yield* usedSteps(db, account, day)
    if (counted + reserved >= limit) return false
  }
  yield* run(
    db
      .insertInto('quota_days')
      .values({ account_id: account, day, used: 1, given_back: 0 })
      .onConflict((conflict) => conflict.columns(['account_id', 'day']).doUpdateSet((e) => ({ used: e('quota_days.used', '+', 1) }))),
  )
  yield* run(db.deleteFrom('quota_days').where('account_id', '=', account).where('day', '<', day - KEPT_DAYS))
  return true
}

/**
 * Whether one more conversion that was tried and failed may be given back, as part of a procedure that holds the account's lock; counts it.
 *
 * @param limit conversions that the plan has a day, and so the times that one is given back; null is no limit
 */
export function* takeGiveBack(db: QueryBuilder, { account, day, limit }: Pick<Reservation, 'account' | 'day' | 'limit'>): Steps<boolean> {
  if (limit === null) return true
  const row = yield* first(db.selectFrom('quota_days').select('given_back').where('account_id', '=', account).where('day', '=', day))
  if ((row?.given_back ?? 0) >= limit) return false
  yield* run(
    db
      .insertInto('quota_days')
      .values({ account_id: account, day, used: 0, given_back: 1 })
      .onConflict((conflict) => conflict.columns(['account_id', 'day']).doUpdateSet((e) => ({ given_back: e('quota_days.given_back', '+', 1) }))),
  )
  return true
}

/** Takes a counted conversion back, as often as is allowed, as part of a procedure that holds the account's lock. */
export function* uncount(db: QueryBuilder, counted: Pick<Reservation, 'account' | 'day' | 'limit'>): Steps<void> {
  if (!(yield* takeGiveBack(db, counted))) return
  const { account, day } = counted
  yield* run(db.updateTable('quota_days').set((e) => ({ used: e('used', '-', 1) })).where('account_id', '=', account).where('day', '=', day).where('used', '>', 0))
}

/** A reservation for one conversion that is let in now; `reserve` enters it. */
export function newReservation(account: string, plan: Plan, now: number): Reservation {
  return { id: newId('res', now), account, day: dayOf(now), limit: plan.conversionsPerDay }
}

/** What a caller is told whose quota is used up. */
export function quotaExceeded(plan: Plan, now: number): Problem {
  const detail =
    plan.conversionsPerDay === 0
      ? `The plan "${plan.name}" has no conversions. The operator can give the account another one.`
      : `You've used ${allOf(plan.conversionsPerDay)} (plan "${plan.name}"). Your quota resets at 00:00 UTC.`
  return new Problem('quota_exceeded', detail, { retryAfter: secondsToReset(now) })
}

function allOf(conversions: number | null): string {
  if (conversions === 1) return "today's conversion"
  return conversions === 2 ? "both of today's conversions" : `all ${conversions} of today's conversions`
}

/** Conversions of this UTC day that an account has used or has under way. */
export async function usedToday(store: Store, account: string, now: number): Promise<number> {
  const { counted, reserved } = await usedQuery(store.db, account, dayOf(now)).executeTakeFirstOrThrow()
  return (counted ?? 0) + (reserved ?? 0)
}

/** Whether an account has used all of its conversions of this UTC day, and none of them can come back. */
export async function isUsedUp(store: Store, account: string, { conversionsPerDay }: Plan, now: number): Promise<boolean> {
  if (conversionsPerDay === null) return false
  const row = await store.db.selectFrom('quota_days').select('used').where('account_id', '=', account).where('day', '=', dayOf(now)).executeTakeFirst()
  return (row?.used ?? 0) >= conversionsPerDay
}
