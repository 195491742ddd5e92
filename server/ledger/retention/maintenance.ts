// The ledger's periodic maintenance: coarser roll-ups and retention.
import { DAY } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import { addHours } from '../rollups/coarser.ts'
import { expire } from './expiry.ts'
import { beginPartition, dropOldPartitions, lastDeleted } from './partitions.ts'
import { deleteOldRequests } from './retention.ts'
import { flushJournal } from '../settlement/journal.ts'
import { RETENTION_MS, expireRefusals } from '../refusals/refusal-log.ts'
import { WINDOW_MS } from '../admission/sliding-window.ts'

/** Pause between two runs (milliseconds). */
const PAUSE_MS = 2 * WINDOW_MS

/**
 * Adds completed hours to the coarser roll-ups and deletes old requests and refusals, now and after
 * each pause. Disposing waits for the run in progress.
 *
 * A run examines requests from where the run before it ended, and once a day all: a request that
 * was the newest of its key, or in progress, may have become old.
 *
 * Only rows that were in the ledger before the last pause are deleted: no window counts them,
 * whatever the clock was set to.
 *
 * @param retention TOLLMARK_LEDGER_RETENTION in milliseconds; null: requests are kept forever
 * @param onError called when a run fails; the next one follows as usual
 */
export function startMaintenance(
  store: Store,
  now: () => number,
  retention: number | null,
  onError: (error: unknown) => void,
  pause = PAUSE_MS,
): AsyncDisposable {
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let newest = 0
  let examined = { day: -1, upTo: 0 }
  const isOpen = (): boolean => !closed
  const maintain = async (): Promise<void> => {
    await addHours(store, now(), isOpen)
    await expireRefusals(store, now() - Math.min(retention ?? RETENTION_MS, RETENTION_MS), isOpen)
    if (retention === null || closed) return
    await expire(store, 'upstream_errors', now() - retention, isOpen)
    const day = Math.floor(now() / DAY)
    const after = examined.day === day ? examined.upTo : 0
    const old = { before: now() - retention, upTo: newest }
    if (store.dialect === 'sqlite') {
      examined = { day, upTo: await deleteOldRequests(store, old, after, isOpen) }
    } else {
      const deleted = { ...old, upTo: Math.min(old.upTo, await lastDeleted(store)) }
      examined = { day, upTo: await deleteOldRequests(store, deleted, after, isOpen) }
      await dropOldPartitions(store, old, isOpen)
      await beginPartition(store, now(), retention)
    }
    newest = await store.run(flushJournal, null)
  }
  const runAgain = async (): Promise<void> => {
    await maintain().catch(onError)
    if (closed) return
    timer = setTimeout(() => {
      last = runAgain()
    }, pause).unref()
  }
  let last = runAgain()
  return {
    [Symbol.asyncDispose]: async () => {
      closed = true
      clearTimeout(timer)
      await last
    },
  }
}
