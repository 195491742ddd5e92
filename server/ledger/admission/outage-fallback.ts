// What stands between the ledger and a store that does not answer for a while.
//
// Usually it only passes on, and keeps a window of its own for each key: what this process was told
// that it may let through. When the store refuses to write, or is silent for PATIENCE ticks,
// requests are let through by that window alone for the time of grace; after it they are refused.
// Their rows wait in memory, and are written in their order, with the times at which they were let
// through, before anything is asked of the store again.
//
// What that costs, and who sets the time of grace accepts it: · A process that is killed meanwhile
// takes with it the rows (10,000 at most) that it has not written, and so does one that ends before
// the store is back. · Processes do not see each other meanwhile. Each keeps to its share, the
// limit divided by all processes that were there lately; what the others let
//   through just before is not in its window. One process alone is exact.
import type { Clock } from '../../common/clock.ts'
import type { Log } from '../../common/log.ts'
import { StoreError } from '../../store/store-error.ts'
import { first, procedure, type Steps } from '../../store/procedure.ts'
import type { Store } from '../../store/open.ts'
import type {
  Admission,
  AdmissionBackend,
  PendingAdmission,
  AdmissionRequest,
  CallerState,
  Remaining,
} from '../ledger.ts'
import { retryUntilClosed, writeInOrder } from '../settlement/ordered-writes.ts'
import type { Reservation, Settlement } from '../settlement/row-codec.ts'
import { wholeWait, Window, WINDOW_MS } from './sliding-window.ts'

/**
 * How often it is looked whether the store still answers. Counted in ticks, a pause of this process
 * is not taken for one of the store.
 */
const TICK_MS = 200
/** Ticks of silence, with something asked, after which the store counts as failing. */
const PATIENCE = 5
/** Ticks from one sign of life that is asked of the store to the next. */
const PROBE = 5
/** Rows that may wait to be written, and requests that may wait while they are. */
const MOST_OWED = 10_000
/**
 * Added to the time of what is let through, so that two clocks which differ a little never make a
 * minute too short.
 */
const MARGIN_MS = 100
/**
 * A process that has ended counts for so long as one of those that share a limit: what it let
 * through is in no window of ours.
 */
const REMEMBERED_MS = WINDOW_MS + 10_000

/** What is asked: see `Ledger.admit`. */
export interface Question {
  readonly asking: AdmissionRequest
  readonly caller: CallerState
  readonly patience: number
  readonly resolve: (admission: Admission) => void
  readonly reject: (error: unknown) => void
}

export interface Graced {
  ask(question: Question): void
  /** See `Ledger`; null while the store does not answer, because then another window decides. */
  fullFor(key: string, rpm: number): number | null
  /** See `Ledger`. */
  leftFor(key: string, rpm: number): Remaining
  /** Hands a settlement on to be written, as soon as its row is. */
  settle(settlement: Settlement): void
  /** Whether the store has not answered since about a second, or refuses to write. */
  failing(): boolean
  /** Ends when what was asked has its answer and what is owed is written, or could not be. */
  close(): Promise<void>
}

export interface GraceParts {
  store: Store
  clock: Clock
  log: Log
  /** How long requests are let through without the store (milliseconds); 0: not at all. */
  grace: number
  /** Takes a settlement whose row is in the ledger. */
  write(settlement: Settlement): void
}

/**
 * A request that was let through without the store. `number` stands for its place in the ledger,
 * and is below 0.
 */
type Given = { number: number; row: Reservation }

/**
 * How many processes there are. Asked of the writer, so that an answer also says that it can write.
 */
export const companions = procedure(
  import.meta.url,
  'companions',
  function* (db): Steps<number> {
    const row = yield* first(
      db.selectFrom('instances').select((e) => e.fn.countAll<number>().as('count')),
    )
    return Number(row?.count ?? 0)
  },
  'rows',
)

