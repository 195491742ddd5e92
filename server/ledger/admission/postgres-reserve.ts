// Admission on PostgreSQL: calls to the database's functions (store/migrations/
// 0098-allowances.ts), with many rows per call.
import { crc32 } from 'node:zlib'
import { sql } from 'kysely'
import { LEDGER_COLUMNS } from '../../common/ledger-columns.ts'
import type { Store } from '../../store/store.ts'
import { procedure, type Steps } from '../../store/procedure.ts'
import type { SqlValue, Statement } from '../../store/statement.ts'
import { StoreError } from '../../store/store-error.ts'
import { storable } from '../settlement/postgres.ts'
import { ADMISSION_COLUMNS } from '../settlement/row-codec.ts'
import type { PendingAdmission } from './backend.ts'
import { TOLERANCE_MS } from './database-clock.ts'
import type { RecentAdmissions } from './recent-admissions.ts'
import type { Limited, LimitOwner } from './request-limits.ts'
import { WINDOW_MS } from './sliding-window.ts'

/** The longest time between a stamp and the release of its request (milliseconds). */
export const PROMPT_MS = 25
/** The excess of the window over 60 s (milliseconds). */
export const SLACK_MS = PROMPT_MS + TOLERANCE_MS + 5
/** The length of the window on PostgreSQL (milliseconds). */
export const WIDTH_MS = WINDOW_MS + SLACK_MS

/** Separates the locks of keys from other locks in the same database. */
const LOCKS = 0x546c6467n << 32n

/** Requests of a call with the same limits, in order. */
export interface LimitGroup extends Omit<Limited, 'child_id'> {
  /** Null if only the key's limit counts, if any. */
  readonly child_id: string | null
  readonly pending: PendingAdmission[]
}

/** The decision about a group. */
export interface GroupVerdict {
  readonly group: LimitGroup
  /** `seq` of the rows written, for the first requests of the group. */
  readonly written: number[]
  /**
   * Milliseconds until the next request can pass, for each owner of a limit; 0 if that limit did
   * not refuse it.
   */
  readonly waits: Readonly<Record<LimitOwner, number>>
}

/** The result of a call: its decisions, or that the ledger's time is outside the bounds. */
export type ReserveResult =
  | { readonly kind: 'clock_skewed' }
  | {
      readonly kind: 'decided'
      /** The ledger's time (milliseconds), and the version of its correction. */
      readonly present: number
      /** How long it waited for other processes before it decided (milliseconds). */
      readonly waited: number
      readonly version: number
      readonly verdicts: GroupVerdict[]
    }

/**
 * The result of tollmark_admit: how long it `waited` for the locks; `passed`, `waits` and
 * `child_waits` (microseconds) by group; `numbers` of the written rows in their order.
 */
type AdmitResult =
  | { doubt: true }
  | {
      doubt: false
      present: number
      waited: number
      version: number
      passed: number[]
      waits: number[]
      child_waits: number[]
      numbers: number[]
    }

/**
 * Admits the requests of each group that may pass, and writes their rows. @param groups the groups
 * of a key must be adjacent, with no more requests together than its limit @param bounds the
 * earliest and latest that the ledger's time can be (milliseconds); null: any time. @param
 * allowance how much later than PROMPT_MS the requests may be released (milliseconds) @throws
 * StoreError
 */
export async function reserveGroups(
  store: Store,
  instance: string,
  groups: readonly LimitGroup[],
  created_at: number,
  bounds: readonly [number, number] | null,
  allowance: number,
): Promise<ReserveResult> {
  const keys = groups.map(({ key_id, rpm, child_id, child_rpm, pending }) => ({
    id: key_id,
    rpm,
    wanted: pending.length,
    child: child_id,
    child_rpm,
  }))
  const requests = groups.flatMap(({ pending }, group) =>
    pending.map(({ request }, place) => rowOf(request, group + 1, place + 1, created_at)),
  )
  const [earliest, latest] =
    bounds === null
      ? [null, null]
      : [
          Math.round((bounds[0] - TOLERANCE_MS) * 1000),
          Math.round((bounds[1] + TOLERANCE_MS) * 1000),
        ]
  const { rows } = await sql<{
    result: AdmitResult
  }>`select tollmark_admit(${JSON.stringify(requests)}, ${JSON.stringify(keys)}, ${locksOf(keys.map(({ id }) => id))}, ${instance},
      ${WIDTH_MS * 1000}, ${earliest}, ${latest}, ${Math.ceil(allowance * 1000)}) as result`.execute(
    store.db,
  )
  const [first] = rows
  if (first === undefined) throw new StoreError('failed', 'the ledger returned no result')
  const { result } = first
  if (result.doubt) return { kind: 'clock_skewed' }
  let from = 0
  const verdicts = groups.map((group, place) => {
    const to = from + (result.passed[place] ?? 0)
    const written = result.numbers.slice(from, to)
    from = to
    const waits = {
      key_id: (result.waits[place] ?? 0) / 1000,
      child_id: (result.child_waits[place] ?? 0) / 1000,
    }
    return { group, written, waits }
  })
  const { present, waited, version } = result
  return { kind: 'decided', present: present / 1000, waited: waited / 1000, version, verdicts }
}

/**
 * Moves the stamps of admissions that were released late. @param firsts for each key, the `seq` of
 * its first row in the call @param time of the ledger (milliseconds)
 */
