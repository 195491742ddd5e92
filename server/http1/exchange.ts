// A request and its response, as a handler sees them. There are two implementations: for requests
// read by our own reader (server-exchange.ts), and for those of Node's server (node-exchange.ts).
import type { RawHeaders } from './header-fields.ts'
import type { RawConnection } from './raw-connection.ts'

/** Receives a body. */
export interface BodySink {
  /** The next bytes. They may be kept, but that keeps their whole buffer alive. */
  onData(bytes: Buffer): void
  /** The body is complete. */
  onEnd(trailers: RawHeaders): void
  /** The caller left before the body was complete. */
  onAborted(): void
}

/** The body of a request. While it is not read, back-pressure stops the caller. */
export interface RequestBody {
  /** The announced length in bytes; null for a chunked body. */
  readonly length: number | null
  /** Passes the bytes so far (synchronously) and all later ones to a sink; null stops that. */
  read(sink: BodySink | null): void
  pause(): void
  resume(): void
}

/** Receives events about the response. */
export interface ResponseListener {
  /** More bytes can be written. */
  onDrain(): void
  /** The system has accepted the whole response. */
  onFinish(): void
  /** The caller left before that. */
  onClose(): void
  /**
   * The server is shutting down and about to destroy the connection: the last chance to respond.
   */
  onShutdown?(): void
}

/**
 * One request. A response is a head, any number of pieces and an end; they are sent by the next
 * `flush`.
 */
export interface HttpExchange {
  readonly method: string
  /** The target as sent: path and query. */
  readonly target: string
  readonly headers: readonly string[]
  /** Null if the request has no body; a handshake may say so with a `Content-Length` of 0. */
  readonly body: RequestBody | null
  /** Whether the caller has left, so that nothing written will arrive. */
  readonly closed: boolean
  /** Whether the response has begun. */
  readonly headersSent: boolean
  /** Sets the listener to the events of the response. */
  watch(listener: ResponseListener): void
  /** Sends `100 Continue` if the caller waits for it (`Expect: 100-continue`). */
  writeContinue(): void
  /** Sends an interim response (1xx); dropped if the caller could not read it. */
  writeInterim(status: number, reason: string, headers: RawHeaders): void
  /**
   * Writes the head of the response. Framing is added: by `Content-Length` if the headers have it,
   * else chunked.
   */
  writeHead(status: number, reason: string, headers: RawHeaders): void
  /** Writes bytes of the response's body; they are copied. */
  write(bytes: Buffer): void
  /** Ends the response. */
  end(trailers?: RawHeaders): void
  /** Sends everything written so far. False: wait for `onDrain` before writing more. */
  flush(): boolean
  /** Ends the connection in a way that cannot be taken for the end of the response. */
  reset(): void
  /**
   * Whether {@link switchProtocols} can succeed: the request has no body, asks for it in HTTP/1.1,
   * and the caller is still there.
   */
  readonly canSwitch: boolean
  /**
   * Sends `101 Switching Protocols` and hands the connection over; the exchange is over, and its
   * listener gets no more events. Null if the connection cannot be switched: the caller has left or
   * speaks HTTP/1.0, or the server did not recognize the request as one that asks for it.
   */
  switchProtocols(headers: RawHeaders): RawConnection | null
}
