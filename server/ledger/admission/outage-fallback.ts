// Takes over admission while the store does not respond.
//
// | state      | a request is                                 | leaves when                      |
// |------------|----------------------------------------------|----------------------------------|
// | online     | passed on to the store                       | the store fails: outage          |
// | outage     | decided here, its row synced to a local file | the store answers: recovering    |
// | recovering | queued while the backlog is written          | all written: online; else outage |
//
// In an outage, a request reaches an upstream only after its row is on this machine's disk
// (outage-log.ts), and only within the part of the limit that this process can prove to be free
// (key-shares.ts). If the file cannot be written, or after `maxOutage`, requests are rejected
// (503).
import type { Clock } from '../../common/clock.ts'
import type { Log } from '../../common/log.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Store } from '../../store/store.ts'
import { retryUntilClosed, writeInOrder } from '../settlement/ordered-writes.ts'
import type { Settlement } from '../settlement/row-codec.ts'
import { callerLeftError, type AdmissionBackend, type Remaining } from './backend.ts'
import { KeyShares } from './key-shares.ts'
import { LostResponses } from './lost-responses.ts'
import { MAX_BATCH, OutageLog, recordBacklog } from './outage-log.ts'
import { Backlog, type BacklogEntry } from './backlog.ts'
import { StoreMonitor } from './store-monitor.ts'
import { TrackedAdmission, type AdmitCall } from './tracked-admission.ts'
import { joinProcesses } from './web-processes.ts'

/** Rows that may wait to be written to the store, and requests that may wait meanwhile. */
export const MAX_BACKLOG = 50_000

/** TABLE of the states and their transitions. */
const TRANSITIONS = {
  online: { storeFailed: 'outage' },
  outage: { storeResponded: 'recovering' },
  recovering: { storeFailed: 'outage', backlogWritten: 'online' },
} as const satisfies Record<string, Record<string, string>>

/** Whether the store decides, this process decides, or its backlog is being written. */
export type OutageState = keyof typeof TRANSITIONS

/** Dependencies of the fallback. */
export interface OutageParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** This process's instance. */
  readonly instance: string
  /** How long requests are admitted without the store (milliseconds); 0: never. */
  readonly maxOutage: number
  /** The folder of the file; null if it would not outlive this process. */
  readonly folder: string | null
  /** Receives a settlement whose row is in the ledger. */
  readonly settle: (settlement: Settlement) => void
}

/** Passes requests on to the store, and decides about them during an outage. One per process. */
export class OutageFallback {
  readonly #backend: AdmissionBackend
  readonly #parts: OutageParts
  readonly #shares: KeyShares
  readonly #file: OutageLog | null
  readonly #backlog = new Backlog()
  #state: OutageState = 'online'
  /** Start of the outage (monotonic milliseconds); null without one. */
  #since: number | null = null
  /** Requests that wait until the backlog is written. */
  #queued: TrackedAdmission[] = []
  /** Requests passed on, in order: all that are undecided, and some that are not. */
  #passed: TrackedAdmission[] = []
  #undecided = 0
  #onAllDecided: (() => void) | null = null
  /** Rows on their way to the file. */
  #appending = 0
  #recovery: Promise<void> | null = null
  #closed = false
  readonly #lost: LostResponses
  readonly #monitor: StoreMonitor

