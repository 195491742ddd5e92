// Finds named text fields in a multipart/form-data body (RFC 7578), and rejects every body that two
// parsers could read differently.
import { isUtf8 } from 'node:buffer'
import {
  bareName,
  readDisposition,
  readRelated,
  type PartField,
  type PartHead,
} from './part-heads.ts'

/** The result of reading a form. */
export interface Form {
  /** Why two parsers could read the body differently; null if they cannot. */
  readonly problem: string | null
  /** The requested fields. */
  readonly fields: readonly { readonly name: string; readonly value: string }[]
}

const LONGEST_HEADERS = 16_384
const LONGEST_FIELD = 4_096
const MOST_PARTS = 1_000

/** Receives each part, and its content in pieces, which are only valid during the call. */
export interface PartWatch {
  part(head: PartHead): void
  content(piece: Buffer): void
  /** The part is complete. */
  end(): void
}

/** The next expected element of a body. */
type State = 'beginning' | 'behind mark' | 'head' | 'content' | 'behind end' | 'over'

/** Bytes that are read together: more than the longest head. */
const WINDOW_BYTES = 2 * LONGEST_HEADERS
/** Instead of a number of bytes: more bytes are needed. */
const WAIT = -1
/** The line ending of a body. */
interface LineEnds {
  readonly line: Buffer
  readonly head: Buffer
}
const CRLF: LineEnds = { line: Buffer.from('\r\n'), head: Buffer.from('\r\n\r\n') }
/**
 * As in Python's mail format, in which Google's Python client wrote uploads (googleapiclient before
 * 2.0).
 */
const LF: LineEnds = { line: Buffer.from('\n'), head: Buffer.from('\n\n') }

/**
 * Reads the fields of one body, in pieces of any length. It takes linear time: each byte is copied
 * into a window and searched once.
 */
export class MultipartReader {
  readonly #mark: Buffer
  readonly #wanted: ReadonlySet<string>
  readonly #alike: ReadonlySet<string>
  readonly #outer: ReadonlySet<string>
  readonly #fields: { name: string; value: string }[] = []
  #problem: string | null = null
  #state: State = 'beginning'
  #parts = 0
  /** The unread bytes, and how many of them have been searched for the end of a head. */
  readonly #window = Buffer.allocUnsafe(WINDOW_BYTES)
  #unread = 0
  #searched = 0
  /** The head of the current part. */
  #field: PartField | null = null
  #content: Buffer[] = []
  #contentLength = 0

  /** The line ending of the first boundary counts for all. */
  #ends = CRLF

  readonly #watch: PartWatch | null
  readonly #isForm: boolean

  /**
   * @param wanted exact names; a name that differs from one of them only in case, space or
   * punctuation, or names a part of one (`model[0]`), makes the body ambiguous
   * @param kind the parts of a `related` body need no names: the first one describes the others
   */
  constructor(
    boundary: string,
    wanted: ReadonlySet<string>,
    watch: PartWatch | null = null,
    kind: 'form' | 'related' = 'form',
  ) {
    this.#watch = watch
    this.#isForm = kind === 'form'
    this.#mark = Buffer.from(`--${boundary}`, 'latin1')
    this.#wanted = wanted
    this.#alike = new Set([...wanted].map(bareName))
    this.#outer = new Set([...wanted].filter(isWhole).map(outerName))
  }

