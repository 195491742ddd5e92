// Keeps the unpacked parts of a checked archive that became a job, so that this process need not
// unpack them again to run it.
import type { Scratch } from '../store/scratch.ts'

/** A conversion's scratch folder. */
export type Workspace = ReturnType<Scratch['place']>

/** How long to keep unpacked parts: the job starts immediately, or other jobs are ahead of it. */
const KEPT_MS = 30_000

interface KeptWorkspace {
  readonly job: string
  readonly workspace: Workspace
  readonly expiry: NodeJS.Timeout
}

/**
 * Holds the workspace of the newest job only, so that waiting jobs take no scratch space. One per
 * process; dispose it at shutdown.
 */
export class KeptWorkspaces implements AsyncDisposable {
  #kept: KeptWorkspace | null = null
  readonly #keptMs: number

  constructor(keptMs = KEPT_MS) {
    this.#keptMs = keptMs
  }

  /** Keeps a workspace for a job; the one kept before is removed. */
  async keep(job: string, workspace: Workspace): Promise<void> {
    const before = this.#kept
    const expiry = setTimeout(() => void this.#expire(job), this.#keptMs).unref()
    this.#kept = { job, workspace, expiry }
    if (before) await removeQuietly(before)
  }

  /** The workspace kept for a job, if any; from now on the caller removes it. */
  take(job: string): Workspace | undefined {
    const kept = this.#kept
    if (kept?.job !== job) return undefined
    clearTimeout(kept.expiry)
    this.#kept = null
    return kept.workspace
  }

  async #expire(job: string): Promise<void> {
    const kept = this.#kept
    if (kept?.job !== job) return
    this.#kept = null
    await removeQuietly(kept)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const kept = this.#kept
    this.#kept = null
    if (kept) await removeQuietly(kept)
  }
}

async function removeQuietly({ workspace, expiry }: KeptWorkspace): Promise<void> {
  clearTimeout(expiry)
  try {
    await workspace[Symbol.asyncDispose]()
  } catch {
    // It is deleted with the scratch folder later.
  }
}
