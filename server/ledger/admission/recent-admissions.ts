// Reads the admissions of the last minute from the ledger, of all keys or under one limit, to fill
// windows.
import { HOUR } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import { all, procedure, type Steps } from '../../store/procedure.ts'
import type { LimitOwner } from './request-limits.ts'
import { WINDOW_MS } from './sliding-window.ts'

/** Page sizes: first a few rows, because most keys have no more, then many. */
const PAGE_SIZES = [200, 2_000]
const LARGEST_PAGE = 10_000

/**
 * Admissions for filling windows: for each key, or child with its own limit, their times up to
 * `end`, ascending (milliseconds).
 */
export interface RecentAdmissions {
  keys: string[]
  ends: Uint32Array<ArrayBuffer>
  times: Float64Array<ArrayBuffer>
}

/**
 * Admissions of all keys since a moment of a boot's clock (microseconds), or of the ledger's clock
 * if it has one.
 */
export const recentAdmissions = procedure(
  import.meta.url,
  'recentAdmissions',
  function* (db, { boot, since }: { boot: number; since: number }): Steps<RecentAdmissions> {
    const found = new Map<string, number[]>()
    let size = 0
    const note = (id: string, time: number): void => {
      size++
      const times = found.get(id)
      if (times === undefined) found.set(id, [time])
      else times.push(time)
    }
    let before = Number.MAX_SAFE_INTEGER
    for (let page = 0; ; page++) {
      const most = PAGE_SIZES[page] ?? LARGEST_PAGE
      const rows = yield* all(
        db
          .selectFrom('requests')
          .select(['seq', 'key_id', 'child_id', 'child_rpm', 'mono', 'boot'])
          .where('seq', '<', before)
          .orderBy('seq', 'desc')
          .limit(most),
      )
      const { length } = rows
      let isOver = true
      for (const { key_id, child_id, child_rpm, mono, boot: on } of rows) {
        if (on !== boot || mono < since) continue
        isOver = false
        note(key_id, mono / 1000)
        if (child_id !== null && child_rpm !== null) note(child_id, mono / 1000)
      }
      if (isOver || length < most) break
      before = rows.at(-1)?.seq ?? 0
    }
    const times = new Float64Array(size)
    const ends = new Uint32Array(found.size)
    let end = 0
    let at = 0
    for (const own of found.values()) {
      times.set(own.reverse(), end)
      const start = end
      ends[at++] = end += own.length
      times.subarray(start, end).sort()
    }
    return { keys: [...found.keys()], ends, times }
  },
)

/**
 * Whether the ledger has any admission, or any under a limit, up to a row of the ledger. It is one
 * index lookup on this thread: if there are none, no thread has to be started to read them.
 */
export async function hasAdmissions(
  { db }: Pick<Store, 'db'>,
  under?: { id: string; owner: LimitOwner; upTo: number },
): Promise<boolean> {
  const any = db.selectFrom('requests').select('seq').limit(1)
  const found =
    under === undefined ? any : any.where(under.owner, '=', under.id).where('seq', '<=', under.upTo)
  return (await found.executeTakeFirst()) !== undefined
}

/** The times of each key or child, as views of `times`. */
export function timesByKey({
  keys,
  ends,
  times,
}: RecentAdmissions): [key: string, times: Float64Array][] {
  return keys.map((key, at) => [key, times.subarray(at === 0 ? 0 : ends[at - 1], ends[at])])
}

/**
 * If each process counts as a boot of its own, their rows are interleaved: after this many rows of
 * other boots, none of ours follows.
 */
const MAX_OF_OTHER_BOOTS = 1_000

/**
 * The admissions of a key as `recent` gives them: ascending times by this boot's clock
 * (milliseconds).
 */
export interface KeyAdmissions {
  times: Float64Array<ArrayBuffer>
}

/**
 * The newest admissions under a limit (`id` of its key or child, and the column of that id) up to a
 * row of the ledger: all that its window can need, since a moment of this boot (microseconds,
 * monotonic). Another boot is only known to be earlier than this one: its admissions of the last
 * hour by the wall clock (`now`) count as made when this boot began.
 *
 * Rows are in the order in which they became durable. Their times are nearly in order, because a
 * request is stamped before it waits for the store. It never waits as long as a window, so the
 * search ends at a row that is a window older than `since`.
 */
export const recent = procedure(
  import.meta.url,
  'recent',
  function* (
    db,
    args: {
      id: string
      owner: LimitOwner
      limit: number
      upTo: number
      since: number
      boot: number
      now: number
    },
  ): Steps<KeyAdmissions> {
    const { id, owner, limit, upTo, since, boot, now } = args
    const oldest = since - WINDOW_MS * 1000
    const times: number[] = []
    let others = 0
    let before = upTo + 1
    for (let page = 0; ; page++) {
      const most = PAGE_SIZES[page] ?? LARGEST_PAGE
      const rows = yield* all(
        db
          .selectFrom('requests')
          .select(['mono', 'seq', 'created_at', 'boot'])
          .where(owner, '=', id)
          .where('seq', '<', before)
          .orderBy('seq', 'desc')
          .limit(most),
      )
      let over = rows.length < most
      for (const row of rows) {
        if (row.boot === boot) {
          times.push(row.mono / 1000)
          over ||= row.mono < oldest
          continue
        }
        // Rows from hours ago are irrelevant, whatever the wall clock did; so are all rows if this
        // boot was longer than a window ago.
        if (since <= 0 && Math.abs(now - row.created_at) <= HOUR) times.push(0)
        over ||= ++others >= (since > 0 ? MAX_OF_OTHER_BOOTS : limit)
      }
      if (over) break
      before = rows.at(-1)?.seq ?? 0
    }
    return { times: Float64Array.from(times.reverse()).sort() }
  },
)
