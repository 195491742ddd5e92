// Decodes the body of a response beside its stream: a few bodies of each key at a time, and a
// little of them in each turn of the event loop.
import type { Transform } from 'node:stream'
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import { OwnerCounts } from '../../common/fairness/owner-counts.ts'
import { TurnBudget } from '../../common/fairness/turn-budget.ts'
import { WorkSlots } from '../../common/fairness/work-slots.ts'
import { decoderOf } from './content-decoding.ts'

/** Maximum bytes that are read from a decoder at once: they may be a hundred events with usage. */
const PIECE = 4 * 1024
/** The cost of a piece in addition to its bytes, in bytes: a small one takes a few microseconds. */
const PIECE_COST = 512
/**
 * The pieces of all bodies that are read in one turn of the event loop: a few kilobytes may decode
 * to gigabytes, and each response of a key may.
 */
const turns = new TurnBudget(PIECE)
/**
 * The decoders that have something to decode. More would not end sooner, because what they produce
 * is read by one thread, but each starts with several callbacks of its own and takes memory.
 */
const slots = new WorkSlots({ key: 4, account: 32, total: 128 })

const MB = 1024 * 1024
/** Maximum bytes of a body that may wait for a decoder, rather than unbounded memory. */
const MAX_WAITING = 8 * MB
/** Maximum bytes of all bodies of a key, and of an account, that may wait for slots. */
const MAX_WAITING_OF_KEY = 64 * MB
const MAX_WAITING_OF_ACCOUNT = 256 * MB
const waiting = new OwnerCounts()
/**
 * A decoder may produce this many bytes, and in addition this many for each byte of the body; more
 * is a bomb. Events and JSON compress to a fiftieth at most.
 */
const FREE_BYTES = 16 * MB
const MAX_RATIO = 64

/** One decoder of a chain. */
interface Stage {
  readonly decoder: Transform
  /** Bytes that it has produced. */
  produced: number
  /** Whether a piece of it waits to be read. */
  isWaiting: boolean
}

/**
 * A chain of decoders for one body. If the body is truncated or malformed, they produce the part
 * that they could decode; of one that decodes to far more than is plausible, the beginning.
 */
export class Decoding {
  readonly #codings: readonly string[]
  readonly #owner: Owner
  readonly #onData: (bytes: Buffer) => void
  readonly #onEnd: () => void
  /** Each is created when its first byte arrives. */
  readonly #stages: Stage[] = []
  #encoded = 0
  /** What waits for the first decoder. */
  #input: Buffer[] = []
  #inputLength = 0
  #isComplete = false
  /** Whether it waits for a slot or has one; and whether it has one. */
  #isAtWork = false
  #hasSlot = false
  #over = false
  /** Whether the body is malformed or truncated, or was not decoded to its end. */
  hasFailed = false

  /**
   * @param codings as returned by `codingsOf`
   * @param owner the owner in whose turns decoded bytes are read
   * @param onData receives decoded bytes, asynchronously
   * @param onEnd called once, after the last bytes
   */
  constructor(
    codings: readonly string[],
    owner: Owner,
    onData: (bytes: Buffer) => void,
    onEnd: () => void,
  ) {
    this.#codings = codings
    this.#owner = owner
    this.#onData = onData
    this.#onEnd = onEnd
  }

  /** Takes the next bytes, which it keeps. */
  write(bytes: Buffer): void {
    if (this.#over || bytes.length === 0) return
    this.#encoded += bytes.length
    this.#input.push(bytes)
    this.#inputLength += bytes.length
    waiting.add(this.#owner, bytes.length)
    if (
      this.#inputLength > MAX_WAITING ||
      waiting.ofKey(this.#owner) > MAX_WAITING_OF_KEY ||
      waiting.ofAccount(this.#owner) > MAX_WAITING_OF_ACCOUNT
    )
      this.#giveUp()
    else this.#work()
  }

  end(): void {
    this.#isComplete = true
    this.#work()
  }

  /** Stops decoding. */
  stop(): void {
    for (const { decoder } of this.#stages) decoder.destroy()
    this.#finish()
  }

  #work(): void {
    if (this.#isAtWork || this.#over) return
    this.#isAtWork = true
    slots.acquire(this.#owner, () => {
      this.#hasSlot = true
      this.#decodeInput()
    })
  }

  /** Decodes what has arrived, and gives the slot back when there is no more. */
  #decodeInput(): void {
    if (this.#over) return this.#rest()
    const [first] = this.#input
    if (first === undefined) return this.#isComplete ? this.#endStage(0) : this.#rest()
    const bytes = this.#input.length === 1 ? first : Buffer.concat(this.#input)
    this.#dropInput()
    this.#feed(0, bytes, () => this.#decodeInput())
  }

  #dropInput(): void {
    waiting.add(this.#owner, -this.#inputLength)
    this.#input = []
    this.#inputLength = 0
  }

  #rest(): void {
    if (!this.#hasSlot) return
    this.#hasSlot = this.#isAtWork = false
    slots.release(this.#owner)
  }

  /** @param onTaken called when the decoder is ready for more, unless it has failed or ended */
  #feed(at: number, bytes: Buffer, onTaken?: () => void): void {
    if (this.#over || bytes.length === 0) return
    if (at === this.#codings.length) return this.#onData(bytes)
    const { decoder } = (this.#stages[at] ??= this.#createStage(at, bytes[0] ?? 0))
    if (decoder.destroyed || decoder.writableEnded) return
    decoder.write(bytes, (error) => {
      if (error == null) onTaken?.()
    })
    if (decoder.writableLength > MAX_WAITING) this.#giveUp()
  }

  #createStage(at: number, first: number): Stage {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- an index below the length
    const decoder = decoderOf(this.#codings[at]!, first)
    const stage: Stage = { decoder, produced: 0, isWaiting: false }
    const next = (): void => this.#endStage(at + 1)
    decoder
      .on('readable', () => this.#schedule(at, stage))
      .on('end', next)
      .on('error', () => {
        this.hasFailed = true
        for (;;) {
          const rest = decoder.read() as Buffer | null
          if (rest === null) break
          this.#feed(at + 1, rest)
        }
        next()
      })
      .on('close', next)
    return stage
  }

  /** Reads a piece from a decoder, at once unless enough has been read in this turn. */
  #schedule(at: number, stage: Stage): void {
    if (stage.isWaiting) return
    if (!turns.isBusy) return this.#read(at, stage)
    stage.isWaiting = true
    turns.defer(
      this.#owner,
      () => {
        stage.isWaiting = false
        this.#read(at, stage)
      },
      0,
    )
  }

  #read(at: number, stage: Stage): void {
    const { decoder } = stage
    const piece = decoder.read(Math.min(decoder.readableLength, PIECE)) as Buffer | null
    if (piece === null) return
    turns.spend(PIECE_COST + piece.length)
    stage.produced += piece.length
    if (stage.produced > FREE_BYTES + MAX_RATIO * this.#encoded) return this.#giveUp()
    this.#feed(at + 1, piece)
    if (decoder.destroyed) return
    if (decoder.readableLength > 0) this.#schedule(at, stage)
    // Makes an ended decoder say so.
    else decoder.read(0)
  }

  #giveUp(): void {
    this.hasFailed = true
    this.stop()
  }

  /** Ends the input of a stage. Ending it twice does nothing. */
  #endStage(at: number): void {
    const decoder = this.#stages[at]?.decoder
    if (decoder === undefined) this.#finish()
    else if (!decoder.destroyed && !decoder.writableEnded) decoder.end()
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#dropInput()
    this.#rest()
    this.#onEnd()
  }
}
