// CORS (https://fetch.spec.whatwg.org/#http-cors-protocol): keys are used from browsers, without cookies, so any origin may ask;
// which origins a key allows is checked when the key is known.

/** Methods that the proxy passes on. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** TABLE: response headers that a browser may read. A name that ends in `*` stands for all headers of the answer that begin so. */
const EXPOSED = ['Retry-After', 'Retry-After-Ms', 'X-Request-Id', 'X-Proxy-Error', 'Location', 'RateLimit*', 'X-Ratelimit-*', 'Anthropic-Ratelimit-*', 'X-Goog-Upload-*']

const EXPOSED_ALWAYS = [
  'Retry-After', 'Retry-After-Ms', 'X-Request-Id', 'X-Proxy-Error', 'Location', 'RateLimit', 'RateLimit-Policy',
  ...['Limit', 'Remaining', 'Reset'].flatMap((what) => ['Requests', 'Tokens'].map((of) => `X-Ratelimit-${what}-${of}`)),
  ...['Url', 'Status', 'Control-Url', 'Chunk-Granularity', 'Size-Received', 'Header-Content-Type'].map((what) => `X-Goog-Upload-${what}`),
]
const PREFIXES = EXPOSED.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1).toLowerCase())

/** The answer to a preflight, which needs no key: `Authorization` by name (a `*` would not cover it), and whatever was asked for. */
export function preflightHeaders(requestedHeaders: string | undefined): string[] {
  const asked = (requestedHeaders ?? '').split(',').map((name) => name.trim())
  const names = new Map(['Authorization', 'Content-Type'].map((name) => [name.toLowerCase(), name]))
  for (const name of asked) if (/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(name) && !names.has(name.toLowerCase()) && names.size < 64) names.set(name.toLowerCase(), name)
  return [
    'Access-Control-Allow-Origin', '*',
    'Access-Control-Allow-Methods', METHODS.join(', '),
    'Access-Control-Allow-Headers', [...names.values()].join(', '),
    'Access-Control-Max-Age', '7200',
    'Vary', 'Access-Control-Request-Headers',
    'Content-Length', '0',
  ]
}

/**
 * CORS headers of an answer, ours or the upstream's.
 * @param raw the headers that the answer already has; those of the exposed families are exposed by their names
 */
export function corsHeaders(raw: readonly string[]): string[] {
  const names = new Map(EXPOSED_ALWAYS.map((name) => [name.toLowerCase(), name]))
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    const lower = name.toLowerCase()
    if (!names.has(lower) && PREFIXES.some((prefix) => lower.startsWith(prefix))) names.set(lower, name)
  }
  return ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', [...names.values()].join(', ')]
}
