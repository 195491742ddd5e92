// What is read slowly: heads in many pieces, and what nobody wants, the rest of a request that has
// been answered before it was read. It is taken off the connection, so that the caller gets to read
// its answer, but slowly: read at full speed, bodies that are refused would cost everybody else
// more than those that are served.

/**
 * Of each rest so many bytes are read at once. That is all of most; what is longer waits for its
 * turns.
 */
export const FULL_SPEED_BYTES = 128 * 1024
/**
 * Pieces of up to 64 KB that are read in a tick, of all rests together: 50 MB a second, for about 3
 * % of a processor.
 */
const READS_PER_TICK = 16
const TICK_MS = 20

/** Reads what is left of a request. */
export interface SlowReader {
  /** The client's address; addresses take turns. */
  readonly address: string
  /** Reads so many pieces more. */
  resumeReading(pieces: number): void
}

/** The readers that wait, with one timer for all. */
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
      // One alone gets all of it: a caller that sends everything before it reads is through in
      // time.
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

/** Of the whole process: what is left for those who are refused does not grow with its sockets. */
export const slowReads = new SlowReadQueue()

/** A socket, or a request of Node's server. */
interface Source {
  on(event: 'data', listener: (bytes: Buffer) => void): unknown
  once(event: 'close', listener: () => void): unknown
  pause(): unknown
  resume(): unknown
}

/**
 * Reads a source into nothing, slowly, until it is closed. @param onTooMuch called when more than
 * `most` bytes have come
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
