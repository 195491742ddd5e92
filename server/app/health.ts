// Whether this process works: what `/readyz` and the metric `ready` say.
import type { Health, HealthState } from '../api/health.ts'
import type { Proxy } from '../proxy/index.ts'
import type { BlobStore } from '../store/blobs/blobs.ts'
import type { Instance } from '../store/instance.ts'
import type { Store } from '../store/open.ts'
import { StoreError, type StoreErrorCode } from '../store/store-error.ts'

/** What a process stores things in, as its health check asks it. */
export interface CheckedStorage {
  readonly store: Store
  readonly instance: Instance
  readonly blobs: BlobStore
}

/** How the proxy of a process admits requests; see `Ledger`. */
type Admitting = Proxy['admission']

/** What is asked once the storage is open. */
interface Opened {
  readonly storage: CheckedStorage
  /** Undefined in a worker process. */
  readonly admission: Admitting | undefined
}

/**
 * Whether the process can serve requests: also while the store is away, as long as the ledger admits
 * requests without it. Lives as long as the server.
 */
export class Readiness implements Health {
  #opened: Opened | undefined
  #check: (() => Promise<HealthState>) | undefined
  #isStopping = false

  /** The storage is open: from now on it is what is asked. */
  opened(storage: CheckedStorage, admission?: Admitting): void {
    const opened = { storage, admission }
    this.#opened = opened
    this.#check = createSharedCheck(() => healthOf(opened))
  }

  /** From now on the process is not ready: it shuts down. */
  stop(): void {
    this.#isStopping = true
  }

  /** Whether the process takes requests, without asking the store. */
  isReady(): boolean {
    if (this.#opened === undefined || this.#isStopping) return false
    return !isFailing(this.#opened) || this.#opened.admission?.admitsAlone() === true
  }

  /** Whether the store does not answer or cannot be written, without asking it. */
  isStoreFailing(): boolean {
    return this.#opened === undefined || isFailing(this.#opened)
  }

  /** How the process is; asks the store and the blobs. */
  async check(): Promise<HealthState> {
    if (this.#isStopping) return unavailable('the server is shutting down')
    return this.#check === undefined ? unavailable(WAITING) : this.#check()
  }
}

const unavailable = (...troubles: string[]): HealthState => ({ status: 'unavailable', troubles })

/** Whether the ledger or the heartbeat has met a store that fails. */
function isFailing({ storage, admission }: Opened): boolean {
  return storage.instance.failure() !== null || admission?.failing() === true
}

/** The health of a process that waits for its database. */
const WAITING = 'the store does not answer; the server starts when it does'

/** TABLE of failures that an operator mends in another way than one of a store that is away. */
const FULL: Readonly<Partial<Record<StoreErrorCode, { store: string; files: string }>>> = {
  full: {
    store: 'the disk of the store is full',
    files: 'the disk is full: files cannot be stored',
  },
}

async function healthOf(opened: Opened): Promise<HealthState> {
  const { store, instance, blobs } = opened.storage
  const failing = isFailing(opened)
  // A full disk can be read: only who writes learns of it. All at once: where nothing answers, the
  // check still ends before a balancer gives up on it.
  const [read, stored, written] = await Promise.all([
    failureOf(store.db.selectFrom('instances').select('id').limit(1).execute()),
    failureOf(blobs.check()),
    failing ? (instance.failure() ?? inTime(instance.beat())) : null,
  ])
  const storeFailure = written ?? read ?? (failing ? 'unavailable' : null)
  // Requests to providers need no files: were the process not ready, a balancer would have none
  // left, because all processes store files in one place.
  const files = stored === null ? [] : [FULL[stored]?.files ?? 'files cannot be stored']
  if (storeFailure === null)
    return { status: files.length === 0 ? 'ok' : 'degraded', troubles: files }
  const trouble = FULL[storeFailure]?.store ?? 'the store does not answer'
  return (await opened.admission?.canAdmitAlone()) === true
    ? { status: 'degraded', troubles: [`${trouble}; ${ALONE}`, ...files] }
    : unavailable(trouble, ...files)
}

/** What goes on while the store is away. */
const ALONE = 'proxied requests are admitted without it for TOLLMARK_STORE_GRACE'

/** Why a check failed; null where it succeeded. */
function failureOf(look: Promise<unknown>): Promise<StoreErrorCode | null> {
  return inTime(
    look.then(
      () => null,
      (error: unknown) => (error instanceof StoreError ? error.code : 'failed'),
    ),
  )
}

/**
 * The result of a check, or `unavailable` after `HEALTH_TIMEOUT_MS`: a health check must answer
 * soon, and what hangs does not work.
 */
function inTime(look: Promise<StoreErrorCode | null>): Promise<StoreErrorCode | null> {
  const late = new Promise<StoreErrorCode>((resolve) =>
    setTimeout(() => resolve('unavailable'), HEALTH_TIMEOUT_MS).unref(),
  )
  return Promise.race([look, late])
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
 * How long the store and the blobs may take to say that they are there (milliseconds): half of what
 * a balancer waits (health_timeout of deploy/Caddyfile).
 */
const HEALTH_TIMEOUT_MS = 1_000
