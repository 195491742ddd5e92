// Guessing passwords is slow: failures are counted by e-mail and address together, by e-mail, and by address, and after a few of them each further
// one doubles the wait.
//
// An attempt counts as failed from its beginning, in one step with the check, and success takes that back: so a hundred guesses at the same
// moment, at however many processes, are no more than a hundred in a row. The rows are few: one is written only by who has a turn at
// hashing (passwords.ts), and is forgotten after an hour.
//
// The wait of an e-mail is not for an address from which its owner has signed in, nor for the first guess of an address within an hour: else whoever
// knows the e-mail could lock its owner out for as long as it likes, from many addresses.
import { hash } from 'node:crypto'
import { DAY, HOUR } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { Store } from '../store/open.ts'
import { all, procedure, run } from '../store/procedure.ts'
import type { AttemptRow } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'

/** TABLE of what is counted: failures that cost nothing, and the longest wait in milliseconds. A person shares an e-mail with no one, an address perhaps with an office. */
const LIMITS = {
  pair: { free: 5, longest: 60_000 },
  email: { free: 5, longest: 60_000 },
  address: { free: 20, longest: 900_000 },
} as const
type Counted = keyof typeof LIMITS

const FIRST_WAIT = 1_000
const FORGOTTEN_AFTER = HOUR
/** How long an address is known from which somebody has signed in. */
const KNOWN_FOR = 30 * DAY

/** Who tries. */
interface Who {
  email: string
  address: string
}

/** The rows that are about an attempt. */
type Subjects = Record<Counted | 'known', string>

/** Hashed: people type passwords into the wrong field. */
function subjectsOf({ email, address }: Who): Subjects {
  const [hashed, both] = [hash('sha256', email), hash('sha256', `${email}\n${address}`)]
  return { pair: `pair:${both}`, email: `email:${hashed}`, address: `address:${address}`, known: `known:${both}` }
}

/** The rows that are there of an attempt. */
function rowsOf(db: QueryBuilder, subjects: Subjects, now: number) {
  return db.selectFrom('attempts').selectAll().where('subject', 'in', Object.values(subjects)).where('expires_at', '>', now)
}

/** The failures so far of what counts for an attempt, and the moment before which there must be none; 0 where it may be now. */
function standing(rows: readonly AttemptRow[], subjects: Subjects, now: number): { until: number; failures: [Counted, number][] } {
  const found = new Map(rows.map((row) => [row.subject, row]))
  const isKnown = found.has(subjects.known)
  const isFirst = !found.has(subjects.pair)
  const counted = (['pair', 'email', 'address'] as const).filter((name) => name !== 'email' || !isKnown)
  const blocked = counted.filter((name) => name !== 'email' || !isFirst).map((name) => found.get(subjects[name])?.blocked_until ?? 0)
  return { until: blocked.find((until) => until > now) ?? 0, failures: counted.map((name) => [name, found.get(subjects[name])?.failures ?? 0]) }
}

/** Counts an attempt; gives the moment before which there must be none, or 0 where it may go on. */
export const countAttempt = procedure(import.meta.url, 'countAttempt', function* (db, { subjects, now }: { subjects: Subjects; now: number }) {
  yield* run(db.deleteFrom('attempts').where('expires_at', '<=', now))
  const { until, failures } = standing(yield* all(rowsOf(db, subjects, now)), subjects, now)
  if (until > now) return until
  for (const [name, before] of failures) {
    const { free, longest } = LIMITS[name]
    const count = before + 1
    const wait = count < free ? 0 : Math.min(longest, FIRST_WAIT * 2 ** (count - free))
    const row = { subject: subjects[name], failures: count, blocked_until: now + wait, expires_at: now + FORGOTTEN_AFTER }
    yield* run(db.insertInto('attempts').values(row).onConflict((conflict) => conflict.column('subject').doUpdateSet(row)))
  }
  return 0
})

/** Takes an attempt back that succeeded: its e-mail starts anew, its address is as it was, and is known. */
export const forgiveAttempt = procedure(import.meta.url, 'forgiveAttempt', function* (db, { subjects, now }: { subjects: Subjects; now: number }) {
  yield* run(db.deleteFrom('attempts').where('subject', 'in', [subjects.email, subjects.pair]))
  yield* run(
    db
      .updateTable('attempts')
      .set((e) => ({ failures: e('failures', '-', 1), blocked_until: 0 }))
      .where('subject', '=', subjects.address)
      .where('failures', '>', 0),
  )
  const known = { subject: subjects.known, failures: 0, blocked_until: 0, expires_at: now + KNOWN_FOR }
  yield* run(db.insertInto('attempts').values(known).onConflict((conflict) => conflict.column('subject').doUpdateSet(known)))
})

/** Refuses an attempt that must wait, before it waits for its turn at hashing. @throws Problem `too_many_attempts`, with the time to wait */
export async function refuseBlocked(store: Store, who: Who, now: number): Promise<void> {
  const subjects = subjectsOf(who)
  refuseUntil(standing(await rowsOf(store.db, subjects, now).execute(), subjects, now).until, now)
}

/**
 * Runs a check of a password as a counted attempt.
 *
 * @param check gives whether the password was right
 * @throws Problem `too_many_attempts`, with the time to wait
 */
export async function asAttempt(store: Store, who: Who, now: number, check: () => Promise<boolean>): Promise<boolean> {
  const subjects = subjectsOf(who)
  refuseUntil(await store.run(countAttempt, { subjects, now }), now)
  const right = await check()
  if (right) await store.run(forgiveAttempt, { subjects, now })
  return right
}

function refuseUntil(until: number, now: number): void {
  if (until <= now) return
  const seconds = Math.ceil((until - now) / 1000)
  throw new Problem('too_many_attempts', `Too many failed sign-ins. Try again in ${seconds} seconds.`, { retryAfter: seconds })
}
