// Throttles password guessing. Failures are counted per e-mail and address, per e-mail, and per
// address; after a few free ones, each doubles the wait.
//
// An attempt is counted as failed when it begins, in the same transaction as the check, and success
// takes it back. So a hundred guesses at once, on any number of processes, are no better than a
// hundred in a row. There are few rows: only callers with a turn at hashing (passwords.ts) write
// one, and it is deleted after an hour.
//
// The wait per e-mail does not apply to an address from which the owner has signed in, nor to the
// first guess of an address within an hour. Otherwise an attacker who knows the e-mail could lock
// the owner out, from many addresses.
import { hash } from 'node:crypto'
import { DAY, HOUR } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import { counted } from '../common/counted.ts'
import type { Store } from '../store/store.ts'
import { all, procedure, run } from '../store/procedure.ts'
import type { AttemptRow } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'

/**
 * TABLE of counters: free failures, and the longest wait in milliseconds. Addresses get more than
 * e-mails, because an office shares one.
 */
const LIMITS = {
  pair: { free: 5, longest: 60_000 },
  email: { free: 5, longest: 60_000 },
  address: { free: 20, longest: 900_000 },
} as const
type CounterName = keyof typeof LIMITS

const FIRST_WAIT_MS = 1_000
const EXPIRY_MS = HOUR
/** How long an address is remembered after a successful sign-in. */
const KNOWN_ADDRESS_MS = 30 * DAY

/** The person who signs in, and the address. */
interface SignInSource {
  email: string
  address: string
}

/** The rows that count an attempt. */
type Subjects = Record<CounterName | 'known', string>

/** Hashed, because people type passwords into the wrong field. */
function attemptSubjects({ email, address }: SignInSource): Subjects {
  const [hashed, both] = [hash('sha256', email), hash('sha256', `${email}\n${address}`)]
  return {
    pair: `pair:${both}`,
    email: `email:${hashed}`,
    address: `address:${address}`,
    known: `known:${both}`,
  }
}

/** The rows of an attempt that exist. */
function attemptRows(db: QueryBuilder, subjects: Subjects, now: number) {
  return db
    .selectFrom('attempts')
    .selectAll()
    .where('subject', 'in', Object.values(subjects))
    .where('expires_at', '>', now)
}

/**
 * The failures that count for an attempt, and the time before which it is refused; 0 if it is
 * allowed now.
 */
function evaluate(
  rows: readonly AttemptRow[],
  subjects: Subjects,
  now: number,
): { until: number; failures: [CounterName, number][] } {
  const found = new Map(rows.map((row) => [row.subject, row]))
  const isKnown = found.has(subjects.known)
  const isFirst = !found.has(subjects.pair)
  const counted = (['pair', 'email', 'address'] as const).filter(
    (name) => name !== 'email' || !isKnown,
  )
  const blocked = counted
    .filter((name) => name !== 'email' || !isFirst)
    .map((name) => found.get(subjects[name])?.blocked_until ?? 0)
  return {
    until: blocked.find((until) => until > now) ?? 0,
    failures: counted.map((name) => [name, found.get(subjects[name])?.failures ?? 0]),
  }
}

/** Counts an attempt. Returns the time before which it is refused, or 0 if it may go on. */
export const countAttempt = procedure(
  import.meta.url,
  'countAttempt',
  function* (db, { subjects, now }: { subjects: Subjects; now: number }) {
    yield* run(db.deleteFrom('attempts').where('expires_at', '<=', now))
    const { until, failures } = evaluate(yield* all(attemptRows(db, subjects, now)), subjects, now)
    if (until > now) return until
    for (const [name, before] of failures) {
      const { free, longest } = LIMITS[name]
      const count = before + 1
      const wait = count < free ? 0 : Math.min(longest, FIRST_WAIT_MS * 2 ** (count - free))
      const row = {
        subject: subjects[name],
        failures: count,
        blocked_until: now + wait,
        expires_at: now + EXPIRY_MS,
      }
      yield* run(
        db
          .insertInto('attempts')
          .values(row)
          .onConflict((conflict) => conflict.column('subject').doUpdateSet(row)),
      )
    }
    return 0
  },
)

/**
 * Takes back an attempt that succeeded: resets the count of the e-mail, restores that of the
 * address, and remembers the address.
 */
export const forgiveAttempt = procedure(
  import.meta.url,
  'forgiveAttempt',
  function* (db, { subjects, now }: { subjects: Subjects; now: number }) {
    yield* run(db.deleteFrom('attempts').where('subject', 'in', [subjects.email, subjects.pair]))
    yield* run(
      db
        .updateTable('attempts')
        .set((e) => ({ failures: e('failures', '-', 1), blocked_until: 0 }))
        .where('subject', '=', subjects.address)
        .where('failures', '>', 0),
    )
    const known = {
      subject: subjects.known,
      failures: 0,
      blocked_until: 0,
      expires_at: now + KNOWN_ADDRESS_MS,
    }
    yield* run(
      db
        .insertInto('attempts')
        .values(known)
        .onConflict((conflict) => conflict.column('subject').doUpdateSet(known)),
    )
  },
)

/**
 * Refuses an attempt that must wait, before it waits for its turn at hashing.
 *
 * @returns whether the person has signed in from this address before
 * @throws Problem `too_many_attempts`, with the time to wait
 */
export async function admitAttempt(
  store: Store,
  source: SignInSource,
  now: number,
): Promise<boolean> {
  const subjects = attemptSubjects(source)
  const rows = await attemptRows(store.db, subjects, now).execute()
  assertPast(evaluate(rows, subjects, now).until, now)
  return rows.some((row) => row.subject === subjects.known)
}

/**
 * Runs a check of a password as a counted attempt.
 *
 * @param check resolves to whether the password is right
 * @throws Problem `too_many_attempts`, with the time to wait
 */
export async function withAttempt(
  store: Store,
  source: SignInSource,
  now: number,
  check: () => Promise<boolean>,
): Promise<boolean> {
  const subjects = attemptSubjects(source)
  assertPast(await store.run(countAttempt, { subjects, now }), now)
  const right = await check()
  if (right) await store.run(forgiveAttempt, { subjects, now })
  return right
}

function assertPast(until: number, now: number): void {
  if (until <= now) return
  const seconds = Math.ceil((until - now) / 1000)
  throw new Problem(
    'too_many_attempts',
    `Too many failed sign-ins. Try again in ${counted(seconds, 'second')}.`,
    { retryAfter: seconds },
  )
}
