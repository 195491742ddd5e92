// Step 1: reads the upstream address that a request names. The meaning of an address is cached:
// steps 1, 3 and 4 depend only on the address, the method and the provider table, and callers use
// the same few addresses again and again.
import { copyString } from '../common/copy-string.ts'
import { destinationOf, type Destination } from '../http1/client/client.ts'
import type { HttpExchange } from '../http1/exchange.ts'
import { nameAt, onlyValueOf, valueAt } from '../http1/header-fields.ts'
import { asksForWebSocket } from '../http1/websocket/handshake.ts'
import { METHODS } from './forward/cors.ts'
import { GatewayError } from './gateway-error.ts'
import type { Match } from './providers/match.ts'
import type { Provider, Upstream } from './providers/provider.ts'
import type { ProviderTable } from './providers/table.ts'
import {
  afterProxyPath,
  PRINTABLE,
  readAddress,
  readTarget,
  targetForm,
  type KeyParametersOf,
  type Target,
  type TargetForm,
  type UpstreamAddress,
} from './parse-target.ts'

const METHOD_SET: ReadonlySet<string> = new Set(METHODS)

/**
 * What browsers may do with a response in addition to reading it:
 * https://www.w3.org/TR/fetch-metadata/
 */
const DESTINATIONS: ReadonlySet<string> = new Set(['empty', 'audio', 'video', 'image'])
const FETCH_MODE = 'sec-fetch-mode'
const FETCH_DESTINATION = 'sec-fetch-dest'

/** Some browsers send their own value for sockets, whose content they never show. */
const isSocket = (destination: string, headers: readonly string[]): boolean =>
  destination === 'websocket' && asksForWebSocket(headers)

/**
 * Refuses requests whose response a browser would show or run with our origin.
 * @throws GatewayError `origin_not_allowed`
 */
export function refuseNavigation(headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = nameAt(headers, i)
    // Both names have the same length, so for nearly all headers, only the length is checked.
    if (name.length !== FETCH_MODE.length) continue
    const lower = name.toLowerCase()
    const value = valueAt(headers, i)
    if (
      (lower === FETCH_MODE && value === 'navigate') ||
      (lower === FETCH_DESTINATION && !DESTINATIONS.has(value) && !isSocket(value, headers))
    )
      throw new GatewayError(
        'origin_not_allowed',
        'Responses of the proxy are for programs. A browser may not open them as a page, a frame or a script.',
      )
  }
}

/**
 * fal's client sends all requests to one address, and names the target in this header
 * (@fal-ai/client, `proxyUrl`).
 */
export const TARGET_HEADER = 'x-fal-target-url'
/** The length of the longest raw target without an address. */
const MAX_BARE_LENGTH = '/proxy/'.length
/** Whether a raw request target names no address. */
export const isBare = (target: string): boolean => target.length <= MAX_BARE_LENGTH

/**
 * The raw request target; if it names no address, the header's address as if it were the parameter.
 */
function effectiveTarget(target: string, headers: readonly string[]): string {
  if (!isBare(target)) return target
  const address = onlyValueOf(headers, TARGET_HEADER)
  if (address === undefined) return target
  return `/proxy?url=${address === null ? '' : PRINTABLE.test(address) ? encodeURIComponent(address) : address}`
}

/** The meaning of an address for one provider table; immutable, shared by requests. */
export interface Route {
  readonly target: Target
  readonly form: TargetForm
  readonly table: ProviderTable
  /** The provider of the address; null if it is unknown, or the target is invalid. */
  readonly upstream: Upstream | null
  /** The provider whose error format is used if the address is unknown. */
  readonly errorStyle: Provider | null
  /** Set when it is classified, and when it is dialled; only for authenticated callers. */
  match: Match | null
  destination: Destination | null
}

/** Caches routes. One per process; a new provider table empties it. */
export interface RouteCache {
  /**
   * The route of a request's target (`/proxy?url=…`, `/proxy/<host>/…`), even if it may not be
   * called.
   */
  find(request: Pick<HttpExchange, 'method' | 'target' | 'headers'>): Route
  /**
   * The destination of an upstream; the same object for the same address, because connections are
   * pooled by it.
   */
  destinationFor(named: Upstream): Destination
}

