// Admits conversions: checks the daily quota and the Idempotency-Key in one transaction, once an
// upload has been received.
//
// A key is pending from the admission of its first request, and has a stored response when that
// request succeeds. Other requests with the same key and content use no quota: they wait for that
// response; if the first request fails or its process dies, one of them takes over. Requests also
// wait while the remaining quota is reserved; only completed conversions consume it.
import {
  isUsedUp,
  newReservation,
  quotaExceeded,
  quotaLock,
  reserve,
  type Reservation,
} from '../accounts/quota.ts'
import { Problem } from '../common/errors.ts'
import type { Log } from '../common/log.ts'
import type { Store } from '../store/store.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import {
  cancelAdmission,
  mayBeCommitted,
  type Admission,
  type AdmissionRequest,
} from './admission.ts'
import { issuesFromRow } from './document-headers.ts'
import { NO_RESPONSE_COLUMNS, type StoredResponse } from './idempotency.ts'
import { nextNotification, type JobNotifications } from './jobs/notifications.ts'

/**
 * How often a waiting request polls the store, because notifications from other processes can be
 * late or lost.
 */
const POLL_MS = 500

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

type EnterResult =
  | { readonly outcome: 'entered' | 'pending' | 'other content' | 'full' | 'used up' }
  | { readonly stored: StoredResponse }

/**
 * Reserves one conversion and the key. Otherwise returns the reason, or the stored response.
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
        if (known.job_id !== null) return { stored: { jobId: known.job_id } }
        if (known.blob_id === null || known.content_type === null) return { outcome: 'pending' }
        return {
          stored: {
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
      // A pending key does not expire: it is deleted with its request or its instance.
      const pending = {
        instance_id: instance,
        ...NO_RESPONSE_COLUMNS,
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
 * Admits a request, or returns the response stored for its key. Waits while other requests hold the
 * key or the rest of the quota.
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
): Promise<Admission | { stored: StoredResponse }> {
  for (;;) {
    signal.throwIfAborted()
    // Subscribe before querying, so that no change between the two is missed.
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
          // The connection may have been lost after the commit: undo what may have been stored.
          if (mayBeCommitted(error))
            await cancelAdmission(store, { request, reservation }, false, log)
          throw error
        })
      if ('stored' in result) return result
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
