// Tables made from a database's CSV, and rows that a view of it hides.
import { titleKey, type Database } from '../csv.ts'
import { rowOfText } from '../databases.ts'
import type { Flow } from '../flow.ts'
import { attribute, find, type Element } from '../html.ts'
import { decodeOnce, pageTarget } from '../links.ts'
import { textOf } from '../runs.ts'
import { plainText, type Inline, type TableCell, type TableRow } from '../tree.ts'

const CSV = /\b([0-9a-f]{32})(?:_all)?\.csv$/i

/**
 * An inline database that the page has only as a link to its CSV: its title and its table. False if
 * it is not one, or its CSV is missing.
 */
export function readLinkedDatabase(element: Element, flow: Flow): boolean {
  if (find(element, 4, ({ name }) => name === 'table')) return false
  const link = find(
    element,
    3,
    (below) => below.name === 'a' && CSV.test(decodeOnce(attribute(below, 'href') ?? '')),
  )
  const id = link && CSV.exec(decodeOnce(attribute(link, 'href') ?? ''))?.[1]?.toLowerCase()
  const database = id === undefined ? undefined : flow.links.database(id)
  if (!link || id === undefined || !database || !showsWords(database)) return false
  link.children = []
  flow.read(element.children)
  flow.section.database = id
  addTable(database, flow)
  return true
}

/** Whether its table would show anything instead of the link. */
const showsWords = ({ rows }: Database): boolean =>
  rows.some((row) => row.some((cell) => cell.trim() !== ''))

/** Adds a database's table. */
export function addTable(database: Database, flow: Flow): void {
  const [header = [], ...rows] = database.rows
  const width = database.rows.reduce((most, { length }) => Math.max(most, length), 0)
  if (width === 0) return
  const head = Array.from({ length: width }, (_, column) => textOf(header[column] ?? ''))
  const children = rows.map((row) => new CsvRow(row, takePage(database, row[0] ?? '', flow)))
  flow.add({ type: 'table', children: [rowOf(head), ...children] })
  flow.section.tables?.push({
    id: flow.section.database,
    title: flow.section.title,
    folder: database.folder,
    columns: head.map((cell) => ({ name: plainText(cell), type: null, isPictured: false })),
    rows: children.map((row) => rowOfText(row.inline())),
  })
  // In an export without folders, any page may have a row's title; stronger signs decide.
  for (const page of database.namesakes()) flow.links.addSubPageKey(page, 1)
}

/** TABLE of the values of check boxes in CSV. */
const BOXES: Readonly<Record<string, string>> = { Yes: '☑', No: '☐' }

/**
 * Maximum number of cells of hidden rows, per cell that they have in the CSV; beyond it, rows keep
 * the columns of the CSV. Only hostile exports reach it.
 */
const MAX_CELLS = 4

/**
 * The rows that a database's table does not show (a view's filter hides them), in the table's
 * columns.
 *
 * @param titles the titles of the rows that it shows
 * @param checkboxes which columns show check boxes
 */
export function hiddenRows(
  database: Database,
  header: readonly Inline[][],
  titles: readonly string[],
  checkboxes: readonly boolean[],
  flow: Flow,
): Inline[][][] {
  const [names = [], ...rows] = database.rows
  const columns = header.map((cell) => names.indexOf(plainText(cell)))
  if (!columns.includes(0)) return []
  const shown = new Map<string, number>()
  for (const title of titles) shown.set(titleKey(title), (shown.get(titleKey(title)) ?? 0) + 1)
  const hidden = rows.filter(([title = '']) => {
    const key = titleKey(title === '' ? 'Untitled' : title)
    const left = shown.get(key) ?? 0
    shown.set(key, left - 1)
    return left <= 0
  })
  // The width of a row with this many cells: up to the last column that shows one.
  const widths = [0]
  for (const [place, column] of columns.entries())
    if (column >= 0) widths[column + 1] = Math.max(widths[column + 1] ?? 0, place + 1)
  for (let length = 1; length <= names.length; length++)
    widths[length] = Math.max(widths[length] ?? 0, widths[length - 1] ?? 0)
  let left = MAX_CELLS * hidden.reduce((sum, row) => sum + row.length, 0)
  return hidden.map((row) => {
    const width = widths[Math.min(row.length, names.length)] ?? 0
    left -= width
    if (left < 0) return row.map((value, column) => cellOf(database, value, column, flow))
    return columns.slice(0, width).map((column, place) => {
      const value = row[column] ?? ''
      const shown = checkboxes[place] ? (BOXES[value] ?? value) : value
      return column < 0 ? [] : cellOf(database, shown, column, flow)
    })
  })
}

/** A cell; the title links to the row's page. */
function cellOf(database: Database, value: string, column: number, flow: Flow): Inline[] {
  return column > 0 ? textOf(value) : titleCell(value, takePage(database, value, flow))
}

/** An empty title is shown as in Notion. */
const shownTitle = (value: string): string => (value.trim() === '' ? 'Untitled' : value)

/** Takes the page of the next row with this title, which is a sub-page. @returns its key */
function takePage(database: Database, title: string, { links }: Flow): string | undefined {
  const page = database.pageOf(shownTitle(title))
  if (page !== undefined) links.addSubPageKey(page, 1)
  return page
}

function titleCell(value: string, page: string | undefined): Inline[] {
  const title = textOf(shownTitle(value))
  return page === undefined ? title : [{ type: 'link', url: pageTarget(page), children: title }]
}

/**
 * A row whose cells are made when they are read, which the writer does once: all cells of a million
 * rows at once would take a gigabyte.
 */
class CsvRow implements TableRow {
  readonly type = 'tableRow'
  readonly #values: readonly string[]
  readonly #page: string | undefined

  /** @param page the key of its page */
  constructor(values: readonly string[], page: string | undefined) {
    this.#values = values
    this.#page = page
  }

  get children(): TableCell[] {
    return tableCells(this.inline())
  }

  /** Its cells without their nodes. */
  inline(): Inline[][] {
    return this.#values.map((value, x) => (x === 0 ? titleCell(value, this.#page) : textOf(value)))
  }
}

const rowOf = (cells: readonly Inline[][]): TableRow => ({
  type: 'tableRow',
  children: tableCells(cells),
})

const tableCells = (cells: readonly Inline[][]): TableCell[] =>
  (cells.length === 0 ? [[]] : cells).map((children) => ({ type: 'tableCell', children }))
