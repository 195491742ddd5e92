// Sums roll-ups, or the ledger itself for sums by the minute: a bounded number of rows per
// statement, added up here.
import { HOUR, MINUTE } from '../../common/clock.ts'
import { all, type Steps } from '../../store/procedure.ts'
import type { UsageHourRow } from '../../store/schema.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { withMark } from './coarser.ts'
import {
  SOURCES,
  filledTime,
  spansOf,
  type Place,
  type RollUpFilter,
  type Source,
  type Span,
} from './periods.ts'
import { minuteLines, minuteSpans } from './by-minute.ts'
import { endOfStretch, rollUpLines, type LineFilter, type Stretch } from './stretches.ts'
import { ownerOf } from '../reports/scan.ts'
import { SUMS, plus } from './hourly.ts'

/**
 * The fields that lines are grouped by: a key, a provider, a model, and the start of a step of time
 * (its length in milliseconds).
 */
export interface Grouping {
  by: readonly ('key_id' | 'provider' | 'model')[]
  step?: number | undefined
}

/** One line: its group, its sums, and the start of its latest minute, hour or day. */
export type SumLine = Partial<Pick<UsageHourRow, 'key_id' | 'provider' | 'model'>> &
  Record<(typeof SUMS)[number], number | null> & { time?: number; latest: number }

/** Maximum number of lines of one grouping. */
export const MOST_LINES = 50_000

/**
 * Sums over a period, for each grouping, in no particular order. Times are rounded to whole hours
 * (or minutes, by the minute), including the first. If a grouping has more than `MOST_LINES`, it
 * ends early, with more than that.
 *
 * @param finest the shortest step of time required (milliseconds); undefined: none
 */
export function* sumUp(
  db: QueryBuilder,
  filter: RollUpFilter,
  finest: number | undefined,
  groupings: readonly Grouping[],
): Steps<SumLine[][]> {
  const filled = finest === MINUTE ? filter : yield* filledTime(db, filter)
  if (filled === null) return groupings.map(() => [])
  const sums: SumLine[][] = []
  for (const grouping of groupings) {
    sums.push(
      finest === MINUTE
        ? yield* sumMinutes(db, filter, grouping)
        : yield* sumRollUps(db, { ...filter, ...filled }, finest === HOUR, grouping),
    )
  }
  return sums
}

/** Whether lines are added or subtracted. */
type Sign = 1 | -1

/** Lines by their group. */
interface Sums {
  readonly grouping: Grouping
  readonly merged: Map<string, SumLine>
}

function* sumMinutes(db: QueryBuilder, filter: RollUpFilter, grouping: Grouping): Steps<SumLine[]> {
  const sums: Sums = { grouping, merged: new Map() }
  const owner = yield* ownerOf(db, filter.key)
  const isOwn = owner === null || owner === (filter.account ?? owner)
  const spans = isOwn ? yield* minuteSpans(db, filter) : []
  for (const span of spans) yield* sum(sums, minuteLines(db, filter, span))
  return [...sums.merged.values()]
}

/** Tables over all keys of an account have fewer rows. */
function sourceOf({ key, keys }: RollUpFilter, { by }: Grouping): Source {
  return key === undefined && keys === undefined && !by.includes('key_id')
    ? SOURCES.accounts
    : SOURCES.keys
}

function sumRollUps(
  db: QueryBuilder,
  { from, to, ...filter }: RollUpFilter,
  hourly: boolean,
  grouping: Grouping,
): Steps<SumLine[]> {
  const source = sourceOf({ from, to, ...filter }, grouping)
  return withMark(db, source.mark, function* (mark) {
    const sums: Sums = { grouping, merged: new Map() }
    for (const span of spansOf(from, to, mark, source, hourly))
      yield* sumSpan(db, span, filter, sums)
    return [...sums.merged.values()]
  })
}

/** Sums over one span alone. */
export function* sumsOfSpan(
  db: QueryBuilder,
  span: Span,
  filter: LineFilter,
  grouping: Grouping,
): Steps<SumLine[]> {
  const sums: Sums = { grouping, merged: new Map() }
  yield* sumSpan(db, span, filter, sums, 1)
  return [...sums.merged.values()]
}

