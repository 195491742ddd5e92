// Response headers with the caller's quota (IETF draft-ietf-httpapi-ratelimit-headers-10:
// structured fields, RFC 9651).
import { DAY } from '../common/clock.ts'
import type { Plan } from './plans.ts'
import { secondsToReset } from './quota.ts'

/**
 * `RateLimit-Policy` and `RateLimit` for an account on `plan` that has used `used` of today's
 * conversions; none for a plan without a limit, which the draft cannot express.
 */
export function quotaHeaders(plan: Plan, used: number, now: number): Record<string, string> {
  const quota = plan.conversionsPerDay
  if (quota === null) return {}
  const remaining = Math.max(0, quota - used)
  return {
    'ratelimit-policy': `"${plan.name}";q=${quota};w=${DAY / 1000}`,
    ratelimit: `"${plan.name}";r=${remaining};t=${secondsToReset(now)}`,
  }
}
