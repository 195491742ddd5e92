// The readers of a body's bytes, by kind of body. Each accepts pieces of any length and takes
// linear time.
import { isUtf8 } from 'node:buffer'
import { valuesOf } from '../../http1/header-fields.ts'
import { JsonScanner } from '../json/scanner.ts'
import { isTwofoldType } from './outside-body.ts'
import { objectRef } from '../providers/object-ref.ts'
import type { BodyRule } from '../providers/body-rule.ts'
import type { Findings } from './findings.ts'
import { ambiguous, unknownModel, type InspectionError } from './inspection-error.ts'
import type { KeyedStrings } from './keyed-strings.ts'
import { KeyedToolReader } from './keyed-tools.ts'
import { boundaryOf } from './boundaries.ts'
import { MultipartReader, type PartWatch } from './multipart.ts'
import type { PartHead } from './part-heads.ts'
import { PartReader } from './part-reader.ts'
import { MAX_NAME_LENGTH, type BodyPaths } from './places.ts'
import { UrlencodedReader } from './urlencoded.ts'
import type { BodyScanner } from './body-scanner.ts'

/**
 * The reader for a body with these headers, or the reason that it cannot be read.
 *
 * @param parts receives the parts of a form; by default, a `PartReader`
 */
export function scannerFor(
  rule: BodyRule,
  places: BodyPaths,
  headers: readonly string[],
  strict: boolean,
  findings: Findings,
  parts?: PartWatch,
): BodyScanner | InspectionError {
  const types = valuesOf(headers, 'content-type')
  const type = types[0] ?? ''
  // The content type of nearly every request.
  if (type === 'application/json' && types.length === 1)
    return new JsonBody(places, strict, findings)
  if (strict && types.length > 1) return ambiguous('The request has two content types.')
  if (strict && isTwofoldType(type)) return ambiguous('The content type names two kinds of body.')
  if (isMultipart(type)) {
    const isForm = rule.multipart === true || rule.formJson !== undefined
    const boundary = strict && !isForm ? null : boundaryOf(type)
    if (boundary === null)
      return unknownModel('The proxy cannot find the model in this multipart body.')
    const watch = parts ?? new PartReader(findings)
    if (rule.formJson !== undefined)
      return new FormJsonBody(boundary, rule.formJson, new JsonBody(places, strict, findings), {
        strict,
        parts: watch,
      })
    return new FormBody(
      new MultipartReader(boundary, places.fields, watch),
      places,
      strict,
      findings,
    )
  }
  if (/^application\/x-www-form-urlencoded/i.test(type.trim())) {
    return strict
      ? unknownModel('The body is sent as a form. Send JSON with Content-Type: application/json.')
      : new UrlencodedReader(places, findings, new JsonBody(places, false, findings))
  }
  const charset = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]*)/i.exec(type)?.[1]
  if (strict && charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset))
    return ambiguous('The body is not in UTF-8.')
  return new JsonBody(places, strict, findings)
}

/** Whether a content type is that of a multipart form. */
export const isMultipart = (type: string): boolean => /^multipart\//i.test(type.trim())

/** UTF-8's byte order mark. Parsers that accept it read the same body (RFC 8259, section 8.1). */
const MARK = [0xef, 0xbb, 0xbf]

/** One JSON body. Strict: RFC 8259, UTF-8, no BOM, nothing after it. */
class JsonBody implements BodyScanner {
  readonly #scanner: JsonScanner
  readonly #utf8: Utf8Check | null
  readonly #findings: Findings
  readonly #keyed: KeyedStrings | undefined
  readonly #tools: KeyedToolReader | null
  #empty = true
  /** Bytes of the mark read so far; its length once no more of it can come. */
  #marked = 0

