// Admission on SQLite: procedures that run in the store's writer, with many rows per call.
import { all, first, procedure, type Steps } from '../../store/procedure.ts'
import {
  toJson,
  fromJson,
  without,
  type EncodedRows,
  type Json,
  RESERVATION_CODEC,
  decodeReservations,
} from '../settlement/row-codec.ts'
import { flushSteps, newestSeq, appendToJournal } from '../settlement/journal.ts'
import { insertReservedOnce, reservedValues } from '../settlement/row-statements.ts'
import { limitsOf } from './request-limits.ts'

/** An admission that another process made. */
export type ForeignAdmission = {
  key_id: string
  child_id: string | null
  mono: number
  seq: number
  boot: number
}

/** The data of a batch, apart from its rows. */
export type ReserveArgs = {
  instance: string
  /** `seq` of the last admission of the ledger known to the calling process. */
  seen: number
  /** Admissions before this moment of this boot no longer matter (microseconds, monotonic). */
  since: number
  boot: number
  /** Number of rows. */
  size: number
  /**
   * For each limit, by the id of its key or child: the admissions it has room for, and the number
   * of rows that count under it.
   */
  room: [id: string, left: number, wanted: number][]
}

/** The writer's decision about a batch. */
export type ReserveResult = {
  /**
   * `seq` of the newest admission of the ledger before this batch. The written rows follow it, in
   * order.
   */
  seen: number
  /**
   * Other processes' admissions since the last call; null: too many to list, so every window must
   * be read again.
   */
  foreign: ForeignAdmission[] | null
  /** Indexes of the rows that were not written, because other processes took their room. */
  refused: number[]
}

/** If other processes made more admissions than this since the last call, they are not listed. */
const MAX_FOREIGN = 10_000

/**
 * Writes reservations and, in the same transaction, checks for other processes' admissions: those
 * since the calling process last looked are subtracted from the room that it saw.
 *
 * @param rows see `encodeReservations`
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
          .select(['key_id', 'child_id', 'mono', 'seq', 'boot'])
          .where('seq', '>', args.seen)
          .where('instance', '<>', instance)
          .orderBy('seq')
          .limit(MAX_FOREIGN + 1),
      )
    }
    const room = new Map(args.room.map(([id, left]) => [id, left]))
    if (foreign.length > MAX_FOREIGN) {
      foreign = null
      for (const id of room.keys()) room.set(id, 0)
    } else {
      for (const { key_id, child_id, mono, boot: on } of foreign)
        if (mono >= args.since || on !== boot) {
          takePlace(room, key_id)
          takePlace(room, child_id)
        }
    }
    // Even if no other process has admitted anything since: this process may have learned of
    // others' admissions after its decision.
    const refused = args.room.some(([id, , wanted]) => (room.get(id) ?? 0) < wanted)
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

function takePlace(room: Map<string, number>, id: string | null): void {
  const left = id === null ? undefined : room.get(id)
  if (id !== null && left !== undefined) room.set(id, left - 1)
}

/**
 * Indexes of the rows for which one of their limits has no room, in order of arrival. They take no
 * place under the other limit. @param room for each limit; it is modified
 */
function overLimit(rows: Json<EncodedRows>, room: Map<string, number>): number[] {
  const refused: number[] = []
  for (const [place, { common }] of decodeReservations(rows).entries()) {
    const limits = limitsOf(common.row).filter(({ id }) => room.has(id))
    if (limits.every(({ id }) => (room.get(id) ?? 0) > 0))
      for (const { id } of limits) takePlace(room, id)
    else refused.push(place)
  }
  return refused
}

/**
 * Inserts rows of requests that were already admitted, once each, regardless of the windows; some
 * may already exist. Returns the `seq` of each.
 *
 * @param args.rows see `encodeReservations`
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
          // oxlint-disable-next-line typescript/no-non-null-assertion -- what was not written is there already
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
