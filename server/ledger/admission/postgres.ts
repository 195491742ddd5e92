// Admission on PostgreSQL, where many machines share the ledger.
//
// Requests that arrive close together share one call to one function in the database
// (store/migrations/0098-allowances.ts). Under a lock for each key, it looks at the key's N-th
// newest admission, admits the requests that may pass, stamps and writes them, and commits. So one
// process at a time decides about a key, and sees all earlier decisions.
//
// Why no interval of 60 s ever holds more than N:
//
// - Stamps of a key never go back, and request n passes only if the stamp of request n − N is older
//   by more than the window. So by their stamps, any N + 1 admissions in a row span more than the
//   window.
//
// - A stamp is at most PROMPT_MS before the release of its request. It is taken when the locks are
//   free, so between the two are the commit and the response. If these took longer in recent calls,
//   the next call's stamps are ahead by the difference (release-delay.ts). If they take longer
//   still, the stamp is moved to the release; that may happen afterwards, because the stamp does
//   not expire for most of a minute. The window is longer than 60 s by SLACK_MS, which is more than
//   PROMPT_MS and the tolerance of the clock together.
//
// - Stamps are measured by one clock, the database's. When that clock is set, the function's time
//   no longer matches what each process expects from its own monotonic clock (database-clock.ts).
//   Then the function decides nothing, and the process that notices corrects the ledger's time by
//   the step. Without a running process, a clock that was set back is still detected by the newest
//   stamp, which then counts as just now. Only a clock that was set forward while no process ran
//   goes unnoticed, like a longer pause.
//
// - A child key with its own limit has a second sequence of the same kind, within its parent's and
//   under the same lock. A request passes only if both have room, and is written once, in both.
//
// No request that fits is refused: a request that is early by no more than the slack is held.
import type { Clock } from '../../common/clock.ts'
import { AccountKeyQueue } from '../../common/fairness/account-key-queue.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Store } from '../../store/store.ts'
import { upstreamErrorsOf, type Reservation, type Settlement } from '../settlement/row-codec.ts'
import { settlePostgres, storable } from '../settlement/postgres.ts'
import { recordUpstreamErrors } from '../settlement/sqlite.ts'
import {
  callerLeftError,
  supersededError,
  type AdmissionBackend,
  type AdmissionOrigin,
  type PendingAdmission,
  type Remaining,
} from './backend.ts'
import { FullKeys, HeldRequests } from './postgres-full-keys.ts'
import { LedgerTime } from './postgres-clock.ts'
import {
  forgetStamps,
  locksOf,
  PROMPT_MS,
  recentStamps,
  recordPostgres,
  reserveGroups,
  restamp,
  WIDTH_MS,
  type GroupVerdict,
  type LimitGroup,
  type ReserveResult,
} from './postgres-reserve.ts'
import { timesByKey } from './recent-admissions.ts'
import { ReleaseDelay } from './release-delay.ts'
import { limitsOf } from './request-limits.ts'
import { wholeWait, WINDOW_MS } from './sliding-window.ts'

/**
 * Maximum number of requests and keys of one call; each key needs a lock, and PostgreSQL has a few
 * thousand.
 */
const MAX_ROWS = 2_000
const MAX_KEYS = 200
/** Requests that may wait for a call; beyond that, accounts and keys have shares. */
const MAX_WAITING = 50_000
/** Requests of a full key that are refused at a time. */
const MAX_REFUSED = 256
/** How often the ledger's time is compared if nothing is admitted (milliseconds). */
const COMPARE_MS = 5_000

/**
 * Opens the admission of this process. @param onError called when the ledger's time cannot be
 * compared. @throws StoreError
 */
export async function openPostgresAdmission(
  store: Store,
  instance: string,
  clock: Clock,
  onError: (error: unknown) => void,
): Promise<AdmissionBackend> {
  const time = await LedgerTime.open(store, clock)
  return new PostgresAdmission(store, instance, clock, time, onError)
}

