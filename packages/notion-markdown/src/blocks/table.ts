import { itemAt } from '../item-at.ts'
import { attribute, find, hasClass, isIcon, textContent, type Element, type Node } from '../html.ts'
import { blockId, type Flow } from '../flow.ts'
import { hiddenRows } from './csv-table.ts'
import { rowOfText, titlePage, type DatabaseRow } from '../databases.ts'
import type { Positions } from '../positions.ts'
import { typeOfColumn, typeOfRow } from '../property-types.ts'
import { rawOfText, readRawValue, valueOf, type Property } from '../property-values.ts'
import type { BlockIds } from '../source-marks.ts'
import { plainText, type Inline, type TableCell, type TableRow } from '../tree.ts'

/** `<table>`: a simple table, or a database's view. */
export function readTable(element: Element, flow: Flow): void {
  const rows = readRows(element, flow)
  if (rows.length === 0) return
  const grid = layOutGrid(rows)
  const isDatabase = hasClass(element, 'collection-content')
  if (isDatabase) for (const { row } of rows) addRowPage(row, flow)
  const columns = isDatabase ? itemAt(grid, 0).map((cell) => cell && typeOfColumn(cell)) : null
  const cells = grid.map((places) =>
    places.map((cell, x) => {
      if (cell === null) return []
      return columns ? flow.values(cell, columns[x]?.holds ?? 'unknown') : flow.inlineOf(cell)
    }),
  )
  const width = cells.reduce((most, row) => Math.max(most, row.length), 0)
  if (width === 0) return
  const header = headerOf(itemAt(rows, 0), cells, isDatabase)
  const firstRow = cells.length < rows.length ? 0 : 1
  const database =
    isDatabase && flow.section.database !== null
      ? flow.links.database(flow.section.database)
      : undefined
  const hidden = database
    ? hiddenRows(database, header, titlesOf(rows), checkboxesOf(cells), flow)
    : []
  const shown = flow.section.tables ? valuesOf(rows, grid, cells) : []
  for (const row of hidden) cells.push(row)
  // Readers fill up short rows (GFM 4.10), but on GitHub, a line without a cell ends the table.
  // Only the header determines the number of columns.
  const children = [
    rowOf(header, width),
    ...cells.map((row) => rowOf(row, Math.max(1, row.length))),
  ]
  const { ids, positions } = flow.section
  if (ids) noteRows(rows, children.slice(firstRow), ids)
  if (positions) placeRows(rows, grid, children.slice(firstRow), positions)
  flow.add({ type: 'table', children })
  if (!columns) return
  flow.section.tables?.push({
    id: flow.section.database,
    title: flow.section.title,
    folder: database?.folder ?? null,
    columns: header.map((cell, x) => ({
      name: plainText(cell),
      type: columns[x]?.type ?? null,
      isPictured: columns[x]?.isPictured ?? false,
    })),
    rows: [...shown, ...hidden.map(rowOfText)],
  })
}

/** The values of a table's rows below its header, typed as far as their markup allows. */
function valuesOf(
  rows: readonly Row[],
  grid: readonly (Element | null)[][],
  cells: readonly Inline[][][],
): DatabaseRow[] {
  const firstRow = rows.length - cells.length
  return cells.map((shown, y): DatabaseRow => {
    const { row } = itemAt(rows, y + firstRow)
    const values = shown.map((cell, x) => {
      const element = grid[y + firstRow]?.[x]
      return element ? readRawValue(element, cell) : rawOfText(cell)
    })
    return { page: blockId(row) ?? titlePage(shown[0]), values }
  })
}

/** Records the ids of a table's rows; rows that are only in the CSV come last, without ids. */
function noteRows(rows: readonly Row[], shown: readonly TableRow[], ids: BlockIds): void {
  for (const [i, { row }] of rows.entries()) {
    const id = blockId(row)
    if (id !== undefined && shown[i]) ids.set(shown[i], id)
  }
}

/** Records the positions of a table's rows and cells. */
function placeRows(
  rows: readonly Row[],
  grid: readonly (Element | null)[][],
  shown: readonly TableRow[],
  positions: Positions,
): void {
  for (const [y, { row }] of rows.entries()) {
    const node = shown[y]
    if (!node) continue
    positions.place(node, positions.ofElement(row))
    for (const [x, cell] of node.children.entries())
      positions.place(cell, positions.ofElement(grid[y]?.[x] ?? row))
  }
}

/** Which columns show check boxes, and nothing else. */
function checkboxesOf(rows: readonly Inline[][][]): boolean[] {
  return (rows[0] ?? []).map((_, column) => {
    const shown = rows.map((row) => plainText(row[column] ?? [])).filter((text) => text !== '')
    return shown.length > 0 && shown.every((text) => text === '☑' || text === '☐')
  })
}

/** The titles of a database's rows. */
function titlesOf(rows: readonly Row[]): string[] {
  return rows.flatMap(({ row }) => {
    const title = find(row, 1, (cell) => hasClass(cell, 'cell-title'))
    return title ? [textContent(title)] : []
  })
}

/** The pages of a database's rows are its sub-pages. An empty title is shown as in Notion. */
function addRowPage(row: Element, { links, section }: Flow): void {
  const title = find(row, 1, (cell) => hasClass(cell, 'cell-title'))
  const link = title && find(title, 3, ({ name }) => name === 'a')
  if (!link) return
  links.addSubPage(attribute(link, 'href'), section.isInline ? 2 : 3)
  if (!link.children.some(isWord)) link.children.push('Untitled')
}

/** Whether a node of a title shows anything other than an icon. */
function isWord(node: Node): boolean {
  if (typeof node === 'string') return node.trim() !== ''
  return !isIcon(node) && (node.name === 'img' || textContent(node).trim() !== '')
}

