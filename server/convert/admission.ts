// Who is let in to a conversion, and how often: the daily quota and the Idempotency-Key, decided together in one atomic unit.
//
// A key is under way from the moment when its first request is let in, and answered when that request has succeeded. Others with the same key
// take no quota: they wait for the first one's answer, and where it failed or its process died, one of them takes its place.
import { count, newReservation, quotaExceeded, reserve } from '../accounts/quota.ts'
import type { Reservation } from '../accounts/quota.ts'
import type { Plan } from '../accounts/plans.ts'
import { Problem } from '../errors.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run } from '../store/procedure.ts'

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/
/** How often a request looks whether the one it waits for has been answered. */
const LOOK = 100
/** A stored answer outlives its key's row by this, so that no row ever names an answer that is gone. */
const GRACE = 3_600_000

/** An answer that is kept for a key. */
export interface KeptAnswer {
  readonly fingerprint: string
  readonly contentType: string
  readonly blobId: string
}

/** What one request asks to be let in with. */
export interface AdmissionRequest {
  readonly account: string
  readonly plan: Plan
  /** The Idempotency-Key, if the caller sent one. */
  readonly key: string | undefined
  readonly instance: string
}

/** A request that was let in: `reservation` is its share of the quota; without one it waits for the answer of another request. */
export interface Admission {
  readonly request: AdmissionRequest
  readonly reservation: Reservation | undefined
}

/**
 * The Idempotency-Key of a request, if there is one. Quotes around it, as the IETF draft writes it, are part of the key.
 *
 * @throws Problem `invalid_field`
 */
export function readKey(header: string | undefined): string | undefined {
  if (header === undefined || KEY.test(header)) return header
  throw new Problem('invalid_field', 'The Idempotency-Key must be 1 to 255 printable ASCII characters.')
}

export const enter = procedure(
  import.meta.url,
  'enter',
  function* (db, { reservation, key, instance, now }: { reservation: Reservation; key: string | undefined; instance: string; now: number }) {
    if (key !== undefined) {
      const here = { account_id: reservation.account, key }
      const known = yield* first(db.selectFrom('idempotency').select('expires_at').where((e) => e.and(here)))
      if (known && known.expires_at > now) return 'known'
      yield* run(db.deleteFrom('idempotency').where((e) => e.and(here)))
      // Under way it does not expire by itself: it goes with its request, or with its instance.
      const row = { ...here, fingerprint: '', instance_id: instance, content_type: null, blob_id: null, expires_at: Number.MAX_SAFE_INTEGER }
      if (!(yield* reserve(db, reservation, instance))) return 'refused'
      yield* run(db.insertInto('idempotency').values(row))
      return 'entered'
    }
    return (yield* reserve(db, reservation, instance)) ? 'entered' : 'refused'
  },
)

/**
 * Lets a request in.
 *
 * @throws Problem `quota_exceeded`
 */
export async function admit(store: Store, request: AdmissionRequest, now: number): Promise<Admission> {
  const reservation = newReservation(request.account, request.plan, now)
  const outcome = await store.run(enter, { reservation, key: request.key, instance: request.instance, now })
  if (outcome === 'refused') throw quotaExceeded(request.plan, now)
  return { request, reservation: outcome === 'entered' ? reservation : undefined }
}

export const settle = procedure(
  import.meta.url,
  'settle',
  function* (db, { reservation, kept, expiresAt, now }: { reservation: Reservation; kept: (KeptAnswer & { key: string }) | undefined; expiresAt: number; now: number }) {
    if (!(yield* count(db, reservation))) return false
    if (kept) {
      const { key, fingerprint, contentType: content_type, blobId: blob_id } = kept
      const here = { account_id: reservation.account, key }
      const answered = { ...here, fingerprint, content_type, blob_id, instance_id: null, expires_at: expiresAt }
      yield* run(db.deleteFrom('idempotency').where((e) => e.or([e.and(here), e('expires_at', '<', now)])))
      yield* run(db.insertInto('idempotency').values(answered))
      yield* run(db.updateTable('blobs').set({ expires_at: expiresAt + GRACE }).where('id', '=', blob_id))
    }
    return true
  },
)

/**
 * Counts a conversion that has succeeded, and keeps its answer for its key. Only after this may the success be answered.
 *
 * @throws Problem `quota_exceeded` where the reservation was lost and the quota is used up meanwhile
 */
export async function countConversion(store: Store, { request, reservation }: Admission, answer: KeptAnswer | undefined, keptFor: number, now: number): Promise<void> {
  const kept = answer && request.key !== undefined ? { ...answer, key: request.key } : undefined
  const counted = reservation && (await store.run(settle, { reservation, kept, expiresAt: now + keptFor, now }))
  if (!counted) throw quotaExceeded(request.plan, now)
}

/** Takes back everything of a request that did not succeed: its share of the quota, and its claim on the key. */
export async function abandon(store: Store, { request, reservation }: Admission): Promise<void> {
  if (!reservation) return
  const { account, key, instance } = request
  await store.write(
    store.db.deleteFrom('reservations').where('id', '=', reservation.id),
    store.db
      .deleteFrom('idempotency')
      .where('account_id', '=', account)
      .where('key', '=', key ?? '')
      .where('instance_id', '=', instance),
  )
}

/**
 * Waits, for a request whose key was known, until the other request is answered, or has failed and this one takes its place.
 *
 * @throws Problem `idempotency_conflict` where the key was used for other content; `quota_exceeded`; what `signal` was aborted with
 */
export async function answerOrTurn(
  store: Store,
  admission: Admission,
  fingerprint: string,
  clock: () => number,
  signal: AbortSignal,
): Promise<{ answer: KeptAnswer } | { turn: Admission }> {
  const { account, key = '' } = admission.request
  for (;;) {
    signal.throwIfAborted()
    const row = await store.db.selectFrom('idempotency').selectAll().where('account_id', '=', account).where('key', '=', key).executeTakeFirst()
    if (!row || row.expires_at <= clock()) {
      const turn = await admit(store, admission.request, clock())
      if (turn.reservation) return { turn }
    } else if (row.blob_id !== null && row.content_type !== null) {
      if (row.fingerprint === fingerprint) return { answer: { fingerprint, contentType: row.content_type, blobId: row.blob_id } }
      throw new Problem('idempotency_conflict', 'This Idempotency-Key was used for another file or other options. Use a new key for new content.')
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK))
  }
}
