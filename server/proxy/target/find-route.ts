// Step 1: reads the upstream address that a request names.
import type { HttpExchange } from '../../http1/exchange.ts'
import { METHODS } from '../forward/cors.ts'
import { GatewayError } from '../gateway-error.ts'
import { onlyValueOf, nameAt, valueAt } from '../../http1/header-fields.ts'
import { asksForWebSocket } from '../../http1/websocket/handshake.ts'
import { PRINTABLE, readAddress, type UpstreamAddress } from './parse-target.ts'
import type { Upstream } from '../providers/provider.ts'
import type { Route, RouteCache } from './route-cache.ts'

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
export function effectiveTarget(target: string, headers: readonly string[]): string {
  if (!isBare(target)) return target
  const address = onlyValueOf(headers, TARGET_HEADER)
  if (address === undefined) return target
  return `/proxy?url=${address === null ? '' : PRINTABLE.test(address) ? encodeURIComponent(address) : address}`
}

/** The route of a request's target, even if it may not be called. */
export function findRoute(routes: RouteCache, { method, target, headers }: HttpExchange): Route {
  return routes.find(method, effectiveTarget(target, headers))
}

/**
 * The address of a route.
 * @throws GatewayError `method_not_allowed`, `invalid_upstream_url`
 */
export function addressOf({ target, upstream }: Route, exchange: HttpExchange): UpstreamAddress {
  const { method, headers } = exchange
  if (!METHOD_SET.has(method))
    throw new GatewayError('method_not_allowed', `The proxy passes on ${METHODS.join(', ')}.`)
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
      `The header ${TARGET_HEADER} names another address than the request's target. Send one of them.`,
    )
}
