// CORS (https://fetch.spec.whatwg.org/#http-cors-protocol): keys are used from browsers without
// cookies, so any origin may send a preflight; the origins that a key allows are checked when the
// key is known.
import { nameAt } from '../../http1/header-fields.ts'

/** Methods that the proxy passes on. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** TABLE: response headers that a browser may read, by their lower-case names. */
const EXPOSED: ReadonlyMap<string, string> = new Map(
  [
    'Retry-After',
    'Retry-After-Ms',
    'X-Request-Id',
    'X-Proxy-Request-Id',
    'X-Proxy-Error',
    'Location',
    'RateLimit',
    'RateLimit-Policy',
    ...['Limit', 'Remaining', 'Reset'].flatMap((what) =>
      ['Requests', 'Tokens'].map((of) => `X-Ratelimit-${what}-${of}`),
    ),
    ...[
      'Url',
      'Status',
      'Control-Url',
      'Chunk-Granularity',
      'Size-Received',
      'Header-Content-Type',
    ].map((what) => `X-Goog-Upload-${what}`),
  ].map((name): [string, string] => [name.toLowerCase(), name]),
)

/** TABLE of prefixes of further headers, which are exposed if the response has them. */
const FAMILIES = ['ratelimit', 'x-ratelimit-', 'anthropic-ratelimit-', 'x-goog-upload-']

/** Maximum number of headers read from a preflight; no client sends as many. */
const MOST_ASKED = 62
/** A header's name (RFC 9110, section 5.6.2) of a sensible length. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/

/**
 * The response to a preflight, which needs no key: `Authorization` by name (`*` would not cover
 * it), and the requested headers.
 */
export function preflightHeaders(requestedHeaders: string | undefined): string[] {
  const names = new Map(['Authorization', 'Content-Type'].map((name) => [name.toLowerCase(), name]))
  for (const asked of (requestedHeaders ?? '').split(',', MOST_ASKED)) {
    const name = asked.trim()
    if (TOKEN.test(name) && !names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
  }
  return [
    'Access-Control-Allow-Origin',
    '*',
    'Access-Control-Allow-Methods',
    METHODS.join(', '),
    'Access-Control-Allow-Headers',
    [...names.values()].join(', '),
    'Access-Control-Max-Age',
    '7200',
    'Vary',
    'Access-Control-Request-Headers',
  ]
}

/**
 * CORS headers of a response, ours or the upstream's.
 * @param raw the headers that the response already has; those of the exposed families are exposed
 *   by their names
 */
export function corsHeaders(raw: readonly string[]): string[] {
  const names = new Map(EXPOSED)
  for (let i = 0; i < raw.length; i += 2) {
    const name = nameAt(raw, i)
    const lower = name.toLowerCase()
    if (!names.has(lower) && FAMILIES.some((family) => lower.startsWith(family)))
      names.set(lower, name)
  }
  return [
    'Access-Control-Allow-Origin',
    '*',
    'Access-Control-Expose-Headers',
    [...names.values()].join(', '),
  ]
}
