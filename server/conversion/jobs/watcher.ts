// Watches jobs for those who follow their events: one look at the store for all of them, however
// many follow.
import type { JobRow } from '../../store/schema.ts'
import type { Store } from '../../store/open.ts'
import type { JobChanges } from './notifications.ts'
import { isFinished } from './jobs.ts'

/** Milliseconds between two looks where nobody tells of a change. */
const LOOK = 500
/** Jobs that one query asks for. */
const AT_ONCE = 500

export interface JobWatch extends Disposable {
  /**
   * The job as it is, then once for each change, until it is finished, gone, or `signal` ends it.
   * What changes while the reader is slow is told once, as it is then. `undefined` when nothing has
   * happened for `idle` milliseconds.
   */
  follow(job: JobRow, signal: AbortSignal, idle: number): AsyncGenerator<JobRow | undefined, void>
}

/** A job that somebody follows. */
interface Followed {
  /** As it was seen last; undefined where it is gone. */
  row: JobRow | undefined
  followers: number
  readonly waiting: Set<() => void>
}

/**
 * Opens the watch; it looks at nothing as long as nobody follows. Disposing of it ends whoever
 * does.
 */
export function watchJobs(store: Store, changes: JobChanges): JobWatch {
  const followed = new Map<string, Followed>()
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let looking = false
  let again = false

  const see = (id: string, row: JobRow | undefined): void => {
    const job = followed.get(id)
    if (!job || !hasChanged(job.row, row)) return
    job.row = row
    for (const wake of job.waiting) wake()
  }
  const look = async (): Promise<void> => {
    if (looking) return void (again = true)
    looking = true
    try {
      const ids = [...followed.keys()]
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const some = ids.slice(from, from + AT_ONCE)
        const rows = await store.db.selectFrom('jobs').selectAll().where('id', 'in', some).execute()
        const byId = new Map(rows.map((row) => [row.id, row]))
        for (const id of some) see(id, byId.get(id))
      }
    } catch {
      // The store does not answer: the next look finds out what happened meanwhile.
    } finally {
      looking = false
    }
    if (again) {
      again = false
      await look()
    }
  }
  const endChanges = changes.on(() => void (followed.size > 0 && look()))

  const enter = (row: JobRow): Followed => {
    const job = followed.get(row.id) ?? { row, followers: 0, waiting: new Set() }
    job.followers++
    followed.set(row.id, job)
    timer ??= setInterval(() => void look(), LOOK).unref()
    return job
  }
  const leave = (id: string, job: Followed): void => {
    if (--job.followers === 0) followed.delete(id)
    if (followed.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    follow: async function* (row, leaving, idle) {
      const signal = AbortSignal.any([leaving, closing.signal])
      const job = enter(row)
      try {
        let told: JobRow | undefined
        while (!signal.aborted && job.row) {
          if (job.row === told) {
            if (!(await changed(job, signal, idle))) yield undefined
            continue
          }
          told = job.row
          yield told
          if (isFinished(told.status)) return
        }
      } finally {
        leave(row.id, job)
      }
    },
    [Symbol.dispose]: () => {
      closing.abort()
      endChanges()
    },
  }
}

/**
 * Resolves to true when the job has changed or `signal` ends the waiting, to false after `idle`
 * milliseconds.
 */
function changed(job: Followed, signal: AbortSignal, idle: number): Promise<boolean> {
  return new Promise((resolve) => {
    const wake = (): void => done(true)
    const timer = setTimeout(() => done(false), idle)
    const done = (value: boolean): void => {
      clearTimeout(timer)
      job.waiting.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve(value)
    }
    job.waiting.add(wake)
    signal.addEventListener('abort', wake)
    if (signal.aborted) done(true)
  })
}

/** Whether what is shown of a job has changed. */
function hasChanged(before: JobRow | undefined, now: JobRow | undefined): boolean {
  if (!before || !now) return before !== now
  return (
    before.status !== now.status ||
    before.pages_done !== now.pages_done ||
    before.pages_total !== now.pages_total ||
    before.started_at !== now.started_at
  )
}
