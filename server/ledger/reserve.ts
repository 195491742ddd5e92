// Admission on SQLite: procedures that run in the store's writer, many rows a call.
import type { Store } from '../store/open.ts'
import { all, first, procedure, type Steps } from '../store/procedure.ts'
import { pack, unpack, without, type Folded, type Packed } from './fold.ts'
import { enterJournal, newestSeq, writeDown } from './journal.ts'
import { enterOnce, RESERVED, reserved, reservedValues } from './rows.ts'
import { WINDOW_MS } from './window.ts'

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
  /** For each key with a limit: how many admissions it has room for, and how many of the rows are its own. */
  room: [key: string, left: number, wanted: number][]
}

export type ReserveResult = {
  /** The newest admission of the ledger before these. The rows that were written follow it, in their order. */
  seen: number
  /** What other processes admitted since the last call; null: too much to list, so every window must be read again. */
  foreign: ForeignAdmission[] | null
  /** Places of the rows that were not written, because others took their room. */
  refused: number[]
}

/** More foreign admissions than this since the last call are not carried over one by one. */
const MOST_FOREIGN = 10_000

/**
 * Writes down reservations, as one unit with the check that no other process has taken their place: whatever others have admitted since the
 * caller last looked is subtracted from the room that the caller saw.
 *
 * @param rows see `reservations`
 */
export const reserve = procedure(import.meta.url, 'reserve', function* (db, [packed, rows]: readonly [Packed<ReserveArgs>, Packed<Folded>]): Steps<ReserveResult> {
  const args = unpack(packed)
  const { instance, boot } = args
  const seen = yield* newestSeq(db)
  let foreign: ForeignAdmission[] | null = []
  if (seen > args.seen) {
    yield* enterJournal(db)
    foreign = yield* all(
      db
        .selectFrom('requests')
        .select(['key_id', 'mono', 'seq', 'boot'])
        .where('seq', '>', args.seen)
        .where('instance', '<>', instance)
        .orderBy('seq')
        .limit(MOST_FOREIGN + 1),
    )
  }
  const room = new Map(args.room.map(([key, left]) => [key, left]))
  if (foreign.length > MOST_FOREIGN) {
    foreign = null
    for (const key of room.keys()) room.set(key, 0)
  } else {
    for (const { key_id, mono, boot: on } of foreign) {
      const left = room.get(key_id)
      if (left !== undefined && (mono >= args.since || on !== boot)) room.set(key_id, left - 1)
    }
  }
  // Also where nobody else has admitted anything since: the caller may have heard of others after it decided.
  const refused = args.room.some(([key, , wanted]) => room.get(key)! < wanted) ? overfull(rows, room) : []
  const passed = args.size - refused.length
  const written = refused.length === 0 ? rows : pack(without(RESERVED, unpack(rows), new Set(refused)))
  if (passed > 0) yield* writeDown(db, written, seen + passed, instance, boot)
  return { seen, foreign, refused }
})

/** Places of the rows for which their key has no room, in the order in which they came. @param room for each key with a limit; used up */
function overfull(rows: Packed<Folded>, room: Map<string, number>): number[] {
  const refused: number[] = []
  for (const [place, { common }] of reserved(rows).entries()) {
    const { key_id, rpm } = common.row
    const left = rpm === null ? undefined : room.get(key_id)
    if (left === undefined) continue
    if (left > 0) room.set(key_id, left - 1)
    else refused.push(place)
  }
  return refused
}

/**
 * Enters rows of requests that were let through already, once each, whatever the windows say: some of them may be there. Gives the place of each.
 *
 * @param args.rows see `reservations`
 */
export const record = procedure(import.meta.url, 'record', function* (db, { instance, boot, rows }: { instance: string; boot: number; rows: Packed<Folded> }): Steps<number[]> {
  yield* enterJournal(db)
  const numbers: number[] = []
  const sql = enterOnce(db)
  let seq = yield* newestSeq(db)
  for (const row of reserved(rows)) {
    const written = yield { sql, parameters: reservedValues(row, seq + 1, instance, boot) }
    if (written.affected > 0) numbers.push(++seq)
    else numbers.push((yield* first(db.selectFrom('requests').select('seq').where('id', '=', String(row.own[RESERVED.own.indexOf('id')]))))!.seq)
  }
  return numbers
})

/** Rows that are read at once. */
const PAGE = 10_000

/** Admissions of all keys since a moment of a boot's clock (microseconds), or of the ledger's own where that has one. */
export async function recall(store: Store, { boot, since }: { boot: number; since: number }): Promise<{ key_id: string; mono: number }[]> {
  const found: { key_id: string; mono: number }[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await store.db.selectFrom('requests').select(['seq', 'key_id', 'mono', 'boot']).where('seq', '<', before).orderBy('seq', 'desc').limit(PAGE).execute()
    const recent = rows.filter((row) => row.boot === boot && row.mono >= since)
    found.push(...recent)
    if (recent.length === 0 || rows.length < PAGE) return found
    before = rows.at(-1)!.seq
  }
}

/** An admission of a key as `recent` gives it. */
type Recent = ForeignAdmission & { created_at: number }

/**
 * The newest admissions of a key, all that its window can need: those since a moment of this boot (microseconds, monotonic), or as many as its limit.
 *
 * Rows lie in the order in which they became durable, their times do not quite: a unit is stamped before it waits for the store. That is never as
 * long as a window, so behind a row which is older than `since` by a window there is none to find.
 */
export const recent = procedure(import.meta.url, 'recent', function* (db, args: { key: string; most: number; since: number; boot: number }): Steps<{ seen: number; rows: Recent[] }> {
  const { key, most, since, boot } = args
  yield* enterJournal(db)
  const oldest = since - WINDOW_MS * 1000
  const rows: Recent[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; before = rows.at(-1)!.seq) {
    const page = yield* all(
      db
        .selectFrom('requests')
        .select(['key_id', 'mono', 'seq', 'created_at', 'boot'])
        .where('key_id', '=', key)
        .where('seq', '<', before)
        .orderBy('seq', 'desc')
        .limit(most),
    )
    rows.push(...page)
    if (page.length < most || page.some((row) => row.boot !== boot || row.mono < oldest)) break
  }
  return { seen: yield* newestSeq(db), rows }
})
