// Lets requests through: the window of each key, and the reservation in the ledger, durable before anybody hears of it.
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/open.ts'
import { openRefusals } from './refusals.ts'
import { abandon, newest, recent, reserve, settle } from './rows.ts'
import type { ForeignAdmission, Reservation, ReserveResult, Settlement } from './rows.ts'
import { Window, WINDOW_MS } from './window.ts'

export type { Settlement } from './rows.ts'

/** What a request says of itself when it asks to be let through. */
export type Asking = Omit<Reservation, 'created_at' | 'mono' | 'boot'>

export type Admission =
  /** `created_at` is the ledger's time of it. */
  | { admitted: true; created_at: number }
  /** `wait`: whole milliseconds until the next one can pass; `reset`: until the window is empty. */
  | { admitted: false; wait: number; reset: number }

export interface Ledger extends AsyncDisposable {
  /** Resolves when the reservation is durable, or the request is refused. @throws StoreError */
  admit(asking: Asking): Promise<Admission>
  /** Completes a row, soon. */
  settle(settlement: Settlement): void
  /** Ends when everything settled so far is durable. */
  close(): Promise<void>
}

/** How often it is looked for requests that dead processes left under way. */
const ABANDON_MS = 10_000
/** Settlements wait so long for company; a request that is about to be admitted takes them along earlier. */
const SETTLE_MS = 10
/** Settlements that are kept while the store cannot be written. */
const MOST_UNSETTLED = 100_000
/** A request that could pass so soon is held rather than refused (milliseconds): a caller that waits exactly as told may be this early. */
const HOLD_MS = 5
/** AI SDKs ignore a wait of 60 s or more; the first millisecond of it has passed when they read it. */
const LONGEST_WAIT_MS = WINDOW_MS - 1
/** How often windows that have emptied are dropped. */
const TIDY_MS = 60_000

/** A key's window, and who waits for its next change. */
type Lane = { window: Window; limit: number; ready: boolean; loadedTo: number; waiting: Asked[] }
type Asked = { asking: Asking; resolve(admission: Admission): void; reject(error: unknown): void }
type Reserved = Asked & { lane: Lane | null; row: Reservation }

/**
 * Opens the ledger of this process, and writes off what dead processes left under way.
 *
 * @param instance id of this process among the instances of the store
 */
