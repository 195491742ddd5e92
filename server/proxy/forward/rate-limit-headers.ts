// The rate-limit headers of every response to a key with a limit
// (draft-ietf-httpapi-ratelimit-headers).
import { nameAt } from '../../http1/header-fields.ts'
import type { Remaining } from '../../ledger/ledger.ts'

/** The headers that tell a key's limit. @param rpm the limit, requests per minute */
export function rateLimitHeaders(rpm: number, { requests, reset }: Remaining): string[] {
  return [
    'RateLimit-Policy',
    `"rpm";q=${rpm};w=60`,
    'RateLimit',
    `"rpm";r=${requests};t=${Math.ceil(reset / 1000)}`,
  ]
}

/** Whether a response has its own rate-limit headers, which are passed on instead of ours. */
export function tellsLimits(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2)
    if (/^ratelimit(?:-|$)/i.test(nameAt(headers, i))) return true
  return false
}
