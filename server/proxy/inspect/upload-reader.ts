// Reads the parts of an upload while it streams: the heads of all, and the content of those that
// are not files. The content of files is skipped.
import { objectRef, type ObjectRef } from '../providers/object-ref.ts'
import type { IdNames } from '../providers/id-names.ts'
import type { Findings } from './findings.ts'
import { STRINGS_PER_STEP } from './inspection.ts'
import { MultipartReader } from './multipart.ts'
import { PartReader } from './part-reader.ts'
import type { BodyPaths } from './places.ts'
import { UploadParts } from './upload-parts.ts'

/** Reads the parts of one upload. */
export class UploadReader {
  readonly #parts: UploadParts
  readonly #reader: MultipartReader
  readonly #findings: Findings
  readonly #objects: ReadonlyMap<string, string>
  readonly #checked = new Set<ObjectRef>()
  #fields = 0
  #isOver = false

  /** @param names fields with these names give ids, and are not files */
  constructor(
    boundary: string,
    kind: 'form' | 'related',
    places: BodyPaths,
    findings: Findings,
    names: IdNames | undefined,
  ) {
    this.#findings = findings
    this.#objects = places.objects
    this.#parts = new UploadParts(new PartReader(findings), names)
    this.#reader = new MultipartReader(boundary, places.objectFields, this.#parts, kind)
  }

  /** Why the objects of the body are uncertain; null if they are not. */
  get problem(): string | null {
    return (
      this.#reader.problem ?? (this.#findings.unclear ? 'A part of the body is ambiguous.' : null)
    )
  }

  /**
   * Reads a piece. @returns whether it ends within the content of a file, or a long text, so that
   * nothing of it is left to read
   */
  write(piece: Buffer): boolean {
    this.#reader.write(piece)
    this.#takeFields()
    return this.#parts.isInContent && this.#reader.problem === null
  }

  /** The body is complete. @returns whether it ends like a multipart body */
  end(): boolean {
    this.#isOver = true
    const { problem } = this.#reader.end()
    this.#takeFields()
    return problem === null
  }

  /**
   * Does some of the work that remains before the parts' objects are known.
   *
   * @returns whether all of it is complete
   */
  settle(): boolean {
    return this.#findings.settle(STRINGS_PER_STEP)
  }

  /** The objects of the parts so far that were not returned before. After the end: all of them. */
  takeNews(): readonly ObjectRef[] {
    const { mentioned } = this.#findings
    // Only the end tells whether items must be known.
    if (this.#isOver) return mentioned
    const news = mentioned.filter((ref) => !this.#checked.has(ref))
    for (const ref of news) this.#checked.add(ref)
    return news
  }

  #takeFields(): void {
    const { fields } = this.#reader
    for (const { name, value } of fields.slice(this.#fields)) {
      const kind = this.#objects.get(name)
      if (kind !== undefined) this.#findings.object(objectRef(kind, value))
    }
    this.#fields = fields.length
  }
}
