// Admission where the processes of one machine share the ledger, on SQLite: each key's window is kept in memory, and the writer checks what
// other processes have admitted since, as one unit with the writing.
import { HOUR, type Clock } from '../clock.ts'
import type { Store } from '../store/open.ts'
import type { Admissions, Asked } from './admit.ts'
import { pack } from './fold.ts'
import { goneError } from './grace.ts'
import { enter } from './journal.ts'
import { recall, recent, record, reserve, type ForeignAdmission, type ReserveArgs, type ReserveResult } from './reserve.ts'
import { reservations, settlements, type Reservation } from './rows.ts'
import { settle } from './settle.ts'
import { toldWait, Window, WINDOW_MS } from './window.ts'

/** Under load, units of admissions begin so far apart: each costs a transaction, whatever it holds. A caller alone never waits for that. */
const PACE_MS = 2
/** A request that could pass so soon is held rather than refused (milliseconds): a caller that waits exactly as told may be this early. */
const HOLD_MS = 5
/** How often windows that have emptied are dropped. */
const TIDY_MS = 60_000

/** A key's window, and who waits for its next change. */
type Lane = { key: string; window: Window; limit: number; ready: boolean; loadedTo: number; waiting: Asked[] }
type Reserved = { asked: Asked; lane: Lane | null; row: Reservation }

