// The ledger of a process: records requests durably before they are admitted, and completes their
// rows when they end.
import type { Clock } from '../common/clock.ts'
import type { Log } from '../common/log.ts'
import type { Store } from '../store/store.ts'
import type {
  Admission,
  AdmissionBackend,
  AdmissionRequest,
  CallerState,
  Remaining,
} from './admission/backend.ts'
import { OutageFallback } from './admission/outage-fallback.ts'
import { replayOutageFiles } from './admission/outage-log.ts'
import { openSqliteAdmission } from './admission/sqlite.ts'
import { PATIENCE_MS } from './admission/sqlite-batches.ts'
import { openRefusals } from './refusals/limit-counts.ts'
import type { Settlement } from './settlement/row-codec.ts'
import { SettlementQueue } from './settlement/settlement-queue.ts'
import { markUnknown } from './settlement/sqlite.ts'

export { PATIENCE_MS } from './admission/sqlite-batches.ts'
export type { Admission, AdmissionRequest, CallerState, Remaining } from './admission/backend.ts'
export type { Settlement } from './settlement/row-codec.ts'

/** Admits and settles requests. One per process; dispose of it to write pending rows. */
export interface Ledger extends AsyncDisposable {
  /**
   * Resolves when the reservation is durable, or the request is refused; while the store fails, see
   * `openLedger`.
   *
   * @param caller if it disconnects before the row is sent to the store, there is no row, and the
   *   key's window is unchanged
   * @param patience milliseconds between the starts of two batches of admissions, if this one waits
   *   for the second: 0 for a single caller
   * @throws StoreError
   */
  admit(request: AdmissionRequest, caller?: CallerState, patience?: number): Promise<Admission>
  /**
   * Whole milliseconds for which a key's window is known to stay full, so that `admit` would
   * refuse; null if there may be room. Synchronous: it only reads memory, and neither reserves nor
   * counts anything. After refusing a request because of it, call `countRefusal`.
   */
  fullFor(key: string, rpm: number | null): number | null
  /**
   * The current remaining part of a key's limit, as far as this process knows; synchronous, from
   * memory. It may lack other processes' admissions.
   */
  leftFor(key: string, rpm: number): Remaining
  /**
   * Counts a request that was refused because of `fullFor`, as `admit` counts its own refusals.
   */
  countRefusal(key: { key_id: string; account_id: string }): void
  /** Completes a row, soon. The request keeps its place in its key's window, however it ended. */
  settle(settlement: Settlement): void
  /** Whether the store does not respond, rejects writes, or is behind. */
  failing(): boolean
  /** Whether requests are admitted during an outage, as far as is known without trying. */
  admitsAlone(): boolean
  /** The same, after testing the outage file. */
  canAdmitAlone(): Promise<boolean>
  /** Resolves when everything settled so far is durable. */
  close(): Promise<void>
}

/** Options for outages of the store. */
export interface OutageSettings {
  /** How long requests are admitted without the store (milliseconds); 0: never. */
  readonly maxOutage: number
  /** The folder of the outage file; null if it would not outlive the process. */
  readonly folder: string | null
}

const NO_OUTAGE: OutageSettings = { maxOutage: 0, folder: null }

/**
 * How often dead processes are looked for, with their requests in progress and their outage files
 * (milliseconds).
 */
const CLEAN_UP_MS = 10_000

const NEVER_LEAVES: CallerState = { closed: false }

/**
 * Opens the ledger of this process, replays the outage files of killed processes, and marks the
 * requests of dead processes `unknown`.
 *
 * While the store does not respond, requests are admitted for `maxOutage`, each synced to a file
 * first; after that, they are rejected. See outage-fallback.ts.
 *
 * @param instance id of this process among the instances of the store
 * @throws StoreError
 */
export async function openLedger(
  store: Store,
  instance: string,
  clock: Clock,
  log: Log,
  { maxOutage, folder }: OutageSettings = NO_OUTAGE,
): Promise<Ledger> {
  let closed = false
  const onError = (error: unknown): void => {
    if (!closed) log.error('The ledger cannot be written.', error)
  }
  const settlements = new SettlementQueue({
    dialect: store.dialect,
    log,
    onError,
    settle: (rows) => backend.settle(rows),
  })
  const backend = await openBackend(store, instance, clock, settlements, onError)
  const cleanUp = async (which: 'all' | 'dead'): Promise<void> => {
    if (folder !== null) await replayOutageFiles({ store, backend, log, folder, instance }, which)
    await markDeadProcesses(store, log)
  }
  await cleanUp('all')
  const admissions = await OutageFallback.open(backend, {
    store,
    clock,
    log,
    instance,
    maxOutage,
    folder,
    settle: (settlement) => settlements.push(settlement),
  })
  const refusals = openRefusals(store, () => clock.now(), onError)
  const timer = setInterval(() => void cleanUp('dead').catch(onError), CLEAN_UP_MS).unref()
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    clearInterval(timer)
    await admissions.close()
    const settled = settlements.close()
    await refusals.flush()
    await settled
  }

  return {
    admit: (request, caller = NEVER_LEAVES, patience = PATIENCE_MS) =>
      new Promise((resolve, reject) => {
        const resolveCounted = (admission: Admission): void => {
          if (!admission.admitted) refusals.note(request)
          resolve(admission)
        }
        admissions.submit({
          request,
          caller,
          patience,
          resolve: request.rpm === null ? resolve : resolveCounted,
          reject,
        })
      }),
    fullFor: (key, rpm) => (rpm === null ? null : admissions.fullFor(key, rpm)),
    leftFor: (key, rpm) => admissions.leftFor(key, rpm),
    countRefusal: refusals.note,
    settle: (settlement) => admissions.settle(settlement),
    failing: () => admissions.failing,
    admitsAlone: () => admissions.admitsAlone,
    canAdmitAlone: () => admissions.canAdmitAlone(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function openBackend(
  store: Store,
  instance: string,
  clock: Clock,
  settlements: SettlementQueue,
  onError: (error: unknown) => void,
): Promise<AdmissionBackend> {
  if (store.dialect === 'sqlite')
    return openSqliteAdmission(store, instance, clock, (rows) => settlements.noteAdmitted(rows))
  const { openPostgresAdmission } = await import('./admission/postgres.ts')
  return openPostgresAdmission(store, instance, clock, onError)
}

async function markDeadProcesses(store: Store, log: Log): Promise<void> {
  let count = 0
  for (let some = 1; some > 0; count += some) some = await store.run(markUnknown, null)
  if (count > 0)
    log.warn('A process ended with requests in progress; how they ended is unknown.', {
      requests: count,
    })
}
