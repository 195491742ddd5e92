// The proxy's own errors, thrown by any step of a request.
import { rateLimitHeaders } from './admission/key-limits.ts'
import type { GatewayErrorCode } from './error-response.ts'
import { counted } from '../common/counted.ts'

/** Ends a request with our own error, in the provider's error format. */
export class GatewayError {
  readonly code: GatewayErrorCode
  /** One sentence for the caller; never contains a key or a credential. */
  readonly message: string
  /** Further response headers: name, value, … */
  readonly headers: string[]
  /** The model that the request named, if it was known; for the log and the list of refusals. */
  readonly model: string | null

  constructor(
    code: GatewayErrorCode,
    message: string,
    headers: string[] = [],
    model: string | null = null,
  ) {
    this.code = code
    this.message = message
    this.headers = headers
    this.model = model
  }
}

/** Seconds after which a retry is worthwhile if we cannot serve a request now. */
const RETRY_AFTER_S = 5

/** A 503 with `Retry-After`. */
export function serviceUnavailable(message: string): GatewayError {
  return new GatewayError('service_unavailable', message, ['Retry-After', String(RETRY_AFTER_S)])
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
    `The API key allows ${counted(rpm, 'request')} a minute. ${nextPasses(wait)}`,
    [
      'Retry-After',
      String(Math.ceil(wait / 1000)),
      'Retry-After-Ms',
      String(wait),
      ...rateLimitHeaders(rpm, { requests: 0, reset: wait }),
    ],
  )
}
