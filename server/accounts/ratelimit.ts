// The headers that tell a caller its quota (IETF draft-ietf-httpapi-ratelimit-headers-10: structured fields, RFC 9651).
import { DAY } from '../clock.ts'
import type { Plan } from './plans.ts'
import { secondsToReset } from './quota.ts'

/** The largest integer of a structured field stands for a plan without a limit: the draft knows no "unlimited". */
const UNLIMITED = 999_999_999_999_999

/**
 * `RateLimit-Policy` and `RateLimit` for an account on `plan` that has used `used` of today's conversions; null where it is not known whose
 * they are: then the whole quota stands, so that nobody is told to wait for what waiting does not change.
 */
export function rateLimitHeaders(plan: Plan, used: number | null, now: number): Record<'ratelimit-policy' | 'ratelimit', string> {
  const quota = plan.conversionsPerDay ?? UNLIMITED
  const remaining = Math.max(0, quota - (used ?? 0))
  return {
    'ratelimit-policy': `"${plan.name}";q=${quota};w=${DAY / 1000}`,
    ratelimit: `"${plan.name}";r=${remaining};t=${secondsToReset(now)}`,
  }
}
