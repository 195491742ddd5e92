// Rewrites response headers whose value is an address: of a redirect, or of an upload's next
// request.
import { BROWSER_CHALLENGE } from './header-rules.ts'
import type { Mask } from '../masking/mask.ts'
import type { Upstream } from '../providers/provider.ts'
import type { ProviderTable } from '../providers/table.ts'
import { readAddress, type TargetForm } from '../parse-target.ts'

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
 * The address of an upload's next request (https://ai.google.dev/api/files), which the caller sends
 * to us again.
 */
const UPLOAD_ADDRESSES = ['x-goog-upload-url', 'x-goog-upload-control-url']

/** Rewrites a value on its way to the caller. */
export type Rewrite = (value: string, context: ResponseContext) => string | null

/** TABLE of headers whose values are rewritten; null: the header is left out. */
export const REWRITES: ReadonlyMap<string, Rewrite> = new Map<string, Rewrite>([
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
