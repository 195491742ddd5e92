// Reads a URL-encoded form (application/x-www-form-urlencoded): finds the models and objects that
// its fields name, as values or in JSON.
import { wantPaths } from '../json/paths.ts'
import { JsonScanner } from '../json/scanner.ts'
import { givesModel } from '../providers/id-names.ts'
import { objectRef } from '../providers/object-ref.ts'
import type { BodyScanner } from './body-scanner.ts'
import type { Findings } from './findings.ts'
import type { InspectionError } from './inspection-error.ts'
import type { BodyPaths } from './places.ts'

/** Maximum bytes of a field that are kept. */
const LONGEST_FIELD = 65_536
/**
 * Maximum number of fields that are read; no AI provider accepts a form with more than a few dozen.
 */
const MAX_FIELDS = 10_000
const AMPERSAND = 0x26
const NOTHING_WANTED = wantPaths([])

/**
 * Adds every field of a form to the findings, and also reads the body as JSON, because `curl -d`
 * sends JSON with the type of a form.
 */
export class UrlencodedReader implements BodyScanner {
  readonly #places: BodyPaths
  readonly #findings: Findings
  readonly #json: BodyScanner
  #field: Buffer[] = []
  #length = 0
  #tooLong = false
  #fields = 0

  constructor(places: BodyPaths, findings: Findings, json: BodyScanner) {
    this.#places = places
    this.#findings = findings
    this.#json = json
  }

  write(piece: Buffer): void {
    this.#json.write(piece)
    if (this.#fields > MAX_FIELDS) return
    for (let at = 0; at < piece.length;) {
      const end = piece.indexOf(AMPERSAND, at)
      this.#take(piece.subarray(at, end < 0 ? piece.length : end))
      if (end < 0) return
      this.#endField()
      if (this.#fields > MAX_FIELDS) return
      at = end + 1
    }
  }

  end(): InspectionError | null {
    this.#endField()
    const isJson = this.#json.end() === null
    if (!isJson && this.#tooLong) this.#findings.unclear = true
    if (!isJson && this.#fields > MAX_FIELDS)
      this.#findings.unreadable(`The form has more than ${MAX_FIELDS} fields.`)
    return null
  }

  #take(bytes: Buffer): void {
    this.#length += bytes.length
    if (this.#length <= LONGEST_FIELD) this.#field.push(Buffer.from(bytes))
    else this.#tooLong = true
  }

  #endField(): void {
    this.#fields++
    const text = this.#length > LONGEST_FIELD ? '' : Buffer.concat(this.#field).toString('utf8')
    this.#field = []
    this.#length = 0
    // Some servers also separate fields at a semicolon (HTML 4.01, appendix B.2.2).
    for (const one of text.includes(';') ? [text, ...text.split(';')] : [text]) {
      for (const [name, value] of new URLSearchParams(one)) this.#tell(name, value)
    }
  }

  #tell(name: string, value: string): void {
    const findings = this.#findings
    findings.text(name)
    findings.text(value)
    findings.field(name, value)
    if (givesModel(name)) findings.storedModel(value)
    const kind =
      this.#places.objects.get(name) ?? this.#places.objects.get(name.replace(/\[\d*\]$/, '[]'))
    if (kind !== undefined) findings.object(objectRef(kind, value))
    const strings = findings.strings()
    if (strings === undefined || !/^\s*[[{"]/.test(value)) return
    const scanner = new JsonScanner(NOTHING_WANTED, { value() {} }, { strings })
    const bytes = Buffer.from(value)
    scanner.write(bytes)
    scanner.end()
    findings.keyed()?.write(bytes)
  }
}
