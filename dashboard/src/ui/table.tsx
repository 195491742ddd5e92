// A table from a table of columns, and the same for a list that comes page by page, with everything
// that it can be meanwhile. On narrow screens columns leave by their rank, so that nothing has to
// be scrolled sideways.
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { PageOf } from '../api/queries.ts'
import { count, fullCount } from '../format.ts'
import { Loaded, type Loading } from './page.tsx'
import css from './table.module.css'

/** One column: its title, its cells and its order. */
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
  /** Rows of one line, as many as fit the screen. */
  compact?: boolean
}

/** A list page by page, as `usePages` gives it. */
export interface Pages<T> extends Loading<PageOf<T>> {
  before: number
  toNext: () => void
  toPrevious: () => void
  /** The rows are those of another page or filter, until these have come. */
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

/**
 * The rows of a query by the page: while they load, where that failed, where there are none, and
 * those that there are.
 */
export function PagedTable<T extends { id: string }>({
  query,
  empty = null,
  bars = 4,
  more = true,
  ...table
}: PagedTableProps<T>) {
  // A page of rare rows may hold none, and have more behind it.
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

/** The foot of a paged table: which rows these are, and the way to the others. */
function Foot<T>({
  query,
  page: { rows, next, total },
  what,
}: {
  query: Pages<T>
  page: PageOf<T>
  what: string
}) {
  const { before, toNext, toPrevious } = query
  const alone = before === 0 && next === null
  if (alone && rows.length <= 1) return null
  const last = before + rows.length
  const of = total ?? (next === null ? last : undefined)
  return (
    <nav className={css.more} data-home aria-label={`Pages of ${what}`}>
      <span role="status">
        {alone
          ? `All ${count(rows.length)} ${what}`
          : `${fullCount(Math.min(before + 1, last))}–${fullCount(last)}${of === undefined ? '' : ` of ${fullCount(of)}`} ${what}`}
      </span>
      {!alone && (
        <>
          <PageButton label="Previous" possible={before > 0} onTurn={toPrevious} />
          <PageButton label="Next" possible={next !== null} onTurn={toNext} />
        </>
      )}
    </nav>
  )
}

/** It stays a stop of the Tab key at the end of the list, or the focus would be lost there. */
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
  if (quiet) return <span className="hidden">{title}</span>
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
