// Whose conversion runs next: at most two of one account at once, and the accounts take turns. Jobs
// have a queue of their own, in the store (jobs.ts).
import { Problem } from '../common/errors.ts'
import { FairQueue } from '../fairness/fair-queue.ts'
import type { RejectReason } from '../fairness/shares.ts'

/** Conversions of one account that run at once, jobs among them. */
export const MAX_RUNNING_PER_ACCOUNT = 2
/** Seconds after which a refused caller should try again. */
const RETRY_AFTER_SECONDS = 5

/** Limits of a conversion queue. */
export interface ConversionQueueLimits {
  /** Conversions that run at once. */
  readonly atOnce: number
  /** Conversions that may wait. */
  readonly queue: number
}

/** Admits conversions fairly by account. One per process. */
export interface ConversionQueue {
  /** Conversions that wait for their turn. */
  readonly waiting: number
  /**
   * Waits for the turn of one conversion; disposing of what it gives ends the turn.
   *
   * @throws Problem `too_many_uploads`: 429 where too many of this account wait, 503 where too many
   *   of all do; what `signal` was aborted with
   */
  enter(account: string, signal: AbortSignal): Promise<Disposable>
  /**
   * Counts a job of an account as running until what it gives is disposed of; null where as many
   * conversions of that account run as may.
   */
  beginJob(account: string): Disposable | null
  /** How many conversions of each account run in this process. */
  running(): [account: string, conversions: number][]
}

/** Creates an empty conversion queue. */
export function createConversionQueue({ atOnce, queue }: ConversionQueueLimits): ConversionQueue {
  const slots = new FairQueue({
    concurrency: atOnce,
    perOwner: MAX_RUNNING_PER_ACCOUNT,
    waiting: { slots: queue, always: true },
    refusal,
  })
  return {
    get waiting() {
      return slots.waiting
    },
    enter: (account, signal) => slots.acquire(account, signal, false),
    beginJob: (account) => slots.occupy(account),
    running: () => slots.running(),
  }
}

function refusal(reason: RejectReason): Problem {
  return tooManyUploads(
    reason === 'share'
      ? 'Too many of your conversions are waiting.'
      : 'Too many conversions are waiting.',
    reason,
  )
}

/**
 * What is answered where there is no place: 429 where it is the caller's own that take it, 503
 * where it is everybody's.
 */
export function tooManyUploads(sentence: string, reason: RejectReason): Problem {
  return new Problem('too_many_uploads', `${sentence} Try again in a moment.`, {
    retryAfter: RETRY_AFTER_SECONDS,
    ...(reason === 'full' ? { status: 503 } : {}),
  })
}
