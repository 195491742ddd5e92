// Sums over the roll-ups, or over the ledger itself where they are by the minute: a piece at a time, added up here.
import { HOUR, MINUTE } from '../clock.ts'
import { all, type Steps } from '../store/procedure.ts'
import type { UsageHourRow } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'
import { rollUpLines, rollUpSpans, type RollUpFilter } from './days.ts'
import { minuteLines, minuteSpans } from './minutes.ts'
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
  const merged = groupings.map(() => new Map<string, SumLine>())
  for (const span of yield* spansFor(db, filter, finest)) {
    const lines = 'table' in span ? rollUpLines(db, span, filter) : minuteLines(db, filter, span)
    for (const [at, grouping] of groupings.entries()) {
      const into = merged[at]!
      if (into.size <= MOST_LINES) add(into, grouping, yield* all(grouped(lines, grouping).limit(MOST_LINES + 1)))
    }
  }
  return merged.map((lines) => [...lines.values()])
}

function* spansFor(db: QueryBuilder, filter: Omit<RollUpFilter, 'hourly'>, finest: number | undefined) {
  if (finest !== MINUTE) return yield* rollUpSpans(db, { ...filter, hourly: finest === HOUR })
  return (yield* isKeyOf(db, filter.account ?? null, filter.key)) ? yield* minuteSpans(db, filter) : []
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
    const name = `${step === undefined ? '' : line.time} ${by.map((column) => line[column]).join('\0')}`
    const before = into.get(name)
    if (before === undefined) into.set(name, { ...line })
    else {
      for (const column of SUMS) before[column] = plus(before[column], line[column])
      before.latest = Math.max(before.latest, line.latest)
    }
  }
}
