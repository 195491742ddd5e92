// The opening handshake of WebSockets (RFC 6455, section 4), for a server and for a client.
import { hash, randomBytes } from 'node:crypto'
import { onlyValueOf, valueOf, valuesOf, type RawHeaders } from '../header-fields.ts'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** The only version. */
export const VERSION = '13'
/** A subprotocol is a token (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Sixteen bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/

/** A client's request. */
export interface Handshake {
  /** `Sec-WebSocket-Key`. */
  readonly key: string
  /** The subprotocols that it offers, in its order. */
  readonly protocols: readonly string[]
}

/**
 * Whether a request asks for a WebSocket, validly or not. It may offer other protocols as well (RFC
 * 9110, section 7.8).
 */
export const asksForWebSocket = (headers: readonly string[]): boolean =>
  valuesOf(headers, 'upgrade').some((value) => hasToken(value, 'websocket'))

/** Reads a client's handshake (section 4.2.1); null if it is not one of version 13. */
export function readHandshake(headers: readonly string[]): Handshake | null {
  const key = onlyValueOf(headers, 'sec-websocket-key') ?? ''
  const isOne =
    hasToken(valuesOf(headers, 'connection').join(','), 'upgrade') &&
    asksForWebSocket(headers) &&
    onlyValueOf(headers, 'sec-websocket-version') === VERSION &&
    KEY.test(key)
  const protocols = offeredProtocols(headers)
  return isOne && protocols.every((one) => TOKEN.test(one)) ? { key, protocols } : null
}

/** The subprotocols of a handshake, even of an invalid one. */
export const offeredProtocols = (headers: readonly string[]): string[] =>
  valuesOf(headers, 'sec-websocket-protocol')
    .flatMap((value) => value.split(','))
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** The headers of a server's response; no extension is agreed on. */
export const acceptHeaders = ({ key }: Handshake, protocol: string | null): RawHeaders => [
  'Upgrade',
  'websocket',
  'Connection',
  'Upgrade',
  'Sec-WebSocket-Accept',
  acceptOf(key),
  ...(protocol === null ? [] : ['Sec-WebSocket-Protocol', protocol]),
]

/** A handshake of our own, for the upstream. */
export function ownHandshake(protocols: readonly string[]): Handshake {
  return { key: randomBytes(16).toString('base64'), protocols }
}

/** The headers of a client's request; it offers no extension. */
export const offerHeaders = ({ key, protocols }: Handshake): RawHeaders => [
  'Upgrade',
  'websocket',
  'Connection',
  'Upgrade',
  'Sec-WebSocket-Version',
  VERSION,
  'Sec-WebSocket-Key',
  key,
  ...(protocols.length === 0 ? [] : ['Sec-WebSocket-Protocol', protocols.join(', ')]),
]

/**
 * Reads the server's response to a handshake of ours (section 4.1).
 * @returns the chosen subprotocol, null for none; undefined if the response is invalid
 */
export function chosenProtocol(
  { key, protocols }: Handshake,
  headers: readonly string[],
): string | null | undefined {
  const chosen = onlyValueOf(headers, 'sec-websocket-protocol')
  const isValid =
    /^websocket$/i.test(valueOf(headers, 'upgrade') ?? '') &&
    hasToken(valuesOf(headers, 'connection').join(','), 'upgrade') &&
    onlyValueOf(headers, 'sec-websocket-accept') === acceptOf(key) &&
    valueOf(headers, 'sec-websocket-extensions') === undefined &&
    chosen !== null &&
    (chosen === undefined || protocols.includes(chosen))
  return isValid ? (chosen ?? null) : undefined
}

const acceptOf = (key: string): string => hash('sha1', `${key}${GUID}`, 'base64')

const hasToken = (list: string, token: string): boolean =>
  list.split(',').some((one) => one.trim().toLowerCase() === token)
