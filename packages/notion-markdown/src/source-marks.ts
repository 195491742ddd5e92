// Tracks the Notion block of each part of a page's Markdown. While a page is written, marks are put
// around the parts; they stay in the text until its links are resolved, because that moves
// everything after them, and are then read and removed.
import { MARKER } from './links.ts'

/** The ids (32 hex digits) of blocks, list items and table rows that have one. */
export type BlockIds = Map<object, string>

/** The data for marks: the ids, and the page's own id for content without one. */
export interface BlockSource {
  ids: BlockIds
  /** 32 hex digits; null if the page has none. */
  page: string | null
}

/**
 * The kind of a part: a heading or the summary of a toggle heading (both are in the outline), the
 * summary or the end of a toggle, the header or a row of a table, or anything else.
 */
export type PartKind =
  | 'heading'
  | 'toggle-heading'
  | 'toggle'
  | 'toggle-end'
  | 'header'
  | 'row'
  | 'other'

/** A part of a page's Markdown that comes from one block and is never cut. */
export interface SourcePart {
  kind: PartKind
  /** A heading's depth in Markdown; 0 for everything else. */
  level: number
  /** The number of blocks around it; the first part of a block counts as the block itself. */
  depth: number
  /** The id of the nearest block around it that has one, or else the page's. */
  block: string | null
  /** Start and end in the text, in UTF-16 code units. */
  start: number
  end: number
}

/** The prefix of text between two markers that is not a link's address. */
const SIGN = '@'

/** Ends a part. */
export const PART_END = `${MARKER}${SIGN}${MARKER}`

/** Whether the text between two markers marks a part. */
export function isPartMark(marked: string): boolean {
  return marked.startsWith(SIGN)
}

/** The marks of a page being written. */
export class SourceMarks {
  readonly #ids: BlockIds
  #block: string | null
  /** Open containers, and how many of them already have a part. */
  #open = 0
  #used = 0
  /** The signs of list items and quotes with which the next part begins. */
  #lead = ''

  constructor({ ids, page }: BlockSource) {
    this.#ids = ids
    this.#block = page
  }

  /** Enters a node. @returns the argument for `leave` */
  enter(node: object): string | null {
    const outer = this.#block
    this.#block = this.#ids.get(node) ?? outer
    return outer
  }

  leave(outer: string | null): void {
    this.#block = outer
  }

  open(): void {
    this.#open++
  }

  close(): void {
    this.#open--
    this.#used = Math.min(this.#used, this.#open)
  }

  /** Keeps a sign for the part that begins next. */
  lead(sign: string): void {
    this.#lead += sign
  }

  /** The mark that begins a part. */
  begin(kind: PartKind, level = 0): string {
    const mark = `${MARKER}${SIGN}${kind}/${level}/${this.#used}/${this.#block ?? ''}${MARKER}${this.#lead}`
    this.#used = this.#open
    this.#lead = ''
    return mark
  }

  /** Signs without following content, as a separate part. */
  takeLead(): string {
    return this.#lead === '' ? '' : this.begin('other') + PART_END
  }
}

const KINDS: ReadonlySet<string> = new Set<PartKind>([
  'heading',
  'toggle-heading',
  'toggle',
  'toggle-end',
  'header',
  'row',
  'other',
])

function isKind(kind: string | undefined): kind is PartKind {
  return kind !== undefined && KINDS.has(kind)
}

/** Reads and removes the marks of a page whose links are resolved. */
export function takeMarks(marked: string): { markdown: string; parts: SourcePart[] } {
  const pieces = marked.split(MARKER)
  const text: string[] = []
  const parts: SourcePart[] = []
  let at = 0
  let open: SourcePart | undefined
  for (const [i, piece] of pieces.entries()) {
    if (i % 2 === 0) {
      text.push(piece)
      at += piece.length
      continue
    }
    const [kind, level, depth, block] = piece.slice(SIGN.length).split('/')
    if (open) open.end = at
    if (isKind(kind)) {
      open = {
        kind,
        level: Number(level),
        depth: Number(depth),
        block: block === undefined || block === '' ? null : block,
        start: at,
        end: at,
      }
      parts.push(open)
    } else open = undefined
  }
  return { markdown: text.join(''), parts }
}
