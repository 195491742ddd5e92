// Usage of the groups with the most requests, and of all the rest together.
import { MINUTE } from '../clock.ts'
import type { Steps } from '../store/procedure.ts'
import type { QueryBuilder } from '../store/statement.ts'
import type { RollUpFilter } from './days.ts'
import { SUMS, plus } from './sums.ts'
import { sumUp, type SumLine } from './summing.ts'

/** What groups are told apart by. */
export type GroupColumn = 'key_id' | 'provider' | 'model'

/** A line of one group, or (`other`) of the rest. */
export type GroupLine = SumLine & { other: boolean }

interface TopUsage {
  lines: GroupLine[]
  /** How many groups there are. */
  groups: number
}

/**
 * Sums over a time: a line for each of the `top` groups with the most requests, and one for the rest, in each step of time.
 *
 * @param step milliseconds; undefined: one line over the whole time
 */
export function* topUsage(db: QueryBuilder, filter: Omit<RollUpFilter, 'hourly'>, by: GroupColumn, step: number | undefined, top: number): Steps<TopUsage> {
  const finest = step === MINUTE ? MINUTE : undefined
  const [groups = []] = yield* sumUp(db, filter, finest, [{ by: [by] }])
  const ranked = groups.toSorted((a, b) => (b.requests ?? 0) - (a.requests ?? 0) || ((a[by] ?? '') < (b[by] ?? '') ? -1 : 1))
  const chosen = new Set(ranked.slice(0, top).map((line) => line[by] ?? ''))
  const lines = step === undefined ? groups : yield* byTime(db, filter, by, step, chosen)
  const isChosen = (line: SumLine): boolean => line[by] !== undefined && chosen.has(line[by])
  const rest = new Map<number | undefined, GroupLine>()
  for (const line of lines) if (!isChosen(line)) addTo(rest, line)
  const mine = lines.filter(isChosen).map((line) => ({ ...line, other: false }))
  return { lines: [...mine, ...rest.values()], groups: groups.length }
}

/** Lines by group and step. Of many keys, only those of the chosen ones and of all the rest are read: every key in every step would be too much. */
function* byTime(db: QueryBuilder, filter: Omit<RollUpFilter, 'hourly'>, by: GroupColumn, step: number, chosen: ReadonlySet<string>): Steps<SumLine[]> {
  if (by !== 'key_id' || step === MINUTE) {
    const [lines = []] = yield* sumUp(db, filter, step, [{ by: [by], step }])
    return lines
  }
  const [mine = []] = chosen.size === 0 ? [[]] : yield* sumUp(db, { ...filter, keys: [...chosen] }, step, [{ by: [by], step }])
  const [totals = []] = yield* sumUp(db, filter, step, [{ by: [], step }])
  const known = Map.groupBy(mine, ({ time }) => time)
  return [...mine, ...totals.flatMap((total) => without(total, known.get(total.time) ?? []))]
}

/** What is left of a total without some of its lines; nothing where that is no request. */
function without(total: SumLine, lines: readonly SumLine[]): SumLine[] {
  const rest = { ...total }
  for (const column of SUMS) {
    const taken = lines.reduce((sum, line) => sum + (line[column] ?? 0), 0)
    // A sum of 0 that is left over is most likely one that nobody said.
    rest[column] = total[column] === null ? null : total[column] - taken || (column.startsWith('tokens_') ? null : 0)
  }
  return rest.requests === 0 ? [] : [rest]
}

function addTo(rest: Map<number | undefined, GroupLine>, { key_id: _, provider: __, model: ___, ...line }: SumLine): void {
  const before = rest.get(line.time)
  if (before === undefined) return void rest.set(line.time, { ...line, other: true })
  for (const column of SUMS) before[column] = plus(before[column], line[column])
}
