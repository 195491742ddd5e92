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
  takeGiveBack,
  type Reservation,
} from '../accounts/quota.ts'
import type { Plan } from '../accounts/plans.ts'
import { Problem } from '../common/errors.ts'
import type { NoPlace } from '../fairness/shares.ts'
import type { Log } from '../common/log.ts'
import { takeBlob } from '../store/blobs/blobs.ts'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import { transientProblem } from '../store/transient-errors.ts'
import { nextChange, type JobChanges } from './jobs/notifications.ts'
import { tooMany } from './queue.ts'
import { faultsOf, type Faults } from './document-headers.ts'
import { GRACE, enterJob, whyNotQueued, type ClaimableJob } from './jobs/jobs.ts'
import type { Upload } from './upload/receive-upload.ts'

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/
/**
 * How often a request looks whether another process has decided what it waits for; a store tells of
 * that late, or not at all.
 */
const LOOK = 500
/** Milliseconds until what could not be given back is tried to be given back again. */
const RELEASE = 500
/** How often it is asked whether something was counted. */
const ASK = 100
/** How long a request waits to learn whether it was counted. */
const DOUBT = 5_000

/** A document that is kept for a key. */
interface KeptDocument {
  readonly contentType: string
  readonly blobId: string
  /** Null where nobody counted. */
  readonly faults: Faults | null
}

