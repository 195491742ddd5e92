// The proxy's own errors, thrown by any step of a request.
import type { GatewayErrorCode } from './error-response.ts'

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
