// Sums over the roll-ups, or over the ledger itself where they are by the minute: so many rows at a time, added up here.
import { HOUR, MINUTE } from '../clock.ts'
import { all, type Steps } from '../store/procedure.ts'
import type { UsageHourRow } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'
import { rollUpSpans, type RollUpFilter, type Span } from './days.ts'
import { minuteLines, minuteSpans } from './minutes.ts'
import { endOfStretch, rollUpLines, type LineFilter, type Place, type Stretch } from './roll-up-lines.ts'
import { isKeyOf } from './scan.ts'
import { SUMS, plus } from './sums.ts'

/** What lines are told apart by: a key, a provider, a model, and the start of a step of time (its length in milliseconds). */
export interface Grouping {
  by: readonly ('key_id' | 'provider' | 'model')[]
  step?: number | undefined
}

/** One line: what it is told apart by, the sums, and when its newest minute, hour or day began. */
export type SumLine = Partial<Pick<UsageHourRow, 'key_id' | 'provider' | 'model'>> & Record<(typeof SUMS)[number], number | null> & { time?: number; latest: number }

/** Lines of one grouping at most. */
export const MOST_LINES = 50_000

/**
 * Sums over a time, for each grouping, in no order. Whole hours count (or minutes, by the minute), the first one too. Where a grouping has more than
 * `MOST_LINES` it ends early, with more than that.
 *
 * @param finest the shortest step that times are wanted by (milliseconds); undefined: none
 */
export function* sumUp(db: QueryBuilder, filter: Omit<RollUpFilter, 'hourly'>, finest: number | undefined, groupings: readonly Grouping[]): Steps<SumLine[][]> {
  const sums: Sums = { groupings, merged: groupings.map(() => new Map<string, SumLine>()) }
  if (finest === MINUTE) yield* sumMinutes(db, filter, sums)
  else {
    for (const span of yield* rollUpSpans(db, { ...filter, hourly: finest === HOUR })) yield* sumSpan(db, span, filter, sums)
  }
  return sums.merged.map((lines) => [...lines.values()])
}

/** Lines of each grouping, by what they are told apart by. */
interface Sums {
  readonly groupings: readonly Grouping[]
  readonly merged: readonly Map<string, SumLine>[]
}

function* sumMinutes(db: QueryBuilder, filter: Omit<RollUpFilter, 'hourly'>, sums: Sums): Steps<void> {
  if (!(yield* isKeyOf(db, filter.account ?? null, filter.key))) return
  for (const span of yield* minuteSpans(db, filter)) yield* sum(sums, minuteLines(db, filter, span))
}

/** Roll-ups that one statement sums, of which each may be a line of its own: 8 µs each. */
export const FEWEST_ROWS = 2_000
/** The same where they make few lines: 1 µs each. */
export const MOST_ROWS = 16_000
/** Few: a line for so many roll-ups. */
const ROWS_OF_A_LINE = 4

function* sumSpan(db: QueryBuilder, span: Span, filter: LineFilter, sums: Sums): Steps<void> {
  const { keys, ...rest } = filter
  if (keys === undefined) return yield* sumStretches(db, span, rest, sums)
  if ((yield* endOfStretch(db, span, filter, null, FEWEST_ROWS)) === null) return void (yield* sum(sums, rollUpLines(db, span, filter, WHOLE)))
  for (const key of keys) yield* sumStretches(db, span, { ...rest, key }, sums)
}

const WHOLE: Stretch = { after: null, to: null }

/** Sums a span, a stretch after another: between two of them others have their turns. */
function* sumStretches(db: QueryBuilder, span: Span, filter: LineFilter, sums: Sums): Steps<void> {
  let after: Place | null = null
  let rows = FEWEST_ROWS
  do {
    const to: Place | null = yield* endOfStretch(db, span, filter, after, rows)
    const lines = yield* sum(sums, rollUpLines(db, span, filter, { after, to }))
    if (lines === null) return
    after = to
    rows = lines * ROWS_OF_A_LINE <= rows ? Math.min(rows * 2, MOST_ROWS) : FEWEST_ROWS
  } while (after !== null)
}

/** Sums what a statement gives. @returns the lines of the grouping that has the most of them; null where all groupings have too many by now */
function* sum({ groupings, merged }: Sums, from: ReturnType<typeof rollUpLines>): Steps<number | null> {
  let most: number | null = null
  for (const [at, grouping] of groupings.entries()) {
    const into = merged[at]!
    if (into.size > MOST_LINES) continue
    const lines: object[] = yield* all(grouped(from, grouping).limit(MOST_LINES + 1))
    add(into, grouping, lines)
    most = Math.max(most ?? 0, lines.length)
  }
  return most
}

function grouped(lines: ReturnType<typeof rollUpLines>, { by, step }: Grouping) {
  let query = lines.select((e) => [...by, ...SUMS.map((name) => e.fn.sum<number | null>(name).as(name)), e.fn.max('at').as('latest')])
  for (const name of by) query = query.groupBy(name)
  return step === undefined ? query : query.select((e) => e('at', '-', e('at', '%', step)).as('time')).groupBy('time')
}

function add(into: Map<string, SumLine>, { by, step }: Grouping, rows: readonly object[]): void {
  // What `grouped` selects.
  for (const line of rows as SumLine[]) {
    // The sums of no rows.
    if (line.requests === null) continue
    let name = step === undefined ? '' : String(line.time)
    for (const column of by) name += `\0${line[column]}`
    const before = into.get(name)
    if (before === undefined) into.set(name, line)
    else {
      for (const column of SUMS) before[column] = plus(before[column], line[column])
      before.latest = Math.max(before.latest, line.latest)
    }
  }
}
