// Usage of the groups with the most requests, and of all others together.
import { MINUTE } from '../../common/clock.ts'
import type { Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import type { RollUpFilter } from '../rollups/periods.ts'
import { requestsByKey } from '../rollups/key-totals.ts'
import { sorted } from './sorting.ts'
import { SUMS } from '../rollups/hourly.ts'
import { addLine, sumUp, type SumLine } from '../rollups/summing.ts'

/** The fields to group by. */
export type GroupColumn = 'key_id' | 'provider' | 'model'

/** A line of one group, or (`other`) of all others. */
export type GroupLine = SumLine & { other: boolean }

interface TopUsage {
  lines: GroupLine[]
  /** Number of groups. */
  groups: number
}

/**
 * Sums over a period: in each step of time, a line for each of the `top` groups with the most
 * requests, and one for all others.
 *
 * @param step milliseconds; undefined: one line for the whole period
 */
export function* topUsage(
  db: QueryBuilder,
  filter: RollUpFilter,
  by: GroupColumn,
  step: number | undefined,
  top: number,
): Steps<TopUsage> {
  if (by === 'key_id' && step !== MINUTE) return yield* topKeys(db, filter, step, top)
  const [lines = []] = yield* sumUp(db, filter, step, [{ by: [by], step }])
  const sizes = new Map<string, number>()
  for (const line of lines)
    sizes.set(line[by] ?? '', (sizes.get(line[by] ?? '') ?? 0) + (line.requests ?? 0))
  const chosen = yield* largest(sizes, top)
  const [mine, others] = [
    lines.filter((line) => chosen.has(line[by] ?? '')),
    lines.filter((line) => !chosen.has(line[by] ?? '')),
  ]
  const rest = new Map<number | undefined, SumLine>()
  for (const { key_id: _, provider: __, model: ___, ...line } of others)
    addLine(rest, line.time, line)
  return {
    lines: [...marked(mine, false), ...marked([...rest.values()], true)],
    groups: sizes.size,
  }
}

/**
 * There may be thousands of keys, so those with the most requests are found first, and sums are
 * read only for these and for all together.
 */
function* topKeys(
  db: QueryBuilder,
  filter: RollUpFilter,
  step: number | undefined,
  top: number,
): Steps<TopUsage> {
  const sizes = yield* requestsByKey(db, filter)
  const mine = yield* sumsOfKeys(db, filter, step, yield* largest(sizes, top))
  const [totals = []] = yield* sumUp(db, filter, step, [{ by: [], step }])
  const known = Map.groupBy(mine, ({ time }) => time)
  const rest = totals.flatMap((total) => without(total, known.get(total.time) ?? []))
  return { lines: [...marked(mine, false), ...marked(rest, true)], groups: sizes.size }
}

/**
 * The sums of the keys with the most requests, in no particular order; by the minute, of all keys.
 */
export function* busiestKeys(
  db: QueryBuilder,
  filter: RollUpFilter,
  step: number,
  most: number,
): Steps<SumLine[]> {
  if (step === MINUTE) {
    const [lines = []] = yield* sumUp(db, filter, step, [{ by: ['key_id'] }])
    return lines
  }
  return yield* sumsOfKeys(
    db,
    filter,
    undefined,
    yield* largest(yield* requestsByKey(db, filter), most),
  )
}

/** The names with the largest numbers. */
function* largest(sizes: ReadonlyMap<string, number>, most: number): Steps<ReadonlySet<string>> {
  const ranked = yield* sorted([...sizes], ([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  return new Set(ranked.slice(0, most).map(([name]) => name))
}

function* sumsOfKeys(
  db: QueryBuilder,
  filter: RollUpFilter,
  step: number | undefined,
  keys: ReadonlySet<string>,
): Steps<SumLine[]> {
  if (keys.size === 0) return []
  const [lines = []] = yield* sumUp(db, { ...filter, key: undefined, keys: [...keys] }, step, [
    { by: ['key_id'], step },
  ])
  return lines
}

const marked = (lines: readonly SumLine[], other: boolean): GroupLine[] =>
  lines.map((line) => ({ ...line, other }))

/** A total minus some of its lines; empty if no request is left. */
function without(total: SumLine, lines: readonly SumLine[]): SumLine[] {
  const rest = { ...total }
  for (const column of SUMS) {
    const taken = lines.reduce((sum, line) => sum + (line[column] ?? 0), 0)
    // A remaining sum of 0 most likely means an unknown value.
    rest[column] =
      total[column] === null
        ? null
        : Math.max(0, total[column] - taken) || (column.startsWith('tokens_') ? null : 0)
  }
  return rest.requests === 0 ? [] : [rest]
}
