// Passwords: argon2id (RFC 9106), computed off the main thread, a few at a time.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Problem } from '../common/errors.ts'
import { HashingQueue, type Hashing } from './hashing-queue.ts'

/**
 * OWASP's parameters for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane.
 * `memory` in KiB.
 */
const COST = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32

/** Concurrent hashes. Node's pool has four threads; files and DNS need the others. */
const CONCURRENCY = 2
/** Most callers waiting for one; at 50 ms each that is a few seconds. */
const MAX_WAITING = 100
/** Seconds after which a refused caller should try again. */
const RETRY_AFTER_SECONDS = 3

const compute = promisify(argon2)
const refusal = (hasHashedBefore: boolean): Problem =>
  new Problem(
    'too_many_attempts',
    'Too many people are signing in right now. Try again in a few seconds.',
    { retryAfter: RETRY_AFTER_SECONDS, ...(hasHashedBefore ? {} : { status: 503 }) },
  )
const queue = new HashingQueue({ concurrency: CONCURRENCY, waiting: MAX_WAITING, refusal })

/**
 * Runs `work`, which hashes passwords, when it is the caller's turn.
 *
 * @throws Problem `too_many_attempts` if too many callers wait: 429 for a caller who has hashed
 *   before, otherwise 503
 */
export function queued<R>(caller: Hashing, work: () => Promise<R>): Promise<R> {
  return queue.run(caller, work)
}

/**
 * Hashes a password for storage: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. Call it inside `queued`.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(await derive(password, salt, COST))}`
}

/**
 * Whether a password matches a stored hash. Takes the same time without one (null). Call it inside
 * `queued`.
 */
export async function matchesPassword(password: string, stored: string | null): Promise<boolean> {
  const parts = FORM.exec(stored ?? DUMMY_HASH)
  if (parts === null) throw new Error('a stored password hash is malformed')
  const [, memory, passes, parallelism, salt = '', hash = ''] = parts
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const found = await derive(password, Buffer.from(salt, 'base64'), cost)
  return timingSafeEqual(found, Buffer.from(hash, 'base64')) && stored !== null
}

const FORM = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/
const DUMMY_HASH = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(HASH_BYTES))}`

/**
 * Normalizes a password, so that every keyboard gives the same bytes (NIST SP 800-63B, section
 * 5.1.1.2).
 */
function derive(password: string, nonce: Buffer, cost: typeof COST): Promise<Buffer> {
  return compute('argon2id', {
    message: password.normalize('NFKC'),
    nonce,
    tagLength: HASH_BYTES,
    ...cost,
  })
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