/**
 * Maximum number of cached routes, and of characters of a cached address. When there are more, the
 * cache is emptied.
 */
const MAX_ROUTES = 2_000
const MAX_ADDRESS_LENGTH = 1_024

/** @param current has the current provider table: stored credentials may add hosts to it */
export function createRouteCache(current: { readonly table: ProviderTable }): RouteCache {
  const routes = new Map<string, Map<string, Route>>()
  let kept = 0
  const dials = new Map<string, Destination>()
  let { table } = current
  const keyParametersOf: KeyParametersOf = (hostname, port) =>
    table.find(hostname, port)?.provider.keyParameters ?? []

  return {
    find({ method, target: rawTarget, headers }) {
      if (table !== current.table || kept >= MAX_ROUTES) {
        table = current.table
        routes.clear()
        kept = 0
      }
      const url = effectiveTarget(rawTarget, headers)
      let known = routes.get(method)
      const cached = known?.get(url)
      if (cached !== undefined) return cached
      const ownedUrl = copyString(url)
      const target = readTarget(ownedUrl, keyParametersOf)
      const upstream = target.ok ? table.find(target.upstream.hostname, target.upstream.port) : null
      const route: Route = {
        target,
        form: targetForm(ownedUrl),
        table,
        upstream,
        errorStyle: upstream?.provider ?? table.findByDomain(hostIn(ownedUrl)),
        match: null,
        destination: null,
      }
      if (url.length > MAX_ADDRESS_LENGTH) return route
      if (known === undefined) routes.set(method, (known = new Map()))
      known.set(ownedUrl, route)
      kept++
      return route
    },
    destinationFor({ origin, dial }) {
      const base = `${dial.origin}${dial.basePath}`
      const name = `${origin} ${base}`
      let known = dials.get(name)
      if (known === undefined) {
        // Bounded, because callers choose the hosts of a family.
        if (dials.size >= MAX_ROUTES) dials.clear()
        const originUrl = new URL(origin)
        dials.set(
          name,
          (known =
            base === origin ? destinationOf(originUrl) : destinationOf(originUrl, new URL(base))),
        )
      }
      return known
    },
  }
}

/** The host that a target seems to name, in any form; `''` for none. */
function hostIn(target: string): string {
  const named = afterProxyPath(target)
  // A target with /proxy twice is invalid, but its parameter shows whose SDK sent it.
  const host = /^\/(?!proxy\/?\?)/.test(named)
    ? /^\/([a-z0-9.-]{1,253})/i
    : /https?(?::|%3a)(?:\/|%2f){2}([a-z0-9.-]{1,253})/i
  return host.exec(named)?.[1] ?? ''
}

/**
 * The address of a route.
 * @throws GatewayError `method_not_allowed`, `invalid_upstream_url`
 */
export function addressOf({ target, upstream }: Route, exchange: HttpExchange): UpstreamAddress {
  const { method, headers } = exchange
  if (!METHOD_SET.has(method))
    throw new GatewayError('method_not_allowed', `The proxy accepts only ${METHODS.join(', ')}.`)
  if (!target.ok) throw new GatewayError('invalid_upstream_url', target.message)
  if (!isBare(exchange.target)) refuseOtherTarget(target.upstream, upstream, headers)
  return target.upstream
}

/** Refuses a header that names another address than the target does. */
function refuseOtherTarget(
  address: UpstreamAddress,
  named: Upstream | null,
  headers: readonly string[],
): void {
  const header = onlyValueOf(headers, TARGET_HEADER)
  if (header === undefined) return
  const other = readAddress(header ?? '', () => named?.provider.keyParameters ?? [])
  if (
    !other.ok ||
    other.upstream.hostname !== address.hostname ||
    other.upstream.port !== address.port ||
    other.upstream.pathAndQuery !== address.pathAndQuery
  )
    throw new GatewayError(
      'invalid_upstream_url',
      `The header ${TARGET_HEADER} names a different address from the request's target. Send only one of them.`,
    )
}
