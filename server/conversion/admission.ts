// Admits conversions: checks the daily quota and the Idempotency-Key in one transaction, once an
// upload has been received.
//
// A key is pending from the admission of its first request, and answered when that request
// succeeds. Other requests with the same key and content use no quota: they wait for the first
// answer; if the first request fails or its process dies, one of them takes over. Requests also
// wait while the remaining quota is reserved; only completed conversions consume it.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  count,
  isUsedUp,
  newReservation,
  quotaExceeded,
  quotaLock,
  reserve,
  countRefund,
  type Reservation,
} from '../accounts/quota.ts'
import type { Plan } from '../accounts/plans.ts'
import { Problem } from '../common/errors.ts'
import type { RejectReason } from '../common/fairness/shares.ts'
import type { Log } from '../common/log.ts'
import { takeBlob } from '../store/blobs/blobs.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import { transientProblem } from '../store/transient-errors.ts'
import { nextNotification, type JobNotifications } from './jobs/notifications.ts'
import { tooManyUploads } from './queue.ts'
import { issuesFromRow, type ConversionIssues } from './document-headers.ts'
import { RESULT_GRACE_MS } from './jobs/end-job.ts'
import { enterJob, type ClaimableJob } from './jobs/enter-job.ts'
import { jobQueueRefusalSteps } from './jobs/queue-limits.ts'
import type { Upload, UploadOptions } from './upload/receive-upload.ts'

const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/
/**
 * How often a waiting request asks the store, since notifications from other processes can be late
 * or lost.
 */
const POLL_MS = 500
/** Delay before a failed release is retried. */
const RELEASE_RETRY_MS = 500
/** Delay between two checks whether a conversion was counted. */
const CONFIRM_POLL_MS = 100
/** How long a request tries to find out whether its conversion was counted. */
const CONFIRM_TIMEOUT_MS = 5_000

/** A document stored for an Idempotency-Key. */
interface StoredDocument {
  readonly contentType: string
  readonly blobId: string
  /** Null for rows written before issues were counted. */
  readonly issues: ConversionIssues | null
}

/** The answer stored for a key: a document, or an accepted job. */
export type StoredAnswer = StoredDocument | { readonly jobId: string }

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
 * Reads the Idempotency-Key, if there is one. Quotes around it, as in the IETF draft, are part of
 * the key.
 *
 * @throws Problem `invalid_field`
 */
export function readKey(header: string | undefined): string | undefined {
  if (header === undefined || IDEMPOTENCY_KEY.test(header)) return header
  throw new Problem(
    'invalid_field',
    'The Idempotency-Key must be 1 to 255 printable ASCII characters.',
  )
}

/**
 * Hashes what makes two uploads equal: SHA-256 over the file's own SHA-256, its name (which may
 * become the title) and the options.
 */
export function fingerprint({
  sha256,
  fileName,
  format,
  includeMetadata,
  sourceMap,
  layout,
  flavor,
  certificate,
}: Pick<Upload, 'sha256' | 'fileName' | keyof UploadOptions>): string {
  // Options that came later are left out where nobody asks for them: known keys stay valid.
  const later = [
    ...(sourceMap ? ['source_map'] : []),
    ...(layout === 'pages' ? ['pages', flavor ?? 'gfm'] : []),
    ...(certificate === undefined ? [] : [`certificate=${certificate}`]),
  ]
  return createHash('sha256')
    .update(JSON.stringify([sha256, fileName, format, includeMetadata, ...later]))
    .digest('hex')
}

/**
 * Rejects a request before its body is read, if no body could be admitted.
 *
 * @throws Problem `quota_exceeded`
 */
export async function assertQuotaLeft(
  store: Store,
  { account, plan, key }: Pick<AdmissionRequest, 'account' | 'plan' | 'key'>,
  now: number,
): Promise<void> {
  if (!(await isUsedUp(store, account, plan, now))) return
  const known =
    key !== undefined &&
    (await store.db
      .selectFrom('idempotency')
      .select('expires_at')
      .where('account_id', '=', account)
      .where('key', '=', key)
      .executeTakeFirst())
  if (!known) throw quotaExceeded(plan, now)
}

/** The columns of an `idempotency` row without an answer. */
const NO_ANSWER_COLUMNS = {
  content_type: null,
  blob_id: null,
  job_id: null,
  warnings: null,
  failed_pages: null,
} as const

function answerColumns({ contentType, blobId, issues }: StoredDocument) {
  return {
    content_type: contentType,
    blob_id: blobId,
    warnings: issues?.warnings ?? null,
    failed_pages: issues?.failedPages ?? null,
  }
}

