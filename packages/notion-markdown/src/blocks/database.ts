import { titleKey, type Database } from '../csv.ts'
import type { Flow } from '../flow.ts'
import { attribute, find, type Element } from '../html.ts'
import { decodeOnce, pageTarget } from '../links.ts'
import { textOf } from '../runs.ts'
import { plainText, type Inline, type TableRow } from '../tree.ts'

const CSV = /\b([0-9a-f]{32})(?:_all)?\.csv$/i

/**
 * An inline database that the page holds only as a link to its CSV: its title and its table. False
 * where it is none, or its CSV is not there.
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
  if (!link || !database) return false
  link.children = []
  flow.read(element.children)
  addTable(database, flow)
  return true
}

/** Adds a database's table. */
export function addTable(database: Database, flow: Flow): void {
  const [header = [], ...rows] = database.rows
  const width = database.rows.reduce((most, { length }) => Math.max(most, length), 0)
  if (width === 0) return
  const head = Array.from({ length: width }, (_, column) => textOf(header[column] ?? ''))
  flow.add({
    type: 'table',
    children: [
      rowOf(head),
      ...rows.map((row) => rowOf(row.map((cell, column) => cellOf(database, cell, column, flow)))),
    ],
  })
  // In an export without folders any page may have a row's title: whose it is, better claims
  // decide.
  for (const page of database.namesakes()) flow.links.claimPage(page, 1)
}

/** TABLE of what CSV says of check boxes. */
const BOXES: Readonly<Record<string, string>> = { Yes: '☑', No: '☐' }

/**
 * The rows that a database's table does not show (a view's filter hides them), in the table's
 * columns.
 *
 * @param titles of the rows that it shows
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
  return hidden.map((row) =>
    columns.map((column, place) => {
      const value = row[column] ?? ''
      const shown = checkboxes[place] ? (BOXES[value] ?? value) : value
      return column < 0 ? [] : cellOf(database, shown, column, flow)
    }),
  )
}

/** A cell; the title links to the row's page. */
function cellOf(database: Database, value: string, column: number, flow: Flow): Inline[] {
  if (column > 0) return textOf(value)
  const title = value.trim() === '' ? 'Untitled' : value
  const page = database.pageOf(title)
  if (page === undefined) return textOf(title)
  flow.links.claimPage(page, 1)
  return [{ type: 'link', url: pageTarget(page), children: textOf(title) }]
}

function rowOf(cells: readonly Inline[][]): TableRow {
  return {
    type: 'tableRow',
    children: (cells.length === 0 ? [[]] : cells).map((children) => ({
      type: 'tableCell',
      children,
    })),
  }
}
