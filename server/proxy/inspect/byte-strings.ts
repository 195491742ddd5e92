// A set of distinct strings as bytes, to be looked up later: 30 ns for one of 16 bytes, where a
// JavaScript string in a Set takes 300.
// oxlint-disable typescript/no-non-null-assertion -- a hash table in typed arrays: each index comes from the table itself

const CHUNK_BYTES = 65_536
const FIRST_SLOTS = 256
/** Longer strings are copied and compared with native calls. */
const SHORT_BYTES = 64
/**
 * Maximum number of slots that are probed, because callers may choose strings with colliding
 * hashes. A string that finds no slot is still stored, perhaps twice.
 */
const MOST_PROBES = 16
/** For each string: hash, size, number of the chunk, offset in it. */
const FIELDS = 4

/** A set of byte strings. One per body. */
export class ByteStrings {
  readonly #most: number
  readonly #chunks: Buffer[] = []
  /** Bytes used in the last chunk. */
  #used = Infinity
  #count = 0
  #entries = new Int32Array(FIRST_SLOTS * FIELDS)
  /** Numbers of strings, from 1. */
  #slots = new Int32Array(FIRST_SLOTS)

  /** @param most maximum number of strings */
  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#count
  }

  /**
   * @param hash 32 bits; strings with different ones are different
   * @returns false if there are too many
   */
  add(bytes: Buffer, from: number, to: number, hash: number): boolean {
    const slot = this.#slotOf(bytes, from, to, hash)
    if (slot === -2) return true
    if (this.#count === this.#most) return false
    const size = to - from
    if (this.#used + size > CHUNK_BYTES) {
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size)))
      this.#used = 0
    }
    copy(bytes, from, to, this.#chunks.at(-1)!, this.#used)
    if (this.#count * FIELDS === this.#entries.length) this.#grow()
    const entries = this.#entries
    const entry = this.#count * FIELDS
    entries[entry] = hash
    entries[entry + 1] = size
    entries[entry + 2] = this.#chunks.length - 1
    entries[entry + 3] = this.#used
    this.#used += size
    this.#count++
    if (slot >= 0) this.#slots[slot] = this.#count
    if (this.#count * 2 > this.#slots.length) this.#spread()
    return true
  }

  /** Passes the string with this number, from 0, to `to`. */
  tell(number: number, to: (bytes: Buffer, from: number, to: number, hash: number) => void): void {
    const entries = this.#entries
    const entry = number * FIELDS
    const offset = entries[entry + 3]!
    to(this.#chunks[entries[entry + 2]!]!, offset, offset + entries[entry + 1]!, entries[entry]!)
  }

  /** A free slot; -1 if none was found, -2 if the string is known. */
  #slotOf(bytes: Buffer, from: number, to: number, hash: number): number {
    const slots = this.#slots
    const entries = this.#entries
    const mask = slots.length - 1
    for (
      let probe = 0, slot = startOf(hash, mask);
      probe < MOST_PROBES;
      probe++, slot = (slot + 1) & mask
    ) {
      const number = slots[slot]!
      if (number === 0) return slot
      const entry = (number - 1) * FIELDS
      if (
        entries[entry] === hash &&
        entries[entry + 1] === to - from &&
        isSame(bytes, from, to, this.#chunks[entries[entry + 2]!]!, entries[entry + 3]!)
      )
        return -2
    }
    return -1
  }

  #grow(): void {
    const entries = new Int32Array(this.#entries.length * 2)
    entries.set(this.#entries)
    this.#entries = entries
  }

  #spread(): void {
    const slots = new Int32Array(this.#slots.length * 4)
    const mask = slots.length - 1
    for (let number = 1; number <= this.#count; number++) {
      let slot = startOf(this.#entries[(number - 1) * FIELDS]!, mask)
      for (let probe = 0; probe < MOST_PROBES && slots[slot] !== 0; probe++)
        slot = (slot + 1) & mask
      if (slots[slot] === 0) slots[slot] = number
    }
    this.#slots = slots
  }
}

/** The lowest bit of a hash has another meaning. */
const startOf = (hash: number, mask: number): number => (hash >>> 1) & mask

function copy(bytes: Buffer, from: number, to: number, into: Buffer, at: number): void {
  if (to - from > SHORT_BYTES) into.set(bytes.subarray(from, to), at)
  else for (let i = from; i < to; i++) into[at++] = bytes[i]!
}

function isSame(bytes: Buffer, from: number, to: number, others: Buffer, at: number): boolean {
  if (to - from > SHORT_BYTES) return bytes.compare(others, at, at + to - from, from, to) === 0
  for (let i = from; i < to; i++) if (bytes[i] !== others[at++]) return false
  return true
}
