// TABLE of everything that can go wrong for a caller of the API, and the one class that carries it.

/**
 * TABLE of error codes → HTTP status and title. A code is part of the API: it may be added, never
 * changed.
 */
export const ERRORS = {
  missing_file: { status: 400, title: 'No file was sent' },
  invalid_file: { status: 400, title: 'The file cannot be read' },
  unsupported_file_type: { status: 400, title: 'The file is neither HTML nor a ZIP archive' },
  invalid_field: { status: 400, title: 'A field or parameter is not valid' },
  malformed_request: { status: 400, title: 'The request is not valid HTTP/1.1' },
  invalid_token: { status: 401, title: 'The API token is missing or invalid' },
  invalid_credentials: { status: 401, title: 'E-mail or password is wrong' },
  insufficient_scope: { status: 403, title: 'You are not allowed to do this' },
  cross_site_request: { status: 403, title: 'The request comes from another site' },
  setup_closed: { status: 403, title: 'The first account already exists' },
  not_found: { status: 404, title: 'Not found' },
  account_not_found: { status: 404, title: 'Account not found' },
  invitation_not_found: { status: 404, title: 'Invitation not found' },
  reset_not_found: { status: 404, title: 'Link not found' },
  token_not_found: { status: 404, title: 'API token not found' },
  key_not_found: { status: 404, title: 'Key not found' },
  object_not_found: { status: 404, title: 'Shared object not found' },
  provider_not_found: { status: 404, title: 'Provider not found' },
  credential_not_found: { status: 404, title: 'Credential not found' },
  socket_not_found: { status: 404, title: 'Socket not found' },
  request_not_found: { status: 404, title: 'Request not found' },
  job_not_found: { status: 404, title: 'Job not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The request took too long' },
  last_administrator: { status: 409, title: 'There must be at least one administrator' },
  key_revoked: { status: 409, title: 'The key has been revoked' },
  key_inactive: { status: 409, title: 'The key is disabled or has expired' },
  key_is_child: { status: 409, title: 'The key is a child of another key' },
  job_not_finished: { status: 409, title: 'The job is not finished' },
  result_expired: { status: 410, title: 'The result is no longer available' },
  file_too_large: { status: 413, title: 'The file is too large' },
  range_not_satisfiable: { status: 416, title: 'The range is outside the document' },
  idempotency_conflict: { status: 422, title: 'The Idempotency-Key was used for other content' },
  too_many_attempts: { status: 429, title: 'Too many failed sign-ins' },
  /** Sent with status 503 if the server itself is full. */
  too_many_uploads: { status: 429, title: 'Too many uploads or conversions at once' },
  too_many_requests: { status: 429, title: 'Too many requests at once' },
  too_many_child_keys: { status: 429, title: 'The key has too many child keys' },
  too_many_secrets: { status: 429, title: 'The key has too many secrets that still work' },
  too_many_keys: { status: 429, title: 'The account has too many keys' },
  quota_exceeded: { status: 429, title: 'Quota used up' },
  headers_too_large: { status: 431, title: 'The headers of the request are too large' },
  internal_error: { status: 500, title: 'Internal error' },
  too_many_connections: { status: 503, title: 'Too many connections from one address' },
  store_unavailable: { status: 503, title: 'The database or the file store is unavailable' },
} as const satisfies Record<string, { status: number; title: string }>

/** The code of a problem: a key of `ERRORS`. */
export type ErrorCode = keyof typeof ERRORS

/** Kinds of faults of a field. Codes are part of the API: they may be added, never changed. */
export const FIELD_ERRORS = [
  'unknown_field',
  'unknown_parameter',
  'missing',
  'read_only',
  'duplicate',
  'invalid_value',
] as const

/** The fault of one field or query parameter of a request. */
export interface FieldError {
  /** Its path, joined by dots (`auth.header`, `models.0`); `""` is the whole body. */
  readonly param: string
  readonly code: (typeof FIELD_ERRORS)[number]
  /**
   * One sentence, shown beside the field, so it does not repeat the name (`Must be at least 1.`).
   */
  readonly detail: string
}

