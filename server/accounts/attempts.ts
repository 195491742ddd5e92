// Guessing passwords is slow: failures are counted by e-mail and by address, and after a few of them each further one doubles the wait.
//
// An attempt counts as failed from its beginning, in one step with the check, and success takes that back: so a hundred guesses at the same
// moment, at however many processes, are no more than a hundred in a row. The rows are few: one is written only by who has a turn at
// hashing (passwords.ts), and is forgotten after an hour.
import { hash } from 'node:crypto'
import { HOUR } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run } from '../store/procedure.ts'

/** TABLE of what is counted: failures that cost nothing, and the longest wait in milliseconds. A person shares an e-mail with no one, an address perhaps with an office. */
const LIMITS = {
  email: { free: 5, longest: 60_000 },
  address: { free: 20, longest: 900_000 },
} as const

const FIRST_WAIT = 1_000
const FORGOTTEN_AFTER = HOUR

/** Who tries: the two that are counted. */
interface Subject {
  email: string
  address: string
}

type Counted = { subject: string; free: number; longest: number }

/** Counts an attempt; gives the moment before which there must be none, or 0 where it may go on. */
export const countAttempt = procedure(import.meta.url, 'countAttempt', function* (db, { counted, now }: { counted: Counted[]; now: number }) {
  yield* run(db.deleteFrom('attempts').where('expires_at', '<=', now))
  const rows = []
  for (const { subject, free, longest } of counted) {
    const row = yield* first(db.selectFrom('attempts').selectAll().where('subject', '=', subject))
    if (row && row.blocked_until > now) return row.blocked_until
    const failures = (row?.failures ?? 0) + 1
    const wait = failures < free ? 0 : Math.min(longest, FIRST_WAIT * 2 ** (failures - free))
    rows.push({ subject, failures, blocked_until: now + wait, expires_at: now + FORGOTTEN_AFTER })
  }
  for (const row of rows) {
    yield* run(db.insertInto('attempts').values(row).onConflict((conflict) => conflict.column('subject').doUpdateSet(row)))
  }
  return 0
})

/** Takes an attempt back that succeeded: its e-mail starts anew, its address is as it was. */
export const forgiveAttempt = procedure(import.meta.url, 'forgiveAttempt', function* (db, { email, address }: Subject) {
  yield* run(db.deleteFrom('attempts').where('subject', '=', email))
  yield* run(
    db
      .updateTable('attempts')
      .set((e) => ({ failures: e('failures', '-', 1), blocked_until: 0 }))
      .where('subject', '=', address)
      .where('failures', '>', 0),
  )
})

/**
 * Runs a check of a password as a counted attempt.
 *
 * @param check gives whether the password was right
 * @throws Problem `too_many_attempts`, with the time to wait
 */
export async function asAttempt(store: Store, who: Subject, now: number, check: () => Promise<boolean>): Promise<boolean> {
  // Hashed: people type passwords into the wrong field.
  const subjects = { email: `email:${hash('sha256', who.email)}`, address: `address:${who.address}` }
  const counted = [
    { subject: subjects.email, ...LIMITS.email },
    { subject: subjects.address, ...LIMITS.address },
  ]
  const until = await store.run(countAttempt, { counted, now })
  if (until > now) {
    const seconds = Math.ceil((until - now) / 1000)
    throw new Problem('too_many_attempts', `Too many attempts to sign in have failed. Try again in ${seconds} s.`, { retryAfter: seconds })
  }
  const right = await check()
  if (right) await store.run(forgiveAttempt, subjects)
  return right
}
