// The inspection of one buffered body, step by step.
import { valuesOf, without } from '../../http1/header-fields.ts'
import { namesModelsAnywhere } from '../providers/endpoint.ts'
import type { Match } from '../providers/match.ts'
import { isTwofoldType } from './outside-body.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import { isMultipart, scannerFor } from './body-reader.ts'
import type { BodyScanner } from './body-scanner.ts'
import { decodedSource, isIdentity, type Source } from './decode-body.ts'
import { isAsciiCompatible, isMedia } from './content-types.ts'
import { Findings } from './findings.ts'
import { ambiguous, unknownModel, type InspectionError } from './inspection-error.ts'
import type { PartWatch } from './multipart.ts'
import { PartReader } from './part-reader.ts'
import { compilePaths, type BodyPaths } from './places.ts'
import { withProse } from './prose.ts'
import { STEP_BYTES, type SlicedTask } from './scheduler.ts'
import { UploadParts } from './upload-parts.ts'
import { WordBodyScanner } from './words.ts'

/** Options for reading a request's body. */
export interface InspectionInput {
  readonly provider: Provider
  readonly match: Match
  /** Name, value, name, value, … as Node's rawHeaders. */
  readonly headers: readonly string[]
  /**
   * Whether a model must be decided: then a body that two servers could read differently is
   * refused.
   */
  readonly strict: boolean
  /** Largest decoded body in bytes. */
  readonly limit: number
}

/** Number of strings checked in one step, 1 µs each. */
export const STRINGS_PER_STEP = 128

const UNDECODABLE = unknownModel(
  'The body cannot be decoded by its Content-Encoding within the limits of the proxy.',
)

/**
 * One body's inspection. Once a step has returned `done`, `refusal` and `findings` are the result.
 */
export class Inspection implements SlicedTask {
  /** Why the body cannot be read reliably; null if it can. */
  refusal: InspectionError | null = null
  readonly findings: Findings
  readonly #question: InspectionInput
  readonly #pieces: readonly Buffer[]
  readonly #places: BodyPaths
  #source: Source | null = null
  #reader: BodyScanner | null = null
  /** Whether it has been read to the end. */
  #isRead = false

