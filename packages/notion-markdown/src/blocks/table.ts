import { attribute, find, hasClass, type Element } from '../html.ts'
import type { Flow } from '../flow.ts'
import { readValues } from '../inline.ts'
import { nest } from '../runs.ts'
import type { Inline, TableCell, TableRow } from '../tree.ts'

/** `<table>`: a simple table, or a database's view. */
export function readTable(element: Element, flow: Flow): void {
  const rows = rowsOf(element, 0)
  if (rows.length === 0) return
  const isText = hasClass(element, 'collection-content') ? cellsOf(rows[0]!.row).map(holdsText) : null
  const cells = rows.map(({ row, inHead }) => ({
    inHead,
    cells: cellsOf(row).map((cell, i) => (isText ? nest(readValues(cell.children, isText[i] === true, flow.links)) : flow.inline(cell.children))),
  }))
  const width = cells.reduce((most, row) => Math.max(most, row.cells.length), 0)
  if (width === 0) return
  const header = cells[0]!.inHead || isHeaderRow(rows[0]!.row) ? cells.shift()!.cells : []
  // Readers fill up short rows (GFM 4.10); only the header says how many columns there are.
  flow.add({ type: 'table', children: [rowOf(header, width), ...cells.map((row) => rowOf(row.cells, row.cells.length))] })
}

/** A page's properties: two columns, name and value, under no header. */
export function readProperties(element: Element, flow: Flow): { name: string; value: Inline[] }[] {
  return rowsOf(element, 0).flatMap(({ row }) => {
    const cells = cellsOf(row)
    const [name, value] = cells
    if (!name) return []
    return [{ name: plainCell(flow.inline(name.children)), value: value ? nest(readValues(value.children, hasClass(row, 'property-row-text'), flow.links)) : [] }]
  })
}

/** Whether a database's column holds text; only the drawing in its head tells. */
function holdsText(head: Element): boolean {
  return find(head, 3, (below) => below.name === 'svg' && (hasClass(below, 'typesText') || hasClass(below, 'typesTitle'))) !== undefined
}

/** A row of `width` cells. */
export function rowOf(cells: readonly Inline[][], width: number): TableRow {
  const children: TableCell[] = []
  for (let i = 0; i < width; i++) children.push({ type: 'tableCell', children: cells[i] ?? [] })
  return { type: 'tableRow', children }
}

function plainCell(nodes: readonly Inline[]): string {
  return nodes.map((node) => ('value' in node ? node.value : '')).join('')
}

/** The rows of a table, whatever wraps them; not those of a table inside a cell. */
function rowsOf(element: Element, depth: number, inHead = false): { row: Element; inHead: boolean }[] {
  const rows: { row: Element; inHead: boolean }[] = []
  for (const child of element.children) {
    if (typeof child === 'string') continue
    if (child.name === 'tr') rows.push({ row: child, inHead })
    else if (depth < 4 && ['thead', 'tbody', 'tfoot', 'div'].includes(child.name)) {
      for (const row of rowsOf(child, depth + 1, inHead || child.name === 'thead')) rows.push(row)
    }
  }
  return rows
}

function cellsOf(row: Element): Element[] {
  return row.children.filter((node): node is Element => typeof node !== 'string' && (node.name === 'td' || node.name === 'th'))
}

/** A first row of nothing but `<th>` without a header's column class (tables that no exporter of Notion's wrote). */
function isHeaderRow(row: Element): boolean {
  const cells = cellsOf(row)
  return cells.length > 1 && cells.every((cell) => cell.name === 'th') && attribute(row, 'id') === undefined
}
