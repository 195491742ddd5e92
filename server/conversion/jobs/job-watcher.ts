// Watches jobs for event streams. One query reads all watched jobs, however many subscribers there
// are.
import type { JobRow } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { JobNotifications } from './notifications.ts'
import { isFinished } from './states.ts'

/** Milliseconds between two polls without a notification. */
const POLL_MS = 500
/** Jobs in one query. */
const MAX_QUERY_IDS = 500

/** Streams the changes of jobs to subscribers. One per process; dispose it at shutdown. */
export interface JobWatcher extends Disposable {
  /**
   * Yields the job as it is, then once for each change, until it is finished, deleted, or `signal`
   * aborts. A slow reader gets only the newest state. Yields `undefined` after `idleMs`
   * milliseconds without a change.
   */
  subscribe(
    job: JobRow,
    signal: AbortSignal,
    idleMs: number,
  ): AsyncGenerator<JobRow | undefined, void>
}

/** A job with subscribers. */
interface WatchedJob {
  /** The last state seen; undefined if the job is deleted. */
  row: JobRow | undefined
  subscribers: number
  readonly waiters: Set<() => void>
}

/** Opens a watcher. It polls only while there are subscribers; disposing it ends their streams. */
export function openJobWatcher(store: Store, notifications: JobNotifications): JobWatcher {
  const watched = new Map<string, WatchedJob>()
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let polling = false
  let pollAgain = false

  const update = (id: string, row: JobRow | undefined): void => {
    const job = watched.get(id)
    if (!job || !hasChanged(job.row, row)) return
    job.row = row
    for (const wake of job.waiters) wake()
  }
  const poll = async (): Promise<void> => {
    if (polling) return void (pollAgain = true)
    polling = true
    try {
      const ids = [...watched.keys()]
      const rows = await readJobs(store, ids)
      for (const id of ids) update(id, rows.get(id))
    } catch {
      // The store is down: the next poll catches up.
    } finally {
      polling = false
    }
    if (!pollAgain) return
    pollAgain = false
    await poll()
  }
  const unsubscribe = notifications.subscribe(() => void (watched.size > 0 && poll()))

  const addSubscriber = (row: JobRow): WatchedJob => {
    const job = watched.get(row.id) ?? { row, subscribers: 0, waiters: new Set() }
    job.subscribers++
    watched.set(row.id, job)
    timer ??= setInterval(() => void poll(), POLL_MS).unref()
    return job
  }
  const removeSubscriber = (id: string, job: WatchedJob): void => {
    if (--job.subscribers === 0) watched.delete(id)
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    subscribe: async function* (row, callerSignal, idleMs) {
      const signal = AbortSignal.any([callerSignal, closing.signal])
      const job = addSubscriber(row)
      try {
        let lastSent: JobRow | undefined
        while (!signal.aborted && job.row) {
          if (job.row === lastSent) {
            if (!(await nextUpdate(job, signal, idleMs))) yield undefined
            continue
          }
          lastSent = job.row
          yield lastSent
          if (isFinished(lastSent.status)) return
        }
      } finally {
        removeSubscriber(row.id, job)
      }
    },
    [Symbol.dispose]: () => {
      closing.abort()
      unsubscribe()
    },
  }
}

/** The jobs with these ids that still exist. */
async function readJobs(store: Store, ids: readonly string[]): Promise<Map<string, JobRow>> {
  const found = new Map<string, JobRow>()
  for (let from = 0; from < ids.length; from += MAX_QUERY_IDS) {
    const batch = ids.slice(from, from + MAX_QUERY_IDS)
    const rows = await store.db.selectFrom('jobs').selectAll().where('id', 'in', batch).execute()
    for (const row of rows) found.set(row.id, row)
  }
  return found
}

/** Resolves to true when the job changes or `signal` aborts, to false after `idleMs`. */
function nextUpdate(job: WatchedJob, signal: AbortSignal, idleMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const wake = (): void => done(true)
    const timer = setTimeout(() => done(false), idleMs)
    const done = (value: boolean): void => {
      clearTimeout(timer)
      job.waiters.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve(value)
    }
    job.waiters.add(wake)
    signal.addEventListener('abort', wake)
    if (signal.aborted) done(true)
  })
}

/** Whether anything that the API shows has changed. */
function hasChanged(before: JobRow | undefined, now: JobRow | undefined): boolean {
  if (!before || !now) return before !== now
  return (
    before.status !== now.status ||
    before.pages_done !== now.pages_done ||
    before.pages_total !== now.pages_total ||
    before.started_at !== now.started_at
  )
}