export async function openLedger(store: Store, instance: string, clock: Clock, log: Log): Promise<Ledger> {
  const lanes = new Map<string, Lane>()
  let batch: Reserved[] = []
  let unsettled: Settlement[] = []
  let settleTimer: NodeJS.Timeout | null = null
  let merged = 0
  let closed = false
  const refusals = openRefusals(store, () => clock.now(), complain)
  let seen = await store.run(newest, null)
  await writeOff()
  const timers = [setInterval(() => void writeOff().catch(complain), ABANDON_MS).unref(), setInterval(tidy, TIDY_MS).unref()]

  function complain(error: unknown): void {
    if (!closed) log.error('The ledger cannot be written.', error)
  }

  async function writeOff(): Promise<void> {
    const count = await store.run(abandon, null)
    if (count > 0) log.warn('A process ended with requests under way; how they ended is unknown.', { requests: count })
  }

  function tidy(): void {
    const now = clock.mono()
    for (const [key, lane] of lanes) if (lane.ready && lane.waiting.length === 0 && lane.window.idle(now)) lanes.delete(key)
  }

  function ask(asked: Asked): void {
    const { rpm, key_id } = asked.asking
    if (rpm === null) return take(asked, null, clock.mono())
    let lane = lanes.get(key_id)
    if (lane === undefined || (lane.ready && lane.limit !== rpm)) {
      lane = { window: new Window(), limit: rpm, ready: false, loadedTo: 0, waiting: lane?.waiting.splice(0) ?? [] }
      lanes.set(key_id, lane)
      void load(key_id, lane)
    }
    if (!lane.ready) lane.waiting.push(asked)
    else decide(lane, asked)
  }

  function decide(lane: Lane, asked: Asked): void {
    const now = clock.mono()
    const verdict = lane.window.ask(lane.limit, now)
    if (verdict.pass) take(asked, lane, now)
    else if (verdict.wait === null) lane.waiting.push(asked)
    else if (verdict.wait <= HOLD_MS) setTimeout(() => ask(asked), verdict.wait)
    else {
      refusals.note(asked.asking)
      asked.resolve({ admitted: false, wait: Math.min(Math.floor(verdict.wait) + 1, LONGEST_WAIT_MS), reset: Math.ceil(lane.window.reset(now)) })
    }
  }

  /** Puts a request that may pass into the next batch. */
  function take(asked: Asked, lane: Lane | null, now: number): void {
    if (batch.length === 0) setImmediate(flush)
    batch.push({ ...asked, lane, row: { ...asked.asking, created_at: clock.now(), mono: Math.floor(now * 1000), boot: clock.boot } })
  }

  /** Everything of this turn of the event loop is written as one unit. */
  function flush(): void {
    const rows = batch
    if (rows.length === 0) return
    batch = []
    flushSettlements()
    // The first decision's moment, not this one: what counted then must count now.
    const now = rows[0]!.row.mono / 1000
    const mine = new Map<Lane, number>()
    for (const { lane } of rows) if (lane !== null) mine.set(lane, (mine.get(lane) ?? 0) + 1)
    const keys = new Map<string, number>()
    for (const { lane, row } of rows) if (lane !== null && !keys.has(row.key_id)) keys.set(row.key_id, lane.window.room(lane.limit, now) + mine.get(lane)!)
    const since = rows[0]!.row.mono - WINDOW_MS * 1000
    store
      .run(reserve, { instance, seen, since, boot: clock.boot, rows: rows.map(({ row }) => row), room: [...keys] })
      .then((result) => reserved(rows, result), (error: unknown) => failed(rows, error))
  }

  function reserved(rows: Reserved[], result: ReserveResult): void {
    if (result.seen > seen) seen = result.seen
    if (result.foreign === null) lanes.clear()
    else for (const foreign of result.foreign) merge(foreign)
    const now = clock.mono()
    const refused = result.refused.length > 0 ? new Set(result.refused) : null
    const changed = new Set<Lane>()
    const again: Reserved[] = []
    for (const one of rows) {
      if (one.lane !== null) changed.add(one.lane)
      if (refused?.has(one.row.id)) {
        one.lane?.window.withdraw()
        again.push(one)
        continue
      }
      one.lane?.window.confirm(now)
      one.resolve({ admitted: true, created_at: one.row.created_at })
    }
    for (const one of again) ask(one)
    wake(changed)
  }

  function failed(rows: Reserved[], error: unknown): void {
    const changed = new Set<Lane>()
    for (const one of rows) {
      one.lane?.window.withdraw()
      if (one.lane !== null) changed.add(one.lane)
      one.reject(error)
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
      const { rows, seen: to } = await store.run(recent, { key, most: lane.limit })
      for (const row of rows) lane.window.add(timeOf(row))
      lane.loadedTo = to
      lane.ready = true
      wake(new Set([lane]))
    } catch (error) {
      if (lanes.get(key) === lane) lanes.delete(key)
      for (const { reject } of lane.waiting.splice(0)) reject(error)
    }
  }

  /** When an admission was, by this boot's monotonic clock: never earlier than it may have been. */
  function timeOf({ mono, boot, created_at }: ForeignAdmission & { created_at: number }): number {
    if (boot === clock.boot) return mono / 1000
    // Of another boot is only known that it was before this one; a row of hours ago is not in question, whatever the wall clock did.
    return Math.abs(clock.now() - created_at) > 3_600_000 ? -Infinity : 0
  }

  function flushSettlements(): void {
    if (settleTimer !== null) clearTimeout(settleTimer)
    settleTimer = null
    if (unsettled.length === 0) return
    const rows = unsettled
    unsettled = []
    store.run(settle, rows).catch((error: unknown) => {
      complain(error)
      if (closed) return
      unsettled = [...rows, ...unsettled].slice(-MOST_UNSETTLED)
      settleTimer ??= setTimeout(flushSettlements, 1_000)
    })
  }

  const close = async (): Promise<void> => {
    for (const timer of timers) clearInterval(timer)
    flush()
    flushSettlements()
    void refusals.flush()
    closed = true
    // The writer works in order: when this is through, so is everything before it.
    await store.run(newest, null).catch(() => {})
  }

  return {
    admit: (asking) => new Promise((resolve, reject) => ask({ asking, resolve, reject })),
    settle(settlement) {
      unsettled.push(settlement)
      settleTimer ??= setTimeout(flushSettlements, SETTLE_MS)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
