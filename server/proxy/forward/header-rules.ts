// TABLES of headers that are not forwarded, each with the reason. All others are forwarded, but for
// those that a provider's row or `Connection` names (apply-header-rules.ts), and unchanged unless
// `REWRITES` in rewrite-header.ts names them.

/**
 * Headers that are not forwarded. Names, prefixes and patterns are in lower case, with `-` as the
 * only separator.
 */
export interface HeaderRule {
  readonly why: string
  readonly names?: readonly string[]
  readonly prefixes?: readonly string[]
  readonly pattern?: RegExp
}

/** Hop-by-hop headers (RFC 9110, section 7.6.1), in addition to those that `Connection` names. */
const HOP_BY_HOP: HeaderRule = {
  why: 'Applies to one connection only.',
  names: [
    'connection',
    'keep-alive',
    'proxy-authenticate',
    'proxy-authentication-info',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'http2-settings',
  ],
}

/** Never sent upstream, to any provider. */
export const REQUEST_RULES: readonly HeaderRule[] = [
  HOP_BY_HOP,
  {
    why: 'We set the host that we dial, and answer `Expect` ourselves.',
    names: ['host', 'expect', 'alt-used'],
  },
  { why: 'Is addressed to this proxy.', names: ['x-proxy-context-key', 'x-fal-target-url'] },
  {
    why: 'Could make the upstream read another request than the one we checked.',
    names: [
      'x-http-method-override',
      'x-http-method',
      'x-method-override',
      'x-original-url',
      'x-rewrite-url',
    ],
  },
  {
    why: 'Says which page or cache of a browser the request comes from.',
    names: ['origin', 'referer', 'ping-from', 'ping-to', 'available-dictionary', 'dictionary-id'],
    prefixes: ['sec-', 'access-control-request-'],
  },
  {
    why: 'Says which servers the request came through.',
    names: ['forwarded', 'via', 'x-forwarded'],
    prefixes: ['x-forwarded-', 'proxy-'],
  },
  {
    why: "A part of a signature with somebody else's credential (AWS Signature Version 4).",
    names: [
      'x-amz-date',
      'x-amz-content-sha256',
      'x-amz-signedheaders',
      'x-amz-algorithm',
      'x-amz-expires',
    ],
  },
  {
    why: 'A cookie or proof of possession, which is a credential.',
    names: ['cookie', 'cookie2', 'dpop'],
  },
]

/**
 * Never sent upstream unless the provider's row names them (`passes`), or the table of exceptions
 * below.
 */
export const REQUEST_PATTERNS: readonly HeaderRule[] = [
  {
    // Whole words, or words that end like this: api-key, apikey, authtoken, x-amz-credential.
    why: 'Looks like a credential.',
    pattern:
      /(?:^|-)(?:[a-z0-9]*(?:keys?|tokens?|secrets?|passwords?|passwd|passphrase|credentials?|signatures?|cookies?|authorization|authentication)|x?auth|oauth2?|jwt|bearer|hmac|sig|assertion)(?:-|$)/,
  },
  {
    why: 'Looks like the address or location of the person behind the request.',
    pattern:
      /(?:^|-)(?:(?:client|user|remote|real|source|src|socket|peer|viewer|caller)?ip(?:s|v[46]|country)?|(?:client|remote|source|peer)?addr(?:ess)?|geo(?:ip|location)?|latitude|longitude|latlong|citylatlong)(?:-|$)/,
  },
  {
    why: 'Looks like the identity of the person behind the request.',
    names: ['from'],
    pattern:
      /(?:^|-)(?:user(?!-agent(?:-|$))(?:id|name|info|email)?|e?mail|principal|authenticated|oidc|saml|identity|client-cert|clientcert)(?:-|$)/,
  },
  {
    why: "Set by a platform in front of the caller's own server, about the person who asks.",
    prefixes: [
      'cloudfront-',
      'fastly-',
      'fly-',
      'akamai-',
      'x-akamai-',
      'x-appengine-',
      'x-arr-',
      'x-azure-',
      'x-consumer-',
      'x-envoy-',
      'x-nf-',
      'x-original-',
      'x-pomerium-',
      'x-ssl-',
      'ssl-client-',
      'tailscale-',
      'x-vercel-',
      'x-zscaler-',
    ],
    // Cloudflare's, except for the options of its AI gateway.
    pattern: /^cf-(?!aig-)/,
  },
  {
    why: "Carries what the caller's own services tell each other about a request (W3C Baggage).",
    pattern: /(?:^|-)(?:baggage|uberctx)(?:-|$)/,
  },
]

