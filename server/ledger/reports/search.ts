// Searches the ledger from its newest rows back, for a bounded time. It follows the index whose
// rows are furthest apart, and skips times in which, by the roll-ups, nothing that matches has
// ended.
import { DAY, HOUR } from '../../common/clock.ts'
import { all, elapsed, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { filledTime } from '../rollups/periods.ts'
import { sumUp, type SumLine } from '../rollups/summing.ts'
import {
  isCountedOdd,
  isIndexed,
  isOddFilter,
  newestRows,
  type ListedRow,
  type RequestFilter,
} from './request-filter.ts'
import {
  boundary,
  bracketOf,
  endsOf,
  firstOf,
  type Boundary,
  type IndexedFilter,
  type SeqRange,
} from './scan.ts'

/** How far rows may be out of order by time, because a clock was set (milliseconds). */
export const CLOCK_ROOM = HOUR

/**
 * How much one search may read before it stops: rows of an index, and milliseconds; and how many
 * rows of the index one statement may read, for which other tasks wait.
 */
export interface Budget {
  rows: number
  ms: number
  width: number
}

/** Rows of an index that the first statement reads, and after slow statements any other. */
const WIDTH = { first: 2_000, least: 100 }
/** How long a statement should take (milliseconds): after a longer one, the next is narrower. */
const AIM_MS = 25
/** Days whose sums are read at once, at first and at most. */
const DAYS = { first: 2, most: 128 }

/** What to search: ended requests of an account's key. */
export interface Search {
  filter: RequestFilter
  /** The owner of `filter.key`; null if neither is known. */
  account: string | null
  range: SeqRange
  /** Maximum number of rows to find. */
  limit: number
  budget: Budget
}

/** What a search has found. */
export interface Found {
  rows: ListedRow[]
  /** The last row examined, if the budget was spent before the end; its match is in `rows`. */
  stop: Boundary | null
}

/** The newest rows that match, of requests that have ended. */
export function* searchBack(db: QueryBuilder, search: Search): Steps<Found> {
  const { filter, range, limit } = search
  // All rows of the index match, so the limit alone bounds the statement.
  if (isIndexed(filter) && filter.outcome === undefined)
    return {
      rows: yield* all(newestRows(db, filter, { range, limit, index: 'own', account: null })),
      stop: null,
    }
  const backward = new BackwardSearch(db, search, yield* sparsestIndex(db, search))
  yield* backward.run()
  return backward
}

/** The index by which the same number of rows reaches furthest back. */
function* sparsestIndex(
  db: QueryBuilder,
  { filter, account, range }: Search,
): Steps<IndexedFilter> {
  const { key, child } = filter
  const own: IndexedFilter = { account: filter.account, key, child }
  if (account === null || !isOddFilter(filter)) return own
  const odd: IndexedFilter = { account, odd: true }
  if (key === undefined && child === undefined) return odd
  const [ofOwn, ofOdd] = [
    yield* boundary(db, own, range, WIDTH.first),
    yield* boundary(db, odd, range, WIDTH.first),
  ]
  return ofOwn !== undefined && (ofOdd === undefined || ofOdd.seq < ofOwn.seq) ? odd : own
}

class BackwardSearch implements Found {
  readonly rows: ListedRow[] = []
  stop: Boundary | null = null
  readonly #db: QueryBuilder
  readonly #search: Search
  readonly #index: IndexedFilter
  #width: number
  /** Rows of the index read so far. */
  #read = 0

  constructor(db: QueryBuilder, search: Search, index: IndexedFilter) {
    this.#db = db
    this.#search = search
    this.#index = index
    this.#width = Math.min(WIDTH.first, search.budget.width)
  }

  *run(): Steps<void> {
    const { range, filter } = this.#search
    if (!isSummed(filter)) return void (yield* this.#scan(range))
    const top = yield* boundary(this.#db, this.#index, range, 1)
    const bound = yield* boundary(this.#db, this.#index, range, this.#width)
    const newest = { from: bound?.seq ?? range.from, before: range.before }
    if (yield* this.#scan(newest)) return
    if (top === undefined || bound === undefined || bound.seq <= range.from) return
    yield* this.#skip(bound, Math.max(2 * CLOCK_ROOM, top.created_at - bound.created_at))
  }

  /** Reads a range. @returns whether the search has ended: enough found, or the budget spent */
  *#scan({ from: low, before: high }: SeqRange): Steps<boolean> {
    const { filter, limit, account, budget } = this.#search
    let ms = yield* elapsed()
    for (let before = high; before > low;) {
      const bound = yield* boundary(this.#db, this.#index, { from: low, before }, this.#width)
      const from = bound?.seq ?? low
      const query = newestRows(this.#db, filter, {
        range: { from, before },
        limit: limit - this.rows.length,
        index: this.#index.odd === true ? 'odd' : 'own',
        account,
      })
      this.rows.push(...(yield* all(query)))
      if (this.rows.length >= limit) return true
      const now = yield* elapsed()
      this.#read += this.#width
      if (yield* this.#stopsAt(from, now)) return true
      const width = Math.ceil(now - ms > AIM_MS ? this.#width / 4 : this.#width * 4)
      this.#width = Math.min(Math.max(WIDTH.least, width), budget.width)
      ms = now
      before = from
    }
    return false
  }

  /**
   * Stops the search at its last row from a number on, if the budget is spent: all rows from there
   * on have been examined.
   */
  *#stopsAt(from: number, ms: number): Steps<boolean> {
    const { budget, range, account, filter } = this.#search
    if ((this.#read < budget.rows && ms <= budget.ms) || from <= range.from) return false
    const own = { account, key: filter.key, child: filter.child }
    this.stop = (yield* firstOf(this.#db, own, { from, before: range.before })) ?? null
    return this.stop !== null
  }

  /**
   * Reads the times before a row in which something that matches has ended.
   *
   * @param gap how far the rows of one statement are apart (milliseconds): skipping a shorter time
   *   saves nothing
   */
  *#skip(newest: Boundary, gap: number): Steps<void> {
    const { filter, range } = this.#search
    const filled = (yield* filledTime(this.#db, {
      from: filter.from ?? 0,
      to: Math.min(filter.to ?? Infinity, newest.created_at + CLOCK_ROOM),
    })) ?? { from: 0, to: 0 }
    const ends = yield* endsOf(this.#db)
    // Sums count requests that retention has deleted, so the few that it left are read without
    // them.
    const lowest = Math.max(range.from, ends.mark)
    const around = (time: number) => bracketOf(this.#db, ends, time, CLOCK_ROOM)
    let before = newest.seq
    let days: number = DAYS.first
    for (let { to } = filled; to > filled.from && before > lowest;) {
      const from = Math.max(filled.from, Math.floor(to / DAY - days) * DAY)
      for (const day of yield* this.#times({ from, to }, DAY, gap)) {
        for (const time of gap < DAY ? yield* this.#times(day, HOUR, gap) : [day]) {
          const { low } = yield* around(time.from - CLOCK_ROOM)
          const { high } = yield* around(time.to + CLOCK_ROOM)
          const part = { from: Math.max(low, lowest), before: Math.min(high, before) }
          if (yield* this.#scan(part)) return
          before = Math.min(before, part.from)
        }
      }
      before = Math.min(before, Math.max(lowest, (yield* around(from + CLOCK_ROOM)).high))
      if (yield* this.#stopsAt(before, yield* elapsed())) return
      to = from
      days = Math.min(4 * days, DAYS.most)
    }
    yield* this.#scan({ from: range.from, before: Math.min(before, lowest) })
  }

  /**
   * The days or hours of a period in which requests that may match have ended, newest first; joined
   * if they are less than `gap` apart and steps are shorter.
   */
  *#times(period: TimeRange, step: number, gap: number): Steps<TimeRange[]> {
    const { filter } = this.#search
    const { account, key, model, provider } = filter
    const [lines = []] = yield* sumUp(
      this.#db,
      { account, key, model, provider, ...period },
      step,
      [{ by: [], step }],
    )
    const times = lines
      .filter((line) => mayMatch(filter, line))
      .map(({ time = 0 }) => ({
        from: Math.max(time, period.from),
        to: Math.min(time + step, period.to),
      }))
      .sort((a, b) => b.from - a.from)
    return gap < step ? times : joined(times, gap)
  }
}

/** Milliseconds since 1970, the end excluded. */
interface TimeRange {
  from: number
  to: number
}

/** Whether the roll-ups may tell times without rows that match. */
function isSummed(filter: RequestFilter): boolean {
  const { child, model, provider } = filter
  return (
    child === undefined && (model !== undefined || provider !== undefined || isCountedOdd(filter))
  )
}

function mayMatch(filter: RequestFilter, { requests, errors, aborted, unknown }: SumLine): boolean {
  if (isCountedOdd(filter)) return (errors ?? 0) + (aborted ?? 0) + (unknown ?? 0) > 0
  return (requests ?? 0) > 0
}

/** Joins times that are at most `gap` apart. */
function joined(newestFirst: readonly TimeRange[], gap: number): TimeRange[] {
  const found: TimeRange[] = []
  for (const one of newestFirst) {
    const last = found.at(-1)
    if (last !== undefined && last.from - one.to <= gap) last.from = one.from
    else found.push({ ...one })
  }
  return found
}
