// A key's limits as callers see them: the headers that state them, and the error of a full one. A
// child key has its parent's limit, and may have its own.
import { counted } from '../../common/counted.ts'
import { nameAt } from '../../http1/header-fields.ts'
import type { CachedKey } from '../../keys/cache.ts'
import type { Ledger, Remaining } from '../../ledger/ledger.ts'
import { GatewayError } from '../gateway-error.ts'

/** A limit that applies to a key. */
interface KeyLimit {
  readonly id: string
  readonly rpm: number
}

function limitsOfKey({ id, rpm, child }: CachedKey): KeyLimit[] {
  const limits: KeyLimit[] = []
  if (rpm !== null) limits.push({ id, rpm })
  if (child !== null && child.rpm !== null) limits.push({ id: child.id, rpm: child.rpm })
  return limits
}

/**
 * The limit of a key with the fewest requests left, and their number; null for a key without a
 * limit.
 */
export function tightestLimit(
  ledger: Pick<Ledger, 'leftFor'>,
  key: CachedKey,
): { rpm: number; left: Remaining } | null {
  let tightest: { rpm: number; left: Remaining } | null = null
  for (const { id, rpm } of limitsOfKey(key)) {
    const left = ledger.leftFor(id, rpm)
    if (tightest === null || isTighter(left, tightest.left)) tightest = { rpm, left }
  }
  return tightest
}

function isTighter(one: Remaining, than: Remaining): boolean {
  return one.requests < than.requests || (one.requests === than.requests && one.reset > than.reset)
}

/**
 * The limit of a key that stays full for longest, and how long (whole milliseconds); null if none
 * is full.
 */
export function fullLimit(
  ledger: Pick<Ledger, 'fullFor'>,
  key: CachedKey,
): { rpm: number; wait: number } | null {
  let full: { rpm: number; wait: number } | null = null
  for (const { id, rpm } of limitsOfKey(key)) {
    const wait = ledger.fullFor(id, rpm)
    if (wait !== null && (full === null || wait > full.wait)) full = { rpm, wait }
  }
  return full
}

/** The rate-limit headers of every response to a key with a limit; none for any other. */
export function limitHeaders(ledger: Pick<Ledger, 'leftFor'>, key: CachedKey | null): string[] {
  const limit = key === null ? null : tightestLimit(ledger, key)
  return limit === null ? [] : rateLimitHeaders(limit.rpm, limit.left)
}

/**
 * The headers that state a key's limit (draft-ietf-httpapi-ratelimit-headers).
 * @param rpm the limit, requests per minute
 */
export function rateLimitHeaders(rpm: number, { requests, reset }: Remaining): string[] {
  return [
    'RateLimit-Policy',
    `"rpm";q=${rpm};w=60`,
    'RateLimit',
    `"rpm";r=${requests};t=${Math.ceil(reset / 1000)}`,
  ]
}

/** Whether a response has its own rate-limit headers, which are passed on instead of ours. */
export function hasRateLimitHeaders(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2)
    if (/^ratelimit(?:-|$)/i.test(nameAt(headers, i))) return true
  return false
}

/** When a retry can succeed, as a sentence. Rounded up to a second, as `Retry-After` is. */
export const nextPasses = (waitMs: number): string =>
  `The next one can pass in ${counted(Math.ceil(waitMs / 1000), 'second')}.`

/**
 * A 429 for a key that has used up its requests per minute. AI SDKs read `Retry-After-Ms` first.
 *
 * @param rpm the key's limit
 * @param wait milliseconds until the next request can pass
 */
export function rateLimitExceeded(rpm: number, wait: number): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `The proxy key allows ${counted(rpm, 'request')} a minute. ${nextPasses(wait)}`,
    [
      'Retry-After',
      String(Math.ceil(wait / 1000)),
      'Retry-After-Ms',
      String(wait),
      ...rateLimitHeaders(rpm, { requests: 0, reset: wait }),
    ],
  )
}