/** An RFC 9457 problem, with our stable `code` and the request's id. */
export interface ProblemDetails {
  type: string
  title: string
  status: number
  detail: string
  code: ErrorCode
  request_id: string
  errors?: readonly FieldError[]
}

/** An error that is reported to the caller. Any other thrown error becomes `internal_error`. */
export class Problem extends Error {
  override name = 'Problem'
  readonly code: ErrorCode
  readonly detail: string
  /** Seconds until a retry is worth while. */
  readonly retryAfter: number | undefined
  readonly status: number
  /** All faults of the request's fields, if there are any. */
  readonly errors: readonly FieldError[]
  readonly #headers: Readonly<Record<string, string>>

  /**
   * @param code a row of `ERRORS`
   * @param detail one sentence that a person can act on; it never contains a secret, a path of this
   *   machine or SQL
   * @param more `retryAfter` in seconds; `status` in place of the row's; `errors` for faults of
   *   single fields; additional response `headers`; `cause` for the log, never for the caller
   */
  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      retryAfter?: number
      status?: number
      errors?: readonly FieldError[]
      headers?: Readonly<Record<string, string>>
      cause?: unknown
    } = {},
  ) {
    super(detail, { cause: more.cause })
    this.code = code
    this.detail = detail
    this.retryAfter = more.retryAfter
    this.status = more.status ?? ERRORS[code].status
    this.errors = more.errors ?? []
    this.#headers = more.headers ?? {}
  }

  /** The response body, `application/problem+json` (RFC 9457). */
  body(requestId: string): ProblemDetails {
    const { title } = ERRORS[this.code]
    const problem = {
      type: `urn:tollmark:error:${this.code}`,
      title,
      status: this.status,
      detail: this.detail,
      code: this.code,
      request_id: requestId,
    }
    return this.errors.length === 0 ? problem : { ...problem, errors: this.errors }
  }

  /** Response headers in addition to those of every response. */
  headers(): Record<string, string> {
    return {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...this.#headers,
      ...(this.retryAfter === undefined ? {} : { 'retry-after': String(this.retryAfter) }),
      // Every 401 carries a challenge (RFC 9110, section 11.6.1), and a 403 for a token the scope's
      // (RFC 6750, section 3.1).
      ...(this.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(this.code === 'insufficient_scope'
        ? { 'www-authenticate': 'Bearer error="insufficient_scope"' }
        : {}),
    }
  }
}

/** Maximum number of faults that one problem lists. */
const MAX_ERRORS = 50
/** Maximum number of faults that the `detail` of one problem repeats. */
const MAX_SENTENCES = 5

/**
 * One `invalid_field` problem for all faults of a request. Its `detail` names each field before its
 * sentence.
 */
export function invalidFields(errors: readonly FieldError[]): Problem {
  const listed = errors.slice(0, MAX_ERRORS)
  const described = listed.slice(0, MAX_SENTENCES)
  const sentences = described.map(({ param, detail }) =>
    param === '' ? detail : `${param}: ${detail}`,
  )
  const more = errors.length - described.length
  const rest = more > 0 ? [`${more} more ${more === 1 ? 'fault' : 'faults'}.`] : []
  return new Problem('invalid_field', [...sentences, ...rest].join(' '), { errors: listed })
}

/** A field whose value is not allowed. @param detail see `FieldError` */
export function fieldError(param: string, detail: string): FieldError {
  return { param, code: 'invalid_value', detail }
}

/** A problem with one field whose value is not allowed. @param detail see `FieldError` */
export function invalidField(param: string, detail: string): Problem {
  return invalidFields([fieldError(param, detail)])
}

/** The code of a system or library error (`ENOSPC`, `EADDRINUSE`), or undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/**
 * An error that prevents the server or a command from starting. Its message is for the person at
 * the terminal; the exit code is 1.
 */
export class SetupError extends Error {
  override name = 'SetupError'
}
