// Purges proxy keys: removes them from every list, but reports still name them.
import type { Store } from '../store/store.ts'
import { all, procedure, run, type Steps } from '../store/procedure.ts'
import type { QueryBuilder } from '../store/statement.ts'
import { matching } from './key-list.ts'
import { findRow, type KeyStatus } from './key-record.ts'
import { REVOKE_BATCH, nextRevision, keyChangeLock } from './keys.ts'

/**
 * Removes a key from every list permanently, and revokes it if needed. Its name stays for reports,
 * its secrets are deleted.
 *
 * @throws Problem `key_not_found`
 */
export async function purgeKey(
  store: Store,
  id: string,
  account: string | null,
  now: number,
): Promise<void> {
  await findRow(store, id, account)
  await store.run(softDeleteKey, { id, now })
}

/** The states of a key that has ended. */
export const ENDED = ['expired', 'revoked'] as const satisfies readonly KeyStatus[]

/**
 * Purges all keys in one of these states. `account` null: of all accounts.
 *
 * @returns how many there were
 */
export async function purgeKeys(
  store: Store,
  account: string | null,
  status: readonly (typeof ENDED)[number][],
  now: number,
): Promise<number> {
  let purged = 0
  for (let some = REVOKE_BATCH; some === REVOKE_BATCH; purged += some)
    some = await store.run(softDeleteKeys, { account, status, now })
  return purged
}

/**
 * Revokes and hides a key. Its row stays for reports, and because the next revision is counted from
 * the highest one.
 */
export const softDeleteKey = procedure(import.meta.url, 'softDeleteKey', softDelete, keyChangeLock)

/** Hides some of the keys that have ended. Returns how many. */
export const softDeleteKeys = procedure(
  import.meta.url,
  'softDeleteKeys',
  function* (
    db,
    { account, status, now }: { account: string | null; status: readonly KeyStatus[]; now: number },
  ): Steps<number> {
    const ended = yield* all(
      matching(db.selectFrom('keys'), { account, status }, now).select('id').limit(REVOKE_BATCH),
    )
    for (const { id } of ended) yield* softDelete(db, { id, now })
    return ended.length
  },
  keyChangeLock,
)

function* softDelete(db: QueryBuilder, { id, now }: { id: string; now: number }): Steps<void> {
  const revision = yield* nextRevision(db)
  yield* run(
    db
      .updateTable('keys')
      .set((e) => ({
        revoked_at: e.fn.coalesce('revoked_at', e.val(now)),
        purged_at: now,
        revision,
      }))
      .where('id', '=', id),
  )
  yield* run(db.deleteFrom('key_secrets').where('key_id', '=', id))
  yield* run(db.deleteFrom('shared_objects').where('key_id', '=', id))
}
