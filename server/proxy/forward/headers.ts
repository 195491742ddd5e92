// Applies the tables of forward/header-rules.ts to requests and responses. Headers are raw lists
// (name, value, name, value, …) as in Node's rawHeaders, so they keep their order, case and
// duplicates.
import { valuesOf, nameAt, valueAt } from '../../http1/header-fields.ts'
import { copyString } from '../../common/copy-string.ts'
import {
  BROWSER_CHALLENGE,
  compileRules,
  EXCEPTIONS,
  plainName,
  REQUEST_PATTERNS,
  REQUEST_RULES,
  RESPONSE_RULES,
} from './header-rules.ts'
import { valueContainsKey } from '../target/own-keys.ts'
import type { Mask } from '../masking/mask.ts'
import type { EndpointRow } from '../providers/endpoint-row.ts'
import type { Auth, Provider, Upstream } from '../providers/provider.ts'
import type { ProviderTable } from '../providers/table.ts'
import { readAddress, type TargetForm } from '../target/parse-target.ts'

/**
 * The address of an upload's next request (https://ai.google.dev/api/files), which the caller sends
 * to us again.
 */
const UPLOAD_ADDRESSES = ['x-goog-upload-url', 'x-goog-upload-control-url']

/** Rewrites a value on its way to the caller. */
type Rewrite = (value: string, context: ResponseContext) => string | null

/** TABLE of headers whose values are rewritten; null: the header is left out. */
const REWRITES: ReadonlyMap<string, Rewrite> = new Map<string, Rewrite>([
  ...['location', 'content-location'].map((name): [string, Rewrite] => [
    name,
    (value, context) =>
      maskAddress(name === 'location' ? rewriteLocation(value, context) : value, context),
  ]),
  ...UPLOAD_ADDRESSES.map((name): [string, Rewrite] => [
    name,
    (value, context) => maskAddress(rewriteUploadAddress(value, context), context),
  ]),
  ['www-authenticate', (value) => (BROWSER_CHALLENGE.test(value) ? null : value)],
])

const isNeverSent = compileRules(REQUEST_RULES)
const readsLikeSecret = compileRules(REQUEST_PATTERNS)
const isNeverReturned = compileRules(RESPONSE_RULES)

/** The decision about a request header. */
interface RequestHeaderRule {
  readonly lower: string
  readonly plain: string
  /** `by-name`: only to a provider whose row names it. */
  readonly forwarded: 'always' | 'by-name' | 'never'
}

/** The decision about a response header. */
interface ResponseHeaderRule {
  readonly lower: string
  readonly forwarded: boolean
  readonly rewrite: Rewrite | undefined
}

/**
 * Number of names remembered in each direction, and their maximum length. When there are more, the
 * cache is emptied.
 */
const MAX_NAMES = 2_000
const MAX_NAME_LENGTH = 64

/**
 * Caches a function of a header's name: every message has the same few names, in the same few
 * spellings.
 */
function memoizeByName<Rule>(ruleOf: (lower: string) => Rule): (name: string) => Rule {
  const rules = new Map<string, Rule>()
  return (name) => {
    const known = rules.get(name)
    if (known !== undefined) return known
    const rule = ruleOf(name.toLowerCase())
    if (name.length <= MAX_NAME_LENGTH) {
      if (rules.size >= MAX_NAMES) rules.clear()
      rules.set(copyString(name), rule)
    }
    return rule
  }
}

const requestRule = memoizeByName((lower): RequestHeaderRule => {
  const plain = plainName(lower)
  const forwarded =
    isNeverSent(plain) || valueContainsKey(lower)
      ? 'never'
      : readsLikeSecret(plain) && !EXCEPTIONS.has(plain)
        ? 'by-name'
        : 'always'
  return { lower, plain, forwarded }
})

const responseRule = memoizeByName((lower): ResponseHeaderRule => ({
  lower,
  forwarded: !isNeverReturned(plainName(lower)),
  rewrite: REWRITES.get(lower),
}))

/** A request header's name in the form of the tables. */
export const normalizedName = (name: string): string => requestRule(name).plain

/** The header names that `Connection` declares to be hop-by-hop; null if there are none. */
function connectionNames(raw: readonly string[]): Set<string> | null {
  let names: Set<string> | null = null
  for (const value of valuesOf(raw, 'connection')) {
    // The usual values name no header that would be forwarded.
    if (value === 'keep-alive') continue
    names ??= new Set()
    for (const name of value.split(',')) names.add(name.trim().toLowerCase())
  }
  // A caller must not be able to remove the framing (RFC 9110, section 7.6.1, lets an intermediary
  // ignore such names).
  for (const name of ['content-length', 'content-type', 'content-encoding']) names?.delete(name)
  return names
}

/** How this endpoint of this provider is authenticated. */
export const authOf = (provider: Provider, endpoint: EndpointRow | null): Auth =>
  endpoint?.auth ?? provider.auth

