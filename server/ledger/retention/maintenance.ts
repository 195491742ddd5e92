// What the ledger needs now and then, so that it stays quick to read and does not outgrow its disk.
import type { Store } from '../../store/open.ts'
import { addHours } from '../rollups/coarser.ts'
import { expire } from './expiry.ts'
import { forget } from './retention.ts'
import { enter } from '../settlement/journal.ts'
import { KEPT_MS, forgetRefusals } from '../refusals/refusal-log.ts'
import { WINDOW_MS } from '../admission/sliding-window.ts'

/** How long the ledger is left alone between two times. */
const PAUSE_MS = 2 * WINDOW_MS

/**
 * Adds hours that are over to the coarser roll-ups, and forgets old requests and refusals, now and
 * again after each pause. Disposing of it waits for the step that is under way.
 *
 * Only what was in the ledger before the last pause can be forgotten: whatever the clock was set
 * to, no limit counts it any more.
 *
 * @param retention for how long requests are kept (milliseconds); null: for ever
 * @param onError told when the store does not take it; the next time follows
 */
export function keepUp(
  store: Store,
  now: () => number,
  retention: number | null,
  onError: (error: unknown) => void,
  pause = PAUSE_MS,
): AsyncDisposable {
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let newest = 0
  const goesOn = (): boolean => !closed
  const keep = async (): Promise<void> => {
    await addHours(store, now(), goesOn)
    await forgetRefusals(store, now() - Math.min(retention ?? KEPT_MS, KEPT_MS), goesOn)
    if (retention === null || closed) return
    await expire(store, 'upstream_errors', now() - retention, goesOn)
    await forget(store, { before: now() - retention, upTo: newest }, goesOn)
    newest = await store.run(enter, null)
  }
  const act = async (): Promise<void> => {
    await keep().catch(onError)
    if (closed) return
    timer = setTimeout(() => {
      last = act()
    }, pause).unref()
  }
  let last = act()
  return {
    [Symbol.asyncDispose]: async () => {
      closed = true
      clearTimeout(timer)
      await last
    },
  }
}
