// Checks a response that lists stored objects, for a key with `objects: own`. It is read completely
// before the caller sees a byte, and is sent unchanged only if the key may name every object in it.
// Bodies are never rewritten.
import type { HttpExchange } from '../../http1/exchange.ts'
import { valuesOf, type RawHeaders } from '../../http1/header-fields.ts'
import { FeedGuard } from './feed-guard.ts'
import { parseJson, wantPaths, type WantedPaths } from '../json/paths.ts'
import { JsonScanner } from '../json/scanner.ts'
import { idOf, objectRef, type ObjectRef } from '../providers/object-ref.ts'
import type { IdForms } from '../providers/id-spelling.ts'
import type { RequestSlot } from '../admission/request-shares.ts'

/** Largest list that is read: OpenAI's largest page, 10,000 files, has about 2 MB. */
const MAX_LIST_BYTES = 4 * 1024 * 1024
/** Longest id in a place for one. */
const MAX_ID_BYTES = 2_048

/** How to check one list. */
export interface ListPolicy {
  /** Places with an id, and its kind. */
  readonly paths: Readonly<Record<string, string>>
  readonly ids: IdForms | undefined
  readonly slot: RequestSlot
  /** Whether the key may name all of these. Rejects if that cannot be determined. */
  allows(named: readonly ObjectRef[]): Promise<boolean>
  /**
   * Sends our own error instead. `busy`: there is no room for the list, or its owners cannot be
   * looked up.
   */
  sendError(reason: 'foreign' | 'busy'): void
}

const compiled = new WeakMap<object, WantedPaths>()

/** The exchange of a request whose response is held until its objects are known. */
export class GuardedList extends FeedGuard {
  readonly #policy: ListPolicy
  readonly #named: ObjectRef[] = []
  readonly #scanner: JsonScanner
  #head: [status: number, reason: string, headers: RawHeaders] | null = null
  /** Null if nothing is held: an error names only objects of its request. */
  #held: Buffer[] | null = []
  #length = 0
  #isReadable = true
  /** Number of opening braces: an empty list has at most one around it. */
  #objects = 0
  /** Ids in places for one. */
  #ids = 0

  constructor(exchange: HttpExchange, check: ListPolicy) {
    super(exchange, () => check.sendError('foreign'))
    this.#policy = check
    const { paths, ids } = check
    let wanted = compiled.get(paths)
    if (wanted === undefined) compiled.set(paths, (wanted = wantPaths(Object.keys(paths))))
    const note = (ref: ObjectRef | null): void => void (ref !== null && this.#named.push(ref))
    this.#scanner = new JsonScanner(
      wanted,
      {
        value: (path, raw) => {
          const given = raw === null ? undefined : parseJson(raw.toString('utf8'))
          const id = idOf(given)
          if (id !== null) {
            this.#ids++
            // oxlint-disable-next-line typescript/no-non-null-assertion -- the head comes before the bytes, and paths are those that were asked for
            note(objectRef(paths[path]!, id))
          } else if (given !== null) this.#isReadable = false
        },
        oddity: (kind) => {
          if (kind !== 'mismatch' && kind !== 'text') this.#isReadable = false
        },
      },
      {
        strict: true,
        longestValue: MAX_ID_BYTES,
        ...(ids !== undefined && {
          strings: {
            filter: ids,
            each: (bytes: Buffer, from: number, to: number, escaped: boolean) => {
              const raw = bytes.toString('utf8', from, to)
              const text = escaped ? parseJson(`"${raw}"`) : raw
              if (typeof text === 'string') note(ids.refOf(text))
            },
          },
        }),
      },
    )
  }

  override writeHead(status: number, reason: string, headers: RawHeaders): void {
    if (this.rejectFeed(status, headers)) return
    if (status >= 200 && status < 300) {
      this.#head = [status, reason, headers]
      this.#isReadable = valuesOf(headers, 'content-encoding').every(
        (encoding) => encoding === 'identity',
      )
      return
    }
    this.#held = null
    super.writeHead(status, reason, headers)
  }

  override write(bytes: Buffer): void {
    if (this.replaced) return
    if (this.#held === null) return super.write(bytes)
    this.#length += bytes.length
    if (
      !this.#isReadable ||
      this.#length > MAX_LIST_BYTES ||
      !this.#policy.slot.holdBytes(bytes.length)
    ) {
      this.#isReadable = false
      this.#held = []
      return
    }
    // Its memory is only lent.
    const own = Buffer.from(bytes)
    this.#held.push(own)
    for (const byte of own) if (byte === 0x7b) this.#objects++
    this.#scanner.write(own)
  }

  override flush(): boolean {
    return this.#held === null ? super.flush() : true
  }

  override end(trailers?: RawHeaders): void {
    const held = this.#held
    if (this.replaced) return
    if (held === null) return super.end(trailers)
    this.#scanner.end()
    const understood =
      this.#isReadable && this.#scanner.complete && (this.#ids > 0 || this.#objects <= 1)
    if (!understood) return this.#sendError('foreign')
    void this.#forward(held, trailers)
  }

  async #forward(held: readonly Buffer[], trailers: RawHeaders | undefined): Promise<void> {
    const allowed = await this.#policy.allows(this.#named).catch(() => null)
    if (allowed !== true) return this.#sendError(allowed === null ? 'busy' : 'foreign')
    // oxlint-disable-next-line typescript/no-non-null-assertion -- the head comes before the bytes, and paths are those that were asked for
    super.writeHead(...this.#head!)
    for (const piece of held) super.write(piece)
    super.end(trailers)
    super.flush()
  }

  #sendError(reason: 'foreign' | 'busy'): void {
    this.replaced = true
    if (!this.closed) this.#policy.sendError(reason)
  }
}
