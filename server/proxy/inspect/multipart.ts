// Finds named text fields in a multipart/form-data body (RFC 7578), and refuses every body that two
// parsers could read differently.
import { isUtf8 } from 'node:buffer'

export interface Form {
  /** Why two parsers could read the body differently; null where they cannot. */
  readonly problem: string | null
  /** The fields that were wanted. */
  readonly fields: readonly { readonly name: string; readonly value: string }[]
}

const LONGEST_HEADERS = 16_384
const LONGEST_FIELD = 4_096
const MOST_PARTS = 1_000

/**
 * The boundary of a multipart/form-data content type, or null when there is not exactly one plain
 * one.
 * @param contentType the value of the header
 */
export function boundaryOf(contentType: string): string | null {
  const found =
    /^multipart\/form-data[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?;[ \t]*boundary=(?:"([^"\\]+)"|([^\s;,"]+))[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?$/i.exec(
      contentType.trim(),
    )
  const boundary = found?.[1] ?? found?.[2]
  // RFC 2046 §5.1.1: 1 to 70 of these characters, not ending with a space.
  return boundary !== undefined &&
    /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary)
    ? boundary
    : null
}

/**
 * The boundary of a multipart/related content type (RFC 2387), or null when there is not exactly
 * one plain one.
 */
export function relatedBoundaryOf(contentType: string): string | null {
  const plain = contentType
    .trim()
    .replace(/;[ \t]*type=(?:"application\/json"|application\/json)[ \t]*(?=;|$)/i, '')
  return /^multipart\/related[ \t]*;/i.test(plain)
    ? boundaryOf(plain.replace(/^multipart\/related/i, 'multipart/form-data'))
    : null
}

/** What the head of a part says. */
export interface PartHead {
  readonly name: string
  /** Whether it has a file name. */
  readonly isFile: boolean
  /** Its file names, decoded. */
  readonly fileNames: readonly string[]
  /** Its content type; `''` where it has none. */
  readonly type: string
  /**
   * Its `Content-Transfer-Encoding` in lower case; `''` where the content stands there as it is.
   */
  readonly encoding: string
  /** The values of its other headers (`Content-ID`, `Content-Location`, …). */
  readonly others: readonly string[]
}

/** Who is told of each part, and its content in pieces, which are lent for the call. */
export interface PartWatch {
  part(head: PartHead): void
  content(piece: Buffer): void
  /** The part is complete. */
  end(): void
}

/** What comes next in a body. */
type State = 'beginning' | 'behind mark' | 'head' | 'content' | 'behind end' | 'over'

/** Bytes that are looked at together: more than the longest head. */
const WINDOW_BYTES = 2 * LONGEST_HEADERS
/** Instead of a number of bytes: more must come first. */
const WAIT = -1
const LINE_BREAK = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * Reads the fields of one body whose bytes come in any split. The time is linear in them: each byte
 * is copied into a window and searched once.
 */
export class MultipartReader {
  readonly #mark: Buffer
  readonly #wanted: ReadonlySet<string>
  readonly #alike: ReadonlySet<string>
  readonly #fields: { name: string; value: string }[] = []
  #problem: string | null = null
  #state: State = 'beginning'
  #parts = 0
  /** What has come and not been read; of a head, how much of that has been searched for its end. */
  readonly #window = Buffer.allocUnsafe(WINDOW_BYTES)
  #unread = 0
  #searched = 0
  /** Of the current part. */
  #field: Field | null = null
  #content: Buffer[] = []
  #contentLength = 0

  readonly #watch: PartWatch | null
  readonly #isForm: boolean

  /**
   * @param wanted exact names; a name that differs from one of them only in case, space or
   * punctuation makes the body ambiguous
   * @param kind the parts of a `related` body need no names: the first one tells of those behind it
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
    this.#alike = new Set([...wanted].map(bare))
  }

  write(piece: Buffer): void {
    for (let at = 0; at < piece.length && this.#problem === null;) {
      const copied = piece.copy(this.#window, this.#unread, at)
      at += copied
      this.#unread += copied
      this.#read(false)
    }
  }

  /** Why two parsers could read differently what has come; null where they cannot. */
  get problem(): string | null {
    return this.#problem
  }

