// Who is let in to a conversion, and how often: the daily quota and the Idempotency-Key, decided
// together in one atomic unit when an upload has been received.
//
// A key is under way from the moment when its first request is let in, and answered when that
// request has succeeded. Others with the same key and content take no quota: they wait for the
// first one's answer, and where it failed or its process died, one of them takes its place. So do
// requests that find the rest of the quota reserved by others: only what is counted is used up.
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
import type { RejectReason } from '../fairness/shares.ts'
import type { Log } from '../common/log.ts'
import { takeBlob } from '../store/blobs/blobs.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import { transientProblem } from '../store/transient-errors.ts'
import { nextNotification, type JobNotifications } from './jobs/notifications.ts'
import { tooManyUploads } from './queue.ts'
import { issuesFromRow, type ConversionIssues } from './document-headers.ts'
import { RESULT_GRACE_MS, enterJob, jobQueueRefusalSteps, type ClaimableJob } from './jobs/jobs.ts'
import type { Upload } from './upload/receive-upload.ts'

const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/
/**
 * How often a request looks whether another process has decided what it waits for; a store tells of
 * that late, or not at all.
 */
const POLL_MS = 500
/** Milliseconds until what could not be given back is tried to be given back again. */
const RELEASE_RETRY_MS = 500
/** How often it is asked whether something was counted. */
const CONFIRM_POLL_MS = 100
/** How long a request waits to learn whether it was counted. */
const CONFIRM_TIMEOUT_MS = 5_000

/** A document that is kept for a key. */
interface StoredDocument {
  readonly contentType: string
  readonly blobId: string
  /** Null where nobody counted. */
  readonly issues: ConversionIssues | null
}

/** An answer that is kept for a key: a document, or that a job was accepted. */
export type StoredAnswer = StoredDocument | { readonly jobId: string }

/** What one request asks to be let in with. */
export interface AdmissionRequest {
  readonly account: string
  readonly plan: Plan
  /** The Idempotency-Key, if the caller sent one. */
  readonly key: string | undefined
  /** What makes another request with this key the same one: see `fingerprint`. */
  readonly fingerprint: string
  readonly instance: string
}

/** A request that was let in, with its share of the quota. */
export interface Admission {
  readonly request: AdmissionRequest
  readonly reservation: Reservation
}

/**
 * The Idempotency-Key of a request, if there is one. Quotes around it, as the IETF draft writes it,
 * are part of the key.
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
 * What makes two uploads the same content: SHA-256 over the file's bytes (by their own SHA-256),
 * its name, which may give the document its title, and the options.
 */
export function fingerprint({
  sha256,
  fileName,
  format,
  includeMetadata,
}: Pick<Upload, 'sha256' | 'fileName' | 'format' | 'includeMetadata'>): string {
  return createHash('sha256')
    .update(JSON.stringify([sha256, fileName, format, includeMetadata]))
    .digest('hex')
}

/**
 * Refuses a request before its body is read, where nothing that it can send would be let in.
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

/** What a row of `idempotency` says of an answer that is not there. */
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
 * Reserves a share of the quota, and the key; tells what stands in the way where it does not, or
 * the answer that there is already.
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
 * Lets a request in, or gives the answer that another one with its key has got. Waits while that is
 * not decided.
 *
 * @param notifications tells when an admission has been counted or given back
 * @throws Problem `quota_exceeded`; `idempotency_conflict` where the key was used for other
 *   content; what `signal` was aborted with
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
 * What a conversion that counts has come to: nothing that is kept, a document that is kept for its
 * key, or a job, of which only so many may wait.
 */
export type Outcome =
  | StoredDocument
  | { readonly job: ClaimableJob; readonly maxWaiting: number }
  | undefined

type SettleResult = 'counted' | 'used up' | { readonly noCapacity: RejectReason }

/**
 * Turns what was reserved into what is counted, with what it has come to; tells why it can no
 * longer count where that is so.
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
 * Counts a conversion that has succeeded or become a job, and keeps its answer for its key, for
 * `keptFor` milliseconds. Only after this may it be answered.
 *
 * @throws Problem `quota_exceeded` where the reservation was lost and the quota is used up
 *   meanwhile; `too_many_uploads` where too many jobs wait
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

/** What is answered where no job more may wait. */
export function tooManyJobs(reason: RejectReason): Problem {
  return tooManyUploads(
    reason === 'share' ? 'Too many of your jobs are waiting.' : 'Too many jobs are waiting.',
    reason,
  )
}

/**
 * Whether something may have been stored although the store says otherwise: a connection can be
 * lost between a commit and its answer.
 */
function mayBeCommitted(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'unavailable'
}

/**
 * What was reserved and is no longer has been counted, where its instance is still there. The lock
 * waits for the commit that is in doubt.
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
 * Asks until the store answers, for a while. Only where it is away for longer can a conversion be
 * counted whose caller was told 503.
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
 * Takes back everything of a request that did not succeed: its claim on the key, and its share of
 * the quota; of one whose conversion was tried only as often a day as the plan has conversions,
 * else it counts.
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
 * Takes back everything of a request that did not succeed. Where the store does not take that now,
 * it is tried until it does, and nobody waits for it: otherwise the request's share would be held
 * as long as this process lives.
 *
 * @param started whether its conversion was begun
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
