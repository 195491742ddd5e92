// What operators watch of jobs, for alerting and for deciding how many workers to run.
import type { Store } from '../../store/store.ts'
import { UNFINISHED } from './states.ts'

/** Most waiting jobs that are counted, so that a look costs the same with 100,000 of them. */
export const MAX_COUNTED = 1000

/** How many jobs a worker has ended since its process started. */
export interface EndedJobs {
  succeeded: number
  failed: number
}

/** The jobs that no worker is running. */
export interface WaitingJobs {
  readonly count: number
  /** When the oldest was uploaded; null if none waits. */
  readonly since: number | null
}

/** The jobs that no worker is running: new ones, and those that wait for another attempt. */
export async function waitingJobs({ db }: Store): Promise<WaitingJobs> {
  let [count, since]: [number, number | null] = [0, null]
  for (const status of UNFINISHED) {
    // The inner query reads at most so many rows, in the order of an index.
    const unfinished = db
      .selectFrom('jobs')
      .select(['created_at', 'instance_id'])
      .where('status', '=', status)
      .orderBy('turn')
      .orderBy('id')
      .limit(MAX_COUNTED)
    const found = await db
      .selectFrom(unfinished.as('unfinished'))
      .select((e) => [e.fn.countAll<number>().as('count'), e.fn.min('created_at').as('since')])
      .where('instance_id', 'is', null)
      .executeTakeFirstOrThrow()
    count += Number(found.count)
    if (found.since !== null) since = Math.min(since ?? Infinity, Number(found.since))
  }
  return { count: Math.min(count, MAX_COUNTED), since }
}
