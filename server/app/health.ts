// Whether this process works: what `/readyz` and the metric `ready` say.
import type { Health } from '../api/health.ts'
import type { BlobStore } from '../store/blobs/blobs.ts'
import type { Store } from '../store/open.ts'

/** Whether the process can serve requests. Lives as long as the server. */
export class Readiness implements Health {
  readonly #parts: (() => boolean)[] = []
  readonly #check: () => Promise<string[]>
  #isStopping = false

  constructor(store: Store, blobs: BlobStore) {
    this.#check = createSharedCheck(() => healthProblems(store, this.#failing(), blobs))
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
    return !this.#isStopping && !this.#failing()
  }

  /** What is wrong, a sentence each; asks the store and the blobs. */
  async troubles(): Promise<string[]> {
    return this.#isStopping ? ['the server is shutting down'] : this.#check()
  }

  #failing(): boolean {
    return this.#parts.some((isFailing) => isFailing())
  }
}

/** What keeps the process, or part of it, from working. */
async function healthProblems(store: Store, failing: boolean, blobs: BlobStore): Promise<string[]> {
  const [readable, storable] = await Promise.all([
    respondsInTime(store.db.selectFrom('instances').select('id').limit(1).execute()),
    respondsInTime(blobs.check()),
  ])
  return [
    ...(readable && !failing ? [] : ['the store does not answer']),
    ...(storable ? [] : ['files cannot be stored']),
  ]
}

/**
 * Whether a check succeeds within `HEALTH_TIMEOUT_MS`: a health check must answer soon, and what
 * hangs does not work.
 */
function respondsInTime(look: Promise<unknown>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) =>
    setTimeout(() => resolve(false), HEALTH_TIMEOUT_MS).unref(),
  )
  return Promise.race([
    look.then(
      () => true,
      () => false,
    ),
    late,
  ])
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