/** An answer that is kept for a key: a document, or that a job was accepted. */
export type KeptAnswer = KeptDocument | { readonly jobId: string }

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
  if (header === undefined || KEY.test(header)) return header
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
export async function refuseUsedUp(
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
const NO_ANSWER = {
  content_type: null,
  blob_id: null,
  job_id: null,
  warnings: null,
  failed_pages: null,
} as const

function rowOf({ contentType, blobId, faults }: KeptDocument) {
  return {
    content_type: contentType,
    blob_id: blobId,
    warnings: faults?.warnings ?? null,
    failed_pages: faults?.failedPages ?? null,
  }
}

type Entered =
  | { readonly outcome: 'entered' | 'under way' | 'other content' | 'full' | 'used up' }
  | { readonly answer: KeptAnswer }

/**
 * Reserves a share of the quota, and the key; tells what stands in the way where it does not, or
 * the answer that there is already.
 */
export const enter = procedure(
  import.meta.url,
  'enter',
  function* (
    db,
    {
      reservation,
      request,
      now,
    }: { reservation: Reservation; request: AdmissionRequest; now: number },
  ): Steps<Entered> {
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
            faults: faultsOf(known),
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
      const underWay = { instance_id: instance, ...NO_ANSWER, expires_at: Number.MAX_SAFE_INTEGER }
      yield* run(
        db.insertInto('idempotency').values({ account_id: account, key, fingerprint, ...underWay }),
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
 * @param decided tells when an admission has been counted or given back
 * @throws Problem `quota_exceeded`; `idempotency_conflict` where the key was used for other
 *   content; what `signal` was aborted with
 */
export async function admit(
  store: Store,
  request: AdmissionRequest,
  clock: () => number,
  signal: AbortSignal,
  decided: JobChanges,
  log: Log,
): Promise<Admission | { answer: KeptAnswer }> {
  for (;;) {
    signal.throwIfAborted()
    // Before the store is asked: what is decided meanwhile must not be missed.
    const over = new AbortController()
    const decision = nextChange(decided, AbortSignal.any([signal, over.signal]), LOOK)
    try {
      const now = clock()
      const reservation = newReservation(request.account, request.plan, now)
      const entered = await store
        .run(enter, { reservation, request, now })
        .catch(async (error: unknown) => {
          // It may be entered all the same: the connection can be lost after the commit.
          if (isInDoubt(error)) await abandon(store, { request, reservation }, false, log)
          throw error
        })
      if ('answer' in entered) return entered
      if (entered.outcome === 'entered') return { request, reservation }
      if (entered.outcome === 'used up') throw quotaExceeded(request.plan, now)
      if (entered.outcome === 'other content') {
        throw new Problem(
          'idempotency_conflict',
          'This Idempotency-Key was used for another file or other options. Use a new key for new content.',
        )
      }
      await decision
    } finally {
      over.abort()
    }
  }
}

/**
 * What a conversion that counts has come to: nothing that is kept, a document that is kept for its
 * key, or a job, of which only so many may wait.
 */
export type Outcome =
  | KeptDocument
  | { readonly job: ClaimableJob; readonly mostWaiting: number }
  | undefined

type Settled = 'counted' | 'used up' | { readonly noPlace: NoPlace }

/**
 * Turns what was reserved into what is counted, with what it has come to; tells why it can no
 * longer count where that is so.
 */
export const settle = procedure(
  import.meta.url,
  'settle',
  function* (
    db,
    {
      admission,
      outcome,
      expiresAt,
      now,
    }: { admission: Admission; outcome: Outcome; expiresAt: number; now: number },
  ): Steps<Settled> {
    const { request, reservation } = admission
    const { account, key, fingerprint, instance } = request
    const noPlace =
      outcome && 'job' in outcome ? yield* whyNotQueued(db, account, outcome.mostWaiting) : null
    if (noPlace !== null) return { noPlace }
    if (!(yield* count(db, reservation))) return 'used up'
    if (!outcome) return 'counted'
    if ('job' in outcome)
      yield* enterJob(
        db,
        { ...outcome.job, counted_day: reservation.day, quota_limit: reservation.limit },
        instance,
      )
    else yield* takeBlob(db, outcome.blobId, instance, expiresAt + GRACE)
    if (key !== undefined) {
      const kept =
        'job' in outcome
          ? { ...NO_ANSWER, job_id: outcome.job.id }
          : { ...NO_ANSWER, ...rowOf(outcome) }
      const here = { account_id: account, key }
      yield* run(
        db.deleteFrom('idempotency').where((e) => e.or([e.and(here), e('expires_at', '<', now)])),
      )
      yield* run(
        db
          .insertInto('idempotency')
          .values({ ...here, fingerprint, ...kept, instance_id: null, expires_at: expiresAt }),
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
  keptFor: number,
  now: number,
): Promise<void> {
  const settled = await store
    .run(settle, { admission, outcome, expiresAt: now + keptFor, now })
    .catch(async (error: unknown): Promise<Settled> => {
      if (isInDoubt(error) && (await isFoundCounted(store, admission))) return 'counted'
      throw error
    })
  if (settled === 'used up') throw quotaExceeded(admission.request.plan, now)
  if (typeof settled === 'object') throw tooManyJobs(settled.noPlace)
}

/** What is answered where no job more may wait. */
export function tooManyJobs(why: NoPlace): Problem {
  return tooMany(
    why === 'share' ? 'Too many of your jobs are waiting.' : 'Too many jobs are waiting.',
    why,
  )
}

/**
 * Whether something may have been stored although the store says otherwise: a connection can be
 * lost between a commit and its answer.
 */
function isInDoubt(error: unknown): boolean {
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
async function isFoundCounted(store: Store, admission: Admission): Promise<boolean> {
  for (const end = performance.now() + DOUBT; performance.now() < end; await sleep(ASK)) {
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
export const release = procedure(
  import.meta.url,
  'release',
  function* (
    db,
    {
      admission: {
        request: { account, key, instance },
        reservation,
      },
      tried,
    }: { admission: Admission; tried: boolean },
  ): Steps<void> {
    // Where this is done already, the key may be another request's by now.
    if (
      !(yield* first(db.selectFrom('reservations').select('id').where('id', '=', reservation.id)))
    )
      return
    if (tried && !(yield* takeGiveBack(db, reservation))) yield* count(db, reservation)
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
 * @param tried whether its conversion was begun
 */
export async function abandon(
  store: Store,
  admission: Admission,
  tried: boolean,
  log: Log,
): Promise<void> {
  try {
    await store.run(release, { admission, tried })
  } catch (error) {
    // When the store closes everything goes with the instance.
    if (!transientProblem(error) || (error instanceof StoreError && error.code === 'closed'))
      return log.error('what a request held cannot be given back', error)
    setTimeout(() => void abandon(store, admission, tried, log), RELEASE).unref()
  }
}
