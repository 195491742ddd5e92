// How jobs end: with a document, with an error, canceled, or expired.
import { quotaLock } from '../../accounts/quota.ts'
import { DAY, HOUR } from '../../common/clock.ts'
import { releaseBlob, takeBlob } from '../../store/blobs/blobs.ts'
import { first, procedure, run, type Steps } from '../../store/procedure.ts'
import type { ConversionIssues } from '../document-headers.ts'
import type { ClaimedJob } from './claim-job.ts'
import {
  CLEARED_CLAIM,
  TRANSITIONS,
  applyTransition,
  failSteps,
  refundConversion,
} from './states.ts'

/**
 * How much longer a stored result lives than the row that names it, so that no row names a deleted
 * one.
 */
export const RESULT_GRACE_MS = HOUR

/** How long a finished job can still be looked up. */
const HISTORY_MS = 30 * DAY

/** The turn of a job that ended before it ran: it does not affect later turns. */
const NO_TURN = -1

/** The outcome of a successful job. */
interface Success {
  readonly job: ClaimedJob
  /** The blob of its document, stored by `instance`. */
  readonly result: string
  readonly issues: ConversionIssues
  /** As JSON; undefined or null for none. */
  readonly certificate?: string | null
  readonly instance: string
  readonly expiresAt: number
  readonly now: number
}

/** Ends a job with its document; false if the claim is no longer valid. */
export const succeedJob = procedure(
  import.meta.url,
  'succeedJob',
  function* (db, { job, result, issues, certificate, instance, expiresAt, now }: Success) {
    const { warnings, failedPages: failed_pages } = issues
    const changes = {
      ...CLEARED_CLAIM,
      result_blob: result,
      certificate: certificate ?? null,
      warnings,
      failed_pages,
      finished_at: now,
      expires_at: expiresAt,
    }
    if (!(yield* applyTransition(db, 'succeed', job.id, changes, job.claim))) return false
    yield* takeBlob(db, result, instance, expiresAt + RESULT_GRACE_MS)
    yield* releaseBlob(db, job.upload_blob)
    return true
  },
)

/** Ends a job with an error; false if the claim is no longer valid. */
export const failJob = procedure(
  import.meta.url,
  'failJob',
  function* (
    db,
    { job, code, detail, now }: { job: ClaimedJob; code: string; detail: string; now: number },
  ) {
    return yield* failSteps(db, job, code, detail, now)
  },
  ({ job }) => quotaLock(job.account_id),
)

/**
 * Cancels a job if it is unfinished, and releases its blobs; a job that never ran is refunded.
 * @returns the ids of those blobs; undefined if the account has no such job
 */
export const cancelJob = procedure(
  import.meta.url,
  'cancelJob',
  function* (
    db,
    { id, account, now }: { id: string; account: string; now: number },
  ): Steps<string[] | undefined> {
    const job = yield* first(
      db
        .selectFrom('jobs')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', account)
        .forUpdate(),
    )
    if (!job) return undefined
    const canceled = yield* applyTransition(db, 'cancel', id, {
      ...CLEARED_CLAIM,
      finished_at: now,
      turn: job.status === 'queued' ? NO_TURN : job.turn,
    })
    if (canceled && job.status === 'queued') yield* refundConversion(db, job)
    if (!canceled) yield* applyTransition(db, 'expire', id, { result_blob: null, expires_at: now })
    const blobs = [job.upload_blob, job.result_blob].filter((blob) => blob !== null)
    for (const blob of blobs) yield* releaseBlob(db, blob)
    return blobs
  },
  ({ account }) => quotaLock(account),
)

/**
 * Marks results as expired, and deletes jobs that finished long ago. Their blobs expire on their
 * own.
 */
export const sweepJobs = procedure(
  import.meta.url,
  'sweepJobs',
  function* (db, { now }: { now: number }) {
    const { from, to } = TRANSITIONS.expire
    yield* run(
      db
        .updateTable('jobs')
        .set({ status: to, result_blob: null })
        .where('status', 'in', from)
        .where('expires_at', '<=', now),
    )
    yield* run(db.deleteFrom('jobs').where('finished_at', '<', now - HISTORY_MS))
  },
)
