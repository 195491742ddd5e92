// The databases of a page as data: columns with their types, rows with their values.
import {
  mayBe,
  rawOfText,
  typeOfValues,
  valueOf,
  type Property,
  type RawValue,
} from './property-values.ts'
import type { PropertyType } from './property-types.ts'
import { jsonOf, type PageId } from './property-json.ts'
import type { Inline } from './tree.ts'

/** A column of a database. */
export interface DatabaseColumn {
  name: string
  /** Null if the export does not say. */
  type: PropertyType | null
  /** Whether only an icon shows the type; people can change icons. */
  isPictured: boolean
}

/** A row of a database. */
export interface DatabaseRow {
  /** The id of its page, or where its title leads. */
  page: string | null
  values: RawValue[]
}

/** A database, as shown on a page and stored in the export. */
export interface DatabaseTable {
  /** 32 hex digits, of the block or the page that shows it. */
  id: string | null
  title: string
  /** The folder of its CSV, if it has one. */
  folder: string | null
  columns: DatabaseColumn[]
  rows: DatabaseRow[]
}

/** A row without markup. */
export function rowOfText(cells: readonly Inline[][]): DatabaseRow {
  return { page: titlePage(cells[0]), values: cells.map(rawOfText) }
}

/** The target of a row's title. */
export function titlePage(title: readonly Inline[] = []): string | null {
  return title.find((node) => node.type === 'link')?.url ?? null
}

/** The data of pages for joining. */
export interface KnownPages {
  /** The id of an address's page; null if the page has no id, or the address is not a page's. */
  idOf: PageId
  /** The properties of the page with this id. */
  propertiesOf(id: string): Readonly<Record<string, Property>> | undefined
}

/**
 * Maximum number of values per cell of all rows; beyond it, short rows stay short. Only hostile
 * tables reach it.
 */
const MAX_PADDING = 4

/** The number of values per row: the number of columns. */
export function rowWidths(columns: number, rows: readonly DatabaseRow[]): number[] {
  let left = MAX_PADDING * rows.reduce((sum, { values }) => sum + values.length, 0)
  return rows.map(({ values }) => {
    left -= columns
    return left < 0 ? Math.min(values.length, columns) : columns
  })
}

/** Number of rows converted to JSON at a time. */
const ROWS_AT_ONCE = 500

/** Writes databases as a JSON array, in pieces. */
export function* databasesJson(
  tables: readonly DatabaseTable[],
  pages: KnownPages,
): Generator<string> {
  yield '['
  for (const [i, { id, title, folder, columns, rows }] of tables.entries()) {
    const pageIds = rows.map(({ page }) => (page === null ? null : idOf(page, pages)))
    const cells = cellsByColumn(rows)
    const types = columns.map(
      (column, x) => typeOf(column, cells[x] ?? [], pageIds, pages) ?? (x === 0 ? 'title' : null),
    )
    const head = { id, title, columns: columns.map(({ name }, x) => ({ name, type: types[x] })) }
    const widths = rowWidths(columns.length, rows)
    yield `${i === 0 ? '' : ','}${JSON.stringify(head).slice(0, -1)},"rows":[`
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const piece = rows.slice(at, at + ROWS_AT_ONCE).map(({ values }, y) => {
        const typed = Array.from({ length: widths[at + y] ?? 0 }, (_, x) =>
          valueOf(values[x] ?? EMPTY, types[x] ?? null, folder ?? undefined),
        )
        return { page_id: pageIds[at + y], values: typed.map((one) => jsonOf(one, pages.idOf)) }
      })
      yield (at === 0 ? '' : ',') + JSON.stringify(piece).slice(1, -1)
    }
    yield ']}'
  }
  yield ']'
}

const EMPTY: RawValue = { text: '' }

const idOf = (page: string, pages: KnownPages): string | null =>
  /^[0-9a-f]{32}$/.test(page) ? page : pages.idOf(page)

/** Number of rows whose pages are checked for a column's type. */
const MAX_ASKED = 100

/**
 * The type of a column: from its header, or else from the property on its rows' pages, or else from
 * the markup of its values, or else from an icon, if the values allow that.
 */
function typeOf(
  { name, type, isPictured }: DatabaseColumn,
  values: readonly RawValue[],
  pageIds: readonly (string | null)[],
  pages: KnownPages,
): PropertyType | null {
  if (type !== null && !isPictured) return type
  for (const id of pageIds.slice(0, MAX_ASKED)) {
    const own = id === null ? null : pages.propertiesOf(id)?.[name]?.type
    if (own) return own
  }
  if (type !== null && values.every((value) => mayBe(value, type))) return type
  return typeOfValues(values)
}

function cellsByColumn(rows: readonly DatabaseRow[]): RawValue[][] {
  const cells: RawValue[][] = []
  for (const { values } of rows)
    for (const [x, value] of values.entries()) (cells[x] ??= []).push(value)
  return cells
}
