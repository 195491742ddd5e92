// A line of Markdown while it is written: its text, and which parts of it are marks, links or
// typed.
import type { ExtraSyntax } from './extra-syntax.ts'

/** The context of a line: it begins a block, follows a heading's `#`, or fills a table's cell. */
export type LinePosition = 'paragraph' | 'item' | 'heading' | 'cell'

/** A pair of marks around text. */
export interface Mark {
  type: 'strong' | 'emphasis' | 'delete'
  /** `*` or `~`. */
  char: string
  length: number
  open: number
  close: number
}

/** A line being written. All numbers are indexes into `text`. */
export interface Draft {
  text: string
  position: LinePosition
  syntax: ExtraSyntax
  /** Ranges of typed text, in order; `linked`: as a link's text or an image's description. */
  texts: { from: number; to: number; linked: boolean }[]
  marks: Mark[]
  /**
   * Ranges of the writer's own text that must not be escaped, in order: code, equations,
   * destinations.
   */
  spans: { from: number; to: number }[]
  /** Ranges of whole links, including their text, in order. */
  links: { from: number; to: number }[]
  /** The start of its last line. */
  lineStart: number
  /** Whether the last typed text ends in an address that GFM makes a link. */
  endsInAutolink: boolean
}
