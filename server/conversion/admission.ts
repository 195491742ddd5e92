// An admitted conversion: counts it against the quota when it succeeds, and releases its
// reservation and its Idempotency-Key when it fails.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  count,
  countRefund,
  quotaExceeded,
  quotaLock,
  type Reservation,
} from '../accounts/quota.ts'
import type { Plan } from '../accounts/plans.ts'
import type { Problem } from '../common/errors.ts'
import type { RejectReason } from '../common/fairness/shares.ts'
import type { Log } from '../common/log.ts'
import { takeBlob } from '../store/blobs/blobs.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import { transientProblem } from '../store/transient-errors.ts'
import { tooManyUploads } from './queue.ts'
import { NO_RESPONSE_COLUMNS, responseColumns, type StoredDocument } from './idempotency.ts'
import { RESULT_GRACE_MS } from './jobs/end-job.ts'
import { enterJob, type ClaimableJob } from './jobs/enter-job.ts'
import { jobQueueRefusalSteps } from './jobs/queue-limits.ts'

/** Delay before a failed release is retried. */
const RELEASE_RETRY_MS = 500
/** Delay between two checks whether a conversion was counted. */
const CONFIRM_POLL_MS = 100
/** How long a request tries to find out whether its conversion was counted. */
const CONFIRM_TIMEOUT_MS = 5_000

/** A request for admission. */
export interface AdmissionRequest {
  readonly account: string
  readonly plan: Plan
  /** The Idempotency-Key, if the caller sent one. */
  readonly key: string | undefined
  /** Identifies the content; see `fingerprint`. */
  readonly fingerprint: string
  readonly instance: string
}

/** An admitted request, with its reservation. */
export interface Admission {
  readonly request: AdmissionRequest
  readonly reservation: Reservation
}

/**
 * What a counted conversion produced: undefined if it is not stored, a document stored for its key,
 * or a job, of which at most `maxWaiting` may wait.
 */
export type Outcome =
  | StoredDocument
  | { readonly job: ClaimableJob; readonly maxWaiting: number }
  | undefined

type SettleResult = 'counted' | 'used up' | { readonly noCapacity: RejectReason }

/**
 * Counts a reservation and stores its outcome; returns the reason if it can no longer be counted.
 */
export const settleAdmission = procedure(
  import.meta.url,
  'settleAdmission',
  function* (
    db,
    {
      admission,
      outcome,
      expiresAt,
      now,
    }: { admission: Admission; outcome: Outcome; expiresAt: number; now: number },
  ): Steps<SettleResult> {
    const { request, reservation } = admission
    const { account, key, fingerprint, instance } = request
    const noCapacity =
      outcome && 'job' in outcome
        ? yield* jobQueueRefusalSteps(db, account, outcome.maxWaiting)
        : null
    if (noCapacity !== null) return { noCapacity }
    if (!(yield* count(db, reservation))) return 'used up'
    if (!outcome) return 'counted'
    if ('job' in outcome)
      yield* enterJob(
        db,
        { ...outcome.job, counted_day: reservation.day, quota_limit: reservation.limit },
        instance,
      )
    else yield* takeBlob(db, outcome.blobId, instance, expiresAt + RESULT_GRACE_MS)
    if (key !== undefined) {
      const response =
        'job' in outcome
          ? { ...NO_RESPONSE_COLUMNS, job_id: outcome.job.id }
          : { ...NO_RESPONSE_COLUMNS, ...responseColumns(outcome) }
      const keyColumns = { account_id: account, key }
      yield* run(
        db
          .deleteFrom('idempotency')
          .where((e) => e.or([e.and(keyColumns), e('expires_at', '<', now)])),
      )
      yield* run(
        db.insertInto('idempotency').values({
          ...keyColumns,
          fingerprint,
          ...response,
          instance_id: null,
          expires_at: expiresAt,
        }),
      )
    }
    return 'counted'
  },
  ({ admission }) => quotaLock(admission.request.account),
)

