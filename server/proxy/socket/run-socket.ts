// Steps 8 and 9 of a socket: both connections are switched, frames are forwarded, and each row is
// settled.
import type { Clock } from '../../common/clock.ts'
import type { Log } from '../../common/log.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import type { RawConnection } from '../../http1/raw-connection.ts'
import type { CachedKey } from '../../keys/cache.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { AdmittedRequest } from '../admission/admit-request.ts'
import type { InspectionQueue } from '../inspect/scheduler.ts'
import type { ObjectOwners } from '../objects/objects.ts'
import { authorizeAgain } from '../providers/authorize-endpoint.ts'
import type { Match } from '../providers/match.ts'
import type { Provider } from '../providers/provider.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import type { Usage } from '../usage/usage.ts'
import type { HandshakePace } from './handshake-pace.ts'
import { MessageInspector } from './inspect-message.ts'
import { acceptSocket, handshakeModels, type SocketRequest } from './open-socket.ts'
import type { OpenSockets } from './open-sockets.ts'
import { RowWriter } from './row-writer.ts'
import { SocketRows } from './socket-rows.ts'
import { SocketSession, type SocketEnd } from './session.ts'

/** Dependencies shared by all sockets of a process. */
export interface SocketDeps {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly objects: ObjectOwners
  readonly inspectionQueue: InspectionQueue
  readonly sockets: OpenSockets
  readonly handshakes: HandshakePace
  readonly limits: {
    readonly body: number
    readonly grace: number
    readonly idle: number
  }
}

/** A socket to which the provider has agreed. */
export interface SwitchedSocket {
  readonly id: string
  readonly exchange: HttpExchange
  readonly socket: SocketRequest
  readonly provider: Provider
  readonly match: Match
  readonly pathAndQuery: string
  readonly slot: RequestSlot
  readonly admitted: AdmittedRequest
  readonly upstream: RawConnection
  /** The headers of the provider's response, and those of them for the client. */
  readonly headers: RawHeaders
  filter(headers: RawHeaders): RawHeaders
  /** The provider's id of the handshake, once its headers are filtered. */
  upstreamRequestId(): string | null
  readonly key: CachedKey
  /** The current key. @throws GatewayError */
  authenticate(): CachedKey
}

/** The end of a socket, for the log. */
export interface SocketResult extends SocketEnd {
  readonly model: string | null
  readonly usage: Usage
  readonly bytesIn: number
  readonly bytesOut: number
}

/**
 * Runs a socket. Thousands are open at once for hours, so it keeps only what it needs: no promise
 * waits for its end, and no part of the request's head is kept.
 *
 * @param onEnd called once it has ended
 * @throws GatewayError the provider's response was not a handshake, or the caller's connection
 *   cannot be switched; then the reservation still has to be settled, and the provider's connection
 *   is open
 */
export function runSocket(
  deps: SocketDeps,
  switched: SwitchedSocket,
  onEnd: (result: SocketResult) => void,
): void {
  const { id, exchange, socket, provider, match, pathAndQuery, upstream, admitted } = switched
  const { authenticate } = switched
  const client = acceptSocket(exchange, socket, provider, switched.headers, switched.filter)
  const { sockets } = deps
  let { key } = switched
  const currentKey = (): CachedKey => key
  const models = handshakeModels(match, pathAndQuery, exchange.headers)
  const inspector = new MessageInspector(deps, provider, socket.row, currentKey, models)
  const writer = new RowWriter({
    ledger: deps.ledger,
    clock: deps.clock,
    request: admitted.row,
    credential: admitted.credential,
    upstreamRequestId: switched.upstreamRequestId(),
    model: () => inspector.model,
  })
  const rows = new SocketRows(writer, socket.row.counts, admitted.admission, (refusal, isUnpaid) =>
    session.refuseRow(refusal, isUnpaid),
  )
  const session = new SocketSession({
    client,
    upstream,
    provider,
    row: socket.row,
    rows,
    inspector,
    slot: switched.slot,
    log: deps.log,
    onFault: () => deps.handshakes.countFault(key.id),
    onEnd: (end) => {
      sockets.remove(id)
      onEnd(resultOf(end, rows, inspector))
    },
    rpm: admitted.row.child_rpm ?? admitted.row.rpm,
    limits: deps.limits,
  })
  sockets.add({
    id,
    key,
    provider: provider.id,
    endpoint: match.pattern,
    openedAt: deps.clock.now(),
    session,
    authenticate: () => {
      key = authenticate()
      authorizeAgain(key, provider, match, 'GET')
      return key
    },
  })
  session.start()
}

const resultOf = (end: SocketEnd, rows: SocketRows, { model }: MessageInspector): SocketResult => ({
  ...end,
  model,
  usage: rows.total,
  bytesIn: rows.bytes.up,
  bytesOut: rows.bytes.down,
})
