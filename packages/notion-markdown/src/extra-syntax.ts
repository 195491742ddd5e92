// Syntax beyond that of every reader of Markdown.

/** The syntax that a program supports in addition to CommonMark, GFM and math. */
export interface ExtraSyntax {
  /** Obsidian's links (`[[place|text]]`), tags, comments, highlights and names of blocks. */
  readonly obsidian: boolean
  /** `:::note`: Docusaurus' admonitions. */
  readonly directives: boolean
  /** Whether headings in HTML are only found by an id. */
  readonly headingIds: boolean
  /** Whether an equation beside a letter or a digit is none. */
  readonly lonelyMath: boolean
}

/** The syntax that every reader supports. */
export const NO_EXTRA_SYNTAX: ExtraSyntax = {
  obsidian: false,
  directives: false,
  headingIds: false,
  lonelyMath: false,
}
