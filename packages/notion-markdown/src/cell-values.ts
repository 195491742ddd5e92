// Reads cells and properties: values that are adjacent without a separator.
import { find, hasClass, isCheckbox, textContent, type Node } from './html.ts'
import { readInline } from './inline.ts'
import type { Links } from './links.ts'
import type { Positions } from './positions.ts'
import type { ValueKind } from './property-types.ts'
import { isBlank, plainRun, type Run } from './runs.ts'

/**
 * Reads the cell of a database or a page's property. If it only has values of one kind (options,
 * people, files, relations, dates, check boxes), which the exporter writes without a separator,
 * they are joined by `, `.
 */
export function readValues(
  nodes: readonly Node[],
  type: ValueKind,
  links: Links,
  positions?: Positions | null,
): Run[] {
  const inner = nodes.filter(holdsSomething)
  const kind = kindOf(inner[0])
  if (type === 'text' || kind === null || inner.some((node) => kindOf(node) !== kind))
    return readInline(nodes, links, positions)
  // If unknown, a space between two links or dates counts as typed.
  if (type === 'unknown' && (kind === 'a' || kind === 'time') && hasTextBetween(nodes))
    return readInline(nodes, links, positions)
  const values = inner
    .map((node) => readInline([node], links, positions))
    .filter((runs) => !runs.every(isBlank))
  return values.flatMap((runs, i) => (i === 0 ? runs : [plainRun(', '), ...runs]))
}

/** Whether any text, even a space, is between the first and the last of elements. */
function hasTextBetween(nodes: readonly Node[]): boolean {
  const first = nodes.findIndex((node) => typeof node !== 'string')
  const last = nodes.findLastIndex((node) => typeof node !== 'string')
  return nodes
    .slice(first, last)
    .some((node) => typeof node === 'string' && node.replaceAll('\ufeff', '') !== '')
}

/** Whether a node may show anything: words, a check box, or (a file of the cell) an image. */
function holdsSomething(node: Node): boolean {
  if (textContent(node).trim() !== '') return true
  return (
    typeof node !== 'string' &&
    (node.name === 'img' ||
      isCheckbox(node) ||
      find(node, 4, (below) => below.name === 'img') !== undefined)
  )
}

/**
 * TABLE of values of which a cell may have several, by the class of the element; a file has only
 * its style.
 */
const VALUES = ['selected-value', 'status-value', 'user']

/** The kind of value that an element is, or null. */
function kindOf(node: Node | undefined): string | null {
  if (node === undefined || typeof node === 'string') return null
  if (node.name === 'a' || node.name === 'time') return node.name
  if (isCheckbox(node)) return 'checkbox'
  if (node.name !== 'span') return null
  return (
    VALUES.find((value) => hasClass(node, value)) ??
    (node.attributes.includes('margin-right') ? 'file' : null)
  )
}
