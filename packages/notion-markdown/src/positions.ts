// Positions of a tree's nodes in the page's HTML (unist's `position`). Elements get their ranges
// while they are parsed, and nodes get theirs from the elements that they are read from.
import type { Element, Node } from './html.ts'
import type { Block, Inline, ListItem, Point, Root, TableCell, TableRow } from './tree.ts'

/** A range of the parsed text, in UTF-16 code units. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** The ranges of a page's elements and nodes, while it is read. */
export class Positions {
  /** Ranges of elements: with their tags, and between them. */
  readonly #outer = new WeakMap<Element, Range>()
  readonly #inner = new WeakMap<Element, Range>()
  readonly #nodes = new WeakMap<object, Range>()
  /** The content of the element being read. */
  #within: Range

  /** @param length the length of the parsed text */
  constructor(length: number) {
    this.#within = { start: 0, end: length }
  }

  /** @param content the start of its content */
  open(element: Element, start: number, content: number): void {
    this.#outer.set(element, { start, end: content })
    this.#inner.set(element, { start: content, end: content })
  }

  /** @param content the end of its content */
  close(element: Element, content: number, end: number): void {
    this.#outer.set(element, { start: this.#outer.get(element)?.start ?? 0, end })
    this.#inner.set(element, { start: this.contentOf(element).start, end: content })
  }

  /**
   * Goes into an element. Not a callback: deep pages have no room on the stack. @returns what
   * `leave` takes
   */
  enter(element: Element): Range {
    const around = this.#within
    this.#within = this.contentOf(element)
    return around
  }

  leave(around: Range): void {
    this.#within = around
  }

  /**
   * The range of an element with its tags; for an element that is not in the page, the range around
   * it.
   */
  ofElement(element: Element): Range {
    return this.#outer.get(element) ?? this.#within
  }

  /** The range between an element's tags. */
  contentOf(element: Element): Range {
    return this.#inner.get(element) ?? this.#within
  }

  /**
   * The range of the siblings `nodes[from … to)`: a text extends to its neighbours, or to the ends
   * of `within`.
   */
  ofSiblings(nodes: readonly Node[], from: number, to: number, within = this.#within): Range {
    const outer = (node: Node | undefined): Range | undefined =>
      typeof node === 'object' ? this.#outer.get(node) : undefined
    return {
      start: outer(nodes[from])?.start ?? outer(nodes[from - 1])?.end ?? within.start,
      end: outer(nodes[to - 1])?.end ?? outer(nodes[to])?.start ?? within.end,
    }
  }

  /** Gives a node a range if it has none yet. */
  place(node: object, range: Range): void {
    if (!this.#nodes.has(node)) this.#nodes.set(node, range)
  }

  of(node: object): Range | undefined {
    return this.#nodes.get(node)
  }
}

type AnyNode = Root | Block | ListItem | TableRow | TableCell | Inline

function childrenOf(node: AnyNode): readonly AnyNode[] {
  if (node.type === 'details') return [...node.summary, ...node.children]
  return 'children' in node ? node.children : []
}

/**
 * Gives each node of a tree its position. A parent extends around its children. A node that the
 * page does not write has the position of its parent.
 *
 * @param source the page before parsing
 * @param parsed the text to which the ranges refer
 */
export function addPositions(
  tree: Root,
  places: Positions,
  { source, parsed }: { source: string; parsed: string },
): void {
  const pointOf = points(source, parsed)
  const ranges = new Map<AnyNode, Range>([[tree, { start: 0, end: parsed.length }]])
  measure(tree, places, ranges)
  const add = (node: AnyNode, around: Range): void => {
    const range = ranges.get(node) ?? around
    node.position = { start: pointOf(range.start), end: pointOf(range.end) }
    for (const child of childrenOf(node)) add(child, range)
  }
  add(tree, { start: 0, end: parsed.length })
}

/** Finds the range of a node and its descendants, if known. */
function measure(node: AnyNode, places: Positions, ranges: Map<AnyNode, Range>): Range | undefined {
  let range = places.of(node)
  for (const child of childrenOf(node)) {
    const inner = measure(child, places, ranges)
    if (!range) range = inner
    else if (inner)
      range = {
        start: Math.min(range.start, inner.start),
        end: Math.max(range.end, inner.end),
      }
  }
  if (range && node.type !== 'root') ranges.set(node, range)
  return range
}

/** Maps an index in the parsed text to a point in the source. */
function points(source: string, parsed: string): (at: number) => Point {
  const offsets = source === parsed ? null : offsetsIn(source, parsed.length)
  const lines = [0]
  for (const { index, 0: end } of source.matchAll(/\r\n?|\n/g)) lines.push(index + end.length)
  return (at) => {
    const offset = offsets ? (offsets[at] ?? source.length) : at
    let [low, high] = [0, lines.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((lines[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (lines[low] ?? 0) + 1, offset }
  }
}

/** The offset in the source of each character that the parser reads (`cleanText`). */
function offsetsIn(source: string, length: number): Uint32Array {
  const offsets = new Uint32Array(length + 1).fill(source.length)
  let at = 0
  for (let i = source.charCodeAt(0) === 0xfeff ? 1 : 0; i < source.length; i++) {
    const code = source.charCodeAt(i)
    if (code === 0) continue
    offsets[at++] = i
    if (code === 0x0d && source.charCodeAt(i + 1) === 0x0a) i++
  }
  return offsets
}
