// Usage, read from the roll-ups, which is fast for a ledger of any length.
import { sql } from 'kysely'
import { DAY, HOUR, MINUTE, isoTime } from '../../common/clock.ts'
import { eachToken, TOKEN_COLUMNS, UNKNOWN_TOKENS, type Tokens } from '../../common/token-kinds.ts'
import { hasId } from '../../store/dialect.ts'
import type { Store } from '../../store/store.ts'
import { all, first, procedure, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { isFailed } from '../outcome.ts'
import { flushBeforeReading } from '../settlement/journal.ts'
import { totalsOfKeys } from '../rollups/key-totals.ts'
import { namesOf } from './key-names.ts'
import { sorted } from './sorting.ts'
import { MOST_LINES, sumUp, type Grouping, type SumLine } from '../rollups/summing.ts'
import { topUsage } from './top-usage.ts'
import { bytesOf, written, type Format } from './report-text.ts'

/** Sums over requests. Tokens are null if no provider reported a number: unknown is not 0. */
export interface Totals extends Tokens {
  requests: number
  errors: number
}

const NOTHING: Totals = { requests: 0, errors: 0, ...UNKNOWN_TOKENS }

type KeyUsage = { totals: Totals; lastUsedAt: number | null }

/** The totals of keys, and when each was last used (milliseconds since 1970). */
export const keyUsage = procedure(
  import.meta.url,
  'keyUsage',
  function* (db, keys: string[]): Steps<[key: string, usage: KeyUsage][]> {
    const totals = yield* totalsOfKeys(db, keys)
    const lasts = yield* lastUses(db, keys)
    const found: [string, KeyUsage][] = []
    for (const key of keys) {
      const sums = totals.get(key)
      const last = lasts.get(key)
      const own = { totals: sums === undefined ? NOTHING : totalsOf(sums) }
      found.push([
        key,
        last === undefined && sums === undefined
          ? ((yield* usageOfChild(db, key)) ?? { ...own, lastUsedAt: null })
          : { ...own, lastUsedAt: last ?? null },
      ])
    }
    return found
  },
)

/** When keys were last used, by key; keys that were never used are missing. */
function* lastUses(db: QueryBuilder, keys: readonly string[]): Steps<Map<string, number>> {
  const rows = yield* all(
    db
      .selectFrom('keys')
      .where('keys.id', 'in', keys)
      .select((e) => [
        'keys.id',
        e
          .selectFrom('requests')
          .select('created_at')
          .where(hasId('key_id', e.ref('keys.id')))
          .orderBy('seq', 'desc')
          .limit(1)
          .as('last'),
        e
          .selectFrom('key_uses')
          .select('last_used_at')
          .whereRef('key_uses.key_id', '=', 'keys.id')
          .as('kept'),
      ]),
  )
  return new Map(
    rows.flatMap(({ id, last, kept }) => {
      const time = last ?? kept
      return time === null ? [] : [[id, time] as const]
    }),
  )
}

/**
 * The usage of a child key, summed from its requests: roll-ups only have its parent, and a child
 * lives for at most a day.
 */
function* usageOfChild(db: QueryBuilder, child: string): Steps<KeyUsage | null> {
  const sums = yield* first(
    db
      .selectFrom('requests')
      .where(hasId('child_id', child))
      .select((e) => [
        e.fn.countAll<number>().as('requests'),
        sql<number>`sum(case when state = 'settled' and ${isFailed} then 1 else 0 end)`.as(
          'errors',
        ),
        e.fn.max('created_at').as('last'),
        ...TOKEN_COLUMNS.map((name) => e.fn.sum<number | null>(name).as(name)),
      ]),
  )
  if (sums === undefined || Number(sums.requests) === 0) return null
  const { last, ...totals } = sums
  return { totals: totalsOf(totals), lastUsedAt: last }
}

/** The totals of keys, and when each was last used; every requested key is in the result. */
export async function usageOfKeys(store: Store, keys: string[]): Promise<Map<string, KeyUsage>> {
  if (keys.length === 0) return new Map()
  await flushBeforeReading(store)
  return new Map(await store.read(keyUsage, keys))
}

function totalsOf(sums: { [name in keyof Totals]: number | null }): Totals {
  return {
    requests: sums.requests ?? 0,
    errors: sums.errors ?? 0,
    ...eachToken((column) => sums[column]),
  }
}

/** TABLE of steps of time, in milliseconds, finest first. */
const STEPS = { minute: MINUTE, hour: HOUR, day: DAY } as const

/** The fields by which usage can be broken down. */
export const DIMENSIONS = ['key', 'model', 'provider', 'minute', 'hour', 'day'] as const

/** The fields by which usage can be grouped. */
export type Dimension = (typeof DIMENSIONS)[number]

/** One line of a usage report: a value for each requested dimension, and the sums. */
export interface UsageLine extends Totals {
  key_id?: string
  /** Null if the request named no model that we could read. */
  model?: string | null
  provider?: string
  /** Start of the minute, hour or day, UTC; the finest that was requested. */
  time?: string
  /**
   * Only in reports of the top groups: whether the line sums up all others, and so has no key,
   * model or provider.
   */
  other?: boolean
  aborted: number
  unknown: number
  /** Number of requests whose tokens are unknown. */
  unmetered: number
  bytes_in: number
  bytes_out: number
  /** Means over the requests with a response, in milliseconds; null if there were none. */
  first_byte_ms: number | null
  total_ms: number | null
}

/**
 * The subject of a report. `account` null: all accounts. Times in milliseconds since 1970, end
 * exclusive.
 */
export interface UsageQuestion {
  account: string | null
  by: Dimension[]
  from: number
  to: number
  key?: string | undefined
  keys?: string[]
  model?: string | undefined
  provider?: string | undefined
  /**
   * The number of keys, models or providers to list; all others are summed together. `by` must name
   * one of the three.
   */
  top?: number | undefined
}

/**
 * The lines of a report, ordered by time, key, provider and model; more than `MOST_LINES` if there
 * are too many.
 */
export const usageLines = procedure(
  import.meta.url,
  'usageLines',
  function* (db, question: UsageQuestion): Steps<UsageLine[]> {
    return (yield* linesOf(db, question)).lines
  },
)

/**
 * Reads a report. Times are rounded to whole hours, or minutes if it is by the minute, including
 * the first.
 */
export function readUsage(store: Store, question: UsageQuestion): Promise<UsageLine[]> {
  return store.read(usageLines, question)
}

type NamedLine = UsageLine & { key_name?: string | null }

/**
 * A report with the names of keys, as the lines of a CSV or as a whole JSON list; null if it has
 * too many lines. @param columns of a CSV
 */
export const usageText = procedure(
  import.meta.url,
  'usageText',
  function* (
    db,
    { columns, format, ...question }: UsageQuestion & { columns: string[]; format: Format },
  ): Steps<{ text: Uint8Array<ArrayBuffer> } | null> {
    const { lines, groups }: { lines: NamedLine[]; groups?: number } = yield* linesOf(db, question)
    if (lines.length > MOST_LINES) return null
    if (question.by.includes('key')) {
      const names = yield* namesOf(
        db,
        lines.flatMap(({ key_id }) => key_id ?? []),
      )
      for (const [at, { key_id = '', ...line }] of lines.entries())
        if (!line.other) lines[at] = { key_id, key_name: names.get(key_id) ?? null, ...line }
    }
    const text = written(format, columns as (keyof NamedLine)[], lines)
    return {
      text: bytesOf(
        format === 'csv'
          ? text
          : `{"object":"list","data":[${text}],"next_cursor":null${groups === undefined ? '' : `,"groups":${groups}`}}`,
      ),
    }
  },
)

function* linesOf(
  db: QueryBuilder,
  { by, top, ...filter }: UsageQuestion,
): Steps<{ lines: UsageLine[]; groups?: number }> {
  const [, step] =
    Object.entries(STEPS).find(([name]) => by.some((dimension) => dimension === name)) ?? []
  const columns: Grouping['by'] = (
    [
      ['key', 'key_id'],
      ['provider', 'provider'],
      ['model', 'model'],
    ] as const
  ).flatMap(([name, column]) => (by.includes(name) ? [column] : []))
  const [column] = columns
  const ranked =
    top === undefined || column === undefined
      ? undefined
      : yield* topUsage(db, filter, column, step, top)
  const lines: (SumLine & { other?: boolean })[] =
    ranked?.lines ?? (yield* sumUp(db, filter, step, [{ by: columns, step }]))[0] ?? []
  const groups = ranked && { groups: ranked.groups }
  if (lines.length > MOST_LINES) return { lines: lines.map(shown), ...groups }
  const inOrder = yield* sorted(
    lines,
    (a, b) =>
      (a.time ?? 0) - (b.time ?? 0) ||
      Number(a.other ?? false) - Number(b.other ?? false) ||
      compare(columns, a, b),
  )
  return { lines: inOrder.map(shown), ...groups }
}

function compare(columns: Grouping['by'], a: SumLine, b: SumLine): number {
  for (const column of columns) {
    const [one = '', other = ''] = [a[column], b[column]]
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

function shown({
  answered,
  first_byte_ms,
  total_ms,
  time,
  key_id,
  model,
  provider,
  latest: _,
  ...sums
}: SumLine & { other?: boolean }): UsageLine {
  const mean = (sum: number | null) => (answered ? Math.round((sum ?? 0) / answered) : null)
  return {
    ...(time === undefined ? {} : { time: isoTime(time) }),
    ...(key_id === undefined ? {} : { key_id }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model: model === '' ? null : model }),
    // sums of columns that are never null, over at least one row
    ...(sums as Omit<UsageLine, 'first_byte_ms' | 'total_ms'>),
    first_byte_ms: mean(first_byte_ms),
    total_ms: mean(total_ms),
  }
}