/**
 * The caller's headers to forward, without any credential: add ours with `withCredential`.
 * `Content-Length` stays; the connection sets `Transfer-Encoding`.
 */
export function requestHeaders(
  raw: readonly string[],
  provider: Provider,
  endpoint: EndpointRow | null = null,
): string[] {
  const named = connectionNames(raw)
  const auth = requestRule(authOf(provider, endpoint).header).plain
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const { lower, plain, forwarded } = requestRule(nameAt(raw, i))
    if (forwarded !== 'always' && (forwarded === 'never' || !provider.passes?.includes(lower)))
      continue
    if (
      plain === auth ||
      named?.has(lower) ||
      provider.accountChoice?.includes(plain) ||
      valueContainsKey(valueAt(raw, i))
    )
      continue
    kept.push(nameAt(raw, i), valueAt(raw, i))
  }
  return kept
}

/** The list with our credential added once. */
export function withCredential(raw: readonly string[], auth: Auth, secret: string): string[] {
  return [...raw, auth.header, auth.scheme === undefined ? secret : `${auth.scheme} ${secret}`]
}

/** The data for rewriting response headers. */
export interface ResponseContext {
  readonly upstream: Upstream
  readonly table: ProviderTable
  /** The path and query of the upstream request, for relative redirects. */
  readonly pathAndQuery: string
  /**
   * How the caller named the upstream, which decides whether the address of an upload's next
   * request must be ours.
   */
  readonly form: TargetForm
  /** The origin by which the caller reached us. */
  readonly ownOrigin: () => string
  /** Removes the credential from addresses that the caller follows. */
  readonly mask?: Pick<Mask, 'text'>
  /** Whether the response gets our CORS headers, which replace the upstream's. */
  readonly cors?: boolean
}

/**
 * The upstream's headers for the caller; a `Location` that may be called is rewritten to lead
 * through the proxy again.
 */
export function responseHeaders(raw: readonly string[], context: ResponseContext): string[] {
  const named = connectionNames(raw)
  const account = context.upstream.provider.accountHeaders
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const { lower, forwarded, rewrite } = responseRule(nameAt(raw, i))
    if (
      !forwarded ||
      named?.has(lower) ||
      account?.includes(lower) ||
      (context.cors === true && lower.startsWith('access-control-'))
    )
      continue
    const value = rewrite === undefined ? valueAt(raw, i) : rewrite(valueAt(raw, i), context)
    if (value !== null) kept.push(nameAt(raw, i), value)
  }
  return kept
}

/**
 * A redirect's address for the caller: through the proxy if it is an address that may be called
 * (also if the upstream names itself by the address that we dial), else unchanged.
 */
function rewriteLocation(
  location: string,
  { upstream, table, pathAndQuery }: ResponseContext,
): string {
  const { dial, origin } = upstream
  const base = `${origin}${pathAndQuery}`
  if (!URL.canParse(location, base)) return location
  const url = new URL(location, base)
  url.hash = ''
  let address = url.href
  if (url.origin === dial.origin || url.origin === origin) {
    const below = url.pathname.startsWith(`${dial.basePath}/`)
    // Paths outside our base path at the dialled address belong to others.
    if (!below && url.origin !== origin) return location
    address = `${origin}${below ? url.pathname.slice(dial.basePath.length) : url.pathname}${url.search}`
  }
  // An address that cannot be called through the proxy must not lead to a path of our own host.
  return proxiedTarget(address, table, 'parameter') ?? (url.origin === origin ? url.href : location)
}

/** The target by which an address is called through the proxy; null if it may not be called. */
function proxiedTarget(address: string, table: ProviderTable, form: TargetForm): string | null {
  const target = readAddress(address)
  if (!target.ok || table.find(target.upstream.hostname, target.upstream.port) === null) return null
  const { hostname, port, pathAndQuery } = target.upstream
  const named = `${hostname}${port === 443 ? '' : `:${port}`}${pathAndQuery}`
  return form === 'base-url'
    ? `/proxy/${named}`
    : `/proxy?url=${encodeURIComponent(`https://${named}`)}`
}

/**
 * The address of an upload's next request. A client with a base URL follows it directly; any other
 * client passes it to us as `url`.
 */
function rewriteUploadAddress(
  value: string,
  { upstream, table, form, ownOrigin }: ResponseContext,
): string {
  const address = asCallerAddress(value, upstream)
  const target = form === 'base-url' ? proxiedTarget(address, table, form) : null
  return target === null ? address : ownOrigin() + target
}

/** An address without our credential, which some servers write into it. */
const maskAddress = (address: string, { mask }: ResponseContext): string =>
  mask?.text(address) ?? address

/**
 * Translates the upstream's own dialled address into the one that callers use; returns others
 * unchanged.
 */
function asCallerAddress(address: string, { dial, origin }: Upstream): string {
  const base = `${dial.origin}${dial.basePath}`
  return address.startsWith(`${base}/`) ? `${origin}${address.slice(base.length)}` : address
}