/** TABLE of exceptions: harmless headers that match a pattern. */
export const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  [
    'idempotency-key',
    'Names the request, not its sender (draft-ietf-httpapi-idempotency-key-header).',
  ],
  ['x-idempotency-key', 'The same, as some SDKs write it.'],
])

/** Never sent to the caller: headers about the provider's host would apply to ours. */
export const RESPONSE_RULES: readonly HeaderRule[] = [
  HOP_BY_HOP,
  {
    why: 'Names our account with the provider.',
    names: [
      'openai-organization',
      'openai-project',
      'anthropic-organization-id',
      'anthropic-workspace-id',
      'x-goog-user-project',
    ],
    pattern: /(?:^|-)(?:organi[sz]ation|account|workspace|tenant)(?:-(?:id|name))?$/,
  },
  {
    why: 'A header by which the proxy describes its own responses.',
    names: ['x-proxy-error', 'x-proxy-request-id'],
  },
  {
    why: 'Would keep something in the browser under our host, and send it back with every request.',
    names: ['set-cookie', 'set-cookie2', 'set-login', 'idp-signin-status'],
  },
  {
    why: 'Registers a session of our host with the browser.',
    prefixes: ['secure-session-', 'sec-session-'],
  },
  {
    why: 'Controls all connections to our host.',
    names: [
      'strict-transport-security',
      'alt-svc',
      'expect-ct',
      'public-key-pins',
      'public-key-pins-report-only',
    ],
  },
  {
    why: 'Makes browsers send reports about our host to others.',
    names: ['nel', 'report-to', 'reporting-endpoints'],
  },
  { why: 'Deletes what our host keeps in the browser.', names: ['clear-site-data'] },
  {
    why: 'Lets a worker control more of our host than its own folder.',
    names: ['service-worker-allowed'],
  },
  { why: 'Sends the browser elsewhere.', names: ['refresh'] },
  {
    why: 'Asks browsers to tell our host more about themselves.',
    names: ['accept-ch', 'accept-ch-lifetime', 'critical-ch'],
  },
  {
    why: 'Controls how browsers isolate or preload pages of our host.',
    names: ['origin-agent-cluster', 'supports-loading-mode', 'speculation-rules'],
  },
  {
    why: 'Declares that addresses of our host are equivalent, or a compression dictionary for others.',
    names: ['no-vary-search', 'use-as-dictionary'],
  },
  {
    why: "Opens our host's share of what browsers keep for advertising and embedding.",
    names: [
      'observe-browsing-topics',
      'activate-storage-access',
      'shared-storage-write',
      'x-allow-fledge',
    ],
    prefixes: ['attribution-reporting-', 'ad-auction-'],
  },
  {
    why: 'An order to the server in front of us (nginx, Apache) to send a file or limit us. `X-Accel-Buffering` asks only not to wait, and passes.',
    names: [
      'x-accel-redirect',
      'x-accel-expires',
      'x-accel-limit-rate',
      'x-accel-charset',
      'x-sendfile',
      'x-lighttpd-send-file',
      'x-reproxy-url',
    ],
  },
]

/**
 * Challenges that make a browser ask its user for a password for our host, or send it one by itself
 * (RFC 9110, section 11.6.1).
 */
export const BROWSER_CHALLENGE = /(?:^|,)\s*(?:basic|digest|ntlm|negotiate)(?:\s|,|$)/i

/**
 * A header's name in the form of the tables: servers that pass headers on as variables (CGI, WSGI)
 * do not distinguish `_` from `-`.
 */
export function plainName(name: string): string {
  const lower = name.toLowerCase()
  return /[^a-z0-9-]|--/.test(lower) ? lower.replaceAll(/[^a-z0-9]+/g, '-') : lower
}

/**
 * Whether any rule of a table matches a name in the form of `plainName`. Callers can make up names;
 * each costs one lookup and one search.
 */
export function compileRules(rules: readonly HeaderRule[]): (plain: string) => boolean {
  const names = new Set(rules.flatMap((rule) => rule.names ?? []))
  const prefixes = rules.flatMap((rule) => rule.prefixes ?? []).map((prefix) => `^${prefix}`)
  const patterns = rules.flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern.source]))
  // Without prefixes and patterns, it must match nothing.
  const rest = new RegExp([...prefixes, ...patterns, '(?!)'].join('|'))
  return (plain) => names.has(plain) || rest.test(plain)
}
