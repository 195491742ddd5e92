// Admission where the processes of one machine share the ledger, on SQLite: each key's window is
// kept in memory, and the writer checks what other processes have admitted since, as one unit with
// the writing.
import type { Clock } from '../../common/clock.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Store } from '../../store/open.ts'
import {
  callerLeftError,
  supersededError,
  type AdmissionBackend,
  type PendingAdmission,
  type Remaining,
} from './backend.ts'
import { AccountKeyQueue } from '../../common/fairness/account-key-queue.ts'
import { toJson } from '../settlement/dictionary.ts'
import { flushJournal } from '../settlement/journal.ts'
import {
  recentAdmissions,
  recent,
  recordAdmitted,
  reserve,
  timesByKey,
  type ForeignAdmission,
  type ReserveArgs,
  type ReserveResult,
} from './sqlite-reserve.ts'
import {
  upstreamErrorsOf,
  encodeReservations,
  encodeSettlements,
  type Reservation,
} from '../settlement/row-codec.ts'
import { settle, settleWithErrors } from '../settlement/sqlite.ts'
import { wholeWait, Window, WINDOW_MS } from './sliding-window.ts'

/**
 * Units of admissions begin so far apart, unless somebody who waits is in a greater hurry: a unit
 * costs 0.3 ms of CPU, whatever it holds, most of it for the sync (`bench -- proxy --only
 * requests`).
 */
export const PATIENCE_MS = 4
/**
 * Rows of one unit at most: what comes meanwhile waits for no more (some milliseconds; `bench --
 * start` shows it beside a burst).
 */
const AT_ONCE = 512
/** Requests that may wait for a unit; then accounts and keys have shares. */
const MOST_WAITING = 50_000
/**
 * A request that could pass so soon is held rather than refused (milliseconds): a caller that waits
 * exactly as told may be this early.
 */
const HOLD_MS = 5
/** Requests that are decided in one go, when all of a key have waited for one thing. */
const WOKEN_AT_ONCE = 256
/** How often windows that have emptied are dropped. */
const TIDY_MS = 60_000

/** A key's window, and who waits for its next change, or for the next place to come free. */
type Lane = {
  key: string
  window: Window
  limit: number
  ready: boolean
  loadedTo: number
  waiting: PendingAdmission[]
  held: PendingAdmission[]
  holding: boolean
}
type Reserved = { asked: PendingAdmission; lane: Lane | null; row: Reservation }

/**
 * @param written told how many rows have been written down: `complete` must follow soon, if only of
 * no rows, so that they enter the requests
 */
