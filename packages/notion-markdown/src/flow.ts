// Reads children as blocks: runs of inline content become paragraphs, the exporter's one-item lists
// become lists.
import {
  BLOCK_EQUATION,
  INLINE,
  INLINE_EQUATION,
  attribute,
  find,
  texInAttribute,
  type Element,
  type Node,
} from './html.ts'
import type { DatabaseTable } from './databases.ts'
import type { Links } from './links.ts'
import { readValues } from './cell-values.ts'
import { MEDIA, readInline } from './inline.ts'
import type { ValueKind } from './property-types.ts'
import type { Positions, Range } from './positions.ts'
import { nestMarks, nestParagraphs, paragraphsOf, textOf } from './runs.ts'
import type { BlockIds } from './source-marks.ts'
import type { Block, Inline, List } from './tree.ts'

/** Reads one element into a flow. */
export type BlockReader = (element: Element, flow: Flow) => void

/**
 * The table in which `read` looks elements up, by name; block equations by the attribute that makes
 * any element one. Other elements are read as their children if a block is inside, else inline.
 */
export type BlockTable = ReadonlyMap<string, BlockReader>

/** The state of reading one page, shared by all its flows. */
export interface Section {
  /** The depth of the last heading, excluding databases: a database's title is one below it. */
  depth: number
  /** How many levels the body's headings are raised. */
  readonly lift: 0 | 1
  /** Whether a database inside the page is being read, which may be a view of another database. */
  isInline: boolean
  /** The id of the database that is being read. */
  database: string | null
  /** The title of the database that is being read, else of the page. */
  title: string
  /** Collects databases as data; null if not requested. */
  readonly tables: DatabaseTable[] | null
  /** Collects the ids of blocks; null if not requested. */
  readonly ids: BlockIds | null
  /** Collects the places of nodes; null if not requested. */
  readonly positions: Positions | null
}

/** A block's id in Notion as 32 hex digits; undefined where an element has none. */
export function blockId(element: Element): string | undefined {
  const id = attribute(element, 'id')?.replaceAll('-', '').toLowerCase()
  return id !== undefined && /^[0-9a-f]{32}$/.test(id) ? id : undefined
}

/** Blocks being built: one sequence of siblings. */
export class Flow {
  readonly blocks: Block[] = []
  readonly links: Links
  readonly section: Section
  readonly #table: BlockTable
  #parted = false

  constructor(table: BlockTable, links: Links, section: Section) {
    this.#table = table
    this.links = links
    this.section = section
  }

  /** The blocks of `nodes`, as a separate sequence. */
  inside(nodes: readonly Node[]): Block[] {
    const flow = new Flow(this.#table, this.links, this.section)
    flow.read(nodes)
    return flow.blocks
  }

  /** The inline content of `nodes`. */
  inline(nodes: readonly Node[]): Inline[] {
    const { positions } = this.section
    const [only] = nodes
    if (!positions && nodes.length === 1 && typeof only === 'string' && !only.includes('\ufeff'))
      return textOf(only)
    return nestMarks(readInline(nodes, this.links, positions), positions)
  }

  /** The inline content of an element. */
  inlineOf(element: Element): Inline[] {
    const { positions } = this.section
    const around = positions?.enter(element)
    const inline = this.inline(element.children)
    if (around) positions?.leave(around)
    return inline
  }

  /** The inline content of a cell of a database, or of a property. */
  values(cell: Element, kind: ValueKind): Inline[] {
    const { positions } = this.section
    const around = positions?.enter(cell)
    const runs = readValues(cell.children, kind, this.links, positions)
    if (around) positions?.leave(around)
    return nestMarks(runs, positions)
  }

  /**
   * The paragraphs of `nodes`, which are inline and separated by blank lines.
   *
   * @param within the element around them
   */
  paragraphs(nodes: readonly Node[], within?: Range): Inline[][] {
    const { positions } = this.section
    const [only] = nodes
    if (!positions && nodes.length === 1 && typeof only === 'string' && !only.includes('\ufeff'))
      return paragraphsOf(only)
    return nestParagraphs(readInline(nodes, this.links, positions, within), positions)
  }

  /** Adds the blocks of `nodes`, and releases their children; returns whether there were any. */
  read(nodes: readonly Node[]): boolean {
    const count = this.blocks.length
    const items = countItems(this.blocks)
    let from = 0
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]
      if (typeof node !== 'object') continue
      const reader = this.#readerOf(node)
      if (!reader && !this.#holdsBlocks(node)) continue
      this.#paragraph(nodes, from, i)
      const { ids, positions } = this.section
      const added = this.blocks.length
      const around = positions?.enter(node)
      if (ids) this.#readNoting(node, reader, ids)
      else if (reader) reader(node, this)
      else this.read(node.children)
      if (around) positions?.leave(around)
      if (positions) this.#place(added, positions.ofElement(node))
      // Elements that have been read are released: a large page's elements and blocks need not be
      // in memory together.
      node.children = []
      from = i + 1
    }
    this.#paragraph(nodes, from, nodes.length)
    return this.blocks.length > count || countItems(this.blocks) > items
  }

