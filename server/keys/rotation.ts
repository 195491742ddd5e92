// Rotates the secrets of proxy keys.
import { Problem } from '../common/errors.ts'
import { createSecret } from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import { all, procedure, run, type Steps } from '../store/procedure.ts'
import { findOwnRow, type Key, type NewKey } from './key-record.ts'
import { getKey, nextRevision, keyChangeLock, revoked } from './keys.ts'

/**
 * Secrets of one key that work at the same time: two days of hourly rotations. All are in the
 * memory of every process, and are read again whenever the key changes.
 */
export const MAX_SECRETS = 50

/**
 * Ends the previous secrets of a key; only the newest one works from now on.
 *
 * @throws Problem `key_not_found`, `key_revoked`, `key_is_child`
 */
export async function endPreviousSecrets(
  store: Store,
  id: string,
  account: string | null,
  now: number,
): Promise<Key> {
  await findOwnRow(store, id, account)
  if (!(await store.run(endSecrets, { id, now }))) throw revoked()
  return getKey(store, id, account, now)
}

/**
 * Gives a key a new secret. Older ones keep working for `graceMs` milliseconds.
 *
 * @throws Problem `key_not_found`, `key_revoked`, `key_is_child`, `too_many_secrets`
 */
export async function rotateKey(
  store: Store,
  id: string,
  account: string | null,
  graceMs: number,
  now: number,
): Promise<NewKey> {
  await findOwnRow(store, id, account)
  const { secret, publicId, hash } = createSecret('tmk')
  const until = now + graceMs
  const result = await store.run(replaceSecret, { id, publicId, hash, until, now })
  if (result === 'revoked') throw revoked()
  if (result === 'full')
    throw new Problem(
      'too_many_secrets',
      `The key has ${MAX_SECRETS} secrets that still work. End the old ones (POST /api/v1/keys/{id}/rotate/end), or rotate with grace_seconds 0.`,
    )
  return { ...(await getKey(store, id, account, now)), secret }
}

/**
 * Adds a secret to a key; its others end at `until` at the latest. Refuses if the key is revoked,
 * or too many of the others would still work.
 */
export const replaceSecret = procedure(
  import.meta.url,
  'replaceSecret',
  function* (
    db,
    {
      id,
      publicId,
      hash,
      until,
      now,
    }: { id: string; publicId: string; hash: string; until: number; now: number },
  ): Steps<'replaced' | 'revoked' | 'full'> {
    const secrets = db.selectFrom('key_secrets').select('public_id').where('key_id', '=', id)
    const working = yield* all(
      secrets
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
        .limit(MAX_SECRETS),
    )
    if (until > now && working.length >= MAX_SECRETS) return 'full'
    const revision = yield* nextRevision(db)
    if (
      (yield* run(
        db
          .updateTable('keys')
          .set({ public_id: publicId, revision })
          .where('id', '=', id)
          .where('revoked_at', 'is', null),
      )) === 0
    )
      return 'revoked'
    yield* run(db.deleteFrom('key_secrets').where('key_id', '=', id).where('expires_at', '<=', now))
    // A secret that ends earlier keeps its end.
    yield* run(
      db
        .updateTable('key_secrets')
        .set({ expires_at: until })
        .where('key_id', '=', id)
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', until)])),
    )
    yield* run(
      db
        .insertInto('key_secrets')
        .values({ public_id: publicId, key_id: id, hash, expires_at: null }),
    )
    return 'replaced'
  },
  keyChangeLock,
)

/** Ends all secrets of a key except the newest. Returns false if the key is revoked. */
export const endSecrets = procedure(
  import.meta.url,
  'endSecrets',
  function* (db, { id, now }: { id: string; now: number }): Steps<boolean> {
    const revision = yield* nextRevision(db)
    if (
      (yield* run(
        db
          .updateTable('keys')
          .set({ revision })
          .where('id', '=', id)
          .where('revoked_at', 'is', null),
      )) === 0
    )
      return false
    yield* run(
      db
        .updateTable('key_secrets')
        .set({ expires_at: now })
        .where('key_id', '=', id)
        .where('expires_at', '>', now),
    )
    return true
  },
  keyChangeLock,
)
