// An upstream's error or redirect on its way to the caller, without our credential where it repeats
// it.
import { isUtf8 } from 'node:buffer'
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import { valueOf, without, type RawHeaders } from '../../http1/header-fields.ts'
import { codingsOf, decodeWhole } from '../forward/content-decoding.ts'
import { DecodedError } from './decoded-error.ts'
import type { Mask } from './mask.ts'
import { maskWhole, PacedMask } from './paced-mask.ts'

/** The sink of a response: the caller's exchange, or a filter before it. */
export type ResponseOutput = Pick<HttpExchange, 'writeHead' | 'write' | 'end' | 'flush'>

/**
 * Maximum bytes, encoded and decoded, of an encoded error that is held until it is known not to
 * contain the credential. A longer one is sent decoded.
 */
const MAX_ENCODED_ERROR = 1024 * 1024

/** What happens to a masked response. */
export interface MaskedResponseListener {
  /** The next bytes, decoded and masked; the memory is lent for the call only. */
  onText(bytes: Buffer): void
  /** Everything so far has been searched: more may be written (`flush` was false). */
  onSearched(): void
  /** Called, at most once, if the error cannot be passed on, or not to its end. */
  onUnmaskable(): void
}

interface Head {
  status: number
  reason: string
  headers: RawHeaders
  /** Null if one of them is unknown: such an error is sent only if it has no body. */
  codings: readonly string[] | null
}

/** Number of pieces that are kept separate; more are joined. */
const MOST_PIECES = 1_000

/**
 * Passes an error on. A plain error streams, except for a few bytes that may be the beginning of
 * the credential. An encoded error is sent when it is complete: unchanged, or decoded if it
 * contains the credential. A long one is decoded while it streams. If it cannot be decoded, or its
 * coding is unknown, it is not sent.
 */
export class MaskedResponse implements ResponseOutput {
  readonly #exchange: HttpExchange
  readonly #owner: Owner
  readonly #mask: Mask
  readonly #listener: MaskedResponseListener
  readonly #plain: PacedMask
  /** The head, the codings and the bytes of an encoded error that is held. */
  #held: Head | null = null
  #pieces: Buffer[] = []
  #length = 0
  #done = false
  /** Decodes a long error. */
  #decoded: DecodedError | null = null
  #trailers: RawHeaders = []

  /** @param owner the owner in whose turns it is searched */
  constructor(exchange: HttpExchange, owner: Owner, mask: Mask, listener: MaskedResponseListener) {
    this.#exchange = exchange
    this.#owner = owner
    this.#mask = mask
    this.#listener = listener
    this.#plain = new PacedMask(mask, owner, {
      write: (bytes) => {
        listener.onText(bytes)
        if (exchange.closed) this.#stop()
        else exchange.write(bytes)
      },
      onTurn: () => {
        if (this.flush()) listener.onSearched()
      },
      end: () => {
        exchange.end(this.#trailers)
        exchange.flush()
      },
    })
  }

  writeHead(status: number, text: string, raw: RawHeaders): void {
    const reason = this.#mask.text(text)
    const headers = this.#mask.headers(raw)
    const codings = this.#exchange.method === 'HEAD' ? [] : codingsOf(raw)
    if (codings?.length === 0) return this.#exchange.writeHead(status, reason, headers)
    this.#held = { status, reason, headers, codings }
  }

  write(bytes: Buffer): void {
    if (this.#held !== null) return this.#hold(this.#held, bytes)
    this.#plain.write(bytes)
  }

  end(trailers: RawHeaders = []): void {
    this.#trailers = this.#mask.headers(trailers)
    if (this.#decoded !== null) this.#decoded.end()
    else if (this.#held === null) this.#plain.end()
    else void this.#decide(this.#held).catch(() => this.#abandon())
  }

  flush(): boolean {
    if (this.#held !== null && this.#decoded === null) return true
    return this.#exchange.flush() && this.#plain.isIdle
  }

  #hold(head: Head, bytes: Buffer): void {
    if (this.#done) return
    if (head.codings === null) return this.#abandon()
    // The memory is only lent.
    const own = Buffer.from(bytes)
    if (this.#decoded !== null) return this.#decoded.write(own)
    this.#length += bytes.length
    this.#pieces.push(own)
    if (this.#length > MAX_ENCODED_ERROR) return void this.#decode(head)
    if (this.#pieces.length > MOST_PIECES) this.#pieces = [Buffer.concat(this.#pieces)]
  }

  #stop(): void {
    this.#done = true
    this.#pieces = []
    this.#decoded?.stop()
    this.#plain.stop()
  }

  #abandon(): void {
    this.#stop()
    this.#listener.onUnmaskable()
  }

  /** Sends an error decoded, beginning with the bytes so far. */
  #decode({ status, reason, headers, codings }: Head): DecodedError {
    const decoded = new DecodedError(codings ?? [], this.#owner, {
      begin: () =>
        this.#exchange.writeHead(
          status,
          reason,
          without(headers, 'content-encoding', 'content-length'),
        ),
      write: (bytes) => {
        this.#plain.write(bytes)
        this.#exchange.flush()
      },
      end: () => this.#plain.end(),
      fail: () => this.#abandon(),
    })
    this.#decoded = decoded
    for (const piece of this.#pieces) decoded.write(piece)
    this.#pieces = []
    return decoded
  }

  /** An encoded error is complete. */
  async #decide(head: Head): Promise<void> {
    if (this.#done) return
    const encoded = Buffer.concat(this.#pieces)
    const decoded = await decodeWhole(head.codings ?? [], encoded, MAX_ENCODED_ERROR, this.#owner)
    // Text was never encoded, whatever its header says. For anything else, it is unknown how a
    // client would read it.
    if (decoded === null && !isUtf8(encoded)) return this.#decode(head).end()
    const { status, reason, headers } = head
    const masked = decoded === null ? null : await maskWhole(this.#mask, this.#owner, decoded)
    const isFound = masked !== null && decoded !== null && !masked.equals(decoded)
    // Bytes after the end of the encoded stream are searched as well.
    const body = isFound ? masked : await maskWhole(this.#mask, this.#owner, encoded)
    this.#listener.onText(masked ?? body)
    if (this.#exchange.closed) return
    this.#exchange.writeHead(status, reason, isFound ? asIdentity(headers, body.length) : headers)
    this.#exchange.write(body)
    this.#exchange.end(this.#trailers)
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
