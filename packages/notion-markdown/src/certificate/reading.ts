// The contents of a page: counts, and a digest of everything in order. Two readers that share no
// code with the engine create one each, from the export and from the Markdown.

/** TABLE of the blocks that both readers can distinguish. */
export const BLOCK_KINDS = [
  'headings',
  'bulleted',
  'numbered',
  'to_dos',
  'to_dos_done',
  'toggles',
  'quotes',
  'code',
  'equations',
  'dividers',
  'images',
  'tables',
] as const

export type BlockKind = (typeof BLOCK_KINDS)[number]

/** The counts of pages. */
export interface Counts {
  words: number
  /** Quotes are callouts too; equations are those on lines of their own. */
  blocks: Record<BlockKind, number>
  /** Rows and cells of all tables; a header without words does not count. */
  rows: number
  cells: number
  /** Equations, including inline ones. */
  equations: number
  /** Size in UTF-8 bytes. */
  code_bytes: number
  /**
   * Different addresses on each page, by target: web sites, pages on Notion, places in the document
   * or the export, files.
   */
  links: { web: number; notion: number; pages: number; files: number }
  /** Different images on each page, by location. */
  assets: { local: number; web: number }
}

/** One reader's result for a page. Plain data. */
export interface PageReading {
  counts: Counts
  /** Digest of its words and blocks, in order. */
  digest: string
  /** The digest after every 32nd word, to find where two readings diverge. */
  steps: number[]
  /** How many of its tables are views of databases, as far as that can be seen. */
  databases: number
}

/**
 * Added to the column of a cell in `#pending`, to distinguish it from the index of a kind of block.
 */
const FIRST_COLUMN = 1000

/** Words between two steps. */
export const STEP_WORDS = 32

/** The class of a character: part of a word, white space, or a mark; U+FEFF is ignored. */
const MARK = 0
const LETTER = 1
const SPACE = 2
const NOTHING = 3

/** TABLE of the classes of ASCII characters. */
const ASCII = new Uint8Array(128).fill(MARK)
ASCII.fill(SPACE, 0, 0x21)
ASCII.fill(LETTER, 0x30, 0x3a)
ASCII.fill(LETTER, 0x41, 0x5b)
ASCII.fill(LETTER, 0x61, 0x7b)

function kindBeyondAscii(code: number): number {
  if (code < 0xa0) return MARK
  if (code === 0xa0 || code === 0x3000) return SPACE
  if (code < 0x1680 || (code > 0x205f && code < 0xfeff)) return LETTER
  if (code === 0xfeff) return NOTHING
  const isSpace =
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x1680 ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f
  return isSpace ? SPACE : LETTER
}