  constructor(places: BodyPaths, strict: boolean, findings: Findings) {
    this.#findings = findings
    this.#keyed = findings.keyed()
    const strings = findings.strings()
    const wanted = strict ? places.wanted : places.observed
    this.#scanner = new JsonScanner(
      wanted,
      findings,
      strings === undefined
        ? { strict, longestValue: MAX_NAME_LENGTH }
        : { strict: true, longestValue: MAX_NAME_LENGTH, strings },
    )
    this.#utf8 = strict ? new Utf8Check() : null
    const { keyedTools } = places
    this.#tools = strict && keyedTools !== undefined ? new KeyedToolReader(keyedTools) : null
  }

  write(piece: Buffer): void {
    if (piece.length > 0) this.#empty = false
    if (this.#utf8 !== null && !this.#utf8.write(piece)) return
    if (this.#findings.decided) return
    const json = this.#utf8 === null && this.#marked < MARK.length ? this.#behindMark(piece) : piece
    this.#scanner.write(json)
    this.#keyed?.write(json)
    this.#tools?.write(json)
  }

  #behindMark(piece: Buffer): Buffer {
    let from = 0
    while (
      from < piece.length &&
      this.#marked < MARK.length &&
      piece[from] === MARK[this.#marked]
    ) {
      from++
      this.#marked++
    }
    if (from < piece.length) this.#marked = MARK.length
    return from === 0 ? piece : piece.subarray(from)
  }

  end(): InspectionError | null {
    if (this.#utf8 !== null && this.#empty) return null
    if (this.#utf8?.end() === false) return ambiguous('The body is not valid UTF-8.')
    if (this.#findings.decided) return null
    this.#scanner.end()
    this.#findings.problem ??= this.#tools?.problem ?? null
    const certain = this.#scanner.complete && !this.#findings.lookalike
    return certain
      ? null
      : ambiguous(
          'The body is not valid JSON (one value, in UTF-8 without a byte order mark), or is nested too deeply.',
        )
  }
}

/** Checks whether bytes in pieces are UTF-8. */
class Utf8Check {
  #ok = true
  /** The beginning of a character that continues in the next piece. */
  #begun: Buffer | null = null

  write(piece: Buffer): boolean {
    if (!this.#ok || piece.length === 0) return this.#ok
    const whole = this.#begun === null ? piece : Buffer.concat([this.#begun, piece])
    const cut = startOfLast(whole)
    this.#begun = cut === whole.length ? null : Buffer.from(whole.subarray(cut))
    this.#ok = isUtf8(cut === whole.length ? whole : whole.subarray(0, cut))
    return this.#ok
  }

  end(): boolean {
    return this.#ok && this.#begun === null
  }
}

/** The start of an incomplete character at the end of the bytes; the length if there is none. */
function startOfLast(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 3); at--) {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a byte below the length
    const byte = bytes[at]!
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return at + length > bytes.length ? at : bytes.length
  }
  return bytes.length
}

/** A multipart form, whose fields are read. */
class FormBody implements BodyScanner {
  readonly #reader: MultipartReader
  readonly #places: BodyPaths
  readonly #strict: boolean
  readonly #findings: Findings

  constructor(reader: MultipartReader, places: BodyPaths, strict: boolean, findings: Findings) {
    this.#reader = reader
    this.#places = places
    this.#strict = strict
    this.#findings = findings
  }

  write(piece: Buffer): void {
    this.#reader.write(piece)
  }

  end(): InspectionError | null {
    const { problem, fields } = this.#reader.end()
    const { objects, required } = this.#places
    const findings = this.#findings
    const names = new Set(fields.map(({ name }) => name))
    for (const { name, value } of fields) {
      const kind = objects.get(name)
      if (kind !== undefined) findings.object(objectRef(kind, value))
      else {
        findings.models.push(value)
        findings.storedModel(value)
        findings.named ||= required.has(name)
        if (required.has(name) || name === 'model') findings.model ??= value
      }
    }
    if (problem !== null) return ambiguous(problem)
    return this.#strict && names.size < fields.length
      ? ambiguous('The multipart body has a field twice.')
      : null
  }
}

/**
 * A form with one part that is the JSON body, and files. Strict: it has nothing else, and that part
 * declares that it is JSON.
 */
class FormJsonBody implements BodyScanner {
  readonly #reader: MultipartReader
  readonly #json: JsonBody
  readonly #strict: boolean
  #jsonParts = 0
  #isKnown = true

  constructor(
    boundary: string,
    { part, files }: NonNullable<BodyRule['formJson']>,
    json: JsonBody,
    { strict, parts }: { strict: boolean; parts: PartWatch },
  ) {
    this.#json = json
    this.#strict = strict
    let inJson = false
    this.#reader = new MultipartReader(boundary, new Set(), {
      part: (head) => {
        inJson = head.name === part
        if (inJson) this.#jsonParts++
        if (inJson ? !isPlainJson(head) : !files.includes(head.name)) this.#isKnown = false
        parts.part(head)
      },
      content: (piece) => {
        if (inJson) json.write(piece)
        if (!inJson || !strict) parts.content(piece)
      },
      end: () => parts.end(),
    })
  }

  write(piece: Buffer): void {
    this.#reader.write(piece)
  }

  end(): InspectionError | null {
    const { problem } = this.#reader.end()
    if (problem !== null) return ambiguous(problem)
    const refusal = this.#json.end()
    if (!this.#strict) return null
    return this.#isKnown && this.#jsonParts <= 1
      ? refusal
      : unknownModel('The form has a part other than its JSON and its files that may name a model.')
  }
}

/** Whether a part declares that it is JSON, without an encoding. */
const isPlainJson = ({ type, encoding }: PartHead): boolean =>
  encoding === '' && /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?)?$/i.test(type)