type EnterResult =
  | { readonly outcome: 'entered' | 'under way' | 'other content' | 'full' | 'used up' }
  | { readonly answer: StoredAnswer }

/**
 * Reserves one conversion and the key. Otherwise returns why not, or the answer that exists
 * already.
 */
export const tryAdmit = procedure(
  import.meta.url,
  'tryAdmit',
  function* (
    db,
    {
      reservation,
      request,
      now,
    }: { reservation: Reservation; request: AdmissionRequest; now: number },
  ): Steps<EnterResult> {
    const { account, key, fingerprint, instance } = request
    if (key !== undefined) {
      const known = yield* first(
        db
          .selectFrom('idempotency')
          .selectAll()
          .where('account_id', '=', account)
          .where('key', '=', key),
      )
      if (known && known.expires_at > now) {
        if (known.fingerprint !== fingerprint) return { outcome: 'other content' }
        if (known.job_id !== null) return { answer: { jobId: known.job_id } }
        if (known.blob_id === null || known.content_type === null) return { outcome: 'under way' }
        return {
          answer: {
            contentType: known.content_type,
            blobId: known.blob_id,
            issues: issuesFromRow(known),
          },
        }
      }
    }
    const outcome = yield* reserve(db, reservation, instance)
    if (outcome !== 'reserved') return { outcome }
    if (key !== undefined) {
      yield* run(
        db.deleteFrom('idempotency').where('account_id', '=', account).where('key', '=', key),
      )
      // Under way it does not expire by itself: it goes with its request, or with its instance.
      const pending = {
        instance_id: instance,
        ...NO_ANSWER_COLUMNS,
        expires_at: Number.MAX_SAFE_INTEGER,
      }
      yield* run(
        db.insertInto('idempotency').values({ account_id: account, key, fingerprint, ...pending }),
      )
    }
    return { outcome: 'entered' }
  },
  ({ reservation }) => quotaLock(reservation.account),
)

/**
 * Admits a request, or returns the answer that its key already has. Waits while neither is decided.
 *
 * @param notifications fire when an admission is counted or released
 * @throws Problem `quota_exceeded`; `idempotency_conflict` if the key was used for other content;
 *   the reason of `signal`
 */
export async function admit(
  store: Store,
  request: AdmissionRequest,
  clock: () => number,
  signal: AbortSignal,
  notifications: JobNotifications,
  log: Log,
): Promise<Admission | { answer: StoredAnswer }> {
  for (;;) {
    signal.throwIfAborted()
    // Before the store is asked: what is decided meanwhile must not be missed.
    const waitEnd = new AbortController()
    const decision = nextNotification(
      notifications,
      AbortSignal.any([signal, waitEnd.signal]),
      POLL_MS,
    )
    try {
      const now = clock()
      const reservation = newReservation(request.account, request.plan, now)
      const result = await store
        .run(tryAdmit, { reservation, request, now })
        .catch(async (error: unknown) => {
          // It may be entered all the same: the connection can be lost after the commit.
          if (mayBeCommitted(error))
            await cancelAdmission(store, { request, reservation }, false, log)
          throw error
        })
      if ('answer' in result) return result
      if (result.outcome === 'entered') return { request, reservation }
      if (result.outcome === 'used up') throw quotaExceeded(request.plan, now)
      if (result.outcome === 'other content') {
        throw new Problem(
          'idempotency_conflict',
          'This Idempotency-Key was used for another file or other options. Use a new key for new content.',
        )
      }
      await decision
    } finally {
      waitEnd.abort()
    }
  }
}

/**
 * What a counted conversion produced: an answer that is not stored, a document stored for its key,
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
    if (noCapacity !== null) return { noCapacity: noCapacity }
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
      const answer =
        'job' in outcome
          ? { ...NO_ANSWER_COLUMNS, job_id: outcome.job.id }
          : { ...NO_ANSWER_COLUMNS, ...answerColumns(outcome) }
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
          ...answer,
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
 * Counts a conversion that succeeded or became a job, and stores its answer for its key for
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
function mayBeCommitted(error: unknown): boolean {
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
 * Asks until the store answers, up to `CONFIRM_TIMEOUT_MS`. Only after a longer outage can a
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
    // Where this is done already, the key may be another request's by now.
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
 * Releases what a failed request holds. If the store does not accept that now, retries in the
 * background: otherwise the reservation would last as long as this process.
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
    // When the store closes everything goes with the instance.
    if (!transientProblem(error) || (error instanceof StoreError && error.code === 'closed'))
      return log.error('what a request held cannot be given back', error)
    setTimeout(() => void cancelAdmission(store, admission, started, log), RELEASE_RETRY_MS).unref()
  }
}
