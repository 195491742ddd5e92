// Caches the meaning of addresses: steps 1, 3 and 4 depend only on the address, the method and the
// provider table, and callers use the same few addresses again and again.
import { copyString } from '../../common/copy-string.ts'
import type { Match } from '../providers/endpoint.ts'
import type { Provider, Upstream } from '../providers/provider.ts'
import type { ProviderTable } from '../providers/table.ts'
import {
  afterProxyPath,
  targetForm,
  readTarget,
  type KeyParametersOf,
  type Target,
  type TargetForm,
} from './parse-target.ts'
import { destinationOf, type Destination } from '../../http1/client/client.ts'

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
  /** The route of a raw request target (`/proxy?url=…`, `/proxy/<host>/…`). */
  find(method: string, url: string): Route
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

/**
 * @param currentTable returns the current provider table: stored credentials may add hosts to it
 */
export function createRouteCache(currentTable: () => ProviderTable): RouteCache {
  const routes = new Map<string, Map<string, Route>>()
  let kept = 0
  const dials = new Map<string, Destination>()
  let table = currentTable()
  const keyParametersOf: KeyParametersOf = (hostname, port) =>
    table.find(hostname, port)?.provider.keyParameters ?? []

  return {
    find(method, url) {
      if (table !== currentTable() || kept >= MAX_ROUTES) {
        table = currentTable()
        routes.clear()
        kept = 0
      }
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
  const host = named.startsWith('/')
    ? /^\/([a-z0-9.-]{1,253})/i
    : /https?(?::|%3a)(?:\/|%2f){2}([a-z0-9.-]{1,253})/i
  return host.exec(named)?.[1] ?? ''
}