export async function restamp(
  store: Store,
  keys: string[],
  firsts: number[],
  time: number,
): Promise<void> {
  await sql`select tollmark_restamp(${locksOf(keys)}, ${keys}, ${firsts}, ${Math.round(time * 1000)})`.execute(
    store.db,
  )
}

/**
 * The admissions in windows since a moment of the ledger (microseconds), of all keys, and of
 * children with their own limits.
 */
export const recentStamps = procedure(
  import.meta.url,
  'recentStamps',
  function* (_db, { since }: { since: number }): Steps<RecentAdmissions> {
    const { rows } = yield query(
      'select owner, last - first + 1 as count, mono from admission_stamps where mono >= $1 order by owner, last',
      since,
    )
    const stamps = rows as { owner: string; count: number; mono: number }[]
    const keys: string[] = []
    const ends: number[] = []
    const times = new Float64Array(stamps.reduce((sum, { count }) => sum + count, 0))
    let end = 0
    for (const { owner, count, mono } of stamps) {
      if (keys.at(-1) !== owner) keys.push(owner)
      times.fill(mono / 1000, end, (end += count))
      ends[keys.length - 1] = end
    }
    return { keys, ends: Uint32Array.from(ends), times }
  },
)

/**
 * Deletes stamps that no window needs any more. @param before time of the ledger (milliseconds)
 */
export async function forgetStamps(store: Store, before: number): Promise<void> {
  await sql`delete from admission_stamps where mono < ${Math.floor(before * 1000)}`.execute(
    store.db,
  )
}

function query(sql: string, ...parameters: SqlValue[]): Statement {
  return { sql, parameters }
}

const ADMITTED = [...ADMISSION_COLUMNS.common, ...ADMISSION_COLUMNS.own]
const NAMES = ADMITTED.join(', ')
/** The same with the time of the ledger. */
const MOMENTS = ADMITTED.map((name) => (name === 'mono' ? 'moment' : name)).join(', ')
const TYPED = ADMITTED.map((name) => `${name} ${LEDGER_COLUMNS[name].type}`).join(', ')

/**
 * Inserts rows that were admitted in an outage, unless they already exist; returns the `seq` of
 * each, in order. A row of the last minute is appended to its key's window, with its own time or,
 * if later, that of the last row, because a key's stamps never go back. The row's own time is never
 * in the future, as a stamp's may be. An older row is in no window.
 */
export const recordPostgres = procedure(
  import.meta.url,
  'recordPostgres',
  function* (
    _db,
    { rows, locks, instance }: { rows: string; locks: string[]; instance: string },
  ): Steps<number[]> {
    for (const lock of locks) yield query('select pg_advisory_xact_lock($1)', lock)
    yield query(
      `with given as (
       select *, mono >= tollmark_ledger_time() - ${WIDTH_MS * 1000} as counts
       from rows from (json_to_recordset($1::json) as (${TYPED})) with ordinality as r(${NAMES}, place)
       where not exists (select from requests r2 where substr(r2.id, 5, 7) = substr(r.id, 5, 7) and r2.id = r.id)
     ), numbered as (
       select g.*,
         case when g.counts then greatest(max(g.mono) over per_key, newest.mono) else g.mono end as stamp,
         case when g.counts then greatest(max(g.mono) over per_key, least(newest.mono, tollmark_ledger_time())) else g.mono end as moment,
         case when g.counts then coalesce(newest.last, 0) + row_number() over per_key end as nth,
         case when g.counts and g.child_rpm is not null then coalesce(newest_of_child.last, 0) + row_number() over per_child end as child_nth
       from given g
       left join lateral (select last, mono from admission_stamps where owner = g.key_id order by last desc limit 1) as newest on true
       left join lateral (select last from admission_stamps where owner = g.child_id order by last desc limit 1) as newest_of_child on true
       window per_key as (partition by g.key_id, g.counts order by g.mono, g.place),
         per_child as (partition by g.child_id, g.child_rpm is null, g.counts order by g.mono, g.place)
     ), stamped as (
       insert into admission_stamps (owner, first, last, mono)
       select key_id, nth, nth, stamp from numbered where nth is not null
       union all select child_id, child_nth, child_nth, stamp from numbered where child_nth is not null
     )
     insert into admissions (${NAMES}, state, instance, outage)
     select ${MOMENTS}, 'reserved', $2, 1
     from numbered order by mono, place`,
      rows,
      instance,
    )
    const { rows: found } = yield query(
      `select r.seq from rows from (json_to_recordset($1::json) as (id text)) with ordinality as g(id, line) join requests r on substr(r.id, 5, 7) = substr(g.id, 5, 7) and r.id = g.id order by g.line`,
      rows,
    )
    return found.map((row) => Number((row as { seq: number }).seq))
  },
  'rows',
)

/** Numbers of the locks of keys, ascending, so that calls cannot deadlock. */
export function locksOf(keys: string[]): string[] {
  return [...new Set(keys.map((id) => crc32(id)))]
    .sort((a, b) => a - b)
    .map((hash) => String(LOCKS | BigInt(hash)))
}

function rowOf(
  { id, account_id, provider, model, endpoint, method, ...rest }: PendingAdmission['request'],
  group: number,
  place: number,
  created_at: number,
) {
  return {
    id,
    account_id,
    key: group,
    place,
    provider,
    model: model === null ? null : storable(model),
    endpoint: storable(endpoint),
    method,
    context: rest.context,
    child_id: rest.child_id,
    end_user: rest.end_user === null ? null : storable(rest.end_user),
    created_at,
  }
}
