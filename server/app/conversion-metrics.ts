// Metrics of conversions and jobs, which every process has, whatever its role.
import { inTime } from '../common/in-time.ts'
import {
  MAX_COUNTED,
  waitingJobs,
  type EndedJobs,
  type WaitingJobs,
} from '../conversion/jobs/waiting-jobs.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { CommonDependencies, WebParts, openJobs } from './roles.ts'

/** How long a scrape waits for the database (milliseconds). */
const TIMEOUT_MS = 1000

/** Registers the metrics; they are read when scraped. */
export function addConversionMetrics(
  { metrics, store, clock }: CommonDependencies,
  web: WebParts | undefined,
  jobs: ReturnType<typeof openJobs> | undefined,
): void {
  const pools = [web, jobs].flatMap((parts) => parts?.converterPool ?? [])
  const total = (of: 'running' | 'waiting'): number =>
    pools.reduce((sum, pool) => sum + pool.load()[of], 0)
  metrics.add({
    conversions_running: { help: 'Conversion steps running.', read: () => total('running') },
    conversions_waiting: {
      help: 'Conversions and conversion steps waiting.',
      read: () => total('waiting') + (web?.queue.waiting ?? 0),
    },
  })
  addJobMetrics(metrics, store, clock, jobs?.ended)
}

/**
 * Adds the metrics of jobs.
 *
 * @param ended undefined in a process without a worker
 */
function addJobMetrics(
  metrics: Metrics,
  store: Store,
  clock: () => number,
  ended: EndedJobs | undefined,
): void {
  let waiting: WaitingJobs | undefined
  const refresh = async (): Promise<void> => {
    waiting = await inTime(waitingJobs(store), TIMEOUT_MS).catch(() => undefined)
  }
  metrics.add(
    {
      jobs_waiting: {
        help: `Jobs of all processes that wait for a worker, counted up to ${MAX_COUNTED}; NaN while the database does not answer.`,
        read: () => waiting?.count ?? Number.NaN,
      },
      jobs_oldest_waiting_seconds: {
        help: 'Age of the oldest of these jobs, 0 if there is none.',
        read: () => (waiting === undefined ? Number.NaN : ageOf(waiting, clock())),
      },
    },
    refresh,
  )
  if (ended)
    metrics.add({
      jobs_succeeded_total: {
        help: 'Jobs that this process has ended with a document.',
        read: () => ended.succeeded,
        counts: true,
      },
      jobs_failed_total: {
        help: 'Jobs that this process has ended with an error.',
        read: () => ended.failed,
        counts: true,
      },
    })
}

/** In seconds; clocks of machines may differ. */
function ageOf({ since }: WaitingJobs, now: number): number {
  return since === null ? 0 : Math.max(0, now - since) / 1000
}
