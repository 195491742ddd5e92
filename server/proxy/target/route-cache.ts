// What an address means, worked out once: steps 1, 3 and 4 depend on nothing but the address, the
// method and the provider table, and callers ask for the same few addresses again and again.
import { copyString } from '../../common/copy-string.ts'
import type { Match } from '../providers/endpoint.ts'
import type { Provider, Upstream } from '../providers/provider.ts'
import type { ProviderTable } from '../providers/table.ts'
import { behindOwnPath, formOf, readTarget, type Target, type TargetForm } from './parse-target.ts'
import { destinationOf, type Destination } from '../../http1/client/client.ts'

export interface Route {
  readonly target: Target
  readonly form: TargetForm
  readonly table: ProviderTable
  /** Whose address it is; null where nobody's, or the target is none. */
  readonly named: Upstream | null
  /** In whose way a refusal is written where the address is nobody's. */
  readonly near: Provider | null
  /**
   * Set by whoever has classified it, and by whoever has dialled it: only for callers that have
   * proven who they are.
   */
  match: Match | null
  dial: Destination | null
}

export interface Ways {
  /** The route of a raw request target (`/proxy?url=…`, `/proxy/<host>/…`). */
  routeOf(method: string, url: string): Route
  /**
   * Where an upstream is dialled; the same object for the same place, because connections are
   * pooled by it.
   */
  dialFor(named: Upstream): Destination
}

/**
 * Routes that are kept, and the longest address among them. When there are more, all are worked out
 * again.
 */
const MOST = 2_000
const LONGEST = 1_024

/** @param tableNow the provider table as it is now: stored credentials may add hosts to it */
export function createWays(tableNow: () => ProviderTable): Ways {
  const routes = new Map<string, Map<string, Route>>()
  let kept = 0
  const dials = new Map<string, Destination>()
  let table = tableNow()

  return {
    routeOf(method, url) {
      if (table !== tableNow() || kept >= MOST) {
        table = tableNow()
        routes.clear()
        kept = 0
      }
      let known = routes.get(method)
      const route = known?.get(url)
      if (route !== undefined) return route
      const own = copyString(url)
      const target = readTarget(own)
      const named = target.ok ? table.find(target.upstream.hostname, target.upstream.port) : null
      const made: Route = {
        target,
        form: formOf(own),
        table,
        named,
        near: named?.provider ?? table.near(hostIn(own)),
        match: null,
        dial: null,
      }
      if (url.length > LONGEST) return made
      if (known === undefined) routes.set(method, (known = new Map()))
      known.set(own, made)
      kept++
      return made
    },
    dialFor({ origin, dial }) {
      const base = `${dial.origin}${dial.basePath}`
      const name = `${origin} ${base}`
      let known = dials.get(name)
      if (known === undefined) {
        const own = new URL(origin)
        dials.set(
          name,
          (known = base === origin ? destinationOf(own) : destinationOf(own, new URL(base))),
        )
      }
      return known
    },
  }
}

/** The host that a target seems to name, however it is written; `''` for none. */
function hostIn(target: string): string {
  const named = behindOwnPath(target)
  const host = named.startsWith('/')
    ? /^\/([a-z0-9.-]{1,253})/i
    : /https?(?::|%3a)(?:\/|%2f){2}([a-z0-9.-]{1,253})/i
  return host.exec(named)?.[1] ?? ''
}