  /** The fields that were wanted, of the parts that are complete. */
  get fields(): Form['fields'] {
    return this.#fields
  }

  end(): Form {
    this.#read(true)
    if (this.#state !== 'over') this.#problem ??= MISSING[this.#state]
    return { problem: this.#problem, fields: this.#fields }
  }

  /**
   * Reads as much of the window as can be read, and moves the rest to its beginning. @param last
   * nothing follows
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

  /** @returns how many bytes it has read, or WAIT */
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
    if (bytes[0] !== 0x0d || bytes[1] !== 0x0a)
      return this.#refuse('A boundary of the multipart body is not followed by a line break.')
    if (++this.#parts > MOST_PARTS)
      return this.#refuse(`The multipart body has more than ${MOST_PARTS} parts.`)
    this.#state = 'head'
    this.#searched = 0
    // The line break stays: a head that is empty ends with it.
    return 0
  }

  #behindEnd(bytes: Buffer, last: boolean): number {
    if (bytes.length > 2 || (last && bytes.length > 0 && !bytes.equals(LINE_BREAK)))
      return this.#refuse('The multipart body goes on behind its last boundary.')
    if (last) this.#state = 'over'
    return WAIT
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf(HEAD_END, this.#searched)
    this.#searched = Math.max(0, bytes.length - HEAD_END.length + 1)
    if (end < 0)
      return bytes.length > LONGEST_HEADERS + LINE_BREAK.length ? this.#refuse(NO_HEAD_END) : WAIT
    if (end - LINE_BREAK.length > LONGEST_HEADERS) return this.#refuse(NO_HEAD_END)
    const head = bytes.subarray(0, end)
    // The mark anywhere but behind a line break is a boundary to some parsers and content to
    // others.
    if (head.includes(this.#mark)) return this.#refuse(MISPLACED)
    const text = end === 0 ? '' : head.toString('latin1', LINE_BREAK.length)
    const field = this.#isForm ? readDisposition(text) : readRelated(text, this.#parts > 1)
    if (typeof field === 'string') return this.#refuse(field)
    if (
      !this.#wanted.has(field.name) &&
      (this.#alike.has(bare(field.name)) || field.name === '_charset_')
    ) {
      return this.#refuse('A field of the multipart body has a name that could be read as another.')
    }
    this.#field = field
    this.#watch?.part(field)
    this.#content = []
    this.#contentLength = 0
    this.#state = 'content'
    return end + HEAD_END.length
  }

  #readContent(bytes: Buffer, last: boolean): number {
    const next = bytes.indexOf(this.#mark)
    if (next < 0) {
      // The end of what has come may be the beginning of a line break and a mark.
      const most = bytes.length - this.#mark.length - LINE_BREAK.length + 1
      if (last || most <= 0) return WAIT
      this.#take(bytes.subarray(0, most))
      return most
    }
    if (next < 2 || bytes[next - 2] !== 0x0d || bytes[next - 1] !== 0x0a)
      return this.#refuse(MISPLACED)
    this.#take(bytes.subarray(0, next - LINE_BREAK.length))
    this.#endPart()
    this.#state = 'behind mark'
    return next + this.#mark.length
  }

  /** Keeps the beginning of a field that is wanted. */
  #take(content: Buffer): void {
    this.#contentLength += content.length
    this.#watch?.content(content)
    const { name, plain } = this.#field!
    if (plain && this.#wanted.has(name) && this.#contentLength <= LONGEST_FIELD)
      this.#content.push(Buffer.from(content))
  }

  #endPart(): void {
    this.#watch?.end()
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

const NOTHING = Buffer.alloc(0)
const MISPLACED = 'The boundary of the multipart body is missing, or stands inside a part.'
const NO_HEAD_END = 'A part of the multipart body has no end of headers.'
/** TABLE: what a body lacks that ends in this state. */
const MISSING: Record<Exclude<State, 'over'>, string> = {
  beginning: 'The multipart body does not begin with its boundary.',
  'behind mark': 'A boundary of the multipart body is not followed by a line break.',
  head: NO_HEAD_END,
  content: MISPLACED,
  'behind end': MISPLACED,
}

interface Field extends PartHead {
  /** Whether its content stands there as a text of UTF-8. */
  readonly plain: boolean
}

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** A file name without escapes, and without the charset of an extended one (RFC 8187). */
const fileNameOf = (text: string): string =>
  Buffer.from(text, 'latin1')
    .toString('utf8')
    .replaceAll(/\\(.)/g, '$1')
    .replace(/^[\w-]*'[\w-]*'/, '')

/** The field name of a part, and whether its content stands there as plain text. */
function readDisposition(head: string): Field | string {
  let name: string | undefined
  let plain = true
  let [type, encoding] = ['', '']
  const fileNames: string[] = []
  const others: string[] = []
  let isFile = false
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    // oxlint-disable-next-line no-control-regex -- parsers differ about controls in headers
    if (colon <= 0 || /^[ \t]|[\u0000-\u0008\u000a-\u001f\u007f]/.test(line))
      return 'A part of the multipart body has a broken header.'
    const header = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (header === 'content-transfer-encoding' && !/^(?:7bit|8bit|binary)$/i.test(value)) {
      plain = false
      encoding = value.toLowerCase()
    }
    if (header === 'content-type') {
      if (type !== '') return 'A part of the multipart body has two content types.'
      type = value
      if (/^multipart\//i.test(value)) return 'A part of the multipart body is multipart itself.'
      if (
        !/^(?:text\/plain|application\/json)[ \t]*(?:;[ \t]*charset="?(?:utf-8|us-ascii)"?)?$/i.test(
          value,
        )
      )
        plain = false
    }
    if (header.trim() !== header) return 'A part of the multipart body has a broken header.'
    if (header !== 'content-disposition') {
      if (header !== 'content-type' && header !== 'content-transfer-encoding') others.push(value)
      continue
    }
    if (name !== undefined) return 'A part of the multipart body has two names.'
    if (!/^form-data[ \t]*;/i.test(value)) return 'A part of the multipart body is not form-data.'
    const parameters = [
      ...value.matchAll(/;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g),
    ]
    if (
      parameters.map(([text]) => text).join('') !==
      value
        .slice('form-data'.length)
        .trim()
        .replace(/^[ \t]+/, '')
    )
      return 'A part of the multipart body has a broken disposition.'
    const names = parameters.filter(([, key]) => bare(key ?? '') === 'name')
    if (names.length !== 1 || names[0]?.[1]?.toLowerCase() !== 'name')
      return 'A part of the multipart body has no single plain name.'
    name = names[0][2] ?? names[0][3] ?? ''
    if (/[\\%"]/.test(name)) return 'A part of the multipart body has an escaped name.'
    name = Buffer.from(name, 'latin1').toString('utf8')
    if (parameters.some(([, key]) => /^filename/i.test(key ?? ''))) {
      plain = false
      isFile = true
      fileNames.push(
        ...parameters.flatMap(([, key = '', quoted, token]) =>
          /^filename/i.test(key) ? [fileNameOf(quoted ?? token ?? '')] : [],
        ),
      )
    }
  }
  return name === undefined
    ? 'A part of the multipart body has no name.'
    : { name, isFile, fileNames, type, encoding, others, plain }
}

/**
 * The head of a part of a multipart/related body (RFC 2387).
 *
 * @param isFile whether it stands behind the part that tells of it
 */
function readRelated(head: string, isFile: boolean): Field | string {
  const fields = new Map<string, string>()
  for (const line of head === '' ? [] : head.split('\r\n')) {
    const [, name = '', value = ''] = /^([\w-]+):(.*)$/.exec(line) ?? []
    // oxlint-disable-next-line no-control-regex -- parsers differ about controls in headers
    if (name === '' || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(line))
      return 'A part of the multipart body has a broken header.'
    if (fields.has(name.toLowerCase())) return 'A part of the multipart body has a header twice.'
    fields.set(name.toLowerCase(), value.trim())
  }
  const type = fields.get('content-type') ?? ''
  if (/^multipart\//i.test(type)) return 'A part of the multipart body is multipart itself.'
  const said = fields.get('content-transfer-encoding')?.toLowerCase() ?? ''
  const encoding = /^(?:7bit|8bit|binary)$/.test(said) ? '' : said
  fields.delete('content-type')
  fields.delete('content-transfer-encoding')
  return {
    name: '',
    isFile,
    fileNames: [],
    type,
    encoding,
    others: [...fields.values()],
    plain: false,
  }
}