/** Puts grace before `inner`. @throws StoreError */
export async function openGrace(inner: AdmissionBackend, parts: GraceParts): Promise<Graced> {
  const { store, clock, log, grace, write } = parts
  const windows = new Map<string, Window>()
  /**
   * `up`: the store decides. `down`: we do. `behind`: what is owed is being written, and who asks
   * waits for that.
   */
  let state: 'up' | 'down' | 'behind' = 'up'
  /** Since when the store does not answer (monotonic milliseconds); null while it does. */
  let since: number | null = null
  let owed: Given[] = []
  /** Who waits until what is owed is written. */
  let parked: Pending[] = []
  /** The last number that was given in place of a place. */
  let last = 0
  /** Let through without the store and not in the ledger yet. */
  let unwritten = 0
  /**
   * Places of rows that were written late, until they are settled; settlements that wait for their
   * row's place.
   */
  const places = new Map<number, { seq: number; created_at: number }>()
  const ended = new Map<number, Settlement>()
  /**
   * Whether the store has said anything since the last tick; how many ticks it has said nothing
   * although it was asked.
   */
  let heard = false
  let silent = 0
  let ticks = 0
  let probing = false
  let writing: Promise<void> | null = null
  let closed = false
  /** The most processes that there were lately, and when that was seen. */
  let peak = 1
  let peakAt = -Infinity

  /**
   * Who was passed on, in the order in which they came: those who have no answer of the store yet,
   * and some who have.
   */
  let passed: Pending[] = []
  let unanswered = 0
  /** Told when the store has answered all of them; null where nobody waits for that. */
  let onAllAnswered: (() => void) | null = null

  /** One request. */
  class Pending implements PendingAdmission {
    readonly request: AdmissionRequest
    readonly patience: number
    readonly #caller: CallerState
    readonly #tell: (admission: Admission) => void
    readonly #fail: (error: unknown) => void
    superseded = false
    answered = false
    given: Given | null = null

    constructor({ asking, caller, patience, resolve, reject }: Question) {
      this.request = asking
      this.patience = patience
      this.#caller = caller
      this.#tell = resolve
      this.#fail = reject
    }

    get callerLeft(): boolean {
      return this.#caller.closed
    }

    resolve(admission: Admission): void {
      this.#answer()
      if (admission.admitted) heard = true
      if (!this.superseded) {
        if (admission.admitted) windowOf(this.request.key_id).add(clock.mono() + MARGIN_MS)
        return this.#tell(admission)
      }
      if (this.given !== null) {
        if (admission.admitted) place(this.given, admission)
        else owe(this.given)
      } else if (admission.admitted) write(unsent(this.request, admission))
    }

    reject(error: unknown): void {
      this.#answer()
      if (this.given !== null) owe(this.given)
      if (this.superseded) return
      if (!refusing(error)) return this.#fail(error)
      fall(error)
      refuseOrGive(this, error)
    }

    #answer(): void {
      this.answered = true
      if (--unanswered === 0) onAllAnswered?.()
    }

    /** Decides without the store. */
    decide(error: unknown): void {
      this.superseded = true
      const now = clock.mono()
      const { rpm, key_id } = this.request
      if (since === null || now - since >= grace || unwritten >= MOST_OWED) return this.#fail(error)
      if (rpm !== null) {
        const limit = Math.floor(rpm / peak)
        if (limit === 0) return this.#fail(error)
        const verdict = windowOf(key_id).ask(limit, now)
        if (!verdict.pass)
          return this.#tell({ admitted: false, wait: wholeWait(verdict.wait ?? WINDOW_MS) })
        windowOf(key_id).withdraw()
      }
      windowOf(key_id).add(now + MARGIN_MS)
      unwritten++
      this.given = {
        number: --last,
        row: { ...this.request, created_at: clock.now(), mono: Math.floor(now * 1000) },
      }
      this.#tell({ admitted: true, seq: last, created_at: this.given.row.created_at })
    }
  }

  function windowOf(key: string): Window {
    let window = windows.get(key)
    if (window === undefined) windows.set(key, (window = new Window()))
    return window
  }

  /** What is left by what this process alone let through. */
  function ownLeft(key: string, rpm: number): Remaining {
    const left = windows.get(key)?.left(rpm, clock.mono())
    return left === undefined
      ? { requests: rpm, reset: 0 }
      : { ...left, reset: Math.min(left.reset, WINDOW_MS) }
  }

  function pass(one: Pending): void {
    // A set that gets and loses an entry with every request would cost more than the rest of this
    // file.
    if (passed.length > 2 * unanswered + 64) passed = passed.filter(({ answered }) => !answered)
    passed.push(one)
    unanswered++
    inner.submit(one)
  }

  function take(one: Pending): void {
    if (state === 'up') pass(one)
    else if (state === 'behind' && parked.length < MOST_OWED) parked.push(one)
    else refuseOrGive(one)
  }

  /** Decides about one of whom the store will say nothing more. */
  function refuseOrGive(one: Pending, error: unknown = SILENT): void {
    one.decide(error)
    if (one.given !== null) owe(one.given)
  }

  function owe(given: Given): void {
    owed.push(given)
    if (state === 'up') catchUp()
  }

  /** From now on without the store. */
  function fall(error: unknown): void {
    if (state === 'down') return
    if (since === null)
      log.warn(
        `The store does not answer; requests are let through without it for ${grace / 1000} s.`,
        { reason: String(error) },
      )
    since ??= clock.mono()
    state = 'down'
    // In the order in which they came: what the store may have written already is among the first.
    for (const one of passed) if (!one.answered && !one.superseded) one.decide(error)
    for (const one of parked.splice(0)) refuseOrGive(one)
  }

  /** Writes what is owed; when there is nothing left, the store decides again. */
  function catchUp(): void {
    if (writing !== null) return
    state = 'behind'
    if (owed.length === 0) rise()
    else writing = writeAll()
  }

  async function writeAll(): Promise<void> {
    while (state === 'behind' && owed.length > 0) await writeOwed()
    writing = null
    if (state === 'behind') rise()
  }

  /** From now on with the store again. */
  function rise(): void {
    if (since !== null)
      log.info('The store answers again; what was let through without it is written.')
    since = null
    state = 'up'
    for (const one of parked.splice(0)) take(one)
  }

  async function writeOwed(): Promise<void> {
    const due = owed
    owed = []
    try {
      await writeInOrder(due, MOST_OWED, record, forget)
      // It was only slow, and has been given up on meanwhile.
      if (state === 'down') state = 'behind'
    } catch (error) {
      owed = [...due, ...owed]
      fall(error)
    }
  }

  async function record(rows: Given[]): Promise<void> {
    const numbers = await inner.recordAdmitted(rows.map(({ row }) => row))
    heard = true
    rows.forEach((given, at) =>
      place(given, { seq: numbers[at]!, created_at: given.row.created_at }),
    )
  }

  /** A row that the store will never take must not stand before all others for ever. */
  function forget({ number, row }: Given, error: unknown): void {
    log.error(
      `The request ${row.id}, which was let through without the store, cannot be written.`,
      error,
    )
    unwritten--
    ended.delete(number)
  }

  /** A row that was owed is in the ledger. */
  function place(
    { number }: Given,
    { seq, created_at }: { seq: number; created_at: number },
  ): void {
    unwritten--
    const settlement = ended.get(number)
    if (settlement === undefined) places.set(number, { seq, created_at })
    else {
      ended.delete(number)
      write({ ...settlement, seq, created_at })
    }
  }

  function tick(): void {
    const waiting = unanswered > 0 || probing || writing !== null
    silent = waiting && !heard ? silent + 1 : 0
    heard = false
    if (silent >= PATIENCE) fall(SILENT)
    if (++ticks % PROBE === 0 && !probing) void probe()
    if (ticks % 300 === 0)
      for (const [key, window] of windows) if (window.idle(clock.mono())) windows.delete(key)
  }

  async function probe(): Promise<void> {
    probing = true
    try {
      count(await store.run(companions, null))
      heard = true
      if (state === 'down') catchUp()
    } catch (error) {
      if (!closed && refusing(error)) fall(error)
    }
    probing = false
  }

  function count(processes: number): void {
    const now = clock.mono()
    if (processes < peak && now - peakAt < REMEMBERED_MS) return
    peak = Math.max(1, processes)
    peakAt = now
  }

  for (const [key, times] of await inner.recentAdmissions())
    windowOf(key).addAll(times.map((time) => time + MARGIN_MS))
  count(await store.run(companions, null))
  const timer = setInterval(tick, TICK_MS).unref()

  return {
    ask: (question) => take(new Pending(question)),
    fullFor: (key, rpm) => (state === 'up' ? inner.fullFor(key, rpm) : null),
    leftFor: (key, rpm) => (state === 'up' ? inner.leftFor(key, rpm) : null) ?? ownLeft(key, rpm),
    settle(settlement) {
      const { seq: number } = settlement
      if (number > 0) return write(settlement)
      const at = places.get(number)
      if (at === undefined) return void ended.set(number, settlement)
      places.delete(number)
      write({ ...settlement, ...at })
    },
    failing: () => state !== 'up' && since !== null,
    close: async () => {
      closed = true
      clearInterval(timer)
      await inner.close()
      // What the store says no to now is owed: a window that is still read may be the reason why it
      // was silent.
      if (unanswered > 0) await new Promise<void>((resolve) => (onAllAnswered = resolve))
      await writing
      const isWritten = await retryUntilClosed(async () => {
        if (owed.length > 0) await writeOwed()
        return owed.length === 0
      })
      if (!isWritten)
        log.error(
          'Requests that were let through without the store are not in the ledger.',
          new Error(`${owed.length} rows are lost`),
        )
      for (const one of parked.splice(0)) refuseOrGive(one)
    },
  }
}

/** What `Admissions` reject with where a request is `gone`. */
export function supersededError(): StoreError {
  return new StoreError('busy', 'the request was decided without the store')
}

/** What `Admissions` reject with where the caller has left before its row was on its way. */
export function callerLeftError(): StoreError {
  return new StoreError('busy', 'the caller has left')
}

const SILENT = new StoreError('unavailable', 'the store is silent')

/**
 * Whether the store cannot be written. `busy` alone may only mean that we ask too much of it; where
 * it means more, the silence before has said so.
 */
function refusing(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'full' || error.code === 'unavailable')
}

/** The end of a request that the store let through when its caller had been refused already. */
function unsent(
  { account_id, key_id, provider, model }: AdmissionRequest,
  { seq, created_at }: { seq: number; created_at: number },
): Settlement {
  return {
    seq,
    account_id,
    key_id,
    provider,
    model,
    created_at,
    state: 'aborted',
    status: null,
    error: null,
    credential_id: null,
    first_byte_ms: null,
    total_ms: null,
    bytes_in: 0,
    bytes_out: 0,
    tokens_in: null,
    tokens_out: null,
    tokens_cached: null,
    tokens_reasoning: null,
  }
}
