// Finds the objects that the parts of a form name, under any field name: each part is read as one
// text or as JSON, after decoding base64 or quoted-printable.
import { wantPaths } from '../json/paths.ts'
import { JsonScanner } from '../json/scanner.ts'
import type { KeyedStrings } from './keyed-strings.ts'
import { isAsciiCompatible, isMedia } from './content-types.ts'
import type { Findings } from './findings.ts'
import type { PartWatch } from './multipart.ts'
import type { PartHead } from './part-heads.ts'
import { MAX_NAME_LENGTH } from './places.ts'
import { transferDecoder, type TransferDecoder } from './transfer-encodings.ts'
import { WordBodyScanner } from './words.ts'

const NOTHING_WANTED = wantPaths([])
/** The first byte of JSON that can contain ids: a list, an object or a string. */
const JSON_BEGINS = new Set([...'[{"'].map((one) => one.charCodeAt(0)))
/** 1 for spaces, and for the bytes of a byte order mark. */
const IS_BEFORE_JSON = Uint8Array.from({ length: 256 }, (_, byte) =>
  [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].includes(byte) ? 1 : 0,
)
const NOTHING = Buffer.alloc(0)

/** A part that looks like JSON but may be text: `[verse 1] …`. */
interface Json {
  readonly scanner: JsonScanner
  readonly keyed: KeyedStrings | undefined
  readonly findings: Findings
  /** Its findings if it is text. */
  readonly words: WordBodyScanner
  readonly inWords: Findings
}

/** Reads the parts of one form, one after another. */
export class PartReader implements PartWatch {
  readonly #findings: Findings
  #head: PartHead | null = null
  #decoder: TransferDecoder | null = null
  /** The decoded content, if it is short and does not look like JSON. */
  #text: Buffer = NOTHING
  #isLong = false
  #json: Json | null = null

  constructor(findings: Findings) {
    this.#findings = findings
  }

  part(head: PartHead): void {
    this.#head = head
    this.#text = NOTHING
    this.#isLong = false
    this.#json = null
    this.#decoder = null
    this.head(head)
    if (!isAsciiCompatible(head.type) && !isMedia(head.type))
      this.#findings.unreadable('A part of the multipart body is in a charset that is not read.')
    if (head.encoding === '') return
    this.#decoder = transferDecoder(head.encoding)
    if (this.#decoder === null)
      this.#findings.unreadable('A part of the multipart body is in an encoding that is not known.')
  }

  /** Finds the objects that the head of a part names, whatever its content. */
  head({ name, fileNames, others }: PartHead): void {
    this.#findings.text(name)
    // A caller's own file may have such a name.
    for (const fileName of fileNames) this.#findings.text(fileName, true)
    // RFC 2045, section 7: the caller's own id, in angle brackets.
    for (const value of others) this.#findings.text(value.replace(/^<(.*)>$/, '$1'), true)
  }

  /** Whether the current part is text that is too long for an id. */
  get isText(): boolean {
    return this.#isLong
  }

  content(piece: Buffer): void {
    this.#take(this.#decoder === null ? piece : this.#decoder.write(piece))
  }

  end(): void {
    if (this.#decoder !== null) this.#take(this.#decoder.end())
    const isLong = this.#isLong
    this.#isLong = false
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a part begins with its head
    const { name, isFile, type } = this.#head!
    // A file is content, unless it is declared as JSON.
    const perhaps = isFile && !/json/i.test(type)
    if (!isLong && this.#text.length > 0) {
      const text = this.#text.toString('utf8')
      this.#findings.text(text, perhaps)
      if (!perhaps) this.#findings.field(name, text)
    }
    const json = this.#json
    if (json === null) return
    json.scanner.end()
    const refusal = json.words.end()
    if (json.scanner.complete) this.#findings.take(json.findings, perhaps)
    else if (refusal === null) this.#findings.take(json.inWords, true)
    else this.#findings.unreadable(refusal.message)
  }

  #take(bytes: Buffer): void {
    if (this.#json !== null) return this.#scan(this.#json, bytes)
    if (this.#isLong) return
    let from = 0
    if (this.#text.length === 0) {
      while (from < bytes.length && IS_BEFORE_JSON[bytes[from] ?? 0] === 1) from++
      if (from === bytes.length) return
      if (JSON_BEGINS.has(bytes[from] ?? 0))
        return this.#scan((this.#json = this.#openJson()), bytes.subarray(from))
    }
    this.#isLong = this.#text.length + bytes.length - from > MAX_NAME_LENGTH
    this.#text = this.#isLong ? NOTHING : Buffer.concat([this.#text, bytes.subarray(from)])
  }

  #openJson(): Json {
    const [findings, inWords] = [this.#findings.aside(), this.#findings.aside()]
    const strings = findings.strings()
    const scanner = new JsonScanner(
      NOTHING_WANTED,
      { value() {} },
      { strict: true, ...(strings === undefined ? {} : { strings }) },
    )
    return {
      scanner,
      keyed: findings.keyed(),
      findings,
      words: new WordBodyScanner([], inWords),
      inWords,
    }
  }

  #scan({ scanner, keyed, words }: Json, bytes: Buffer): void {
    scanner.write(bytes)
    keyed?.write(bytes)
    words.write(bytes)
  }
}
