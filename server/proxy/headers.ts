// TABLES: what passes through the proxy each way. Headers are raw lists (name, value, name, value, …) as in Node's rawHeaders:
// what passes keeps its order, its case and its duplicates.
import { valuesOf } from '../http/fields.ts'
import { ownText } from '../own-text.ts'
import type { EndpointRow } from './providers/endpoint.ts'
import type { Auth, Provider, Upstream } from './providers/provider.ts'
import type { ProviderTable } from './providers/table.ts'
import { readAddress } from './target.ts'

/** Of one connection only (RFC 9110 §7.6.1), beside those that `Connection` names. */
const HOP_BY_HOP = [
  'connection', 'keep-alive', 'proxy-authenticate', 'proxy-authentication-info', 'proxy-authorization', 'proxy-connection',
  'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings',
]

/** Never sent upstream, whatever the provider. */
const NEVER_UPSTREAM = new Set([
  ...HOP_BY_HOP,
  // Ours to set: the host that is dialled, and the answer to `Expect`, which the proxy gives itself.
  'host', 'expect',
  // Credentials in every provider's spelling, and cookies.
  'authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'ocp-apim-subscription-key', 'x-amz-security-token', 'x-amz-date',
  'x-amz-content-sha256', 'x-goog-iam-authorization-token', 'x-serverless-authorization', 'cookie', 'cookie2',
  // Where the caller comes from.
  'origin', 'referer', 'forwarded', 'via', 'x-real-ip', 'x-client-ip', 'client-ip', 'true-client-ip', 'x-cluster-client-ip',
  'x-original-url', 'x-rewrite-url', 'x-originating-ip', 'x-remote-ip', 'x-remote-addr', 'x-envoy-external-address', 'fly-client-ip', 'fastly-client-ip',
  // Would make the upstream treat the request as another one than was checked.
  'x-http-method-override', 'x-http-method', 'x-method-override',
  // Ours.
  'x-proxy-context-key',
])
const NEVER_UPSTREAM_PREFIXES = ['sec-', 'proxy-', 'x-forwarded-', 'cf-', 'x-vercel-', 'access-control-request-']

/** Never sent to the caller: this hop's own, and what names our account or would bind the caller to it. */
const NEVER_DOWNSTREAM = new Set([
  ...HOP_BY_HOP, 'set-cookie', 'set-cookie2', 'openai-organization', 'openai-project', 'anthropic-organization-id', 'anthropic-workspace-id', 'x-goog-user-project',
])

/** Where the rest of an upload goes (https://ai.google.dev/api/files): an address that the caller names to us again. */
const UPLOAD_ADDRESSES = new Set(['x-goog-upload-url', 'x-goog-upload-control-url'])

/** What the tables above say of a name. */
interface Fate {
  readonly lower: string
  readonly goesUp: boolean
  readonly goesDown: boolean
}

const fates = new Map<string, Fate>()
/** Names that are remembered, and the longest of them. When there are more, all are looked up again. */
const MOST_NAMES = 2_000
const LONGEST_NAME = 64

/** The same few names come with every request, in the same few spellings. */
function fateOf(name: string): Fate {
  const known = fates.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const fate = { lower, goesUp: !NEVER_UPSTREAM.has(lower) && !NEVER_UPSTREAM_PREFIXES.some((prefix) => lower.startsWith(prefix)), goesDown: !NEVER_DOWNSTREAM.has(lower) }
  if (name.length <= LONGEST_NAME) {
    if (fates.size >= MOST_NAMES) fates.clear()
    fates.set(ownText(name), fate)
  }
  return fate
}

