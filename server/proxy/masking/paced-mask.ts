// Masks a body in turns of the event loop. A provider may repeat what a caller has escaped, which
// takes up to 2 µs a byte to search.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import { TurnBudget } from '../../common/fairness/turn-budget.ts'
import { isEscape } from './escapes.ts'
import { MaskedStream, type Mask } from './mask.ts'

/** The sink of masked bytes. */
export interface MaskedOutput {
  /** The bytes may share memory that is only lent. */
  write(bytes: Buffer): void
  /** Some of it was searched in a later turn than it arrived. */
  onTurn(): void
  end(): void
}

/** The cost of an escape, in bytes of plain text: `%73` takes as long as 60 of them. */
const ESCAPE_COST = 128
/** Bytes of plain text that are searched in one turn of the event loop: up to 1 ms. */
const SLICE = 8 * 1024
/** The slices of all bodies. */
const turns = new TurnBudget(SLICE)

/** How many of the first bytes make a slice, and what they cost. */
function sliceOf(bytes: Buffer): { length: number; cost: number } {
  let [length, cost] = [0, 0]
  while (length < bytes.length && cost < SLICE) cost += isEscape(bytes[length++]) ? ESCAPE_COST : 1
  return { length, cost }
}

/** Masks one body: at once as far as this turn allows, the rest in the owner's turns. */
export class PacedMask {
  readonly #stream: MaskedStream
  readonly #owner: Owner
  readonly #output: MaskedOutput
  /** What waits for a later turn. */
  #waiting: Buffer[] = []
  #isEnding = false

  constructor(mask: Mask, owner: Owner, output: MaskedOutput) {
    this.#stream = new MaskedStream(mask)
    this.#owner = owner
    this.#output = output
  }

  /** Whether everything so far has been searched. */
  get isIdle(): boolean {
    return this.#waiting.length === 0
  }

  /** Takes the next bytes, whose memory may be lent. */
  write(bytes: Buffer): void {
    const rest = this.isIdle && !turns.isBusy ? this.#search(bytes) : bytes
    if (rest.length === 0) return
    this.#waiting.push(Buffer.from(rest))
    if (this.#waiting.length === 1) this.#defer()
  }

  end(): void {
    this.#isEnding = true
    if (this.isIdle) this.#finish()
  }

  /** The rest is no longer needed. */
  stop(): void {
    this.#waiting = []
  }

  /** Searches one slice. @returns the rest */
  #search(bytes: Buffer): Buffer {
    const { length, cost } = sliceOf(bytes)
    turns.spend(cost)
    const ready = this.#stream.write(bytes.subarray(0, length))
    if (ready.length > 0) this.#output.write(ready)
    return bytes.subarray(length)
  }

  #defer(): void {
    turns.defer(this.#owner, () => this.#continue(), 0)
  }

  #continue(): void {
    const bytes = this.#waiting[0]
    if (bytes === undefined) return
    const rest = this.#search(bytes)
    // The sink may have stopped it.
    if (this.#waiting.length === 0) return
    if (rest.length > 0) this.#waiting[0] = rest
    else this.#waiting.shift()
    if (!this.isIdle) this.#defer()
    else if (this.#isEnding) return this.#finish()
    this.#output.onTurn()
  }

  #finish(): void {
    const rest = this.#stream.end()
    if (rest.length > 0) this.#output.write(rest)
    this.#output.end()
  }
}

/** A whole body, masked. */
export function maskWhole(mask: Mask, owner: Owner, body: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const paced = new PacedMask(mask, owner, {
      write: (bytes) => void pieces.push(bytes),
      onTurn: () => {},
      end: () => resolve(Buffer.concat(pieces)),
    })
    paced.write(body)
    paced.end()
  })
}
