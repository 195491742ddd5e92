// New secrets for proxy keys: rotation, and the end of the secrets that were rotated away.
import { makeSecret } from '../secret.ts'
import type { Store } from '../store/open.ts'
import { procedure, run, type Steps } from '../store/procedure.ts'
import { findRow, type Key, type NewKey } from './key-record.ts'
import { getKey, nextRevision, oneAfterTheOther, revoked } from './keys.ts'

/**
 * Ends the secrets that were rotated away; only the newest one works from now on.
 *
 * @throws Problem `key_not_found`, `key_revoked`
 */
export async function endPreviousSecrets(store: Store, id: string, account: string | null, now: number): Promise<Key> {
  await findRow(store, id, account)
  if (!(await store.run(endSecrets, { id, now }))) throw revoked()
  return getKey(store, id, account, now)
}

/**
 * Gives a key a new secret. Older ones go on working for `grace` milliseconds.
 *
 * @throws Problem `key_not_found`, `key_revoked`
 */
export async function rotateKey(store: Store, id: string, account: string | null, grace: number, now: number): Promise<NewKey> {
  await findRow(store, id, account)
  const { secret, publicId, hash } = makeSecret('tmk')
  if (!(await store.run(replaceSecret, { id, publicId, hash, until: now + grace, now }))) throw revoked()
  return { ...(await getKey(store, id, account, now)), secret }
}

/** Gives a key another secret; those that it has end at `until` at the latest. False where it is revoked. */
export const replaceSecret = procedure(
  import.meta.url,
  'replaceSecret',
  function* (db, { id, publicId, hash, until, now }: { id: string; publicId: string; hash: string; until: number; now: number }): Steps<boolean> {
    const revision = yield* nextRevision(db)
    if ((yield* run(db.updateTable('keys').set({ public_id: publicId, revision }).where('id', '=', id).where('revoked_at', 'is', null))) === 0) return false
    yield* run(db.deleteFrom('key_secrets').where('key_id', '=', id).where('expires_at', '<=', now))
    // One that is on its way out already does not gain time.
    yield* run(
      db
        .updateTable('key_secrets')
        .set({ expires_at: until })
        .where('key_id', '=', id)
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', until)])),
    )
    yield* run(db.insertInto('key_secrets').values({ public_id: publicId, key_id: id, hash, expires_at: null }))
    return true
  },
  oneAfterTheOther,
)

/** Ends the secrets of a key that was rotated, but for the newest one. False where it is revoked. */
export const endSecrets = procedure(import.meta.url, 'endSecrets', function* (db, { id, now }: { id: string; now: number }): Steps<boolean> {
  const revision = yield* nextRevision(db)
  if ((yield* run(db.updateTable('keys').set({ revision }).where('id', '=', id).where('revoked_at', 'is', null))) === 0) return false
  yield* run(db.updateTable('key_secrets').set({ expires_at: now }).where('key_id', '=', id).where('expires_at', '>', now))
  return true
}, oneAfterTheOther)