  /** Records a position for the blocks from `first` on without one. */
  #place(first: number, range: Range): void {
    const { positions } = this.section
    for (const block of this.blocks.slice(first)) positions?.place(block, range)
  }

  /** Reads an element, and records its id for the added blocks without an id. */
  #readNoting(element: Element, reader: BlockReader | undefined, ids: BlockIds): void {
    const [count, items] = [this.blocks.length, countItems(this.blocks)]
    if (reader) reader(element, this)
    else this.read(element.children)
    const id = blockId(element)
    if (id === undefined) return
    const note = (node: object): void => void (ids.has(node) || ids.set(node, id))
    const before = this.blocks[count - 1]
    if (before?.type === 'list') before.children.slice(items).forEach(note)
    for (const block of this.blocks.slice(count)) {
      // The items of one list are blocks of their own.
      if (block.type === 'list') block.children.forEach(note)
      else note(block)
    }
  }

  #readerOf(element: Element): BlockReader | undefined {
    if (texInAttribute(element) === undefined) return this.#table.get(element.name)
    if (INLINE.has(element.name) || attribute(element, INLINE_EQUATION) !== undefined)
      return undefined
    return this.#table.get(BLOCK_EQUATION)
  }

  /** Whether an unknown element is a container, which shows its children. */
  #holdsBlocks(element: Element): boolean {
    return (
      !INLINE.has(element.name) &&
      texInAttribute(element) === undefined &&
      !MEDIA.has(element.name) &&
      find(element, 3, (below) => this.#table.has(below.name)) !== undefined
    )
  }

  /** Adds a block. A list that continues the previous one becomes part of it. */
  add(block: Block): void {
    const last = this.blocks[this.blocks.length - 1]
    if (block.type === 'list' && last?.type === 'list' && !this.#parted && continues(last, block)) {
      for (const item of block.children) last.children.push(item)
    } else this.blocks.push(block)
    this.#parted = false
  }

  /** The next block does not continue the previous list (an empty paragraph is between them). */
  part(): void {
    this.#parted = true
  }

  #paragraph(nodes: readonly Node[], from: number, to: number): void {
    if (from === to) return
    const own = from === 0 && to === nodes.length ? nodes : nodes.slice(from, to)
    const { positions } = this.section
    const within = positions?.ofSiblings(nodes, from, to)
    for (const children of this.paragraphs(own, within)) {
      const paragraph: Block = { type: 'paragraph', children }
      // With other blocks beside it, it is not all of its element.
      if (within && own !== nodes) positions?.place(paragraph, within)
      this.add(paragraph)
    }
  }
}

function countItems(blocks: readonly Block[]): number {
  const last = blocks[blocks.length - 1]
  return last?.type === 'list' ? last.children.length : 0
}

/** Whether `next` is the same kind of list as `list` and, if numbered, continues its numbers. */
function continues(list: List, next: List): boolean {
  if (list.ordered !== next.ordered) return false
  if (list.ordered)
    return next.start === null || next.start === (list.start ?? 1) + list.children.length
  return (list.children[0]?.checked === null) === (next.children[0]?.checked === null)
}
