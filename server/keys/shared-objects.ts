// Stored objects of a provider that an administrator shares with a key.
import { isoTime } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import type { Store } from '../store/store.ts'
import { all, first, procedure, run, type Steps } from '../store/procedure.ts'
import type { SharedObjectRow } from '../store/schema.ts'
import { findOwnRow } from './key-record.ts'
import { nextRevision, keyChangeLock } from './keys.ts'

/** A shared object as the API shows it. */
export interface SharedObject {
  id: string
  object: 'shared_object'
  key_id: string
  provider: string
  kind: string
  object_id: string
  created_at: string
}

/** Maximum number of objects shared with one key: all are kept in memory. */
export const MAX_SHARED_OBJECTS = 1_000

/**
 * Shares an object with a key. Sharing it again changes nothing.
 *
 * @param object its id in the form that the proxy compares (`objectRef`)
 * @throws Problem `key_not_found`, `key_is_child`; `invalid_field` if the key has the maximum
 */
export async function shareObject(
  store: Store,
  keyId: string,
  object: Pick<SharedObjectRow, 'provider' | 'kind' | 'object_id'>,
  now: number,
): Promise<SharedObject> {
  await findOwnRow(store, keyId, null)
  const row = await store.run(insertSharedObject, {
    ...object,
    id: newId('share', now),
    key_id: keyId,
    created_at: now,
  })
  if (row === null)
    throw new Problem(
      'invalid_field',
      `At most ${MAX_SHARED_OBJECTS} objects can be shared with a key. Stop sharing one first: DELETE /api/v1/keys/{id}/objects/{object}.`,
    )
  return shown(row)
}

/** The objects shared with a key, oldest first. @throws Problem `key_not_found` */
export async function listSharedObjects(store: Store, keyId: string): Promise<SharedObject[]> {
  await findOwnRow(store, keyId, null)
  const rows = await store.db
    .selectFrom('shared_objects')
    .selectAll()
    .where('key_id', '=', keyId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(shown)
}

/** Stops sharing an object. @throws Problem `key_not_found`, `object_not_found` */
export async function unshareObject(store: Store, keyId: string, id: string): Promise<void> {
  await findOwnRow(store, keyId, null)
  if (!(await store.run(deleteSharedObject, { keyId, id })))
    throw new Problem(
      'object_not_found',
      'No object with this id is shared with the key. GET /api/v1/keys/{id}/objects lists them.',
    )
}

/**
 * Stores a shared object, or finds it; null if the key has the maximum. Gives the key a new
 * revision, so that every process reads it again.
 */
export const insertSharedObject = procedure(
  import.meta.url,
  'insertSharedObject',
  function* (db, row: SharedObjectRow): Steps<SharedObjectRow | null> {
    const { key_id, provider, kind, object_id } = row
    const known = yield* first(
      db
        .selectFrom('shared_objects')
        .selectAll()
        .where('key_id', '=', key_id)
        .where('provider', '=', provider)
        .where('kind', '=', kind)
        .where('object_id', '=', object_id),
    )
    if (known !== undefined) return known
    const others = yield* all(
      db
        .selectFrom('shared_objects')
        .select('id')
        .where('key_id', '=', key_id)
        .limit(MAX_SHARED_OBJECTS),
    )
    if (others.length === MAX_SHARED_OBJECTS) return null
    yield* run(db.insertInto('shared_objects').values(row))
    yield* run(
      db
        .updateTable('keys')
        .set({ revision: yield* nextRevision(db) })
        .where('id', '=', key_id),
    )
    return row
  },
  keyChangeLock,
)

/** Deletes a shared object. Returns whether there was one. */
export const deleteSharedObject = procedure(
  import.meta.url,
  'deleteSharedObject',
  function* (db, { keyId, id }: { keyId: string; id: string }): Steps<boolean> {
    if (
      (yield* run(
        db.deleteFrom('shared_objects').where('key_id', '=', keyId).where('id', '=', id),
      )) === 0
    )
      return false
    yield* run(
      db
        .updateTable('keys')
        .set({ revision: yield* nextRevision(db) })
        .where('id', '=', keyId),
    )
    return true
  },
  keyChangeLock,
)

function shown({
  id,
  key_id,
  provider,
  kind,
  object_id,
  created_at,
}: SharedObjectRow): SharedObject {
  return {
    id,
    object: 'shared_object',
    key_id,
    provider,
    kind,
    object_id,
    created_at: isoTime(created_at),
  }
}