/**
 * Counts a conversion that succeeded or became a job, and stores its response for its key for
 * `retentionMs`. Respond only after this.
 *
 * @throws Problem `quota_exceeded` if the reservation was lost and the quota is used up;
 *   `too_many_uploads` if too many jobs wait
 */
export async function countConversion(
  store: Store,
  admission: Admission,
  outcome: Outcome,
  retentionMs: number,
  now: number,
): Promise<void> {
  const result = await store
    .run(settleAdmission, { admission, outcome, expiresAt: now + retentionMs, now })
    .catch(async (error: unknown): Promise<SettleResult> => {
      if (mayBeCommitted(error) && (await confirmCounted(store, admission))) return 'counted'
      throw error
    })
  if (result === 'used up') throw quotaExceeded(admission.request.plan, now)
  if (typeof result === 'object') throw tooManyJobs(result.noCapacity)
}

/** The error for a full job queue. */
export function tooManyJobs(reason: RejectReason): Problem {
  return tooManyUploads(
    reason === 'share' ? 'Too many of your jobs are waiting.' : 'Too many jobs are waiting.',
    reason,
  )
}

/**
 * Whether the write may have been committed although it failed: the connection can break between a
 * commit and its reply.
 */
export function mayBeCommitted(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'unavailable'
}

/**
 * A reservation that is gone while its instance is alive has been counted. The lock waits for a
 * commit in flight.
 */
export const isCounted = procedure(
  import.meta.url,
  'isCounted',
  function* (db, { request, reservation }: Admission): Steps<boolean> {
    const reserved = yield* first(
      db.selectFrom('reservations').select('id').where('id', '=', reservation.id),
    )
    const instance = yield* first(
      db.selectFrom('instances').select('id').where('id', '=', request.instance),
    )
    return reserved === undefined && instance !== undefined
  },
  ({ request }) => quotaLock(request.account),
)

/**
 * Polls until the store responds, for up to `CONFIRM_TIMEOUT_MS`. Only after a longer outage can a
 * conversion be counted although its caller got a 503.
 */
async function confirmCounted(store: Store, admission: Admission): Promise<boolean> {
  for (
    const end = performance.now() + CONFIRM_TIMEOUT_MS;
    performance.now() < end;
    await sleep(CONFIRM_POLL_MS)
  ) {
    try {
      return await store.run(isCounted, admission)
    } catch (error) {
      if (!transientProblem(error)) throw error
    }
  }
  return false
}

/**
 * Releases the key and the reservation of a request that failed. A conversion that was started is
 * refunded only as often a day as the plan has conversions; after that it counts.
 */
export const releaseAdmission = procedure(
  import.meta.url,
  'releaseAdmission',
  function* (
    db,
    {
      admission: {
        request: { account, key, instance },
        reservation,
      },
      started,
    }: { admission: Admission; started: boolean },
  ): Steps<void> {
    // If it was released before, another request may hold the key by now.
    if (
      !(yield* first(db.selectFrom('reservations').select('id').where('id', '=', reservation.id)))
    )
      return
    if (started && !(yield* countRefund(db, reservation))) yield* count(db, reservation)
    else yield* run(db.deleteFrom('reservations').where('id', '=', reservation.id))
    if (key === undefined) return
    yield* run(
      db
        .deleteFrom('idempotency')
        .where('account_id', '=', account)
        .where('key', '=', key)
        .where('instance_id', '=', instance),
    )
  },
  ({ admission }) => quotaLock(admission.request.account),
)

/**
 * Releases the reservation and the key of a failed request. If the store is unavailable, retries in
 * the background: otherwise the reservation would last as long as this process.
 *
 * @param started whether its conversion was started
 */
export async function cancelAdmission(
  store: Store,
  admission: Admission,
  started: boolean,
  log: Log,
): Promise<void> {
  try {
    await store.run(releaseAdmission, { admission, started })
  } catch (error) {
    // A closing store removes everything of this instance anyway.
    if (!transientProblem(error) || (error instanceof StoreError && error.code === 'closed'))
      return log.error('the reservation of a failed request could not be released', error)
    setTimeout(() => void cancelAdmission(store, admission, started, log), RELEASE_RETRY_MS).unref()
  }
}