/**
 * TABLE of the states of the next call:
 *
 * - `idle`: nothing waits.
 * - `planned`: a call begins in this turn of the event loop.
 * - `calling`: a call is in flight; requests that arrive meanwhile share the next.
 */
type CallState = 'idle' | 'planned' | 'calling'

/** A completed call (times are our monotonic milliseconds). */
interface CompletedCall {
  readonly result: Extract<ReserveResult, { kind: 'decided' }>
  readonly created_at: number
  /** How much later than PROMPT_MS its requests may be released (milliseconds). */
  readonly allowance: number
  /**
   * The earliest time at which it decided: after it was sent, and the locks of its keys were free.
   */
  readonly decided: number
  readonly received: number
}

class PostgresAdmission implements AdmissionBackend {
  readonly #store: Store
  readonly #instance: string
  readonly #clock: Clock
  readonly #time: LedgerTime
  readonly #onError: (error: unknown) => void
  readonly #queue = new AccountKeyQueue<PendingAdmission>(MAX_WAITING, ({ request }) => request)
  readonly #delay = new ReleaseDelay()
  readonly #full: FullKeys
  readonly #held = new HeldRequests()
  readonly #timer: NodeJS.Timeout
  #state: CallState = 'idle'
  #onDrained: (() => void) | undefined

  constructor(
    store: Store,
    instance: string,
    clock: Clock,
    time: LedgerTime,
    onError: (error: unknown) => void,
  ) {
    this.#store = store
    this.#instance = instance
    this.#clock = clock
    this.#time = time
    this.#onError = onError
    this.#full = new FullKeys(clock, this.#delay)
    this.#timer = setInterval(() => this.#tidy(), COMPARE_MS).unref()
  }

  submit(pending: PendingAdmission): void {
    const wait = this.#waitOf(pending)
    if (wait !== null) return refuse(pending, wait)
    const dropped = this.#queue.push(pending)
    dropped?.reject(new StoreError('busy', 'too many requests wait for the ledger'))
    this.#plan()
  }

  fullFor(key: string, rpm: number): number | null {
    const wait = this.#full.wait(key, rpm)
    return wait === null ? null : wholeWait(wait)
  }

  /**
   * Milliseconds for which one of a request's limits stays full; null if no limit is known to be
   * full.
   */
  #waitOf({ request }: PendingAdmission): number | null {
    const waits = limitsOf(request).flatMap(({ id, rpm }) => this.#full.wait(id, rpm) ?? [])
    return waits.length === 0 ? null : Math.max(...waits)
  }

  /**
   * Null unless the key is full: only the database knows what all processes admitted, and it is
   * asked only for the N-th newest admission.
   */
  leftFor(key: string, rpm: number): Remaining | null {
    const wait = this.#full.wait(key, rpm)
    return wait === null ? null : { requests: 0, reset: wait }
  }

  async settle(rows: readonly Settlement[]): Promise<void> {
    const failures = upstreamErrorsOf(rows)
    // Written first, so that no ended row lacks its error text.
    if (failures.length > 0)
      await this.#store.run(
        recordUpstreamErrors,
        failures.map(({ text, ...row }) => ({ ...row, text: text && storable(text) })),
      )
    if (rows.length > 0) await settlePostgres(this.#store, rows)
  }