  private constructor(backend: AdmissionBackend, parts: OutageParts, known: readonly string[]) {
    const { store, clock, folder, instance, maxOutage } = parts
    this.#backend = backend
    this.#parts = parts
    this.#shares = new KeyShares(clock)
    this.#file =
      folder === null || maxOutage === 0 ? null : new OutageLog(folder, instance, clock.boot)
    const onError = (error: unknown): void => {
      if (!this.#closed && isOutage(error)) this.#enterOutage(error)
    }
    this.#lost = new LostResponses(store, clock, parts.settle)
    this.#monitor = new StoreMonitor({
      store,
      clock,
      instance,
      known,
      isSettled: () => this.#state === 'online',
      isAwaited: () => this.#undecided > 0 || this.#recovery !== null,
      onResponse: (processes, sentAt) => {
        this.#shares.countProcesses(processes, sentAt)
        this.#shares.tidy()
        this.#startRecovery()
        this.#lost.settleFound().catch(onError)
      },
      onSilence: () => this.#enterOutage(STORE_SILENT),
      onError,
    })
  }

  /** Puts the fallback before `backend`, once other processes count this one. @throws StoreError */
  static async open(backend: AdmissionBackend, parts: OutageParts): Promise<OutageFallback> {
    const processes = await joinProcesses(parts)
    const recent = await backend.recentAdmissions()
    const fallback = new OutageFallback(backend, parts, processes)
    for (const [key, times] of recent) fallback.#shares.load(key, times)
    fallback.#shares.countProcesses(processes.length, parts.clock.mono())
    return fallback
  }

  get state(): OutageState {
    return this.#state
  }

  /** See `Ledger.admit`. */
  submit(call: AdmitCall): void {
    this.#submit(new TrackedAdmission(call, this))
  }

  /** See `Ledger`; null during an outage, because then another window decides. */
  fullFor(key: string, rpm: number): number | null {
    return this.#state === 'online' ? this.#backend.fullFor(key, rpm) : null
  }

  /** See `Ledger`. */
  leftFor(key: string, rpm: number): Remaining {
    const left = this.#state === 'online' ? this.#backend.leftFor(key, rpm) : null
    return left ?? this.#shares.left(key, rpm)
  }

  /** Passes a settlement on as soon as its row is in the ledger. */
  settle(settlement: Settlement): void {
    if (settlement.seq > 0) return this.#parts.settle(settlement)
    const outcome = this.#backlog.settle(settlement)
    if (outcome.kind === 'recorded') this.#parts.settle(outcome.settlement)
    else if (outcome.kind === 'waiting') this.#file?.settle(outcome.id, settlement)
  }

  /** Whether the store is unavailable, or behind. */
  get failing(): boolean {
    return this.#state !== 'online'
  }

  /**
   * Whether requests are admitted during an outage, as far as this process knows without trying:
   * there is a file, the time is not over, and there is room for more.
   */
  get admitsAlone(): boolean {
    const isReady = this.#state !== 'outage' || this.#file?.isProven === true
    return this.#mayAdmitAlone() && isReady
  }

  /**
   * The same while the store fails, even if no request has noticed it yet: the disk that cannot
   * take the database's writes may be that of the file, so the file is tested.
   */
  async canAdmitAlone(): Promise<boolean> {
    if (this.#mayAdmitAlone()) await this.#file?.prove().catch(() => {})
    return this.#mayAdmitAlone() && this.#file?.isProven === true
  }

  /** The store has decided about a request that was passed on to it. */
  decided(one: TrackedAdmission, isAdmitted: boolean): void {
    if (isAdmitted) this.#monitor.noteResponse()
    if (isAdmitted && !one.superseded && !one.hasShare) this.#shares.note(one.request)
    this.#releaseShare(one, isAdmitted)
    if (isAdmitted && one.superseded && !one.isAdmittedHere) this.#parts.settle(one.unsent())
    this.#countDecision()
  }

  /**
   * The store has failed for a request that was passed on to it; returns whether that is an outage,
   * so that the request is decided here.
   */
  rejected(one: TrackedAdmission, error: unknown): boolean {
    this.#releaseShare(one, false)
    this.#countDecision()
    if (isOutage(error)) this.#lost.add(one)
    if (one.superseded || !isOutage(error)) return false
    this.#enterOutage(error)
    this.#decide(one, error)
    return true
  }

  /**
   * Resolves when everything submitted has been decided, and the backlog is in the ledger or the
   * file.
   */
  async close(): Promise<void> {
    this.#closed = true
    this.#monitor.stop()
    await this.#backend.close()
    if (this.#undecided > 0) await new Promise<void>((resolve) => (this.#onAllDecided = resolve))
    await this.#recovery
    const isWritten = await retryUntilClosed(async () => {
      if (!this.#isDrained) await this.#recover()
      return this.#isDrained
    })
    if (isWritten) await this.#removeFile()
    else
      this.#parts.log.error(
        'The database is unavailable; the next process on this data folder writes the requests in the outage file.',
        new Error(`${this.#backlog.size} requests are in ${this.#file?.path ?? 'no file'}`),
      )
    await this.#file?.close()
    // Too late for the file.
    for (const one of this.#queued.splice(0)) one.fail(STORE_SILENT)
  }

  #submit(one: TrackedAdmission): void {
    if (this.#state === 'online') this.#passOn(one)
    else if (this.#state === 'outage') this.#decide(one, STORE_SILENT)
    else if (this.#queued.length < MAX_BACKLOG) this.#queued.push(one)
    else one.fail(STORE_SILENT)
  }

  #passOn(one: TrackedAdmission): void {
    const { rpm, child_rpm } = one.request
    if ((rpm !== null || child_rpm !== null) && this.#shares.settling) {
      const share = this.#shares.reserveSettling(one.request)
      if (share.verdict === 'refused') return one.refuse(share.wait)
      one.hasShare = true
    }
    // An array that is compacted now and then: a set that changes with each request would cost
    // more.
    if (this.#passed.length > 2 * this.#undecided + 64)
      this.#passed = this.#passed.filter(({ hasResponded }) => !hasResponded)
    this.#passed.push(one)
    this.#undecided++
    this.#backend.submit(one)
  }

  #releaseShare(one: TrackedAdmission, isUsed: boolean): void {
    if (!one.hasShare) return
    one.hasShare = false
    if (isUsed) this.#shares.confirm(one.request)
    else this.#shares.withdraw(one.request)
  }

  #countDecision(): void {
    if (--this.#undecided === 0) this.#onAllDecided?.()
  }

  /** Decides about a request without the store. */
  #decide(one: TrackedAdmission, error: unknown): void {
    this.#releaseShare(one, false)
    one.superseded = true
    if (one.callerLeft) return one.fail(callerLeftError())
    if (this.#file === null || this.#since === null || !this.#mayAdmitAlone())
      return one.fail(error)
    const share = this.#shares.reserve(one.request)
    if (share.verdict === 'unknown') return one.fail(error)
    if (share.verdict === 'refused') return one.refuse(share.wait)
    one.isAdmittedHere = true
    this.#appending++
    void this.#admitHere(one, this.#file)
  }

  #mayAdmitAlone(): boolean {
    const { clock, maxOutage } = this.#parts
    const isOver = this.#since !== null && clock.mono() - this.#since >= maxOutage
    return this.#file !== null && !isOver && this.#backlog.size + this.#appending < MAX_BACKLOG
  }

  async #admitHere(one: TrackedAdmission, file: OutageLog): Promise<void> {
    const { clock } = this.#parts
    const row = {
      ...one.request,
      created_at: clock.now(),
      mono: Math.floor(clock.mono() * 1000),
    }
    try {
      await file.reserve(row)
    } catch (error) {
      this.#shares.withdraw(row)
      one.isAdmittedHere = false
      if (one.isAdmittedLate) this.#parts.settle(one.unsent())
      return one.fail(error)
    } finally {
      this.#appending--
    }
    this.#shares.confirm(row)
    // Its minute begins now that it is durable. A replay of the file knows only the earlier time.
    const seq = this.#backlog.add({ ...row, mono: Math.floor(clock.mono() * 1000) })
    one.admit({ admitted: true, seq, created_at: row.created_at })
  }

  #become(event: 'storeFailed' | 'storeResponded' | 'backlogWritten'): boolean {
    const to = (TRANSITIONS[this.#state] as Partial<Record<typeof event, OutageState>>)[event]
    if (to === undefined) return false
    this.#state = to
    return true
  }

  #enterOutage(error: unknown): void {
    if (!this.#become('storeFailed')) return
    const { clock, log, maxOutage } = this.#parts
    if (this.#since === null) {
      log.warn(
        this.#file === null
          ? 'The database does not answer; requests are rejected.'
          : `The database does not answer; for ${maxOutage / 1000} s requests are admitted without it, if their file in the data folder can be written.`,
        { reason: String(error) },
      )
      this.#shares.beginOutage()
    }
    this.#since ??= clock.mono()
    // In order of arrival, so that rows that the store may already have written come first.
    for (const one of this.#passed)
      if (!one.hasResponded && !one.superseded) this.#decide(one, error)
    for (const one of this.#queued.splice(0)) this.#decide(one, error)
  }

  #startRecovery(): void {
    if (this.#become('storeResponded')) this.#recovery ??= this.#recover()
  }

  /** Writes the backlog to the store; then the store decides again. */
  async #recover(): Promise<void> {
    try {
      do {
        while (!this.#isDrained) {
          await this.#file?.idle()
          if (!this.#backlog.isWritten) await this.#writeBacklog()
          // The store was only slow, and its responses had been abandoned.
          this.#become('storeResponded')
        }
        await this.#removeFile()
        // Another outage may have begun and ended meanwhile.
      } while (this.#state === 'recovering' && !this.#isDrained)
      // Otherwise, another outage has begun, and the next probe starts again.
      if (this.#isDrained) this.#enterOnline()
    } catch (error) {
      this.#enterOutage(error)
    } finally {
      this.#recovery = null
    }
  }

  /** Whether everything that was admitted here is in the ledger. */
  get #isDrained(): boolean {
    return this.#backlog.isWritten && this.#appending === 0
  }

  /** If the file stays, it is replayed at the next start, which changes nothing. */
  async #removeFile(): Promise<void> {
    await this.#file?.remove().catch((error: unknown) => {
      this.#parts.log.error('The outage file cannot be deleted.', error)
    })
  }

  #enterOnline(): void {
    if (!this.#become('backlogWritten')) return
    this.#parts.log.info(
      'The database responds again; all requests admitted without it are written.',
    )
    this.#since = null
    this.#shares.endOutage()
    for (const one of this.#queued.splice(0)) this.#submit(one)
  }

  #writeBacklog(): Promise<void> {
    return writeInOrder<BacklogEntry>(
      this.#backlog.unwritten,
      MAX_BATCH,
      async (batch) => {
        await recordBacklog(this.#backend, batch, undefined, (entry, seq) =>
          this.#backlog.recorded(entry, seq),
        )
        this.#monitor.noteResponse()
      },
      (entry, error) => {
        this.#backlog.giveUp(entry)
        this.#parts.log.error(
          `The request ${entry.row.id}, admitted during an outage of the database, cannot be written.`,
          error,
        )
      },
    )
  }
}

const STORE_SILENT = new StoreError('unavailable', 'the database is silent')

/**
 * Whether the store cannot be written. `busy` alone may only mean too much load; if it means more,
 * the monitor has already noticed the silence.
 */
function isOutage(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'full' || error.code === 'unavailable')
}