/** The address of a page of an export. */
export const EXPORTED_PAGE = /\.html?(?:[?#]|$)/i

/** No counts. */
export function noCounts(): Counts {
  return {
    words: 0,
    blocks: {
      headings: 0,
      bulleted: 0,
      numbered: 0,
      to_dos: 0,
      to_dos_done: 0,
      toggles: 0,
      quotes: 0,
      code: 0,
      equations: 0,
      dividers: 0,
      images: 0,
      tables: 0,
    },
    rows: 0,
    cells: 0,
    equations: 0,
    code_bytes: 0,
    links: { web: 0, notion: 0, pages: 0, files: 0 },
    assets: { local: 0, web: 0 },
  }
}

/**
 * A reading being built. Words are separated by white space. Only letters, digits and non-ASCII
 * characters count, so that no markup of either language does.
 */
export class Reading {
  readonly counts = noCounts()
  readonly steps: number[] = []
  readonly #links = new Set<string>()
  readonly #assets = new Set<string>()
  databases = 0
  #low = 0x811c9dc5 | 0
  #high = 0x1b873593 | 0
  #inWord = false
  /** Open blocks and cells that have shown nothing yet. */
  #pending: number[] = []
  #rowShown = false
  /** The words, if requested. */
  readonly #trace: string[] | null
  /** Whether images are distinguished by their file names. */
  readonly #keepsNames: boolean
  readonly #page: RegExp

  /** @param page matches the addresses of pages */
  constructor(trace: string[] | null = null, keepsNames = true, page = EXPORTED_PAGE) {
    this.#trace = trace
    this.#keepsNames = keepsNames
    this.#page = page
  }

  /** Changes when something is shown. */
  get position(): number {
    return this.#low
  }

  text(text: string): void {
    const { length } = text
    let [low, high, inWord] = [this.#low, this.#high, this.#inWord]
    let isPending = this.#pending.length > 0
    const trace = this.#trace
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      const kind = code < 128 ? ASCII[code] : kindBeyondAscii(code)
      if (isPending && (kind === LETTER || kind === MARK)) {
        this.#low = low
        this.#high = high
        this.#flush()
        ;[low, high, inWord] = [this.#low, this.#high, false]
        isPending = false
      }
      if (kind === LETTER) {
        if (!inWord) {
          inWord = true
          this.#beginWord(low)
        }
        if (trace) trace[trace.length - 1] += text.charAt(i)
        low = Math.imul(low ^ code, 0x01000193)
        high = Math.imul(((high << 5) | (high >>> 27)) ^ code, 0x85ebca6b)
      } else if (kind === SPACE) inWord = false
    }
    this.#low = low
    this.#high = high
    this.#inWord = inWord
  }

  #beginWord(low: number): void {
    if (this.counts.words % STEP_WORDS === 0) this.steps.push(low >>> 0)
    this.counts.words++
    this.#trace?.push('')
  }

  /** Ends the word, like white space. */
  gap(): void {
    this.#inWord = false
  }

  /** A block that counts even if it shows nothing. */
  block(kind: BlockKind): void {
    this.#flush()
    this.#begin(kind)
  }

  /** A block that counts only if it shows something. @returns the argument for `endMaybe` */
  maybe(kind: BlockKind): number {
    this.#inWord = false
    return this.#pending.push(BLOCK_KINDS.indexOf(kind)) - 1
  }

  /** Ends a block or cell, which does not count if it has shown nothing. */
  endMaybe(place: number): void {
    if (this.#pending.length > place) this.#pending.length = place
  }

  row(): void {
    this.#rowShown = false
  }

  /**
   * A cell in this column, which counts if it shows something.
   *
   * @returns the argument for `endMaybe`
   */
  cell(column: number): number {
    this.#inWord = false
    return this.#pending.push(FIRST_COLUMN + column) - 1
  }

  /** Whether anything of the row is shown. */
  get rowShown(): boolean {
    return this.#rowShown
  }

  /** An image, by the last part of its address. */
  image(url: string): void {
    this.block('images')
    this.#assets.add(url)
    if (!this.#keepsNames) return
    const last = lastPart(url)
    const name = last.includes('%') ? decodeSafely(last).normalize('NFC') : last.normalize('NFC')
    for (const char of name) if (/[A-Za-z0-9]/.test(char)) this.#mix(char.charCodeAt(0))
  }

  /** An equation's TeX, inline or as a block. */
  equation(tex: string): void {
    this.#flush()
    this.counts.equations++
    this.#mix(0x40000)
    this.#inWord = false
    // In a table cell `\|` must be written as its synonym.
    this.text(tex.replace(/\\Vert(?![a-zA-Z])/g, ' '))
    this.#inWord = false
  }

  code(text: string): void {
    this.block('code')
    this.counts.code_bytes += byteLength(text)
    this.text(text)
    this.#inWord = false
  }

  link(url: string): void {
    this.#links.add(url)
  }

  /** Removes addresses that are only a prefix and a number. @returns the numbers */
  takeStandIns(prefix: string): { links: number[]; images: number[] } {
    const take = (urls: Set<string>): number[] =>
      [...urls].flatMap((url) => {
        if (!url.startsWith(prefix)) return []
        urls.delete(url)
        return [Number(url.slice(prefix.length))]
      })
    return { links: take(this.#links), images: take(this.#assets) }
  }

  finish(): PageReading {
    const { counts, steps, databases } = this
    for (const url of this.#links) countLink(counts, url, this.#page)
    for (const url of this.#assets) countAsset(counts, url)
    return { counts, digest: hex(this.#high) + hex(this.#low), steps, databases }
  }

  #flush(): void {
    const pending = this.#pending
    if (pending.length === 0) return
    this.#pending = []
    for (const place of pending) {
      const kind = BLOCK_KINDS[place]
      if (kind) this.#begin(kind)
      else {
        this.#mix((this.#rowShown ? 0x20000 : 0x30000) + place)
        this.#rowShown = true
      }
    }
  }

  #begin(kind: BlockKind): void {
    this.counts.blocks[kind]++
    this.#inWord = false
    this.#mix(0x10000 + BLOCK_KINDS.indexOf(kind))
  }

  #mix(code: number): void {
    this.#low = Math.imul(this.#low ^ code, 0x01000193)
    this.#high = Math.imul(((this.#high << 5) | (this.#high >>> 27)) ^ code, 0x85ebca6b)
  }
}

const NOTION = /^https?:\/\/(?:(?:www\.)?notion\.so|app\.notion\.com)\//i

/** Counts a link by its target. @param page matches the addresses of pages */
export function countLink({ links }: Counts, url: string, page: RegExp): void {
  links[linkKind(url, page)]++
}

/** Counts an image by its location. */
export function countAsset({ assets }: Counts, url: string): void {
  assets[/^https?:/i.test(url) ? 'web' : 'local']++
}

/** The kind of a link's target. */
function linkKind(url: string, page: RegExp): keyof Counts['links'] {
  if (/^(?!file:)[a-z][a-z0-9+.-]*:/i.test(url)) return NOTION.test(url) ? 'notion' : 'web'
  return url.startsWith('#') || page.test(url) ? 'pages' : 'files'
}

/** 32 bits as eight hexadecimal digits. */
function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0')
}

/** The last part of an address's path. */
function lastPart(url: string): string {
  const path = url.replace(/[?#].*$/s, '')
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Percent-decodes; an invalid encoding is unchanged. */
export function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function byteLength(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x800) bytes += (code & 0xf800) === 0xd800 ? 1 : 2
    else if (code >= 0x80) bytes++
  }
  return bytes
}