/** Whether the rows of a span are added to those of the others, or subtracted. */
const signOf = ({ upTo }: Span): Sign => (upTo === undefined ? 1 : -1)

/** Roll-ups summed by one statement if each may be a line of its own: 8 µs each. */
export const FEWEST_ROWS = 2_000
/** The same if they make few lines: 1 µs each. */
export const MOST_ROWS = 16_000
/** From this many roll-ups per line on, the next statement sums twice as many. */
const ROWS_OF_A_LINE = 4

function* sumSpan(
  db: QueryBuilder,
  span: Span,
  filter: LineFilter,
  sums: Sums,
  sign = signOf(span),
): Steps<void> {
  const { keys, ...rest } = filter
  if (keys === undefined) return yield* sumStretches(db, span, rest, sums, sign)
  if ((yield* endOfStretch(db, span, filter, null, FEWEST_ROWS)) === null)
    return void (yield* sum(sums, rollUpLines(db, span, filter, WHOLE), sign))
  for (const key of keys) yield* sumStretches(db, span, { ...rest, key }, sums, sign)
}

const WHOLE: Stretch = { after: null, to: null }

/** Sums a span, one stretch after another; other tasks run between two of them. */
function* sumStretches(
  db: QueryBuilder,
  span: Span,
  filter: LineFilter,
  sums: Sums,
  sign: Sign,
): Steps<void> {
  let after: Place | null = null
  let rows = FEWEST_ROWS
  do {
    const to: Place | null = yield* endOfStretch(db, span, filter, after, rows)
    const lines = yield* sum(sums, rollUpLines(db, span, filter, { after, to }), sign)
    if (lines === null) return
    after = to
    rows = lines * ROWS_OF_A_LINE <= rows ? Math.min(rows * 2, MOST_ROWS) : FEWEST_ROWS
  } while (after !== null)
}

/** Sums the rows of a statement. @returns its lines; null if there are too many */
function* sum(
  { grouping, merged }: Sums,
  from: ReturnType<typeof rollUpLines>,
  sign: Sign = 1,
): Steps<number | null> {
  if (merged.size > MOST_LINES) return null
  const lines: object[] = yield* all(grouped(from, grouping).limit(MOST_LINES + 1))
  add(merged, grouping, lines, sign)
  return lines.length
}

function grouped(lines: ReturnType<typeof rollUpLines>, { by, step }: Grouping) {
  let query = lines.select((e) => [
    ...by,
    ...SUMS.map((name) => e.fn.sum<number | null>(name).as(name)),
    e.fn.max('at').as('latest'),
  ])
  for (const name of by) query = query.groupBy(name)
  return step === undefined
    ? query
    : query.select((e) => e('at', '-', e('at', '%', step)).as('time')).groupBy('time')
}

function add(
  into: Map<string, SumLine>,
  { by, step }: Grouping,
  rows: readonly object[],
  sign: Sign,
): void {
  // The rows of `grouped`.
  for (const line of rows as SumLine[]) {
    // The sums over no rows.
    if (line.requests === null) continue
    let name = step === undefined ? '' : String(line.time)
    for (const column of by) name += `\0${line[column]}`
    if (sign === 1) addLine(into, name, line)
    else takeOff(into, name, line)
  }
}

/** Subtracts a line in place from the one with the same group, which counts it twice. */
export function takeOff<Name>(from: ReadonlyMap<Name, SumLine>, name: Name, line: SumLine): void {
  const sums = from.get(name)
  if (sums === undefined) return
  for (const column of SUMS)
    sums[column] = plus(sums[column], line[column] === null ? null : -line[column])
}

/** Adds a line in place to the one with the same name, or stores it as the first. */
export function addLine<Name>(into: Map<Name, SumLine>, name: Name, line: SumLine): void {
  const before = into.get(name)
  if (before === undefined) return void into.set(name, line)
  for (const column of SUMS) before[column] = plus(before[column], line[column])
  before.latest = Math.max(before.latest, line.latest)
}
