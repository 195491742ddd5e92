// Tables from a table of columns, and paged lists with their loading states. Narrow screens hide
// columns by rank, so that nothing scrolls sideways.
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { PageOf } from '../api/queries.ts'
import { count, dateTime, fullCount } from '../format.ts'
import { Loaded, type Loading } from './page.tsx'
import css from './table.module.css'

/** One column: its title, its cells and its order. */
export interface Column<T> {
  title: string
  cell: (row: T) => ReactNode
  /** Right-aligned, for numbers. */
  right?: boolean
  /** The narrowest screen that shows it: any (default), a tablet, or a desktop. */
  from?: 'middle' | 'wide'
  /** The server's sort name, if it can sort by it. */
  sort?: string
  /** Whether only screen readers get the heading. */
  quiet?: boolean
}

interface TableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  sorted?: { by: string; change: (by: string) => void }
  /** Older rows, shown while newer ones load. */
  stale: boolean
  /** Single-line rows. */
  compact?: boolean
}

/** A paged list from `usePages`. */
export interface Pages<T> extends Loading<PageOf<T>> {
  before: number
  toNext: () => void
  toPrevious: () => void
  stop: () => void
  /** Whether rows are loading, also of a page that is shown already. */
  isFetching: boolean
  /** Whether the rows are still those of another page or filter. */
  isPlaceholderData: boolean
}

interface PagedTableProps<T> extends Omit<TableProps<T>, 'rows' | 'stale'> {
  query: Pages<T>
  /** Shown if there are no rows. */
  empty?: ReactNode
  /** Number of placeholder bars while loading. */
  bars?: number
  /** Whether to offer more than the first page. */
  more?: boolean
}

/** A paged table with its loading, failed and empty states. */
export function PagedTable<T extends { id: string }>({
  query,
  empty = null,
  bars = 4,
  more = true,
  ...table
}: PagedTableProps<T>) {
  // A page may be empty although more pages follow.
  const isEmpty = ({ rows, next }: PageOf<T>): boolean =>
    rows.length === 0 && next === null && query.before === 0
  return (
    <Loaded query={query} rows={bars} isEmpty={isEmpty}>
      {(page) => {
        if (isEmpty(page)) return empty
        const { rows } = page
        return (
          <>
            <DataTable {...table} rows={rows} stale={query.isPlaceholderData} />
            {more && <Foot query={query} page={page} what={table.label.toLowerCase()} />}
          </>
        )
      }}
    </Loaded>
  )
}

/** The footer of a paged table: the range of rows, and the page buttons. */
function Foot<T>({
  query,
  page: { rows, next, total, searchedTo },
  what,
}: {
  query: Pages<T>
  page: PageOf<T>
  what: string
}) {
  const { before, toNext, toPrevious, stop, isFetching } = query
  const alone = before === 0 && next === null
  if (alone && rows.length <= 1) return null
  const last = before + rows.length
  const of = total ?? (next === null ? last : undefined)
  return (
    <nav className={css.more} data-home aria-label={`Pages of ${what}`}>
      <span role="status">
        {alone
          ? `${count(rows.length)} ${what}`
          : `${fullCount(Math.min(before + 1, last))}–${fullCount(last)}${of === undefined ? '' : ` of ${fullCount(of)}`} ${what}`}
      </span>
      {next !== null && searchedTo && (
        <>
          <span>Searched back to {dateTime(searchedTo)}</span>
          {isFetching && <PageButton label="Stop" possible onTurn={stop} />}
        </>
      )}
      {!alone && (
        <>
          <PageButton label="Previous" possible={before > 0} onTurn={toPrevious} />
          <PageButton label="Next" possible={next !== null} onTurn={toNext} />
        </>
      )}
    </nav>
  )
}

/** Stays in the Tab order at the end of the list, so that it keeps the focus. */
function PageButton({
  label,
  possible,
  onTurn: onClick,
}: {
  label: string
  possible: boolean
  onTurn: () => void
}) {
  return (
    <Button
      variant="default"
      size="xs"
      aria-disabled={!possible}
      data-off={possible ? undefined : ''}
      className={css.turn}
      onClick={() => possible && onClick()}
    >
      {label}
    </Button>
  )
}

function DataTable<T extends { id: string }>({
  label,
  columns,
  rows,
  sorted,
  stale,
  compact = false,
}: TableProps<T>) {
  return (
    <div className={`${css.scroll} ${stale ? css.stale : ''}`}>
      <table className={`${css.table} ${compact ? css.compact : ''}`} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={classOf(column)}
                aria-sort={directionOf(column, sorted?.by)}
              >
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

function Heading<T>({
  column: { title, sort, quiet = false },
  sorted,
}: {
  column: Column<T>
  sorted: TableProps<T>['sorted']
}) {
  if (quiet) return <span className="visually-hidden">{title}</span>
  if (sort === undefined || !sorted) return title
  const next = sorted.by === `-${sort}` ? sort : `-${sort}`
  const arrow = sorted.by === sort ? '↑' : sorted.by === `-${sort}` ? '↓' : '↕'
  return (
    <button type="button" className={css.sort} onClick={() => sorted.change(next)}>
      {title}
      <span aria-hidden="true" className={css.arrow} data-arrow={arrow} />
    </button>
  )
}

function classOf<T>({ right = false, from }: Column<T>): string {
  return [right ? css.right : '', from === undefined ? '' : css[from]].join(' ').trim()
}

function directionOf<T>(
  { sort }: Column<T>,
  by: string | undefined,
): 'ascending' | 'descending' | undefined {
  if (sort === undefined || by === undefined) return undefined
  if (by === sort) return 'ascending'
  return by === `-${sort}` ? 'descending' : undefined
}

/** The style of a cell's main line. */
export const main = css.main
/** The style of a cell's second line. */
export const sub = css.sub
/** The style of a cell of plain text. */
export const text = css.text
/** The style of a cell whose words may wrap. */
export const words = css.words
/** The style of a cell that stays on one line. */
export const nowrap = css.nowrap
