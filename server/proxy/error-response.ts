// The proxy's own errors, in the format of the provider's errors, so that every SDK shows our
// message.
import { METHODS } from './forward/cors.ts'
import type { Provider } from './providers/provider.ts'
import type { ErrorShape, ErrorTemplate } from './providers/wire-format.ts'

/** TABLE of refusals: status, and the closest error types of Google, OpenAI and Anthropic. */
export const GATEWAY_ERRORS = {
  invalid_upstream_url: { status: 400, google: 'INVALID_ARGUMENT', type: 'invalid_request_error' },
  upgrade_not_supported: { status: 400, google: 'INVALID_ARGUMENT', type: 'invalid_request_error' },
  malformed_request: { status: 400, google: 'INVALID_ARGUMENT', type: 'invalid_request_error' },
  ambiguous_body: { status: 400, google: 'INVALID_ARGUMENT', type: 'invalid_request_error' },
  invalid_api_key: { status: 401, google: 'UNAUTHENTICATED', type: 'authentication_error' },
  api_key_expired: { status: 401, google: 'UNAUTHENTICATED', type: 'authentication_error' },
  api_key_disabled: { status: 401, google: 'UNAUTHENTICATED', type: 'authentication_error' },
  model_not_allowed: { status: 403, google: 'PERMISSION_DENIED', type: 'permission_error' },
  upstream_not_allowed: { status: 403, google: 'PERMISSION_DENIED', type: 'permission_error' },
  endpoint_not_allowed: { status: 403, google: 'PERMISSION_DENIED', type: 'permission_error' },
  origin_not_allowed: { status: 403, google: 'PERMISSION_DENIED', type: 'permission_error' },
  method_not_allowed: { status: 405, google: 'INVALID_ARGUMENT', type: 'invalid_request_error' },
  body_too_slow: { status: 408, google: 'DEADLINE_EXCEEDED', type: 'timeout_error' },
  body_too_large: { status: 413, google: 'INVALID_ARGUMENT', type: 'request_too_large' },
  rate_limit_exceeded: { status: 429, google: 'RESOURCE_EXHAUSTED', type: 'rate_limit_error' },
  internal_error: { status: 500, google: 'INTERNAL', type: 'api_error' },
  upstream_unreachable: { status: 502, google: 'UNAVAILABLE', type: 'api_error' },
  upstream_credential_missing: { status: 502, google: 'UNAVAILABLE', type: 'api_error' },
  server_shutdown: { status: 503, google: 'UNAVAILABLE', type: 'overloaded_error' },
  service_unavailable: { status: 503, google: 'UNAVAILABLE', type: 'overloaded_error' },
  upstream_timeout: { status: 504, google: 'DEADLINE_EXCEEDED', type: 'timeout_error' },
} as const

/** The codes of the proxy's own errors. */
export type GatewayErrorCode = keyof typeof GATEWAY_ERRORS

interface ErrorFields {
  readonly status: number
  readonly code: GatewayErrorCode
  readonly message: string
  readonly google: string
  readonly type: string
}

/** TABLE of error bodies, in the form that each provider's AI SDK package parses. */
const ERROR_BODIES: Readonly<Record<ErrorShape, (words: ErrorFields) => unknown>> = {
  google: ({ status, code, message, google }) => ({
    error: {
      code: status,
      message,
      status: google,
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: code.toUpperCase(),
          domain: 'tollmark',
        },
      ],
    },
  }),
  openai: ({ code, message, type }) => ({ error: { message, type, param: null, code } }),
  anthropic: ({ message, type }) => ({ type: 'error', error: { type, message } }),
  mistral: ({ code, message, type }) => ({ object: 'error', message, type, param: null, code }),
  groq: ({ code, message, type }) => ({ error: { message, type, code } }),
  cohere: ({ message }) => ({ message }),
  fireworks: ({ code, message, type }) => ({ error: { message, type, code } }),
  perplexity: ({ status, message, code }) => ({ error: { code: status, message, type: code } }),
  cerebras: ({ code, message, type }) => ({ message, type, param: '', code }),
  bedrock: ({ code, message }) => ({ message, type: code }),
}

/**
 * Bedrock names the exception in a header:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
 */
const BEDROCK_EXCEPTIONS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  405: 'ValidationException',
  408: 'ModelTimeoutException',
  413: 'ValidationException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
  504: 'ModelTimeoutException',
}

/** TABLE of reason phrases (RFC 9110, section 15). */
const REASONS: Readonly<Record<(typeof GATEWAY_ERRORS)[GatewayErrorCode]['status'], string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** A provider's own error shape with our message. */
function filled(value: unknown, fields: ErrorFields): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, fields))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, filled(one, fields)]),
    )
  const field =
    typeof value === 'string'
      ? /^\{(status|code|message|type|google)\}$/.exec(value)?.[1]
      : undefined
  return field === undefined ? value : Reflect.get(fields, field)
}

/** A refusal as a WebSocket message, in the provider's format. */
export function errorMessage(
  code: GatewayErrorCode,
  message: string,
  template: ErrorTemplate,
): string {
  const { status, google, type } = GATEWAY_ERRORS[code]
  return JSON.stringify(filled(template, { status, code, message, google, type }))
}

/** A response of our own, in the style of a provider. */
export interface ErrorResponse {
  readonly status: number
  /** The reason phrase. */
  readonly reason: string
  /** Raw list; the caller adds X-Request-Id, CORS and rate-limit headers. */
  readonly headers: string[]
  readonly body: Buffer
}

/** The headers of our own JSON: its type, and that it must not be cached. */
export const jsonHeaders = (body: Buffer): string[] => [
  'Content-Type',
  'application/json',
  'Content-Length',
  String(body.length),
  'Cache-Control',
  'no-store',
]

/**
 * A refusal, ready to be sent.
 * @param provider whose shape to use; null (no provider was found, or not looked up yet) for
 *   OpenAI's, which most clients read
 * @param message one sentence for the caller; never holds a key or a credential
 */
export function errorResponse(
  code: GatewayErrorCode,
  message: string,
  provider: Provider | null,
): ErrorResponse {
  const { status, google, type } = GATEWAY_ERRORS[code]
  const shape = provider?.errors ?? 'openai'
  const fields = { status, code, message, google, type }
  const body = Buffer.from(
    JSON.stringify(typeof shape === 'string' ? ERROR_BODIES[shape](fields) : filled(shape, fields)),
  )
  const headers = [...jsonHeaders(body), 'X-Proxy-Error', code]
  // Required by RFC 9110, sections 15.5.2 and 15.5.6.
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer')
  if (status === 405) headers.push('Allow', [...METHODS, 'OPTIONS'].join(', '))
  if (shape === 'bedrock')
    headers.push('x-amzn-ErrorType', BEDROCK_EXCEPTIONS[status] ?? 'InternalServerException')
  return { status, reason: REASONS[status], headers, body }
}
