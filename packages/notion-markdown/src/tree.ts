// The tree between reading and writing. Its nodes are mdast's
// (https://github.com/syntax-tree/mdast) and mdast-util-math's, less the fields that are not used
// here, and two of our own for what Markdown can only write as HTML.

/** A heading's depth in Markdown. */
export type Depth = 1 | 2 | 3 | 4 | 5 | 6

/** A place in a text (unist `Point`). */
export interface Point {
  /** From 1 on. */
  line: number
  column: number
  /** In UTF-16 code units, from 0. */
  offset: number
}
/** A range of a text (unist `Position`). */
export interface Position {
  start: Point
  /** The first point after it. */
  end: Point
}
/** The common fields of all nodes (unist `Node`). */
export interface Positioned {
  /** The node's position in the page's HTML, if `parsePage` was called with `positions`. */
  position?: Position
}

/** Plain text (mdast `text`). */
export interface Text extends Positioned {
  type: 'text'
  value: string
}
/** A hard line break (mdast `break`). */
export interface Break extends Positioned {
  type: 'break'
}
/** Code within a line (mdast `inlineCode`). */
export interface InlineCode extends Positioned {
  type: 'inlineCode'
  value: string
}
/** An equation within text; `value` is its TeX, on one line. */
export interface InlineMath extends Positioned {
  type: 'inlineMath'
  value: string
}
/** Emphasised, strong or deleted text (mdast `emphasis`, `strong`, `delete`). */
export interface Marked extends Positioned {
  type: 'strong' | 'emphasis' | 'delete'
  children: Inline[]
}
/** Underlined text, which mdast does not have. */
export interface Underline extends Positioned {
  type: 'underline'
  children: Inline[]
}
/** A link (mdast `link`). */
export interface Link extends Positioned {
  type: 'link'
  url: string
  children: Inline[]
}
/** An image (mdast `image`). */
export interface Image extends Positioned {
  type: 'image'
  url: string
  alt: string
}

/** A node in a line of text. */
export type Inline = Text | Break | InlineCode | InlineMath | Marked | Underline | Link | Image

/** A heading (mdast `heading`). */
export interface Heading extends Positioned {
  type: 'heading'
  depth: Depth
  /** The block's id in Notion, which a table of contents names. */
  id: string | null
  children: Inline[]
}
/** A paragraph (mdast `paragraph`). */
export interface Paragraph extends Positioned {
  type: 'paragraph'
  children: Inline[]
}
/** A bulleted or numbered list (mdast `list`). */
export interface List extends Positioned {
  type: 'list'
  ordered: boolean
  /** The first item's number; null for a list without numbers. */
  start: number | null
  children: ListItem[]
}
/** An item of a list; `checked` makes it a to-do (mdast `listItem`). */
export interface ListItem extends Positioned {
  type: 'listItem'
  /** Whether a to-do is done; null if it is not a to-do. */
  checked: boolean | null
  children: Block[]
}
/**
 * How callouts are written: as `> [!note]` (Obsidian), or between `:::note` and `:::` (Docusaurus).
 */
export type CalloutStyle = 'alert' | 'admonition'

/** A quote that is a callout. */
export interface Callout {
  style: CalloutStyle
  kind: 'note' | 'tip' | 'warning' | 'danger'
  /** The depth of callouts nested in it. */
  inside: number
}

/** A quote or callout (mdast `blockquote`). */
export interface Blockquote extends Positioned {
  type: 'blockquote'
  /** The syntax of a callout that is more than a quote. */
  callout?: Callout
  children: Block[]
}
/** A fenced code block (mdast `code`). */
export interface Code extends Positioned {
  type: 'code'
  lang: string | null
  value: string
}
/** A block equation; `value` is its TeX. */
export interface MathBlock extends Positioned {
  type: 'math'
  value: string
}
/** The first row is the header; its cells may be empty. */
export interface Table extends Positioned {
  type: 'table'
  children: TableRow[]
}
/** A row of a table (mdast `tableRow`). */
export interface TableRow extends Positioned {
  type: 'tableRow'
  children: TableCell[]
}
/** A cell of a table (mdast `tableCell`). */
export interface TableCell extends Positioned {
  type: 'tableCell'
  children: Inline[]
}
/** A divider (mdast `thematicBreak`). */
export interface ThematicBreak extends Positioned {
  type: 'thematicBreak'
}
/** A toggle. `depth` is that of a toggle heading in the document, null for a plain toggle. */
export interface Details extends Positioned {
  type: 'details'
  depth: Depth | null
  id: string | null
  summary: Inline[]
  children: Block[]
}

/** A block node. */
export type Block =
  | Heading
  | Paragraph
  | List
  | Blockquote
  | Code
  | MathBlock
  | Table
  | ThematicBreak
  | Details

/** A page's blocks (mdast `root`). */
export interface Root extends Positioned {
  type: 'root'
  children: Block[]
}

/** The text of inline nodes as a reader sees it, without marks; a line break is a space. */
export function plainText(nodes: readonly Inline[]): string {
  let text = ''
  for (const node of nodes) {
    if (node.type === 'break') text += ' '
    else if (node.type === 'image') text += node.alt
    else if ('value' in node) text += node.value
    else text += plainText(node.children)
  }
  return text
}
