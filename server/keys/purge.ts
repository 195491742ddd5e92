// Purging proxy keys: they leave every list, and reports go on naming them.
import type { Store } from '../store/open.ts'
import { all, procedure, run, type Steps } from '../store/procedure.ts'
import type { QueryBuilder } from '../store/statement.ts'
import { matching } from './key-list.ts'
import { findRow, type KeyStatus } from './key-record.ts'
import { ENDED_AT_ONCE, nextRevision, oneAfterTheOther } from './keys.ts'

/**
 * Takes a key out of every list, for good, and revokes it where that has not been done. Its name stays for reports, its secrets do not.
 *
 * @throws Problem `key_not_found`
 */
export async function purgeKey(store: Store, id: string, account: string | null, now: number): Promise<void> {
  await findRow(store, id, account)
  await store.run(hideKey, { id, now })
}

/** What a key can have come to: it opens nothing any more. */
export const ENDED = ['expired', 'revoked'] as const satisfies readonly KeyStatus[]

/** The same for every key that has ended in one of these ways. `account` null: of all accounts. @returns how many there were */
export async function purgeKeys(store: Store, account: string | null, status: readonly (typeof ENDED)[number][], now: number): Promise<number> {
  let purged = 0
  for (let some = ENDED_AT_ONCE; some === ENDED_AT_ONCE; purged += some) some = await store.run(hideSome, { account, status, now })
  return purged
}

/** Revokes a key, and hides it. Its row stays: changes are numbered by the highest one, and reports name it. */
export const hideKey = procedure(import.meta.url, 'hideKey', hide, oneAfterTheOther)

/** The same for some of the keys that have ended; gives how many. */
export const hideSome = procedure(
  import.meta.url,
  'hideSome',
  function* (db, { account, status, now }: { account: string | null; status: readonly KeyStatus[]; now: number }): Steps<number> {
    const ended = yield* all(matching(db.selectFrom('keys'), { account, status }, now).select('id').limit(ENDED_AT_ONCE))
    for (const { id } of ended) yield* hide(db, { id, now })
    return ended.length
  },
  oneAfterTheOther,
)

function* hide(db: QueryBuilder, { id, now }: { id: string; now: number }): Steps<void> {
  const revision = yield* nextRevision(db)
  yield* run(db.updateTable('keys').set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(now)), purged_at: now, revision })).where('id', '=', id))
  yield* run(db.deleteFrom('key_secrets').where('key_id', '=', id))
  yield* run(db.deleteFrom('shared_objects').where('key_id', '=', id))
}
