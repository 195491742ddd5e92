// Whether this process works: what `/readyz` and the metric `ready` say.
import type { Health } from '../api/health.ts'
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

/** Whether the process can serve requests. Lives as long as the server. */
export class Readiness implements Health {
  readonly #parts: (() => boolean)[] = []
  /** Undefined until the storage is open. */
  #check: (() => Promise<string[]>) | undefined
  #isStopping = false

  /** The storage is open: from now on it is what is asked. */
  opened(storage: CheckedStorage): void {
    this.#check = createSharedCheck(() => healthProblems(storage, this.#failing()))
    this.watch(() => storage.instance.failure() !== null)
  }

  /** Adds a part without which the process cannot serve, and how to ask whether it fails. */
  watch(isFailing: () => boolean): void {
    this.#parts.push(isFailing)
  }

  /** From now on the process is not ready: it shuts down. */
  stop(): void {
    this.#isStopping = true
  }

  /** Whether the process takes requests, without asking the store. */
  isReady(): boolean {
    return this.#check !== undefined && !this.#isStopping && !this.#failing()
  }

  /** What is wrong, a sentence each; asks the store and the blobs. */
  async troubles(): Promise<string[]> {
    if (this.#isStopping) return ['the server is shutting down']
    return this.#check === undefined ? [WAITING] : this.#check()
  }

  #failing(): boolean {
    return this.#parts.some((isFailing) => isFailing())
  }
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

/** What keeps the process, or part of it, from working. */
async function healthProblems(
  { store, instance, blobs }: CheckedStorage,
  failing: boolean,
): Promise<string[]> {
  const [read, stored] = await Promise.all([
    failureOf(store.db.selectFrom('instances').select('id').limit(1).execute()),
    failureOf(blobs.check()),
  ])
  // A full disk can be read: only who writes learns of it.
  const written = failing ? (instance.failure() ?? (await inTime(instance.beat()))) : null
  const storeFailure = written ?? read ?? (failing ? 'unavailable' : null)
  return [
    ...(storeFailure === null ? [] : [FULL[storeFailure]?.store ?? 'the store does not answer']),
    ...(stored === null ? [] : [FULL[stored]?.files ?? 'files cannot be stored']),
  ]
}

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

/** How long the store and the blobs may take to say that they are there (milliseconds). */
const HEALTH_TIMEOUT_MS = 1_500
