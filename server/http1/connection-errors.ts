// Errors that are sent before a handler sees the request. The owner of the server supplies their
// wording.
import type { RequestError } from './request-parser.ts'

/** Why a connection is refused before a handler gets a request. */
export type ConnectionErrorCode = RequestError['code'] | 'request_timeout' | 'too_many_connections'

/** Those, and the reasons of Node's server alone: a tunnel, an upload that ends too early. */
export type ServerErrorCode = ConnectionErrorCode | 'method_not_allowed' | 'invalid_file'

/** An error response. */
export interface ErrorBody {
  readonly status: number
  /** The reason phrase. */
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Words errors; given by the owner of the server. */
export interface ConnectionErrors {
  /**
   * The error for bytes that no handler sees; logs it. @param isDirect whether our own reader had
   * the connection
   */
  ofConnection(code: ServerErrorCode, message: string, isDirect: boolean): ErrorBody
  /** The error for a request that Node's server has read. */
  ofRequest(code: ConnectionErrorCode, message: string): ErrorBody
}

/** The error for too many connections or requests of one address. */
export const TOO_MANY_CONNECTIONS = [
  'too_many_connections',
  'Too many requests from this address are in progress. Try again in a moment.',
] as const

/** The bytes of an error, after which the connection is closed. @param now since 1970 (ms) */
export function errorResponse({ status, reason, headers, body }: ErrorBody, now: number): Buffer {
  const all = {
    date: new Date(now).toUTCString(),
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`)
}
