// Slow reads: heads in many pieces, and the rest of a request that got its response early. The rest
// is drained so that the caller can read its response, but slowly: at full speed, rejected bodies
// would cost others more than accepted ones.

/**
 * Bytes of each rest that are read without waiting. Most rests are shorter; longer ones take turns.
 */
export const FULL_SPEED_BYTES = 128 * 1024
/**
 * Pieces of up to 64 KB that are read per tick, for all rests together: 50 MB a second, at about 3
 * % of a CPU.
 */
const READS_PER_TICK = 16
const TICK_MS = 20

/** A connection that waits to read more. */
export interface SlowReader {
  /** The client's address; addresses take turns. */
  readonly address: string
  /** Reads this many more pieces. */
  resumeReading(pieces: number): void
}

/** The waiting readers, with one timer for all. */
class SlowReadQueue {
  /** By address; the first is next. */
  readonly #waiting = new Map<string, Set<SlowReader>>()
  #isTickPlanned = false

  enqueue(one: SlowReader): void {
    const others = this.#waiting.get(one.address)
    if (others === undefined) this.#waiting.set(one.address, new Set([one]))
    else others.add(one)
    this.#planTick()
  }

  remove(one: SlowReader): void {
    const others = this.#waiting.get(one.address)
    if (others?.delete(one) && others.size === 0) this.#waiting.delete(one.address)
  }

  #planTick(): void {
    if (this.#isTickPlanned) return
    this.#isTickPlanned = true
    setTimeout(() => {
      this.#isTickPlanned = false
      let waiting = 0
      for (const those of this.#waiting.values()) waiting += those.size
      // A single reader gets the whole capacity, so that a caller that sends everything before it
      // reads finishes in time.
      const turns = Math.min(waiting, READS_PER_TICK)
      const share = Math.floor(READS_PER_TICK / turns)
      for (let i = 0; i < turns; i++) this.#takeNext()?.resumeReading(share)
      if (this.#waiting.size > 0) this.#planTick()
    }, TICK_MS)
  }

  #takeNext(): SlowReader | undefined {
    for (const [address, those] of this.#waiting) {
      const [one] = those
      if (one === undefined) return undefined
      this.#waiting.delete(address)
      those.delete(one)
      if (those.size > 0) this.#waiting.set(address, those)
      return one
    }
    return undefined
  }
}

/**
 * One for the whole process, so that the capacity for rejected callers does not grow with the
 * number of sockets.
 */
export const slowReads = new SlowReadQueue()

/** A socket, or a request of Node's server. */
interface Source {
  on(event: 'data', listener: (bytes: Buffer) => void): unknown
  once(event: 'close', listener: () => void): unknown
  pause(): unknown
  resume(): unknown
}

/**
 * Slowly reads and discards a source until it is closed. @param onTooMuch called when more than
 * `most` bytes have arrived
 */
export function discardSlowly(
  source: Source,
  address: string,
  most: number,
  onTooMuch: () => void,
): void {
  let read = 0
  let pieces = 0
  const resumeReading = (more: number): void => {
    pieces = more
    source.resume()
  }
  const one: SlowReader = { address, resumeReading }
  source.on('data', ({ length }) => {
    read += length
    if (read > most) return onTooMuch()
    if (read < FULL_SPEED_BYTES || --pieces > 0) return
    source.pause()
    slowReads.enqueue(one)
  })
  source.once('close', () => slowReads.remove(one))
  source.resume()
}
