// Selects the parts of an upload to read: the heads of all, and the content of those that are not
// files.
import type { IdNames } from '../providers/id-names.ts'
import type { PartWatch } from './multipart.ts'
import type { PartHead } from './part-heads.ts'
import type { PartReader } from './part-reader.ts'

/** Passes everything except the content of files to a reader. */
export class UploadParts implements PartWatch {
  #isInFile = false
  readonly #reader: PartReader
  readonly #names: IdNames | undefined

  constructor(reader: PartReader, names: IdNames | undefined) {
    this.#reader = reader
    this.#names = names
  }

  /** Whether the content of the current part is skipped. */
  get isInContent(): boolean {
    return this.#isInFile || this.#reader.isText
  }

  part(head: PartHead): void {
    // No API accepts a file where an id is expected.
    this.#isInFile = head.isFile && (this.#names?.kindOf(head.name) ?? null) === null
    if (this.#isInFile) this.#reader.head(head)
    else this.#reader.part(head)
  }

  content(piece: Buffer): void {
    if (!this.#isInFile) this.#reader.content(piece)
  }

  end(): void {
    if (!this.#isInFile) this.#reader.end()
    this.#isInFile = false
  }
}
