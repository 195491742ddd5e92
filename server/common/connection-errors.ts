// How Tollmark words errors that the HTTP server answers before a handler sees the request.
import { ERRORS, Problem, type ErrorCode } from './errors.ts'
import { newId } from './ids.ts'
import type { Log } from './log.ts'

/** An error as the HTTP server sends it. */
interface ErrorBody {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Words errors as problems. @param now milliseconds since 1970 */
export class ConnectionProblems {
  readonly #log: Log
  readonly #now: () => number

  constructor(log: Log, now: () => number) {
    this.#log = log
    this.#now = now
  }

  /**
   * The error for bytes that no handler sees; logs it. @param isDirect whether they were sent to
   * the proxy
   */
  ofConnection(code: ErrorCode, message: string, isDirect: boolean): ErrorBody {
    const id = newId('req', this.#now())
    // Every response of the proxy has this header.
    const more = isDirect ? { 'x-proxy-error': code, 'x-proxy-request-id': id } : {}
    const error = describe(code, message, id, more)
    const { status } = error
    this.#log.request({ request_id: id, method: '', route: null, status, duration_ms: 0, code })
    return error
  }

  /** The error for a request that Node's server has read. */
  ofRequest(code: ErrorCode, message: string): ErrorBody {
    return describe(code, message, newId('req', this.#now()), {})
  }
}

function describe(
  code: ErrorCode,
  message: string,
  id: string,
  more: Readonly<Record<string, string>>,
): ErrorBody {
  const problem = new Problem(
    code,
    message,
    code === 'too_many_connections' ? { retryAfter: 1 } : {},
  )
  return {
    status: problem.status,
    reason: ERRORS[code].title,
    headers: { ...problem.headers(), ...more, 'x-request-id': id },
    body: JSON.stringify(problem.body(id)),
  }
}
