// Creates, reads, changes and revokes proxy keys. Lists are in key-list.ts, new secrets in
// rotation.ts, purging in purge.ts, authentication in authenticate.ts and cache.ts.
import { Problem } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import { createSecret, type NewSecret } from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import { all, first, procedure, run, type Steps } from '../store/procedure.ts'
import type { KeyRow } from '../store/schema.ts'
import type { Partly, QueryBuilder } from '../store/statement.ts'
import { findOwnRow, findRow, showKeys, toJsonList, type Key, type NewKey } from './key-record.ts'

/** The fields of a key that users set. Times in milliseconds since 1970. */
export interface KeyInput {
  name: string
  models: string[] | null
  rpm: number | null
  allowed_origins: string[] | null
  objects: Key['objects']
  providers: string[] | null
  read_only: boolean
  expires_at: number | null
}

/**
 * Fields of a new key. Missing ones are unrestricted, except `objects`, which defaults to `own`.
 */
export type NewKeyInput = Pick<KeyInput, 'name'> & Partial<KeyInput>

/** Changes to a key; undefined keeps a field. */
type KeyChange = Partly<KeyInput & { disabled: boolean }>

/** The largest `rpm` of a key. */
export const MAX_RPM = 1_000_000

/** Creates a key for an account. */
export async function createKey(
  store: Store,
  account: string,
  input: NewKeyInput,
  now: number,
): Promise<NewKey> {
  const secret = createSecret('tmk')
  const {
    name,
    models = null,
    rpm = null,
    allowed_origins = null,
    objects = 'own',
    providers = null,
    read_only = false,
    expires_at = null,
  } = input
  const row = await store.run(insertKey, {
    key: {
      id: newId('key', now),
      account_id: account,
      name,
      public_id: secret.publicId,
      models: toJsonList(models),
      rpm,
      allowed_origins: toJsonList(allowed_origins),
      objects,
      providers: toJsonList(providers),
      read_only: Number(read_only),
      expires_at,
      disabled: 0,
      revoked_at: null,
      purged_at: null,
      created_at: now,
      parent_id: null,
      parent_secret: null,
      end_user: null,
    },
    hash: secret.hash,
  })
  return { ...(await showKey(store, row, now)), secret: secret.secret }
}

/**
 * @throws Problem `key_not_found` if the key does not exist or (with `account`) belongs to another
 *   account
 */
export async function getKey(
  store: Store,
  id: string,
  account: string | null,
  now: number,
): Promise<Key> {
  return showKey(store, await findRow(store, id, account), now)
}

/** A key as the API shows it, made from its row. */
export async function showKey(store: Store, row: KeyRow, now: number): Promise<Key> {
  const [key] = await showKeys(store, [row], now)
  if (key === undefined) throw new Error('a key has no record')
  return key
}

/** Changes a key. @throws Problem `key_not_found`, `key_revoked`, `key_is_child` */
export async function changeKey(
  store: Store,
  id: string,
  account: string | null,
  change: KeyChange,
  now: number,
): Promise<Key> {
  await findOwnRow(store, id, account)
  if (!(await store.run(updateKey, { id, change: columnsOf(change) }))) throw revoked()
  return getKey(store, id, account, now)
}

function columnsOf({
  models,
  allowed_origins,
  providers,
  read_only,
  disabled,
  ...plain
}: KeyChange): Partly<KeyRow> {
  return {
    ...plain,
    models: models && toJsonList(models),
    allowed_origins: allowed_origins && toJsonList(allowed_origins),
    providers: providers && toJsonList(providers),
    read_only: read_only === undefined ? undefined : Number(read_only),
    disabled: disabled === undefined ? undefined : Number(disabled),
  }
}

/** Revokes a key permanently. Revoking it again changes nothing. @throws Problem `key_not_found` */
export async function revokeKey(
  store: Store,
  id: string,
  account: string | null,
  now: number,
): Promise<Key> {
  await findRow(store, id, account)
  await store.run(updateKey, { id, change: { revoked_at: now } })
  return getKey(store, id, account, now)
}

/** Number of keys to revoke or purge in one transaction. */
export const REVOKE_BATCH = 100

/** Revokes all keys of an account permanently. */
export async function revokeKeysOf(store: Store, account: string, now: number): Promise<void> {
  while (await store.run(revokeSome, { account, now }));
}

/** Stores a new key with its first secret. Returns its row. */
export const insertKey = procedure(
  import.meta.url,
  'insertKey',
  function* (
    db,
    { key, hash }: { key: Omit<KeyRow, 'revision'>; hash: NewSecret['hash'] },
  ): Steps<KeyRow> {
    const row = { ...key, revision: yield* nextRevision(db) }
    yield* run(db.insertInto('keys').values(row))
    yield* run(
      db
        .insertInto('key_secrets')
        .values({ public_id: key.public_id, key_id: key.id, hash, expires_at: null }),
    )
    return row
  },
  keyChangeLock,
)

/** Changes a key unless it is revoked; undefined keeps a field. Returns whether it changed one. */
export const updateKey = procedure(
  import.meta.url,
  'updateKey',
  function* (db, { id, change }: { id: string; change: Partly<KeyRow> }): Steps<boolean> {
    const revision = yield* nextRevision(db)
    return (
      (yield* run(
        db
          .updateTable('keys')
          .set({ ...change, revision })
          .where('id', '=', id)
          .where('revoked_at', 'is', null),
      )) > 0
    )
  },
  keyChangeLock,
)

/** Revokes some keys of an account. Returns whether there are more. */
export const revokeSome = procedure(
  import.meta.url,
  'revokeSome',
  function* (db, { account, now }: { account: string; now: number }): Steps<boolean> {
    const keys = yield* all(
      db
        .selectFrom('keys')
        .select('id')
        .where('account_id', '=', account)
        .where('revoked_at', 'is', null)
        .limit(REVOKE_BATCH),
    )
    let revision = yield* nextRevision(db)
    for (const { id } of keys)
      yield* run(
        db.updateTable('keys').set({ revoked_at: now, revision: revision++ }).where('id', '=', id),
      )
    return keys.length === REVOKE_BATCH
  },
  keyChangeLock,
)

/**
 * The lock for all changes to keys. It is held until the commit, so revisions become visible in
 * order: a cache that has seen one has missed none below it.
 */
export function keyChangeLock(): string {
  return 'keys'
}

/** The revision of the next change to a key, higher than all earlier ones. */
export function* nextRevision(db: QueryBuilder): Steps<number> {
  const last = yield* first(
    db.selectFrom('keys').select('revision').orderBy('revision', 'desc').limit(1),
  )
  return (last?.revision ?? 0) + 1
}

/** The error for changing a revoked key. */
export function revoked(): Problem {
  return new Problem('key_revoked', 'The key is permanently revoked. Create a new one.')
}
