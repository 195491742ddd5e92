// A request and its response, as a handler sees them. There are two implementations: for requests
// that our own reader has read (server-exchange.ts), and for those of Node's server
// (node-exchange.ts).
import type { RawHeaders } from './header-fields.ts'
import type { RawConnection } from './raw-connection.ts'

/** Receives a body. */
export interface BodySink {
  /** The next bytes. Keeping them keeps their memory. */
  onData(bytes: Buffer): void
  /** The body is complete. */
  onEnd(trailers: RawHeaders): void
  /** The caller has left in the middle of it. */
  onAborted(): void
}

/** The body of a request. It exerts back-pressure on the caller until it is read. */
export interface RequestBody {
  /** How many bytes were announced; null for a body in chunks. */
  readonly length: number | null
  /** Passes the bytes so far, synchronously, and all later ones to a sink; null: stops. */
  read(sink: BodySink | null): void
  pause(): void
  resume(): void
}

/** Told what becomes of the response. */
export interface ResponseListener {
  /** More can be written. */
  onDrain(): void
  /** The system has taken the whole response. */
  onFinish(): void
  /** The caller has left before that. */
  onClose(): void
  /**
   * The server destroys the connection in a moment, because it shuts down: the last chance to answer.
   */
  onShutdown?(): void
}

/**
 * One request. A response is a head, any number of pieces and an end; they are sent together with
 * the next `flush`.
 */
export interface HttpExchange {
  readonly method: string
  /** As it was sent: path and query. */
  readonly target: string
  readonly headers: readonly string[]
  /** Null where the request has none. */
  readonly body: RequestBody | null
  /** The caller has left: nothing that is written arrives. */
  readonly closed: boolean
  /** A response has begun. */
  readonly headersSent: boolean
  watch(watcher: ResponseListener): void
  /** Asks for the body where the caller waits to be asked (`Expect: 100-continue`). */
  writeContinue(): void
  /** An interim response (1xx); dropped where the caller could not read it. */
  writeInterim(status: number, reason: string, headers: RawHeaders): void
  /**
   * The head of the response. Framing is added: `Content-Length` where the headers have it, else
   * chunks.
   */
  writeHead(status: number, reason: string, headers: RawHeaders): void
  /** Bytes of the response's body; they are copied. */
  write(bytes: Buffer): void
  /** The response is complete. */
  end(trailers?: RawHeaders): void
  /** Sends everything written so far. False: wait for `onDrain` before writing more. */
  flush(): boolean
  /** Ends the connection so that the response cannot be taken for complete. */
  reset(): void
  /**
   * Whether {@link switchProtocols} can succeed: the request has no body, asks for it in HTTP/1.1,
   * and the caller is still there.
   */
  readonly canSwitch: boolean
  /**
   * Answers `101 Switching Protocols` and hands the connection over; the exchange is over, and its
   * listener hears nothing more. Null where the connection cannot be switched: the caller has left,
   * speaks HTTP/1.0, or the server has not seen the request as one that asks for it.
   */
  switchProtocols(headers: RawHeaders): RawConnection | null
}
