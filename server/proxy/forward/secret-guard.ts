// Holds the response of an unknown endpoint until it is known to contain no credential, because a
// minted credential would escape every limit of the key.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import { valueOf, type RawHeaders } from '../../http1/header-fields.ts'
import { ForwardingExchange } from '../../http1/forwarding-exchange.ts'
import { KeyedStrings } from '../inspect/keyed-strings.ts'
import { looseName } from '../providers/object-ref.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import { codingsOf, decodeWhole } from './content-decoding.ts'

/** Maximum bytes of a response that are held; a minting endpoint sends a few hundred. */
const MAX_HELD_BYTES = 256 * 1024
/** Longest credential that is recognized: tokens of cloud accounts have 4 KB. */
const LONGEST_SECRET = 16_384

/** Media, and streams that clients read before they end; they contain no credential. */
const PASSES =
  /^(?:text\/event-stream|(?:audio|video|image|font)\/|multipart\/|application\/(?:octet-stream|pdf|zip|x-ndjson|jsonl|x-protobuf|vnd\.amazon\.eventstream))/i

/** Chunked text is a stream, too, unless it is data. */
const DATA = /^$|json|xml|urlencoded/i

/**
 * TABLE of keys under which servers return a credential, in loose spelling: OpenAI `client_secret`,
 * Deepgram `access_token`, Speechmatics `key_value`, Soniox `api_key`, AWS `SecretAccessKey`.
 */
const GIVES_SECRET =
  /^(?:(?:client|api|app|shared|webhook|signing|access|session|user|ephemeral|temporary|secret|private)*secret(?:key|value|accesskey)?|(?:api|secret|private|access|ephemeral|temporary|auth|publishable|client)keys?(?:value)?|keyvalue|(?:access|auth|refresh|session|bearer|id|api|ephemeral|temporary|client|user|security|singleuse)?tokens?|jwt|bearer|passwords?|credentials?)$/
/** Keys inside such a member that contain it: `client_secret: {value}`. */
const HOLDS_SECRET = /^(?:values?|secrets?|keys?|tokens?|data)$/
/** A credential: a long text with letters and digits, without spaces. */
const SECRET = /^(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[\w.~+/=:-]{16,}$/
/** The same in text other than JSON: forms, XML. */
const IN_TEXT =
  /(?:secret|api_?key|access_?key|access_?token|auth_?token|session_?token|refresh_?token|id_?token)\w*["']?\s*(?:[=:]|>)\s*["']?(?=[^\d\s]*\d)[\w.~+/=:-]{16,}/i

/** Whether a decoded response, or its beginning, contains a credential. */
export function givesCredential(body: Buffer): boolean {
  let found = false
  const reader = new KeyedStrings(
    {
      kindOf: (key, outer) => {
        const name = looseName(key)
        return GIVES_SECRET.test(name) || (outer !== null && HOLDS_SECRET.test(name))
          ? 'secret'
          : null
      },
      onString: (_, text) => void (found ||= SECRET.test(text)),
      onKey() {},
    },
    LONGEST_SECRET,
  )
  reader.write(body)
  return (
    found || (!/^\s*[[{]/.test(body.toString('latin1', 0, 64)) && IN_TEXT.test(body.toString()))
  )
}

/**
 * Why a response is replaced: it contains a credential, may contain one, or there is no room for
 * it.
 */
export type Withheld = 'secret' | 'unreadable' | 'busy'

/** The exchange of a request to an unknown endpoint. It lives as long as the request. */
export class SecretGuard extends ForwardingExchange {
  readonly #owner: Owner
  readonly #slot: RequestSlot
  readonly #sendError: (reason: Withheld) => void
  #head: [status: number, reason: string, headers: RawHeaders] | null = null
  /** Null if nothing is held. */
  #held: Buffer[] | null = null
  #length = 0
  /** Whether we have sent our own error. */
  replaced = false

  /**
   * @param owner the owner in whose turns it is decoded. @param sendError sends one of our errors
   */
  constructor(
    exchange: HttpExchange,
    owner: Owner,
    slot: RequestSlot,
    sendError: (reason: Withheld) => void,
  ) {
    super(exchange)
    this.#owner = owner
    this.#slot = slot
    this.#sendError = sendError
  }

  override writeHead(status: number, reason: string, headers: RawHeaders): void {
    const type = valueOf(headers, 'content-type')?.trim() ?? ''
    const isHeld =
      status >= 200 &&
      status < 300 &&
      this.method !== 'HEAD' &&
      !PASSES.test(type) &&
      (DATA.test(type) || valueOf(headers, 'content-length') !== undefined)
    if (!isHeld) return super.writeHead(status, reason, headers)
    this.#head = [status, reason, headers]
    this.#held = []
  }

  override write(bytes: Buffer): void {
    if (this.replaced) return
    if (this.#held === null) return super.write(bytes)
    this.#length += bytes.length
    if (!this.#slot.holdBytes(bytes.length)) return this.#refuse('busy')
    // Its memory is only lent.
    this.#held.push(Buffer.from(bytes))
    // No minting endpoint's response is longer than this, so the beginning decides.
    if (this.#length > MAX_HELD_BYTES) this.#decideBegun()
  }

  override flush(): boolean {
    return this.#held === null && !this.replaced ? super.flush() : true
  }

  override end(trailers?: RawHeaders): void {
    if (this.replaced) return
    if (this.#held === null) return super.end(trailers)
    void this.#decide(this.#held, trailers)
  }

  #decideBegun(): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- the head comes before the bytes
    const isEncoded = (codingsOf(this.#head![2])?.length ?? 1) > 0
    // oxlint-disable-next-line typescript/no-non-null-assertion -- the head comes before the bytes
    if (!isEncoded && givesCredential(Buffer.concat(this.#held!))) this.#refuse('secret')
    else this.#release()
  }

  async #decide(held: readonly Buffer[], trailers: RawHeaders | undefined): Promise<void> {
    const sent = Buffer.concat(held)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- the head comes before the bytes
    const codings = codingsOf(this.#head![2])
    if (codings === null && sent.length > 0) return this.#refuse('unreadable')
    const plain = codings?.length
      ? await decodeWhole(codings, sent, MAX_HELD_BYTES, this.#owner)
      : sent
    if (this.closed) return
    if (plain !== null && givesCredential(plain)) return this.#refuse('secret')
    this.#release()
    super.end(trailers)
    super.flush()
  }

  #release(): void {
    const held = this.#held ?? []
    this.#held = null
    // oxlint-disable-next-line typescript/no-non-null-assertion -- the head comes before the bytes
    super.writeHead(...this.#head!)
    for (const piece of held) super.write(piece)
  }

  #refuse(reason: Withheld): void {
    this.replaced = true
    this.#held = null
    if (!this.closed) this.#sendError(reason)
  }
}