export async function openSqliteAdmission(
  store: Store,
  instance: string,
  clock: Clock,
  written: (rows: number) => void,
): Promise<AdmissionBackend> {
  const lanes = new Map<string, Lane>()
  /** What may pass, and waits for its unit. */
  const queue = new AccountKeyQueue<Reserved>(MOST_WAITING, ({ row }) => row)
  /** Units of admissions that are not durable yet; when the last began. */
  let flying = 0
  let flown = -Infinity
  /**
   * When the next begins: Infinity: none is planned, -Infinity: at once. How long behind the last:
   * as the least patient wants of those that wait.
   */
  let next = Infinity
  let timer: NodeJS.Timeout | undefined
  let patience = Infinity
  let drained: (() => void) | undefined
  /** The newest admission of others that the windows hold, and the newest of all that is known. */
  let merged = 0
  let seen = await store.run(flushJournal, null)
  const tidying = setInterval(tidy, TIDY_MS).unref()

  function tidy(): void {
    const now = clock.mono()
    for (const [key, lane] of lanes)
      if (
        lane.ready &&
        lane.waiting.length === 0 &&
        lane.held.length === 0 &&
        lane.window.idle(now)
      )
        lanes.delete(key)
    queue.tidy()
  }

  function ask(asked: PendingAdmission): void {
    if (asked.superseded) return asked.reject(supersededError())
    if (asked.callerLeft) return asked.reject(callerLeftError())
    const { rpm, key_id } = asked.request
    if (rpm === null) {
      // Should its key have a limit again, this one counts too: the window is then read from the
      // ledger.
      dropLane(key_id)
      return take(asked, null)
    }
    let lane = lanes.get(key_id)
    if (lane === undefined || (lane.ready && lane.limit !== rpm)) {
      dropLane(key_id)
      lane = {
        key: key_id,
        window: new Window(),
        limit: rpm,
        ready: false,
        loadedTo: Infinity,
        waiting: lane?.waiting.splice(0) ?? [],
        held: [],
        holding: false,
      }
      lanes.set(key_id, lane)
      void load(key_id, lane)
    }
    if (!lane.ready || lane.waiting.length > 0) lane.waiting.push(asked)
    else decide(lane, asked)
  }

  /** A window that nobody asks any more: who is held for it asks again. */
  function dropLane(key: string): void {
    const lane = lanes.get(key)
    if (lane === undefined) return
    lanes.delete(key)
    for (const asked of lane.held.splice(0)) setImmediate(() => ask(asked))
  }

  function decide(lane: Lane, asked: PendingAdmission): void {
    const { held } = lane
    const verdict = lane.window.ask(lane.limit, clock.mono(), held.length)
    if (verdict.pass) take(asked, lane)
    else if (verdict.wait === null) lane.waiting.push(asked)
    else if (verdict.wait > HOLD_MS)
      asked.resolve({ admitted: false, wait: wholeWait(verdict.wait) })
    else {
      held.push(asked)
      hold(lane, verdict.wait)
    }
  }

  /**
   * Lets those who are held ask again, one timer for all of a lane. Each was held for a place of
   * its own, so they are few.
   */
  function hold(lane: Lane, wait: number): void {
    if (lane.holding) return
    lane.holding = true
    setTimeout(() => {
      lane.holding = false
      for (const asked of lane.held.splice(0)) ask(asked)
    }, wait)
  }

  /** Puts a request that may pass into a next unit. */
  function take(asked: PendingAdmission, lane: Lane | null): void {
    const dropped = queue.push({
      asked,
      lane,
      row: { ...asked.request, created_at: clock.now(), mono: 0 },
    })
    if (dropped !== null)
      failed([dropped], new StoreError('busy', 'too many requests wait for the ledger'))
    patience = Math.min(patience, asked.patience)
    plan()
  }

  /**
   * The next unit begins when the one before is durable, and not so soon behind its beginning that
   * nobody who waits would mind to wait longer: what comes meanwhile shares it. Each costs a
   * transaction and its sync, whatever it holds.
   */
  function plan(): void {
    if (flying > 0) return
    if (queue.size === 0) return drained?.()
    const at = flown + patience
    if (at >= next) return
    clearTimeout(timer)
    const early = at - performance.now()
    next = early > 0 ? at : -Infinity
    if (early > 0) timer = setTimeout(flush, early)
    else setImmediate(flush)
  }

  function flush(): void {
    next = Infinity
    send(queue.take(AT_ONCE))
    patience = queue.size > 0 ? PATIENCE_MS : Infinity
    plan()
  }

  /** Writes rows down as one unit. */
  function send(taken: Reserved[]): void {
    const rows = taken.some(({ asked }) => asked.superseded || asked.callerLeft)
      ? withoutGone(taken)
      : taken
    if (rows.length === 0) return
    flown = performance.now()
    flying++
    // All are stamped with this one moment. Windows may have emptied since the decisions: at the
    // moment of an earlier one, what they no longer hold counted, and beside what others have
    // admitted meanwhile it would be too much.
    const mono = Math.floor(clock.mono() * 1000)
    const now = mono / 1000
    const mine = new Map<Lane, number>()
    for (const { lane, row } of rows) {
      row.mono = mono
      if (lane !== null) mine.set(lane, (mine.get(lane) ?? 0) + 1)
    }
    const room: ReserveArgs['room'] = []
    for (const [lane, wanted] of mine)
      room.push([lane.key, lane.window.room(lane.limit, now) + wanted, wanted])
    const since = mono - WINDOW_MS * 1000
    store
      .run(reserve, [
        toJson({ instance, seen, since, boot: clock.boot, size: rows.length, room }),
        encodeReservations(rows.map(({ row }) => row)),
      ])
      .then(
        (result) => reserved(rows, result),
        (error: unknown) => failed(rows, error),
      )
      .finally(() => {
        flying--
        plan()
      })
  }

  /**
   * Takes out what has been decided without us, and whose caller has left: their windows are as
   * before.
   */
  function withoutGone(rows: Reserved[]): Reserved[] {
    failed(
      rows.filter(({ asked }) => asked.superseded),
      supersededError(),
    )
    failed(
      rows.filter(({ asked }) => !asked.superseded && asked.callerLeft),
      callerLeftError(),
    )
    return rows.filter(({ asked }) => !asked.superseded && !asked.callerLeft)
  }

  function reserved(rows: Reserved[], result: ReserveResult): void {
    if (result.foreign === null) readAgain()
    else merge(result.foreign)
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
    written(rows.length - again.length)
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
    // Not at once: whoever takes their place may push out others, whose places are taken again.
    if (changed.size > 0) setImmediate(() => wake(changed))
  }

  /** Asks again for those whose verdict hung on what has just been decided. */
  function wake(changed: Iterable<Lane>): void {
    for (const lane of changed) {
      const woken = lane.waiting.splice(0)
      for (const asked of woken.slice(0, WOKEN_AT_ONCE)) ask(asked)
      if (woken.length <= WOKEN_AT_ONCE) continue
      // Who waits longest stays first.
      lane.waiting = woken.slice(WOKEN_AT_ONCE).concat(lane.waiting)
      setImmediate(() => wake([lane]))
    }
  }

  /** Every window must be read from the ledger again. */
  function readAgain(): void {
    for (const key of lanes.keys()) dropLane(key)
  }

  function merge(foreign: ForeignAdmission[]): void {
    const times = new Map<Lane, number[]>()
    for (const { key_id, mono, seq, boot } of foreign) {
      if (seq <= merged) continue
      merged = seq
      const lane = lanes.get(key_id)
      if (lane === undefined || seq <= lane.loadedTo || boot !== clock.boot) continue
      const own = times.get(lane)
      if (own === undefined) times.set(lane, [mono / 1000])
      else own.push(mono / 1000)
    }
    for (const [lane, own] of times) lane.window.addAll(Float64Array.from(own))
  }

  /**
   * Reads a key's window from the ledger. The writer says up to where, so that nothing which is on
   * its way is missed; what others admit behind that comes by `merge`. The rows are read beside the
   * writer, where nobody waits for them but this key.
   */
  async function load(key: string, lane: Lane): Promise<void> {
    // What could pass under another limit goes first, so that it is among the rows.
    send(queue.takeKey(key))
    try {
      const upTo = await store.run(flushJournal, null)
      lane.loadedTo = upTo
      const since = clock.mono() * 1000 - WINDOW_MS * 1000
      const { times } = await store.readNow(recent, {
        key,
        limit: lane.limit,
        upTo,
        since,
        boot: clock.boot,
        now: clock.now(),
      })
      lane.window.addAll(times)
      lane.ready = true
      wake([lane])
    } catch (error) {
      if (lanes.get(key) === lane) lanes.delete(key)
      for (const asked of lane.waiting.splice(0)) asked.reject(error)
    }
  }

  function fullFor(key: string, rpm: number): number | null {
    const lane = lanes.get(key)
    if (lane === undefined || !lane.ready || lane.limit !== rpm) return null
    const wait = lane.window.fullFor(rpm, clock.mono())
    return wait === null || wait <= HOLD_MS ? null : wholeWait(wait)
  }

  function leftFor(key: string, rpm: number): Remaining | null {
    const lane = lanes.get(key)
    return lane === undefined || !lane.ready || lane.limit !== rpm
      ? null
      : lane.window.left(rpm, clock.mono())
  }

  return {
    submit: ask,
    fullFor,
    leftFor,
    settle: (rows) => {
      const failures = upstreamErrorsOf(rows)
      const packed = encodeSettlements(rows)
      return failures.length === 0
        ? store.run(settle, packed)
        : store.run(settleWithErrors, { packed, failures })
    },
    // Every window is read again, behind these rows.
    recordAdmitted: (rows, origin = { instance, boot: clock.boot }) => {
      readAgain()
      return store.run(recordAdmitted, { ...origin, rows: encodeReservations(rows) })
    },
    recentAdmissions: async () =>
      timesByKey(
        await store.readNow(recentAdmissions, {
          boot: clock.boot,
          since: (clock.mono() - WINDOW_MS) * 1000,
        }),
      ),
    close: async () => {
      clearInterval(tidying)
      if (queue.size > 0 || flying > 0) await new Promise<void>((resolve) => (drained = resolve))
      // The writer works in order: when this is through, so is everything before it.
      await store.run(flushJournal, null).catch(() => {})
    },
  }
}