  write(piece: Buffer): void {
    for (let at = 0; at < piece.length && this.#problem === null;) {
      const copied = piece.copy(this.#window, this.#unread, at)
      at += copied
      this.#unread += copied
      this.#read(false)
    }
  }

  /** Why two parsers could read the bytes so far differently; null if they cannot. */
  get problem(): string | null {
    return this.#problem
  }

  /** The requested fields of the complete parts. */
  get fields(): Form['fields'] {
    return this.#fields
  }

  end(): Form {
    this.#read(true)
    if (this.#state !== 'over') this.#problem ??= MISSING[this.#state]
    return { problem: this.#problem, fields: this.#fields }
  }

  /**
   * Reads as much of the window as possible, and moves the rest to its beginning. @param last
   * whether these are the last bytes
   */
  #read(last: boolean): void {
    const window = this.#window.subarray(0, this.#unread)
    let at = 0
    while (this.#problem === null) {
      const read = this.#step(window.subarray(at), last)
      if (read === WAIT) break
      at += read
    }
    this.#unread = window.copy(this.#window, 0, at)
  }

  /** @returns the number of bytes read, or WAIT */
  #step(bytes: Buffer, last: boolean): number {
    if (this.#state === 'beginning') return this.#begin(bytes, last)
    if (this.#state === 'behind mark') return this.#behindMark(bytes, last)
    if (this.#state === 'head') return this.#readHead(bytes)
    if (this.#state === 'content') return this.#readContent(bytes, last)
    if (this.#state === 'behind end') return this.#behindEnd(bytes, last)
    return WAIT
  }

  #refuse(problem: string): number {
    this.#problem = problem
    return 0
  }

  #begin(bytes: Buffer, last: boolean): number {
    const skipped = bytes.length >= 2 && bytes[0] === 0x0d && bytes[1] === 0x0a ? 2 : 0
    if (bytes.length < skipped + this.#mark.length && !last) return WAIT
    if (!this.#mark.equals(bytes.subarray(skipped, skipped + this.#mark.length)))
      return this.#refuse('The multipart body does not begin with its boundary.')
    this.#state = 'behind mark'
    return skipped + this.#mark.length
  }

  #behindMark(bytes: Buffer, last: boolean): number {
    if (bytes.length < 2 && !last) return WAIT
    if (bytes[0] === 0x2d && bytes[1] === 0x2d) {
      this.#state = 'behind end'
      return 2
    }
    // No form has other line endings, and servers treat them differently.
    if (!this.#isForm && this.#parts === 0 && bytes[0] === 0x0a) this.#ends = LF
    const { line } = this.#ends
    if (!line.equals(bytes.subarray(0, line.length)))
      return this.#refuse('A boundary of the multipart body is not followed by a line break.')
    if (++this.#parts > MOST_PARTS)
      return this.#refuse(`The multipart body has more than ${MOST_PARTS} parts.`)
    this.#state = 'head'
    this.#searched = 0
    // The line break is not consumed, because it ends an empty head.
    return 0
  }

  #behindEnd(bytes: Buffer, last: boolean): number {
    // A line break, and an empty line where form-data-encoder wrote the form: no part to any
    // parser.
    const { line, head: two } = this.#ends
    const isBlank = bytes.equals(two.subarray(0, bytes.length))
    if (!isBlank || (last && bytes.length % line.length !== 0))
      return this.#refuse('The multipart body continues after its last boundary.')
    if (last) this.#state = 'over'
    return WAIT
  }

  #readHead(bytes: Buffer): number {
    const { line, head: headEnd } = this.#ends
    const end = bytes.indexOf(headEnd, this.#searched)
    this.#searched = Math.max(0, bytes.length - headEnd.length + 1)
    if (end < 0)
      return bytes.length > LONGEST_HEADERS + line.length ? this.#refuse(NO_HEAD_END) : WAIT
    if (end - line.length > LONGEST_HEADERS) return this.#refuse(NO_HEAD_END)
    const head = bytes.subarray(0, end)
    // The delimiter anywhere but after a line break is a boundary to some parsers and content to
    // others.
    if (head.includes(this.#mark)) return this.#refuse(MISPLACED)
    const lines = end === 0 ? [] : head.toString('latin1', line.length).split(line.toString())
    const field = this.#isForm ? readDisposition(lines) : readRelated(lines, this.#parts > 1)
    if (typeof field === 'string') return this.#refuse(field)
    if (!this.#wanted.has(field.name) && this.#isMisread(field.name))
      return this.#refuse('A field of the multipart body has a name that could be read as another.')
    this.#field = field
    this.#watch?.part(field)
    this.#content = []
    this.#contentLength = 0
    this.#state = 'content'
    return end + headEnd.length
  }

  /** Whether some server could read a name as one of those that are wanted. */
  #isMisread(name: string): boolean {
    const isAlike = this.#alike.has(bareName(name)) || this.#outer.has(outerName(name))
    return isAlike || name === '_charset_'
  }

  #readContent(bytes: Buffer, last: boolean): number {
    const { line } = this.#ends
    const next = bytes.indexOf(this.#mark)
    if (next < 0) {
      // The end of the bytes may be the beginning of a line break and a boundary.
      const most = bytes.length - this.#mark.length - line.length + 1
      if (last || most <= 0) return WAIT
      this.#take(bytes.subarray(0, most))
      return most
    }
    const end = next - line.length
    if (end < 0 || !line.equals(bytes.subarray(end, next))) return this.#refuse(MISPLACED)
    this.#take(bytes.subarray(0, end))
    this.#endPart()
    this.#state = 'behind mark'
    return next + this.#mark.length
  }

  /** Keeps the beginning of a requested field. */
  #take(content: Buffer): void {
    this.#contentLength += content.length
    this.#watch?.content(content)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- content follows the head of its part
    const { name, plain } = this.#field!
    if (plain && this.#wanted.has(name) && this.#contentLength <= LONGEST_FIELD)
      this.#content.push(Buffer.from(content))
  }

  #endPart(): void {
    this.#watch?.end()
    // oxlint-disable-next-line typescript/no-non-null-assertion -- content follows the head of its part
    const { name, plain } = this.#field!
    if (!this.#wanted.has(name)) return
    const isShort = this.#contentLength <= LONGEST_FIELD
    const content = plain && isShort ? Buffer.concat(this.#content) : NOTHING
    if (!plain) this.#refuse(`The field "${name}" of the multipart body is a file, or is encoded.`)
    else if (!isShort || !isUtf8(content))
      this.#refuse(`The field "${name}" of the multipart body is not a short text.`)
    else this.#fields.push({ name, value: content.toString('utf8') })
  }
}

/** Whether a wanted name is that of a whole field, or of all entries of a list: `ids[]`. */
const isWhole = (name: string): boolean => /^\w+(?:\[\])?$/.test(name)
/**
 * The field that a name gives a part of, as PHP, Rack and others read `model[0]`, `model[a][b]` and
 * `model.a`.
 */
const outerName = (name: string): string => bareName(/[\w-]+/.exec(name)?.[0] ?? '')

const NOTHING = Buffer.alloc(0)
const MISPLACED = 'The boundary of the multipart body is missing, or occurs inside a part.'
const NO_HEAD_END = 'A part of the multipart body has no end of headers.'
/** TABLE of what is missing if a body ends in a state. */
const MISSING: Record<Exclude<State, 'over'>, string> = {
  beginning: 'The multipart body does not begin with its boundary.',
  'behind mark': 'A boundary of the multipart body is not followed by a line break.',
  head: NO_HEAD_END,
  content: MISPLACED,
  'behind end': MISPLACED,
}
