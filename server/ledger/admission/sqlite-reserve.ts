// Admission on SQLite: procedures that run in the store's writer, many rows a call.
import { HOUR } from '../../common/clock.ts'
import { all, first, procedure, type Steps } from '../../store/procedure.ts'
import { toJson, fromJson, without, type EncodedRows, type Json } from '../settlement/dictionary.ts'
import { flushSteps, newestSeq, appendToJournal } from '../settlement/journal.ts'
import {
  insertReservedOnce,
  RESERVATION_CODEC,
  decodeReservations,
  reservedValues,
} from '../settlement/row-codec.ts'
import { WINDOW_MS } from './sliding-window.ts'

/** An admission that another process made. */
export type ForeignAdmission = { key_id: string; mono: number; seq: number; boot: number }

export type ReserveArgs = {
  instance: string
  /** The last admission of the ledger that the caller knows of. */
  seen: number
  /** Admissions before this moment of this boot no longer matter (microseconds, monotonic). */
  since: number
  boot: number
  /** How many rows there are. */
  size: number
  /**
   * For each key with a limit: how many admissions it has room for, and how many of the rows are
   * its own.
   */
  room: [key: string, left: number, wanted: number][]
}

export type ReserveResult = {
  /**
   * The newest admission of the ledger before these. The rows that were written follow it, in their
   * order.
   */
  seen: number
  /**
   * What other processes admitted since the last call; null: too much to list, so every window must
   * be read again.
   */
  foreign: ForeignAdmission[] | null
  /** Places of the rows that were not written, because others took their room. */
  refused: number[]
}

/** More foreign admissions than this since the last call are not carried over one by one. */
const MAX_FOREIGN = 10_000

/**
 * Writes down reservations, as one unit with the check that no other process has taken their place:
 * whatever others have admitted since the caller last looked is subtracted from the room that the
 * caller saw.
 *
 * @param rows see `reservations`
 */
export const reserve = procedure(
  import.meta.url,
  'reserve',
  function* (
    db,
    [packed, rows]: readonly [Json<ReserveArgs>, Json<EncodedRows>],
  ): Steps<ReserveResult> {
    const args = fromJson(packed)
    const { instance, boot } = args
    const seen = yield* newestSeq(db)
    let foreign: ForeignAdmission[] | null = []
    if (seen > args.seen) {
      yield* flushSteps(db)
      foreign = yield* all(
        db
          .selectFrom('requests')
          .select(['key_id', 'mono', 'seq', 'boot'])
          .where('seq', '>', args.seen)
          .where('instance', '<>', instance)
          .orderBy('seq')
          .limit(MAX_FOREIGN + 1),
      )
    }
    const room = new Map(args.room.map(([key, left]) => [key, left]))
    if (foreign.length > MAX_FOREIGN) {
      foreign = null
      for (const key of room.keys()) room.set(key, 0)
    } else {
      for (const { key_id, mono, boot: on } of foreign) {
        const left = room.get(key_id)
        if (left !== undefined && (mono >= args.since || on !== boot)) room.set(key_id, left - 1)
      }
    }
    // Also where nobody else has admitted anything since: the caller may have heard of others after
    // it decided.
    const refused = args.room.some(([key, , wanted]) => room.get(key)! < wanted)
      ? overLimit(rows, room)
      : []
    const passed = args.size - refused.length
    const written =
      refused.length === 0
        ? rows
        : toJson(without(RESERVATION_CODEC, fromJson(rows), new Set(refused)))
    if (passed > 0) yield* appendToJournal(db, written, seen + passed, instance, boot)
    return { seen, foreign, refused }
  },
)

/**
 * Places of the rows for which their key has no room, in the order in which they came. @param room
 * for each key with a limit; used up
 */
function overLimit(rows: Json<EncodedRows>, room: Map<string, number>): number[] {
  const refused: number[] = []
  for (const [place, { common }] of decodeReservations(rows).entries()) {
    const { key_id, rpm } = common.row
    const left = rpm === null ? undefined : room.get(key_id)
    if (left === undefined) continue
    if (left > 0) room.set(key_id, left - 1)
    else refused.push(place)
  }
  return refused
}

/**
 * Enters rows of requests that were let through already, once each, whatever the windows say: some
 * of them may be there. Gives the place of each.
 *
 * @param args.rows see `reservations`
 */
