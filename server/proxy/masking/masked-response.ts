// An upstream's error or redirect on its way to the caller, without our credential where it repeats
// it.
import { isUtf8 } from 'node:buffer'
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import { valueOf, without, type RawHeaders } from '../../http1/header-fields.ts'
import { codingsOf, decodeWhole } from '../forward/content-decoding.ts'
import { DecodedError } from './decoded-error.ts'
import { MaskedStream, type Mask } from './mask.ts'

/** The sink of a response: the caller's exchange, or a filter before it. */
export type ResponseOutput = Pick<HttpExchange, 'writeHead' | 'write' | 'end' | 'flush'>

/**
 * Maximum bytes, encoded and decoded, of an encoded error that is held until it is known not to
 * contain the credential. A longer one is sent decoded.
 */
const MAX_ENCODED_ERROR = 1024 * 1024

interface Head {
  status: number
  reason: string
  headers: RawHeaders
}

/** Number of pieces that are kept separate; more are joined. */
const MOST_PIECES = 1_000

/**
 * Passes an error on. A plain error streams, except for a few bytes that may be the beginning of
 * the credential. An encoded error is sent when it is complete: unchanged, or decoded if it
 * contains the credential. A long one is decoded while it streams. If it cannot be decoded, it is
 * not sent.
 */
export class MaskedResponse implements ResponseOutput {
  readonly #exchange: HttpExchange
  readonly #owner: Owner
  readonly #mask: Mask
  readonly #onUnmaskable: () => void
  readonly #plain: MaskedStream
  /** The head and the bytes of an encoded error that is held. */
  #held: Head | null = null
  #codings: readonly string[] = []
  #pieces: Buffer[] = []
  #length = 0
  #done = false
  /** Decodes a long error. */
  #decoded: DecodedError | null = null
  #trailers: RawHeaders = []

  /**
   * @param owner the owner in whose turns an encoded error is read
   * @param onUnmaskable called at most once: the error cannot be passed on, or no further
   */
  constructor(exchange: HttpExchange, owner: Owner, mask: Mask, onUnmaskable: () => void) {
    this.#exchange = exchange
    this.#owner = owner
    this.#mask = mask
    this.#onUnmaskable = onUnmaskable
    this.#plain = new MaskedStream(mask)
  }

  writeHead(status: number, text: string, raw: RawHeaders): void {
    const reason = this.#mask.text(text)
    const headers = this.#mask.headers(raw)
    const codings = this.#exchange.method === 'HEAD' ? [] : codingsOf(raw)
    // An unknown coding most likely means that there is none, so such a body is searched unchanged.
    if (codings === null || codings.length === 0)
      return this.#exchange.writeHead(status, reason, headers)
    this.#held = { status, reason, headers }
    this.#codings = codings
  }

  write(bytes: Buffer): void {
    if (this.#held !== null) return this.#hold(bytes)
    const ready = this.#plain.write(bytes)
    if (ready.length > 0) this.#exchange.write(ready)
  }

  end(trailers: RawHeaders = []): void {
    const masked = this.#mask.headers(trailers)
    if (this.#decoded !== null) {
      this.#trailers = masked
      return this.#decoded.end()
    }
    if (this.#held !== null)
      return void this.#decide(this.#held, masked).catch(() => this.#abandon())
    const rest = this.#plain.end()
    if (rest.length > 0) this.#exchange.write(rest)
    this.#exchange.end(masked)
  }

  flush(): boolean {
    return this.#held === null ? this.#exchange.flush() : true
  }

  #hold(bytes: Buffer): void {
    if (this.#done) return
    // The memory is only lent.
    const own = Buffer.from(bytes)
    if (this.#decoded !== null) return this.#decoded.write(own)
    this.#length += bytes.length
    this.#pieces.push(own)
    if (this.#length > MAX_ENCODED_ERROR) return this.#decode()
    if (this.#pieces.length > MOST_PIECES) this.#pieces = [Buffer.concat(this.#pieces)]
  }

  #abandon(): void {
    this.#done = true
    this.#pieces = []
    this.#decoded?.stop()
    this.#onUnmaskable()
  }

  /** Sends an error decoded, beginning with the bytes so far. */
  #decode(): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- called while the head is held
    const { status, reason, headers } = this.#held!
    const exchange = this.#exchange
    this.#decoded = new DecodedError(this.#codings, this.#owner, this.#mask, {
      begin: () =>
        exchange.writeHead(status, reason, without(headers, 'content-encoding', 'content-length')),
      write: (bytes) => {
        if (exchange.closed) return this.#decoded?.stop()
        exchange.write(bytes)
        exchange.flush()
      },
      end: () => {
        exchange.end(this.#trailers)
        exchange.flush()
      },
      fail: () => this.#abandon(),
    })
    for (const piece of this.#pieces) this.#decoded.write(piece)
    this.#pieces = []
  }

  /** An encoded error is complete. */
  async #decide({ status, reason, headers }: Head, trailers: RawHeaders): Promise<void> {
    if (this.#done) return
    const encoded = Buffer.concat(this.#pieces)
    const decoded = await decodeWhole(this.#codings, encoded, MAX_ENCODED_ERROR)
    // Text was never encoded, whatever its header says. For anything else, it is unknown how a
    // client would read it.
    if (decoded === null && !isUtf8(encoded)) {
      this.#trailers = trailers
      this.#decode()
      return this.#decoded?.end()
    }
    if (this.#exchange.closed) return
    const masked = decoded === null ? null : this.#mask.whole(decoded)
    const found = masked !== null && masked !== decoded
    this.#exchange.writeHead(status, reason, found ? asIdentity(headers, masked.length) : headers)
    // Bytes after the end of the encoded stream are searched as well.
    this.#exchange.write(found ? masked : this.#mask.whole(encoded))
    this.#exchange.end(trailers)
    this.#exchange.flush()
  }
}

/** The headers of a body that was decoded. */
function asIdentity(headers: RawHeaders, length: number): RawHeaders {
  const rest = without(headers, 'content-encoding', 'content-length')
  return valueOf(headers, 'content-length') === undefined
    ? rest
    : [...rest, 'Content-Length', String(length)]
}