/** A page's properties: two columns, name and value, without a header. */
export function readProperties(
  element: Element,
  flow: Flow,
): { name: Inline[]; value: Inline[]; typed: Property }[] {
  return readRows(element, flow).flatMap(({ row }) => {
    const [name, value] = cellsOf(row)
    if (!name) return []
    const { type, holds } = typeOfRow(row)
    const shown = value ? flow.values(value, holds) : []
    const typed: Property = {
      type,
      value: value ? valueOf(readRawValue(value, shown), type) : { type: 'empty' },
    }
    return [{ name: flow.inlineOf(name), value: shown, typed }]
  })
}

/**
 * Removes the header from a table's rows: the marked one; if none is marked, a first row that is
 * all bold.
 */
function headerOf(first: Row, rows: Inline[][][], isDatabase: boolean): Inline[][] {
  if (first.inHead || isHeaderRow(first.row)) return rows.shift() ?? []
  const cells = itemAt(rows, 0).filter((cell) => cell.length > 0)
  if (isDatabase || cells.length === 0 || !cells.every(isBold)) return []
  return (rows.shift() ?? []).map(withoutBold)
}

/** Whether everything that inline nodes show is bold. */
function isBold(nodes: readonly Inline[]): boolean {
  return nodes.every((node) => {
    if (node.type === 'strong' || node.type === 'break') return true
    if (node.type === 'text') return node.value.trim() === ''
    return 'children' in node && isBold(node.children)
  })
}

function withoutBold(nodes: readonly Inline[]): Inline[] {
  return nodes.flatMap((node): Inline[] => {
    if (node.type === 'strong') return withoutBold(node.children)
    return 'children' in node ? [{ ...node, children: withoutBold(node.children) }] : [node]
  })
}

/** A row of `width` cells. */
export function rowOf(cells: readonly Inline[][], width: number): TableRow {
  const children: TableCell[] = []
  for (let i = 0; i < width; i++) children.push({ type: 'tableCell', children: cells[i] ?? [] })
  return { type: 'tableRow', children }
}

interface Row {
  row: Element
  inHead: boolean
}

/** A table: its rows, and its content outside cells. */
interface Content {
  rows: Row[]
  outside: Node[]
}

/**
 * The rows of a table. Content outside cells (a caption, or the rest of a broken row) goes above
 * it, as in a browser.
 */
function readRows(element: Element, flow: Flow): Row[] {
  const content: Content = { rows: [], outside: [] }
  collect(element, 0, false, content)
  flow.read(content.outside)
  return content.rows
}

/**
 * Finds the rows in any wrapper, but not those of a table inside a cell. Cells without a row make
 * one.
 */
function collect(element: Element, depth: number, inHead: boolean, content: Content): void {
  let implied: Element | undefined
  for (const child of element.children) {
    if (typeof child === 'string' && child.trim() === '') continue
    if (isCell(child)) {
      if (!implied)
        content.rows.push({ row: (implied = { name: 'tr', attributes: '', children: [] }), inHead })
      implied.children.push(child)
      continue
    }
    implied = undefined
    if (typeof child === 'string') content.outside.push(child)
    else if (child.name === 'tr') {
      content.rows.push({ row: child, inHead })
      for (const node of child.children) if (!isCell(node)) content.outside.push(node)
    } else if (depth < 4 && ['thead', 'tbody', 'tfoot', 'div'].includes(child.name))
      collect(child, depth + 1, inHead || child.name === 'thead', content)
    else content.outside.push(child)
  }
}

/**
 * Maximum number of empty places per cell of a table; beyond it, spans are ignored. Only hostile
 * tables reach it.
 */
const MAX_EMPTY_CELLS = 4

/**
 * The cells of each row by column. A merged cell, which GFM does not have, is in its first
 * position; the rest of its span is empty, up to the row's last cell.
 */
function layOutGrid(rows: readonly Row[]): (Element | null)[][] {
  let left = MAX_EMPTY_CELLS * rows.reduce((sum, { row }) => sum + cellsOf(row).length, 0)
  /** By column: the first row that no cell above spans. */
  let free: number[] = []
  return rows.map(({ row, inHead }, y) => {
    // No cell extends beyond the head.
    if (inHead !== rows[y - 1]?.inHead) free = []
    const places: (Element | null)[] = []
    let next = 0
    for (const cell of cellsOf(row)) {
      while ((free[next] ?? 0) > y) next++
      for (; places.length < next && left > 0; left--) places.push(null)
      const [from, below] = [places.length, y + cellSpan(cell, 'rowspan')]
      next = from + (left > 0 ? cellSpan(cell, 'colspan') : 1)
      if (below > y + 1) for (let x = from; x < next; x++) free[x] = below
      places.push(cell)
    }
    return places
  })
}

/** How many columns or rows a cell spans; at most 1,000, as in a browser. */
function cellSpan(cell: Element, name: 'colspan' | 'rowspan'): number {
  const span = Number.parseInt(attribute(cell, name) ?? '', 10)
  return span > 1 ? Math.min(span, 1000) : 1
}

function isCell(node: Node): boolean {
  return typeof node !== 'string' && (node.name === 'td' || node.name === 'th')
}

function cellsOf(row: Element): Element[] {
  return row.children.filter((node): node is Element => isCell(node))
}

/**
 * A first row with only `<th>` without a header's column class (tables not written by Notion's
 * exporters).
 */
function isHeaderRow(row: Element): boolean {
  const cells = cellsOf(row)
  return (
    cells.length > 1 &&
    cells.every((cell) => cell.name === 'th') &&
    attribute(row, 'id') === undefined
  )
}
