// TABLES: what passes through the proxy each way. Headers are raw lists (name, value, name, value, …) as in Node's rawHeaders:
// what passes keeps its order, its case and its duplicates.
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

/** The names that a raw list's `Connection` headers declare to be of this hop. */
function connectionNames(raw: readonly string[]): Set<string> {
  const names = new Set<string>()
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (raw[i]!.toLowerCase() !== 'connection') continue
    for (const name of raw[i + 1]!.split(',')) names.add(name.trim().toLowerCase())
  }
  // A caller must not be able to take the framing away (RFC 9110 §7.6.1 lets an intermediary ignore such names).
  for (const name of ['content-length', 'content-type', 'content-encoding']) names.delete(name)
  return names
}

/** Drops from a raw list what `drop` says, by lower-case name. */
export function without(raw: readonly string[], drop: (name: string) => boolean): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) if (!drop(raw[i]!.toLowerCase())) kept.push(raw[i]!, raw[i + 1]!)
  return kept
}

/** How this endpoint of this provider is authenticated. */
export const authOf = (provider: Provider, endpoint: EndpointRow | null): Auth => endpoint?.auth ?? provider.auth

/**
 * The caller's headers as they go upstream, without any credential: add ours with `withCredential`.
 * `Content-Length` stays; `Transfer-Encoding` is the connection's business.
 */
export function requestHeaders(raw: readonly string[], provider: Provider, endpoint: EndpointRow | null = null): string[] {
  const named = connectionNames(raw)
  const auth = authOf(provider, endpoint).header.toLowerCase()
  return without(
    raw,
    (name) =>
      NEVER_UPSTREAM.has(name) || name === auth || named.has(name) || NEVER_UPSTREAM_PREFIXES.some((prefix) => name.startsWith(prefix)) || (provider.accountChoice?.includes(name) ?? false),
  )
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
  const kept = without(
    raw,
    (name) => NEVER_DOWNSTREAM.has(name) || named.has(name) || (account?.includes(name) ?? false) || (context.cors === true && name.startsWith('access-control-')),
  )
  for (let i = 0; i < kept.length; i += 2) {
    const name = kept[i]!.toLowerCase()
    if (name === 'location') kept[i + 1] = rewriteLocation(kept[i + 1]!, context)
    else if (UPLOAD_ADDRESSES.has(name)) kept[i + 1] = asNamed(kept[i + 1]!, context.upstream)
  }
  return kept
}

/**
 * A redirect's address as the caller has to follow it: `/proxy?url=…` when it is an address that may be called (also when the
 * upstream names itself by the address at which we dial it), else unchanged.
 */
export function rewriteLocation(location: string, { upstream, table, pathAndQuery }: ResponseContext): string {
  const { dial, origin } = upstream
  const base = `${origin}${pathAndQuery}`
  if (!URL.canParse(location, base)) return location
  const url = new URL(location, base)
  if (url.origin === dial.origin || url.origin === origin) {
    const below = dial.basePath !== '' && url.pathname.startsWith(`${dial.basePath}/`)
    // What lies beside our base path at the dialled address is somebody else's.
    if (!below && dial.basePath !== '' && url.origin !== origin) return location
    const inside = below ? url.pathname.slice(dial.basePath.length) : url.pathname
    return throughProxy(`${origin}${inside}${url.search}`) ?? location
  }
  const target = readAddress(url.href.replace(/#.*$/, ''))
  if (!target.ok || table.find(target.upstream.hostname, target.upstream.port) === null) return location
  return throughProxy(url.href) ?? location
}

/** An address by which the upstream names itself where we dial it, as callers name it; any other as it is. */
function asNamed(address: string, { dial, origin }: Upstream): string {
  const base = `${dial.origin}${dial.basePath}`
  return base !== origin && address.startsWith(`${base}/`) ? `${origin}${address.slice(base.length)}` : address
}

/** The proxied form of an address, without fragment and without credentials in its query; null when it could not be called. */
function throughProxy(address: string): string | null {
  const target = readAddress(address.replace(/#.*$/, ''))
  if (!target.ok) return null
  const { hostname, port, pathAndQuery } = target.upstream
  return `/proxy?url=${encodeURIComponent(`https://${hostname}${port === 443 ? '' : `:${port}`}${pathAndQuery}`)}`
}