export const recordAdmitted = procedure(
  import.meta.url,
  'recordAdmitted',
  function* (
    db,
    { instance, boot, rows }: { instance: string; boot: number; rows: Json<EncodedRows> },
  ): Steps<number[]> {
    yield* flushSteps(db)
    const numbers: number[] = []
    const sql = insertReservedOnce(db)
    let seq = yield* newestSeq(db)
    for (const row of decodeReservations(rows)) {
      const written = yield { sql, parameters: reservedValues(row, seq + 1, instance, boot) }
      if (written.affected > 0) numbers.push(++seq)
      else
        numbers.push(
          (yield* first(
            db
              .selectFrom('requests')
              .select('seq')
              .where('id', '=', String(row.own[RESERVATION_CODEC.own.indexOf('id')])),
          ))!.seq,
        )
    }
    return numbers
  },
)

/** Rows that are read at once: first a few, because most keys have no more, then many. */
const PAGE_SIZES = [200, 2_000, 10_000]

/**
 * Admissions as they are given to whoever keeps windows: of each key the times up to its end,
 * ascending (milliseconds).
 */
export interface RecentAdmissions {
  keys: string[]
  ends: Uint32Array<ArrayBuffer>
  times: Float64Array<ArrayBuffer>
}

/**
 * Admissions of all keys since a moment of a boot's clock (microseconds), or of the ledger's own
 * where that has one.
 */
export const recentAdmissions = procedure(
  import.meta.url,
  'recentAdmissions',
  function* (db, { boot, since }: { boot: number; since: number }): Steps<RecentAdmissions> {
    const found = new Map<string, number[]>()
    let size = 0
    let before = Number.MAX_SAFE_INTEGER
    for (let page = 0; ; page++) {
      const most = PAGE_SIZES[Math.min(page, PAGE_SIZES.length - 1)]!
      const rows = yield* all(
        db
          .selectFrom('requests')
          .select(['seq', 'key_id', 'mono', 'boot'])
          .where('seq', '<', before)
          .orderBy('seq', 'desc')
          .limit(most),
      )
      const { length } = rows
      let admissionsOfKey = 0
      for (const row of rows) {
        if (row.boot !== boot || row.mono < since) continue
        admissionsOfKey++
        const times = found.get(row.key_id)
        if (times === undefined) found.set(row.key_id, [row.mono / 1000])
        else times.push(row.mono / 1000)
      }
      size += admissionsOfKey
      if (admissionsOfKey === 0 || length < most) break
      before = rows.at(-1)!.seq
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

/** The same by key. */
export function timesByKey({
  keys,
  ends,
  times,
}: RecentAdmissions): [key: string, times: Float64Array][] {
  return keys.map((key, at) => [key, times.subarray(at === 0 ? 0 : ends[at - 1], ends[at])])
}

/**
 * Where processes count as boots of their own, their rows lie among each other: behind so many of
 * others there is none of ours.
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
 * The newest admissions of a key up to one of the ledger, all that its window can need: those since
 * a moment of this boot (microseconds, monotonic). Of another boot is only known that it was before
 * this one: those of the last hour by the wall clock (`now`) count as of its beginning.
 *
 * Rows lie in the order in which they became durable, their times do not quite: a unit is stamped
 * before it waits for the store. That is never as long as a window, so behind a row which is older
 * than `since` by a window there is none to find.
 */
export const recent = procedure(
  import.meta.url,
  'recent',
  function* (
    db,
    args: { key: string; limit: number; upTo: number; since: number; boot: number; now: number },
  ): Steps<KeyAdmissions> {
    const { key, limit, upTo, since, boot, now } = args
    const oldest = since - WINDOW_MS * 1000
    const times: number[] = []
    let others = 0
    let before = upTo + 1
    for (let page = 0; ; page++) {
      const most = PAGE_SIZES[Math.min(page, PAGE_SIZES.length - 1)]!
      const rows = yield* all(
        db
          .selectFrom('requests')
          .select(['mono', 'seq', 'created_at', 'boot'])
          .where('key_id', '=', key)
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
        // Of hours ago is not in question, whatever the wall clock did; nor is anything where this
        // boot is longer than a window ago.
        if (since <= 0 && Math.abs(now - row.created_at) <= HOUR) times.push(0)
        over ||= ++others >= (since > 0 ? MAX_OF_OTHER_BOOTS : limit)
      }
      if (over) break
      before = rows.at(-1)!.seq
    }
    return { times: Float64Array.from(times.reverse()).sort() }
  },
)
