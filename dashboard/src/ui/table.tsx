// A table from a table of columns, and the same for a list that comes page by page, with everything that it can be meanwhile. On narrow screens columns leave by their rank, so that nothing has to be scrolled sideways.
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Loaded, type Loading } from './page.tsx'
import css from './table.module.css'

export interface Column<T> {
  title: string
  cell: (row: T) => ReactNode
  /** Numbers stand at the right. */
  right?: boolean
  /** The narrowest screen that shows it: any, a tablet, or a desktop. */
  from?: 'middle' | 'wide'
  /** Name to sort by, where the server can. */
  sort?: string
  /** The heading is for readers of the screen only. */
  quiet?: boolean
}

interface TableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  sorted?: { by: string; change: (by: string) => void }
  /** Older rows, shown while newer ones load. */
  stale: boolean
}

interface Pages<T> extends Loading<{ pages: { data: T[] }[] }> {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
  /** The rows are those of another filter, until these have come. */
  isPlaceholderData: boolean
}

interface PagedTableProps<T> extends Omit<TableProps<T>, 'rows' | 'stale'> {
  query: Pages<T>
  /** What stands here where there are no rows. */
  empty?: ReactNode
  /** Bars that stand here while nothing has come yet. */
  bars?: number
  /** Whether there is more to be had than the first page. */
  more?: boolean
}

/** The rows of a query by the page: while they load, where that failed, where there are none, and those that there are. */
export function PagedTable<T extends { id: string }>({ query, empty = null, bars = 4, more = true, ...table }: PagedTableProps<T>) {
  return (
    <Loaded query={query} rows={bars}>
      {({ pages }) => {
        const rows = rowsOf(pages)
        // A page of rare rows may hold none, and have more behind it.
        if (rows.length === 0 && !query.hasNextPage) return empty
        return (
          <>
            <DataTable {...table} rows={rows} stale={query.isPlaceholderData} />
            {more && <More query={query} shown={rows.length} what={table.label.toLowerCase()} />}
          </>
        )
      }}
    </Loaded>
  )
}

/** All rows that a paged query has so far; one that moved to a later page meanwhile stands where it is now. */
function rowsOf<T extends { id: string }>(pages: { data: T[] }[]): T[] {
  const rows = pages.flatMap(({ data }) => data)
  const last = new Map(rows.map((row) => [row.id, row]))
  return rows.filter((row) => last.get(row.id) === row)
}

/** The foot of a paged table. */
function More<T>({ query: { hasNextPage, isFetchingNextPage, fetchNextPage }, shown, what }: { query: Pages<T>; shown: number; what: string }) {
  if (!hasNextPage && shown < 10) return null
  return (
    <div className={css.more} data-home>
      <span>
        {hasNextPage ? 'First' : 'All'} {shown} {what}
      </span>
      {hasNextPage && (
        <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </div>
  )
}

function DataTable<T extends { id: string }>({ label, columns, rows, sorted, stale }: TableProps<T>) {
  return (
    <div className={`${css.scroll} ${stale ? css.stale : ''}`}>
      <table className={css.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={classOf(column)} aria-sort={directionOf(column, sorted?.by)}>
                <Heading column={column} sorted={sorted} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              {columns.map((column) => (
                <td key={column.title} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Heading<T>({ column: { title, sort, quiet = false }, sorted }: { column: Column<T>; sorted: TableProps<T>['sorted'] }) {
  if (quiet) return <span className="hidden">{title}</span>
  if (sort === undefined || !sorted) return title
  const next = sorted.by === `-${sort}` ? sort : `-${sort}`
  const arrow = sorted.by === sort ? ' ↑' : sorted.by === `-${sort}` ? ' ↓' : ''
  return (
    <button type="button" className={css.sort} onClick={() => sorted.change(next)}>
      {title}
      <span aria-hidden="true">{arrow}</span>
    </button>
  )
}

function classOf<T>({ right = false, from }: Column<T>): string {
  return [right ? css.right : '', from === undefined ? '' : css[from]].join(' ').trim()
}

function directionOf<T>({ sort }: Column<T>, by: string | undefined): 'ascending' | 'descending' | undefined {
  if (sort === undefined || by === undefined) return undefined
  if (by === sort) return 'ascending'
  return by === `-${sort}` ? 'descending' : undefined
}

export const main = css.main
export const sub = css.sub
export const text = css.text
export const nowrap = css.nowrap
