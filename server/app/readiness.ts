// Whether this process works, for `/readyz` and the metric `ready`.
import { inTime } from '../common/in-time.ts'
import type { Health, HealthState } from '../api/health.ts'
import type { Proxy } from '../proxy/index.ts'
import type { BlobStore } from '../store/blobs/blobs.ts'
import type { Instance } from '../store/instance.ts'
import type { Store } from '../store/store.ts'
import { StoreError, type StoreErrorCode } from '../store/store-error.ts'

/** The storage of a process, as its health check uses it. */
export interface CheckedStorage {
  readonly store: Store
  readonly instance: Instance
  readonly blobs: BlobStore
}

/** How the proxy of a process admits requests; see `Ledger`. */
type Admitting = Proxy['admission']

/** What is checked once the storage is open. */
interface Opened {
  readonly storage: CheckedStorage
  /** Undefined in a worker process. */
  readonly admission: Admitting | undefined
}

/**
 * Whether the process can serve requests, which includes the time when the store is down but the
 * ledger admits requests without it. Lives as long as the server.
 */
export class Readiness implements Health {
  #opened: Opened | undefined
  #check: (() => Promise<HealthState>) | undefined
  #isStopping = false

  /** Called when the storage is open; from now on it is checked. */
  opened(storage: CheckedStorage, admission?: Admitting): void {
    const opened = { storage, admission }
    this.#opened = opened
    this.#check = createSharedCheck(() => healthOf(opened))
  }

  /** Marks the process as not ready, because it shuts down. */
  stop(): void {
    this.#isStopping = true
  }

  /** Whether the process accepts requests, without querying the store. */
  isReady(): boolean {
    if (this.#opened === undefined || this.#isStopping) return false
    return !isFailing(this.#opened) || this.#opened.admission?.admitsAlone() === true
  }

  /** Whether the store is down or cannot be written, without querying it. */
  isStoreFailing(): boolean {
    return this.#opened === undefined || isFailing(this.#opened)
  }

  /** The health of the process; queries the store and the blobs. */
  async check(): Promise<HealthState> {
    if (this.#isStopping) return unavailable('the server is shutting down')
    return this.#check === undefined ? unavailable(WAITING) : this.#check()
  }
}

const unavailable = (...troubles: string[]): HealthState => ({ status: 'unavailable', troubles })

/** Whether the ledger's or the heartbeat's last use of the store failed. */
function isFailing({ storage, admission }: Opened): boolean {
  return storage.instance.failure() !== null || admission?.failing() === true
}

/** The health of a process that waits for its database. */
const WAITING = 'the database does not answer; the server starts when it does'

/** TABLE of failures that need another remedy than a store that is down. */
const FULL: Readonly<Partial<Record<StoreErrorCode, { store: string; files: string }>>> = {
  full: {
    store: 'the disk of the database is full',
    files: 'the disk is full: files cannot be stored',
  },
}

async function healthOf(opened: Opened): Promise<HealthState> {
  const { store, instance, blobs } = opened.storage
  const failing = isFailing(opened)
  // Only a write notices a full disk. The checks run in parallel, so that they end before a
  // balancer's timeout even if nothing responds.
  const [read, stored, written] = await Promise.all([
    failureOf(store.db.selectFrom('instances').select('id').limit(1).execute()),
    failureOf(blobs.check()),
    failing ? (instance.failure() ?? soon(instance.beat())) : null,
  ])
  const storeFailure = written ?? read ?? (failing ? 'unavailable' : null)
  // Proxied requests need no blobs, so this does not make the process unready: all processes share
  // the blob store, and the balancer would have none left.
  const files = stored === null ? [] : [FULL[stored]?.files ?? 'files cannot be stored']
  if (storeFailure === null)
    return { status: files.length === 0 ? 'ok' : 'degraded', troubles: files }
  const trouble = FULL[storeFailure]?.store ?? 'the database does not answer'
  return (await opened.admission?.canAdmitAlone()) === true
    ? { status: 'degraded', troubles: [`${trouble}; ${ALONE}`, ...files] }
    : unavailable(trouble, ...files)
}

/** What still works while the store is down. */
const ALONE = 'proxied requests are admitted without it for TOLLMARK_STORE_GRACE'

/** Why a check failed; null if it succeeded. */
function failureOf(look: Promise<unknown>): Promise<StoreErrorCode | null> {
  return soon(
    look.then(
      () => null,
      (error: unknown) => (error instanceof StoreError ? error.code : 'failed'),
    ),
  )
}

/**
 * The result of a check, or `unavailable` after `HEALTH_TIMEOUT_MS`: a health check must end soon,
 * and a store that hangs does not work.
 */
async function soon(look: Promise<StoreErrorCode | null>): Promise<StoreErrorCode | null> {
  const failure = await inTime(look, HEALTH_TIMEOUT_MS)
  return failure === undefined ? 'unavailable' : failure
}

/**
 * Shares one check among all callers while it runs, so that a flood of health checks costs the
 * store one at a time.
 */
function createSharedCheck<T>(look: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  return () => (pending ??= look().finally(() => (pending = undefined)))
}

/**
 * How long the checks of the store and the blobs may take (milliseconds): half of a balancer's
 * timeout (health_timeout in deploy/Caddyfile).
 */
const HEALTH_TIMEOUT_MS = 1_000
