// The input of steps 7 and 8, and their result.
import type { UpstreamError } from '../../http1/client/client.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import type { RawConnection } from '../../http1/raw-connection.ts'
import type { AdmittedRequest } from '../admission/admit-request.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import type { InspectedRequest } from '../inspect/inspected-request.ts'
import type { ObjectRequest } from '../objects/ownership.ts'
import type { Upstream } from '../providers/provider.ts'
import type { SocketRequest } from '../socket/open-socket.ts'
import type { Route } from '../find-route.ts'

/** A request to forward to a provider. */
export interface UpstreamRequest extends ObjectRequest {
  readonly pathAndQuery: string
}

/** An admitted request, its upstream and its credential. */
export interface Forwardable {
  readonly route: Route
  readonly upstream: Upstream
  readonly slot: RequestSlot
  readonly request: UpstreamRequest
  readonly inspected: InspectedRequest
  readonly admitted: AdmittedRequest
  /** The requested socket; null for an ordinary request. */
  readonly socket: SocketRequest | null
}

/** How a relayed request ended. */
export type RelayResult = {
  /**
   * `complete`: the caller got the whole response. `failed`: there was no response, and the caller
   * has nothing yet. `broken`: the upstream failed midway, and the caller's connection was reset.
   * `aborted`: the caller left. `shutdown`: this server stopped before the response was complete.
   * `switched`: see below.
   */
  outcome: 'switched' | 'complete' | 'failed' | 'broken' | 'aborted' | 'shutdown'
  /** The upstream's status, once its head has arrived. */
  status: number | null
  error: UpstreamError | null
  /** Body bytes of the request sent upstream, and of the response sent to the caller. */
  bytesIn: number
  bytesOut: number
  /** The connection, if the provider has switched protocols; the caller has nothing yet. */
  switched?: { readonly headers: RawHeaders; readonly connection: RawConnection }
}
