/** Number of pieces joined at a time. */
const BATCH_PIECES = 4096

/**
 * A long text being built. Strings that grow by `+=` keep a node for each piece until they are
 * read; a page of ten megabytes in tiny pieces would take a gigabyte that way.
 */
export class Pieces {
  #done: string[] = []
  #pieces: string[] = []

  add(piece: string): void {
    if (this.#pieces.push(piece) === BATCH_PIECES) this.#gather()
  }

  toString(): string {
    this.#gather()
    const [first] = this.#done
    return first !== undefined && this.#done.length === 1 ? first : this.#done.join('')
  }

  #gather(): void {
    this.#done.push(this.#pieces.join(''))
    this.#pieces = []
  }
}