  /** @param pieces the whole body, in pieces of any length */
  constructor(question: InspectionInput, pieces: readonly Buffer[]) {
    const rule = question.match.body ?? NOTHING_WANTED
    this.#question = question
    this.#pieces = pieces
    this.#places = compilePaths(rule)
    this.findings = findingsOf(question.provider, question.match, this.#places, question.strict)
    const { headers, strict } = question
    if (this.#open()) {
      const reader = scannerFor(
        rule,
        this.#places,
        isEncoded(headers) ? without(headers, 'content-encoding') : headers,
        strict,
        this.findings,
        partsOf(question, this.findings),
      )
      if ('write' in reader) this.#reader = reader
      else this.#refuse(reader)
    }
  }

  /** Whether a model must be decided. */
  get strict(): boolean {
    return this.#question.strict
  }

  /** Whether the bytes have to be decoded first, in another thread. */
  get needsDecoding(): boolean {
    return this.#source !== null && !(this.#source instanceof PieceSource)
  }

  /**
   * Whether its names are uncertain: it is not plain JSON, a form or a file, so that servers may
   * read it differently; or its headers are contradictory, or name an unsupported charset.
   */
  get isUnreadable(): boolean {
    const types = valuesOf(this.#question.headers, 'content-type')
    const [type = ''] = types
    if (
      types.length > 1 ||
      (type !== 'application/json' && (isTwofoldType(type) || !isAsciiCompatible(type)))
    )
      return true
    if (!(this.#reader instanceof WordBodyScanner) || isMedia(type)) return false
    // A body without a type may be an upload, in which only whole ids count. If its row has places
    // for bare ids, it should be JSON.
    return (
      (type !== '' || this.#places.kinds.length > 0) &&
      this.#pieces.some((piece) => piece.length > 0)
    )
  }

  step(resume: () => void, most = STEP_BYTES): 'more' | 'waiting' | 'done' {
    const source = this.#source
    const reader = this.#reader
    if (source === null || reader === null) return 'done'
    if (this.#isRead) return this.#settle()
    const bytes = source.next(resume, most)
    if (bytes === 'waiting') return bytes
    if (bytes === 'broken') {
      this.#refuse(UNDECODABLE)
      return 'done'
    }
    if (bytes !== 'end') {
      reader.write(bytes)
      if (!this.findings.decided && !source.ended) return 'more'
    }
    return this.#end(reader)
  }

  /**
   * The ids that the body mentions. Those that are only in prose may be unowned, if the body is
   * plain JSON.
   */
  mentionedOutsideProse(): readonly ObjectRef[] {
    const { provider, headers } = this.#question
    const types = valuesOf(headers, 'content-type')
    const { objects, elsewhere, mentioned } = this.findings
    const isPlain =
      !isEncoded(headers) &&
      types.length === 1 &&
      /^application\/json(?:;|$)/i.test(types[0] ?? '') &&
      !this.isUnreadable
    if (!isPlain || provider.ids === undefined || this.#question.match.class === 'unknown')
      return mentioned
    return objects.concat(withProse(this.#pieces, this.#places.prose, elsewhere, provider.ids))
  }

  /** Stops reading and releases the decoder; the result so far stays. */
  close(): void {
    this.#source?.close()
    this.#source = null
  }

  /** @returns false if it refused the body: with two encodings, or one it cannot decode */
  #open(): boolean {
    const encodings = valuesOf(this.#question.headers, 'content-encoding')
    if (encodings.length > 1) this.#refuse(ambiguous('The request has two content encodings.'))
    else if (encodings[0] === undefined || isIdentity(encodings[0]))
      this.#source = new PieceSource(this.#pieces)
    else {
      this.#source = decodedSource(this.#pieces, encodings[0], this.#question.limit)
      if (this.#source === null) this.#refuse(UNDECODABLE)
    }
    return this.#source !== null
  }

  #end(reader: BodyScanner): 'more' | 'done' {
    const refusal = reader.end()
    this.#source?.close()
    if (refusal === null) {
      this.#isRead = true
      return this.#settle()
    }
    // A body that is not plain JSON is read again, for every word that a more lenient server could
    // read as a name.
    if (this.#readsWords(reader) && this.#open()) {
      const binary = isMedia(typeOf(this.#question.headers))
      this.#reader = new WordBodyScanner(binary ? [] : this.#places.kinds, this.findings, binary)
      return 'more'
    }
    this.#refuse(refusal)
    return 'done'
  }

  /** Checks possible ids, if there are many. */
  #settle(): 'more' | 'done' {
    return this.findings.decided || this.findings.settle(STRINGS_PER_STEP) ? 'done' : 'more'
  }

  #readsWords(reader: BodyScanner): boolean {
    const { strict, headers, provider } = this.#question
    return (
      !strict &&
      !this.findings.decided &&
      !(reader instanceof WordBodyScanner) &&
      !isMultipart(typeOf(headers)) &&
      (this.#places.kinds.length > 0 || provider.ids !== undefined)
    )
  }

  #refuse(refusal: InspectionError): void {
    this.refusal ??= refusal
    this.close()
  }
}

/** The pieces of a body, unchanged. */
class PieceSource implements Source {
  readonly #pieces: readonly Buffer[]
  #at = 0
  #offset = 0

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces
  }

  get ended(): boolean {
    return this.#at === this.#pieces.length
  }

  next(_resume: () => void, most: number): Buffer | 'end' {
    const piece = this.#pieces[this.#at]
    if (piece === undefined) return 'end'
    const from = this.#offset
    if (piece.length - from <= most) {
      this.#at++
      this.#offset = 0
      return from === 0 ? piece : piece.subarray(from)
    }
    this.#offset = from + most
    return piece.subarray(from, this.#offset)
  }

  close(): void {}
}

/** The collector of a request body's findings. */
export function findingsOf(
  provider: Provider,
  match: Match,
  places: BodyPaths,
  strict: boolean,
): Findings {
  const isUnknown = match.class === 'unknown'
  const names = (isUnknown && provider.idNames) || null
  const numbers = isUnknown || provider.spelling?.digits === true
  const isOpen =
    names !== null ||
    numbers ||
    provider.operated !== undefined ||
    (provider.ids?.models !== undefined && namesModelsAnywhere(match))
  const { operated, publicObjects } = provider
  const fields = isOpen ? { names, publicObjects, operated, numbers } : null
  return new Findings(places, strict, isUnknown ? provider.unknownIds : provider.ids, fields)
}

/** The reader of a form's parts; a file that is uploaded to be stored counts as content. */
const partsOf = ({ match, provider }: InspectionInput, findings: Findings): PartWatch | undefined =>
  match.endpoint?.uploads === undefined
    ? undefined
    : new UploadParts(new PartReader(findings), provider.idNames)

const NOTHING_WANTED = { required: [] }

const typeOf = (headers: readonly string[]): string => valuesOf(headers, 'content-type')[0] ?? ''
const isEncoded = (headers: readonly string[]): boolean =>
  valuesOf(headers, 'content-encoding').length > 0
