// Tracks which processes admit requests on one store, and which of them count each other.
//
// In an outage, each process relies on its count of the others: a lone process has the whole limit.
// So a process admits nothing before every other one counts it. Each process writes the ones it
// counts into its row, and a starting process waits until it is in all rows. These writes are
// announced (migrations/0094-announced-processes.ts), so that no process waits for the next poll.
// The wait for a process that does not respond, because it hangs or has ended, is limited to
// UNCOUNTED_MS. If it resumes later, its own count is too old, and it admits nothing without the
// store.
import type { Clock } from '../../common/clock.ts'
import type { Log } from '../../common/log.ts'
import type { Store } from '../../store/store.ts'
import { all, procedure, run, type Steps } from '../../store/procedure.ts'

/**
 * How long to wait for a process that does not count a new one, and how long a count is valid
 * (milliseconds): several times the interval between two counts.
 */
export const UNCOUNTED_MS = 10_000
/**
 * How often a starting process checks whether it has been counted, if it gets no notification
 * (milliseconds).
 */
const LOOK_MS = 100

/** A process that admits requests, and the processes that it counts. */
interface WebProcess {
  readonly id: string
  readonly known: readonly string[]
}

/**
 * Writes the processes that `instance` counts (null: keeps them), and reads which processes admit
 * requests. Only success with `isProof` shows that the store can be written, because that always
 * writes: a commit that has written nothing does not wait for a synchronous standby of PostgreSQL,
 * and succeeds for SQLite on a disk that is full or read-only.
 */
export const exchangeCounts = procedure(
  import.meta.url,
  'exchangeCounts',
  function* (
    db,
    {
      instance,
      known,
      isProof = false,
    }: { instance: string; known: readonly string[] | null; isProof?: boolean },
  ): Steps<WebProcess[]> {
    const rows = yield* all(
      db
        .selectFrom('instances')
        .select(['id', 'known'])
        .where((e) => e.or([e('role', 'is', null), e('role', '<>', 'worker')]))
        .orderBy('id'),
    )
    const written = known?.join(',') ?? null
    const own = db.updateTable('instances').where('id', '=', instance)
    if (written !== null && rows.find(({ id }) => id === instance)?.known !== written)
      yield* run(own.set({ known: written }))
    else if (isProof)
      // SQLite writes nothing for a change that changes nothing.
      for (const sign of ['+', '-'] as const)
        yield* run(own.set((e) => ({ seen_at: e('seen_at', sign, 1) })))
    return rows.map(({ id, known }) => ({ id, known: known?.split(',') ?? [] }))
  },
  'rows',
)

/** Dependencies of joining the other processes. */
export interface Joining {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** This process's instance. */
  readonly instance: string
}

/**
 * Resolves when this process and all others that admit requests count each other, or after
 * UNCOUNTED_MS, with the ids of all, including this one. A process without a row, such as a worker,
 * is not counted and does not wait.
 *
 * @throws StoreError
 */
export async function joinProcesses({ store, clock, log, instance }: Joining): Promise<string[]> {
  const start = clock.mono()
  let written: readonly string[] | null = null
  for (;;) {
    const processes: WebProcess[] = await store.run(exchangeCounts, { instance, known: written })
    const known = processes.map(({ id }) => id)
    const strangers = processes.filter(
      (one) => one.id !== instance && !(written?.includes(one.id) && one.known.includes(instance)),
    )
    if (strangers.length === 0 || !known.includes(instance)) return known
    if (clock.mono() - start > UNCOUNTED_MS) {
      log.warn('Other processes on this database have not counted this one; it starts anyway.', {
        instances: strangers.map(({ id }) => id).join(', '),
      })
      return known
    }
    // Other processes cannot respond to a count that is not written yet.
    if (written?.join(',') === known.join(',')) await nextLook(store)
    written = known
  }
}

/** Resolves when another process has written, or after LOOK_MS at the latest. */
function nextLook(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
    const timer = setTimeout(done, LOOK_MS)
    const unsubscribe = store.onChange(done)
  })
}
