// Finds possible names of stored objects in a body that is not plain JSON, but that a more lenient
// server might read.
import { LONGEST_LENGTH } from '../json/layout.ts'
import { WordScanner } from '../json/word-scanner.ts'
import type { BodyScanner } from './body-scanner.ts'
import { ByteStrings } from './byte-strings.ts'
import type { Findings } from './findings.ts'
import { ambiguous, type InspectionError } from './inspection-error.ts'
import { MAX_IDS } from './places.ts'

const TOO_MANY = ambiguous(
  `The body is not plain JSON, and contains more than ${MAX_IDS} different words.`,
)

/**
 * Adds the words of a body, and the names that several words form. Possible names are checked when
 * the findings are settled.
 */
export class WordBodyScanner implements BodyScanner {
  readonly #scanner: WordScanner
  readonly #findings: Findings
  #words: ByteStrings | null = null
  #tooMany = false

  /**
   * @param kinds the kinds that a single word may name
   * @param binary whether it is binary, so that a word may be preceded by its length, and only
   *   another key's objects count
   */
  constructor(kinds: readonly string[], findings: Findings, binary = false) {
    this.#findings = findings
    const tell = (bytes: Buffer, from: number, to: number, hash: number): void => {
      const word = bytes.toString('latin1', from, to)
      if ((hash & 1) === 0 && kinds.length > 0) findings.word(word, kinds)
      else findings.text(word, binary)
      if (binary) for (let at = 1; at <= LONGEST_LENGTH; at++) findings.text(word.slice(at), true)
    }
    this.#scanner = new WordScanner({
      filter: findings.idForms ?? null,
      every: kinds.length > 0,
      binary,
      each: (bytes, from, to, hash) => {
        if (
          !this.#opened(tell, 1 + kinds.length + (binary ? LONGEST_LENGTH : 0)).add(
            bytes,
            from,
            to,
            hash,
          )
        )
          this.#tooMany = true
      },
    })
  }

  write(piece: Buffer): void {
    if (!this.#tooMany) this.#scanner.write(piece)
  }

  end(): InspectionError | null {
    if (!this.#tooMany) this.#scanner.end()
    return this.#tooMany || !this.#scanner.ok ? TOO_MANY : null
  }

  #opened(
    tell: (bytes: Buffer, from: number, to: number, hash: number) => void,
    cost: number,
  ): ByteStrings {
    if (this.#words === null)
      this.#findings.later((this.#words = new ByteStrings(MAX_IDS)), tell, cost)
    return this.#words
  }
}
