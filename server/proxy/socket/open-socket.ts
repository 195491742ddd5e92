// A request that asks for a WebSocket: checks that its endpoint is one, and opens it once the
// provider has agreed.
import type { RawConnection } from '../../http1/raw-connection.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import { without, type RawHeaders } from '../../http1/header-fields.ts'
import {
  acceptHeaders,
  chosenProtocol,
  offerHeaders,
  ownHandshake,
  readHandshake,
  VERSION,
  type Handshake,
} from '../../http1/websocket/handshake.ts'
import { GatewayError } from '../gateway-error.ts'
import { headerModels, queryModels } from '../inspect/outside-body.ts'
import { parametersOf } from '../providers/endpoint.ts'
import type { Match } from '../providers/match.ts'
import type { Provider } from '../providers/provider.ts'
import type { SocketRow } from '../providers/socket-row.ts'
import { selectedProtocol, forwardedProtocols } from './subprotocols.ts'

/** A requested socket. */
export interface SocketRequest {
  readonly row: SocketRow
  readonly handshake: Handshake
  /** Our handshake with the provider. */
  readonly own: Handshake
}

const NOT_SWITCHABLE =
  'The connection cannot carry a WebSocket: it has ended, speaks HTTP/1.0, or had an earlier request in progress.'

/**
 * Reads the socket that a request asks for.
 * @throws GatewayError `upgrade_not_supported` if its endpoint is not a socket or its connection
 *   cannot carry one, `malformed_request`
 */
export function socketOf(
  exchange: HttpExchange,
  { endpoint }: Match,
  pathAndQuery: string,
): SocketRequest {
  const { method, headers, body } = exchange
  const row = endpoint?.socket
  if (row === undefined || method !== 'GET')
    throw new GatewayError(
      'upgrade_not_supported',
      'The proxy does not support WebSockets at this address. Use an endpoint of the provider that answers over HTTP.',
    )
  const handshake = body === null ? readHandshake(headers) : null
  if (handshake === null)
    throw new GatewayError(
      'malformed_request',
      'The request is not a WebSocket handshake (RFC 6455, version 13).',
      // Section 4.4: clients that speak several versions choose by it.
      ['Sec-WebSocket-Version', VERSION],
    )
  if (!exchange.canSwitch) throw new GatewayError('upgrade_not_supported', NOT_SWITCHABLE)
  return {
    row: rowFor(row, pathAndQuery),
    handshake,
    own: ownHandshake(forwardedProtocols(handshake.protocols)),
  }
}

/**
 * The kind of a socket, from its query; if that names a model, the kind is the model's purpose.
 */
function rowFor(row: SocketRow, pathAndQuery: string): SocketRow {
  if (row.instead === undefined) return row
  const [name, value] = row.instead.query
  const values = parametersOf(queryOf(pathAndQuery)).flatMap(([one, text]) =>
    one === name ? [text] : [],
  )
  const isOther = values.length === 1 && values[0] === value
  return isOther && queryModels(pathAndQuery)?.length === 0 ? row.instead.socket : row
}

const queryOf = (pathAndQuery: string): string => pathAndQuery.split('?')[1] ?? ''

/** The headers of our handshake with the provider. */
export const upgradeHeaders = ({ own }: SocketRequest): RawHeaders => offerHeaders(own)

/** The models that a handshake names: in the path, the headers or the query. */
export function handshakeModels(
  { model, endpoint }: Match,
  pathAndQuery: string,
  headers: readonly string[],
): readonly string[] {
  const place = endpoint?.model
  const named = place !== undefined && 'headers' in place ? (place.headers ?? []) : []
  return [
    ...(model === null ? [] : [model]),
    ...(queryModels(pathAndQuery, place) ?? []),
    ...headerModels(named, headers),
  ]
}

const HANDSHAKE_HEADERS = [
  'upgrade',
  'connection',
  'sec-websocket-accept',
  'sec-websocket-protocol',
  'sec-websocket-extensions',
  'content-length',
]

/**
 * Responds to the client's handshake as the provider has responded to ours.
 * @throws GatewayError `upstream_unreachable` if the provider's handshake is invalid,
 *   `upgrade_not_supported` if the client has disconnected or speaks HTTP/1.0
 */
export function acceptSocket(
  exchange: HttpExchange,
  { handshake, own }: SocketRequest,
  provider: Provider,
  responseHeaders: RawHeaders,
  filter: (headers: RawHeaders) => RawHeaders,
): RawConnection {
  const chosen = chosenProtocol(own, responseHeaders)
  if (chosen === undefined)
    throw new GatewayError(
      'upstream_unreachable',
      `${provider.name} did not answer the handshake of a WebSocket.`,
    )
  const protocol = selectedProtocol(handshake.protocols, own.protocols, chosen)
  const headers = filter(without(responseHeaders, ...HANDSHAKE_HEADERS))
  const client = exchange.switchProtocols([...acceptHeaders(handshake, protocol), ...headers])
  if (client === null) throw new GatewayError('upgrade_not_supported', NOT_SWITCHABLE)
  return client
}