  recordAdmitted(
    rows: Reservation[],
    origin: AdmissionOrigin = { instance: this.#instance, boot: this.#clock.boot },
  ): Promise<number[]> {
    const clock = this.#clock
    const offset = this.#time.offset()
    // After a restart of the machine, old monotonic times mean nothing; the wall clock still does.
    const stampOf = (mono: number, created_at: number): number =>
      origin.boot === clock.boot ? mono : (clock.mono() - (clock.now() - created_at)) * 1000
    const stamped = rows.map(({ mono, ...row }) => ({
      ...row,
      model: row.model === null ? null : storable(row.model),
      endpoint: storable(row.endpoint),
      end_user: row.end_user == null ? null : storable(row.end_user),
      mono: Math.round(stampOf(mono, row.created_at) + offset * 1000),
    }))
    return this.#store.run(recordPostgres, {
      rows: JSON.stringify(stamped),
      locks: locksOf(rows.map(({ key_id }) => key_id)),
      instance: origin.instance,
    })
  }

  async recentAdmissions(): Promise<[key: string, times: Float64Array][]> {
    const offset = this.#time.offset()
    const since = (this.#clock.mono() + offset - WINDOW_MS) * 1000
    const found = timesByKey(await this.#store.readNow(recentStamps, { since: Math.floor(since) }))
    return found.map(([key, times]) => [key, times.map((time) => time - offset)])
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#state !== 'idle' || this.#queue.size > 0)
      await new Promise<void>((resolve) => (this.#onDrained = resolve))
  }

  #tidy(): void {
    this.#full.tidy()
    this.#queue.tidy()
    this.#tidyStore().catch(this.#onError)
  }

  /**
   * Deletes stamps that no window needs, by our own clock, because the database's may just have
   * been set.
   */
  async #tidyStore(): Promise<void> {
    await this.#time.compare()
    await forgetStamps(this.#store, this.#time.bounds(this.#clock.mono())[0] - 2 * WIDTH_MS)
  }

  #plan(): void {
    if (this.#state !== 'idle') return
    if (this.#queue.size === 0) return this.#onDrained?.()
    this.#state = 'planned'
    setImmediate(() => {
      this.#state = 'calling'
      void this.#call(this.#gather()).finally(() => {
        this.#state = 'idle'
        this.#plan()
      })
    })
  }

  /**
   * Takes from the queue, in turns, the requests that the next call can decide: of each key and
   * child no more than its limit, because the rest depends on these.
   */
  #gather(): LimitGroup[] {
    const call = new GatheredCall()
    const gone: PendingAdmission[] = []
    const full: PendingAdmission[] = []
    this.#queue.take(MAX_ROWS, (pending) => {
      if (pending.superseded || pending.callerLeft) gone.push(pending)
      else if (this.#waitOf(pending) !== null) full.push(pending)
      else return call.add(pending)
      return true
    })
    for (const one of gone) one.reject(one.superseded ? supersededError() : callerLeftError())
    for (const one of full) this.submit(one)
    return call.groups()
  }

  async #call(groups: LimitGroup[]): Promise<void> {
    if (groups.length === 0) return
    try {
      const sent = this.#clock.mono()
      const created_at = this.#clock.now()
      const { allowance } = this.#delay
      const reserve = (bounds: [number, number] | null): Promise<ReserveResult> =>
        reserveGroups(this.#store, this.#instance, groups, created_at, bounds, allowance)
      let result = await reserve(this.#time.bounds(sent))
      if (result.kind === 'clock_skewed') {
        // Either the call took long, or the clock was set. A comparison corrects it.
        await this.#time.compare()
        result = await reserve(null)
      }
      if (result.kind === 'clock_skewed')
        throw new StoreError('failed', 'the clock of the ledger is uncertain')
      const received = this.#clock.mono()
      this.#time.observe(sent, received, result)
      const decided = Math.min(received, sent + Math.max(0, result.waited))
      this.#delay.observe(received - decided)
      await this.#decided({ result, created_at, allowance, decided, received })
    } catch (error) {
      // Requests that wait for the next call would get the same decision, only later.
      for (const one of [...groups.flatMap(({ pending }) => pending), ...this.#queue.clear()])
        one.reject(error)
    }
  }

  async #decided(call: CompletedCall): Promise<void> {
    const { result, created_at, allowance, decided, received } = call
    const isLate = received - decided > PROMPT_MS + allowance
    const passedByKey = new Map<string, number>()
    for (const { group, written } of result.verdicts)
      passedByKey.set(group.key_id, (passedByKey.get(group.key_id) ?? 0) + written.length)
    for (const verdict of result.verdicts) {
      verdict.written.forEach((seq, place) =>
        verdict.group.pending[place]?.resolve({ admitted: true, seq, created_at }),
      )
      this.#refuseRest(verdict, passedByKey.get(verdict.group.key_id) ?? 0, call, isLate)
    }
    if (!isLate) return
    const late = result.verdicts.flatMap(({ group, written: [first] }) =>
      first === undefined || limitsOf(group).length === 0 ? [] : [{ key: group.key_id, first }],
    )
    if (late.length === 0) return
    const latest = this.#time.bounds(received)[1]
    await restamp(
      this.#store,
      late.map(({ key }) => key),
      late.map(({ first }) => first),
      Math.min(latest, result.present + received - decided),
    ).catch(this.#onError)
  }

  /**
   * Holds or refuses the requests that did not pass, and those of the same key that wait, if it is
   * now full.
   *
   * @param passedOfKey how many of its key have passed, in all groups
   */
  #refuseRest(
    { group, written, waits }: GroupVerdict,
    passedOfKey: number,
    { allowance, decided, received }: CompletedCall,
    isLate: boolean,
  ): void {
    const rest = group.pending.slice(written.length)
    let longest = 0
    for (const { owner, id, rpm } of limitsOf(group)) {
      const isWindowUsed = (owner === 'key_id' ? passedOfKey : written.length) === rpm
      const wait = Math.max(waits[owner], isWindowUsed ? WIDTH_MS + allowance : 0)
      longest = Math.max(longest, wait)
      if (wait > this.#delay.hold)
        this.#full.set(id, rpm, (isLate && isWindowUsed ? received - allowance : decided) + wait)
    }
    const isFull = longest > this.#delay.hold
    for (const one of rest)
      if (isFull || !this.#held.hold(group.key_id, longest, () => this.submit(one)))
        refuse(one, longest - (received - decided))
    if (group.rpm !== null && this.#full.wait(group.key_id, group.rpm) !== null)
      this.#submitAgain(this.#queue.takeKey(group.key_id))
  }

  #submitAgain(some: PendingAdmission[]): void {
    for (const one of some.slice(0, MAX_REFUSED)) this.submit(one)
    if (some.length > MAX_REFUSED) setImmediate(() => this.#submitAgain(some.slice(MAX_REFUSED)))
  }
}

/** The requests of one call, grouped by their limits. */
class GatheredCall {
  readonly #byKey = new Map<string, { rpm: number | null; size: number; groups: LimitGroup[] }>()

  /**
   * Adds a request, unless its key or child already has as many as can pass, or the call is full.
   */
  add(pending: PendingAdmission): boolean {
    const { key_id, rpm, child_id, child_rpm } = pending.request
    let key = this.#byKey.get(key_id)
    if (key === undefined && this.#byKey.size < MAX_KEYS)
      this.#byKey.set(key_id, (key = { rpm, size: 0, groups: [] }))
    if (key === undefined || key.rpm !== rpm || key.size >= (rpm ?? Infinity)) return false
    const limited = child_rpm === null ? null : child_id
    let group = key.groups.find((one) => one.child_id === limited)
    if (group === undefined) {
      group = { key_id, rpm, child_id: limited, child_rpm, pending: [] }
      key.groups.push(group)
    }
    if (group.child_rpm !== child_rpm || group.pending.length >= (child_rpm ?? Infinity))
      return false
    group.pending.push(pending)
    key.size++
    return true
  }

  /** The groups, those of a key adjacent. */
  groups(): LimitGroup[] {
    return [...this.#byKey.values()].flatMap(({ groups }) => groups)
  }
}

function refuse(pending: PendingAdmission, wait: number): void {
  pending.resolve({ admitted: false, wait: wholeWait(wait) })
}
