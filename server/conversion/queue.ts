// Decides which conversion runs next: accounts take turns, with at most two conversions each. If
// all slots are taken, an account with none running waits only briefly: then as many again may run,
// each the only one of its account. Jobs have their own queue in the store (jobs/claim-job.ts).
import { Problem } from '../common/errors.ts'
import { FairQueue } from '../common/fairness/fair-queue.ts'
import type { RejectReason } from '../common/fairness/shares.ts'

/** Conversions of one account that run at the same time, jobs included. */
export const MAX_RUNNING_PER_ACCOUNT = 2
/** Seconds after which a rejected caller should retry. */
const RETRY_AFTER_SECONDS = 5

/** Limits of a conversion queue. */
export interface ConversionQueueLimits {
  /** Conversions that run at the same time; as many again for accounts with none running. */
  readonly atOnce: number
  /** Conversions that may wait. */
  readonly queue: number
  /**
   * Milliseconds that an account with none running waits for a slot. Default: 2 s: most conversions
   * end sooner, and starting a converter takes about 1 s.
   */
  readonly patience?: number
}

/** Admits conversions fairly by account. One per process. */
export interface ConversionQueue {
  /** Conversions that are waiting. */
  readonly waiting: number
  /**
   * Waits until one conversion may run. Dispose the result when it has ended.
   *
   * @throws Problem `too_many_uploads`: 429 if this account has too many waiting, 503 if all
   *   accounts together have; the reason of `signal`
   */
  enter(account: string, signal: AbortSignal): Promise<Disposable>
  /**
   * Counts a job of an account as running until the result is disposed; null if the account already
   * runs its maximum.
   */
  beginJob(account: string): Disposable | null
  /** Running conversions of each account in this process. */
  running(): [account: string, conversions: number][]
}

/** Creates an empty conversion queue. */
export function createConversionQueue({
  atOnce,
  queue,
  patience = 2_000,
}: ConversionQueueLimits): ConversionQueue {
  const slots = new FairQueue({
    concurrency: atOnce,
    beyond: { pieces: atOnce, after: patience },
    perOwner: MAX_RUNNING_PER_ACCOUNT,
    waiting: { slots: queue, always: true },
    refusal,
  })
  return {
    get waiting() {
      return slots.waiting
    },
    enter: (account, signal) => slots.acquire(account, signal),
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
 * The error for a full queue: 429 if the caller's own conversions fill it, 503 if those of all
 * accounts do.
 */
export function tooManyUploads(sentence: string, reason: RejectReason): Problem {
  return new Problem('too_many_uploads', `${sentence} Try again in a moment.`, {
    retryAfter: RETRY_AFTER_SECONDS,
    ...(reason === 'full' ? { status: 503 } : {}),
  })
}