/** The names that a raw list's `Connection` headers declare to be of this hop; null where there is none. */
function connectionNames(raw: readonly string[]): Set<string> | null {
  let names: Set<string> | null = null
  for (const value of valuesOf(raw, 'connection')) {
    // What nearly everybody says names nothing that would pass anyway.
    if (value === 'keep-alive') continue
    names ??= new Set()
    for (const name of value.split(',')) names.add(name.trim().toLowerCase())
  }
  // A caller must not be able to take the framing away (RFC 9110 §7.6.1 lets an intermediary ignore such names).
  for (const name of ['content-length', 'content-type', 'content-encoding']) names?.delete(name)
  return names
}

/** How this endpoint of this provider is authenticated. */
export const authOf = (provider: Provider, endpoint: EndpointRow | null): Auth => endpoint?.auth ?? provider.auth

/**
 * The caller's headers as they go upstream, without any credential: add ours with `withCredential`.
 * `Content-Length` stays; `Transfer-Encoding` is the connection's business.
 */
export function requestHeaders(raw: readonly string[], provider: Provider, endpoint: EndpointRow | null = null): string[] {
  const named = connectionNames(raw)
  const auth = fateOf(authOf(provider, endpoint).header).lower
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const { lower, goesUp } = fateOf(raw[i]!)
    if (goesUp && lower !== auth && !named?.has(lower) && !provider.accountChoice?.includes(lower)) kept.push(raw[i]!, raw[i + 1]!)
  }
  return kept
}

/** The list with our credential, once. */
export function withCredential(raw: readonly string[], auth: Auth, secret: string): string[] {
  return [...raw, auth.header, auth.scheme === undefined ? secret : `${auth.scheme} ${secret}`]
}

export interface ResponseContext {
  readonly upstream: Upstream
  readonly table: ProviderTable
  /** The path and query that were sent, for relative redirects. */
  readonly pathAndQuery: string
  /** True when the answer gets CORS headers of ours: then the upstream's own, which are about another origin, give way. */
  readonly cors?: boolean
}

/** The upstream's headers as they go to the caller; a `Location` that may be called is rewritten to lead through the proxy again. */
export function responseHeaders(raw: readonly string[], context: ResponseContext): string[] {
  const named = connectionNames(raw)
  const account = context.upstream.provider.accountHeaders
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const value = raw[i + 1]!
    const { lower, goesDown } = fateOf(raw[i]!)
    if (!goesDown || named?.has(lower) || account?.includes(lower) || (context.cors === true && lower.startsWith('access-control-'))) continue
    kept.push(raw[i]!, lower === 'location' ? rewriteLocation(value, context) : UPLOAD_ADDRESSES.has(lower) ? asNamed(value, context.upstream) : value)
  }
  return kept
}

/**
 * A redirect's address as the caller has to follow it: `/proxy?url=…` when it is an address that may be called (also when the
 * upstream names itself by the address at which we dial it), else unchanged.
 */
function rewriteLocation(location: string, { upstream, table, pathAndQuery }: ResponseContext): string {
  const { dial, origin } = upstream
  const base = `${origin}${pathAndQuery}`
  if (!URL.canParse(location, base)) return location
  const url = new URL(location, base)
  url.hash = ''
  let address = url.href
  if (url.origin === dial.origin || url.origin === origin) {
    const below = url.pathname.startsWith(`${dial.basePath}/`)
    // What lies beside our base path at the dialled address is somebody else's.
    if (!below && url.origin !== origin) return location
    address = `${origin}${below ? url.pathname.slice(dial.basePath.length) : url.pathname}${url.search}`
  }
  const target = readAddress(address)
  if (!target.ok || table.find(target.upstream.hostname, target.upstream.port) === null) return location
  const { hostname, port, pathAndQuery: inside } = target.upstream
  return `/proxy?url=${encodeURIComponent(`https://${hostname}${port === 443 ? '' : `:${port}`}${inside}`)}`
}

/** An address by which the upstream names itself where we dial it, as callers name it; any other as it is. */
function asNamed(address: string, { dial, origin }: Upstream): string {
  const base = `${dial.origin}${dial.basePath}`
  return address.startsWith(`${base}/`) ? `${origin}${address.slice(base.length)}` : address
}
