// Ids of records: `acc_…`, `tok_…`, `job_…`, `key_…`. They begin with the time, so that rows
// created together are adjacent in an index. The rest of an id is random text of the same kind as
// in secrets.
import { randomFillSync } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * A new id: the kind, eight characters of time, fourteen random ones (83 bits).
 *
 * @param now milliseconds since 1970
 */
export function newId(kind: string, now: number): string {
  return `${kind}_${base62(now, 8)}${randomText(14)}`
}

/** Random letters and digits; all 62 are equally likely. */
export function randomText(length: number): string {
  let made = ''
  while (made.length < length) {
    const byte = randomByte()
    // 248 = 4 × 62: higher bytes would make the first letters likelier.
    if (byte < 248) made += ALPHABET[byte % 62]
  }
  return made
}

/** Random bytes are fetched from the system in batches; each is used once. */
const pool = new Uint8Array(4096)
let next = pool.length

function randomByte(): number {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  // oxlint-disable-next-line typescript/no-non-null-assertion -- the pool is refilled before its end
  const byte = pool[next]!
  pool[next++] = 0
  return byte
}

/** A non-negative integer in base 62, with leading zeros, so that texts sort like numbers. */
export function base62(number: number, length: number): string {
  let digits = ''
  for (let rest = number; digits.length < length; rest = Math.floor(rest / 62))
    digits = ALPHABET[rest % 62] + digits
  return digits
}