/** @param written told of everything that is written down: `complete` must follow soon, if only of no rows, so that it enters the requests */
export async function openLocalAdmissions(store: Store, instance: string, clock: Clock, written: () => void): Promise<Admissions> {
  const lanes = new Map<string, Lane>()
  let batch: Reserved[] = []
  /** Units of admissions that are not durable yet; when the last began and what it held; whether the next is on its way. */
  let flying = 0
  let flown = -Infinity
  let crowd = 0
  let planned = false
  /** The newest admission of others that the windows hold, and the newest of all that is known. */
  let merged = 0
  let seen = await store.run(enter, null)
  const timer = setInterval(tidy, TIDY_MS).unref()

  function tidy(): void {
    const now = clock.mono()
    for (const [key, lane] of lanes) if (lane.ready && lane.waiting.length === 0 && lane.window.idle(now)) lanes.delete(key)
  }

  function ask(asked: Asked): void {
    if (asked.gone) return asked.reject(goneError())
    const { rpm, key_id } = asked.asking
    if (rpm === null) {
      // Should its key have a limit again, this one counts too: the window is then read from the ledger.
      lanes.delete(key_id)
      return take(asked, null)
    }
    let lane = lanes.get(key_id)
    if (lane === undefined || (lane.ready && lane.limit !== rpm)) {
      lane = { key: key_id, window: new Window(), limit: rpm, ready: false, loadedTo: 0, waiting: lane?.waiting.splice(0) ?? [] }
      lanes.set(key_id, lane)
      void load(key_id, lane)
    }
    if (!lane.ready) lane.waiting.push(asked)
    else decide(lane, asked)
  }

  function decide(lane: Lane, asked: Asked): void {
    const now = clock.mono()
    const verdict = lane.window.ask(lane.limit, now)
    if (verdict.pass) take(asked, lane)
    else if (verdict.wait === null) lane.waiting.push(asked)
    else if (verdict.wait <= HOLD_MS) setTimeout(() => ask(asked), verdict.wait)
    else asked.resolve({ admitted: false, wait: toldWait(verdict.wait) })
  }

  /** Puts a request that may pass into the next batch. */
  function take(asked: Asked, lane: Lane | null): void {
    batch.push({ asked, lane, row: { ...asked.asking, created_at: clock.now(), mono: 0 } })
    plan()
  }

  /** The next unit begins when the one before is durable: what comes meanwhile shares the next. */
  function plan(): void {
    if (planned || flying > 0 || batch.length === 0) return
    planned = true
    const early = crowd > 1 ? PACE_MS - (performance.now() - flown) : 0
    if (early > 0) setTimeout(flush, early)
    else setImmediate(flush)
  }

  function flush(): void {
    planned = false
    const rows = batch.some(({ asked }) => asked.gone) ? withoutGone(batch) : batch
    batch = []
    if (rows.length === 0) return
    flown = performance.now()
    crowd = rows.length
    flying++
    // All are stamped with this one moment. Windows may have emptied since the decisions: at the moment of an earlier one, what they no longer
    // hold counted, and beside what others have admitted meanwhile it would be too much.
    const mono = Math.floor(clock.mono() * 1000)
    const now = mono / 1000
    const mine = new Map<Lane, number>()
    for (const { lane, row } of rows) {
      row.mono = mono
      if (lane !== null) mine.set(lane, (mine.get(lane) ?? 0) + 1)
    }
    const room: ReserveArgs['room'] = []
    for (const [lane, wanted] of mine) room.push([lane.key, lane.window.room(lane.limit, now) + wanted, wanted])
    const since = mono - WINDOW_MS * 1000
    store
      .run(reserve, [pack({ instance, seen, since, boot: clock.boot, size: rows.length, room }), reservations(rows.map(({ row }) => row))])
      .then((result) => reserved(rows, result), (error: unknown) => failed(rows, error))
      .finally(() => {
        flying--
        plan()
      })
  }

  /** Takes out what has been decided without us. */
  function withoutGone(rows: Reserved[]): Reserved[] {
    failed(rows.filter(({ asked }) => asked.gone), goneError())
    return rows.filter(({ asked }) => !asked.gone)
  }

  function reserved(rows: Reserved[], result: ReserveResult): void {
    if (result.foreign === null) lanes.clear()
    else for (const foreign of result.foreign) merge(foreign)
    const now = clock.mono()
    const refused = result.refused.length > 0 ? new Set(result.refused) : null
    const changed = new Set<Lane>()
    const again: Reserved[] = []
    let { seen: seq } = result
    rows.forEach((one, place) => {
      if (one.lane !== null) changed.add(one.lane)
      if (refused?.has(place)) {
        one.lane?.window.withdraw()
        again.push(one)
        return
      }
      one.lane?.window.confirm(now)
      one.asked.resolve({ admitted: true, seq: ++seq, created_at: one.row.created_at })
    })
    if (seq > seen) seen = seq
    written()
    for (const one of again) ask(one.asked)
    wake(changed)
  }

  function failed(rows: Reserved[], error: unknown): void {
    const changed = new Set<Lane>()
    for (const one of rows) {
      one.lane?.window.withdraw()
      if (one.lane !== null) changed.add(one.lane)
      one.asked.reject(error)
    }
    wake(changed)
  }

  /** Asks again for those whose verdict hung on what has just been decided. */
  function wake(changed: Set<Lane>): void {
    for (const lane of changed) for (const asked of lane.waiting.splice(0)) ask(asked)
  }

  function merge({ key_id, mono, seq, boot }: ForeignAdmission): void {
    if (seq <= merged) return
    merged = seq
    const lane = lanes.get(key_id)
    if (lane !== undefined && lane.ready && seq > lane.loadedTo && boot === clock.boot) lane.window.add(mono / 1000)
  }

  /** Reads a key's window from the ledger; by way of the writer, so that nothing which is under way is missed. */
  async function load(key: string, lane: Lane): Promise<void> {
    flush()
    try {
      const { rows, seen: to } = await store.run(recent, { key, most: lane.limit, since: clock.mono() * 1000 - WINDOW_MS * 1000, boot: clock.boot })
      for (const row of rows) lane.window.add(timeOf(row))
      lane.loadedTo = to
      lane.ready = true
      wake(new Set([lane]))
    } catch (error) {
      if (lanes.get(key) === lane) lanes.delete(key)
      for (const asked of lane.waiting.splice(0)) asked.reject(error)
    }
  }

  /** When an admission was, by this boot's monotonic clock: never earlier than it may have been. */
  function timeOf({ mono, boot, created_at }: ForeignAdmission & { created_at: number }): number {
    if (boot === clock.boot) return mono / 1000
    // Of another boot is only known that it was before this one; a row of hours ago is not in question, whatever the wall clock did.
    return Math.abs(clock.now() - created_at) > HOUR ? -Infinity : 0
  }

  function fullFor(key: string, rpm: number): number | null {
    const lane = lanes.get(key)
    if (lane === undefined || !lane.ready || lane.limit !== rpm) return null
    const wait = lane.window.fullFor(rpm, clock.mono())
    return wait === null || wait <= HOLD_MS ? null : toldWait(wait)
  }

  return {
    ask,
    fullFor,
    complete: (rows) => store.run(settle, settlements(rows)),
    // Every window is read again, behind these rows.
    record: (rows) => {
      lanes.clear()
      return store.run(record, { instance, boot: clock.boot, rows: reservations(rows) })
    },
    recall: async () => (await recall(store, { boot: clock.boot, since: (clock.mono() - WINDOW_MS) * 1000 })).map(({ key_id, mono }) => ({ key_id, time: mono / 1000 })),
    close: async () => {
      clearInterval(timer)
      flush()
      // The writer works in order: when this is through, so is everything before it.
      await store.run(enter, null).catch(() => {})
    },
  }
}
