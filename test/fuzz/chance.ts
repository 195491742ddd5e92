// Chance for generated input: the same seed makes the same input.
import { seeded } from '../support/random.ts'

export class Chance {
  readonly seed: number
  readonly #next: () => number

  constructor(seed: number) {
    this.seed = seed
    this.#next = seeded(seed)
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#next() * end)
  }

  /** True so often of one. */
  happens(share: number): boolean {
    return this.#next() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** Up to `most` values. */
  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make)
  }

  /**
   * The text with some of it left out, doubled, replaced by another piece, or with one bit turned.
   */
  mutated(text: string, pieces: readonly string[], most = 3): string {
    let changed = text
    for (let left = this.below(most + 1); left > 0; left--) {
      const [at, end] = [this.below(changed.length + 1), this.below(changed.length + 1)].sort(
        (a, b) => a - b,
      ) as [number, number]
      const some = Math.min(end, at + 1 + this.below(20))
      const [before, middle, after] = [
        changed.slice(0, at),
        changed.slice(at, some),
        changed.slice(some),
      ]
      changed = this.pick([
        () => before + after,
        () => before + middle + middle + after,
        () => before + this.pick(pieces) + middle + after,
        () => before + this.pick(pieces) + after,
        () =>
          before +
          String.fromCharCode((middle.charCodeAt(0) || 0) ^ (1 << this.below(8))) +
          middle.slice(1) +
          after,
      ])()
    }
    return changed
  }

  /** The same bytes in pieces: all at once, one by one, or cut anywhere. */
  split(bytes: Buffer): Buffer[] {
    if (this.happens(0.1))
      return Array.from({ length: Math.min(bytes.length, 4_096) }, (_, i) =>
        bytes.subarray(i, i === 4_095 ? bytes.length : i + 1),
      )
    const cuts = this.list(6, () => this.below(bytes.length + 1)).sort((a, b) => a - b)
    return [0, ...cuts].map((at, i) => bytes.subarray(at, cuts[i] ?? bytes.length))
  }
}
