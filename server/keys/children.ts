// Child keys: short-lived keys that narrow another one, count under it, and end with it.
import { invalidFields, fieldError, Problem } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import { createSecret, type NewSecret } from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import { all, first, procedure, run, type Steps } from '../store/procedure.ts'
import type { KeyRow } from '../store/schema.ts'
import type { QueryBuilder } from '../store/statement.ts'
import {
  findOwnRow,
  fromJsonList,
  isChild,
  statusOf,
  toJsonList,
  type NewKey,
} from './key-record.ts'
import { keyChangeLock, nextRevision, revoked, showKey } from './keys.ts'
import { wideningsOf, type Restrictions, type Widening } from './narrowing.ts'

/** The longest life of a child key, in seconds: a day. */
export const MAX_TTL_SECONDS = 86_400
/**
 * Child keys of one key that may be alive or have expired in the last minute. Every process keeps
 * each in memory, and short lifetimes must not be a way around the limit.
 */
export const MAX_CHILDREN = 1_000
const COUNTED_MS = 60_000
/** How long the record of a child is kept after it ends (milliseconds). */
const KEPT_MS = 600_000

/** A new child key; null inherits from its parent. */
export interface ChildInput {
  /** Seconds. The child ends earlier if its parent does. */
  readonly ttl: number
  readonly models: string[] | null
  readonly rpm: number | null
  readonly allowed_origins: string[] | null
  /** The person it is for; recorded with its requests. */
  readonly end_user: string | null
  /** Ids of the providers that it may call, a subset of its parent's. */
  readonly providers?: string[]
}

/**
 * Creates a child of a key. It ends with the newest secret of its parent.
 *
 * @param account null: any account
 * @throws Problem `key_not_found`, `key_revoked`, `key_inactive`, `key_is_child`,
 *   `too_many_child_keys`; `invalid_field` if it would be wider than its parent
 */
export async function createChild(
  store: Store,
  parentId: string,
  account: string | null,
  input: ChildInput,
  now: number,
): Promise<NewKey> {
  const parent = await findOwnRow(store, parentId, account)
  const { row, secret } = await storeChild(store, parentId, input, now, parent.public_id)
  return { ...(await showKey(store, row, now)), secret }
}

/** A child key that was created for the holder of its parent. */
export interface MintedChild {
  readonly secret: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/**
 * Creates a child for the holder of one of its parent's secrets. It ends with that secret.
 *
 * @param parentSecret public id of that secret
 * @throws Problem the same as `createChild`
 */
export async function mintChild(
  store: Store,
  parentId: string,
  input: ChildInput,
  now: number,
  parentSecret: string,
): Promise<MintedChild> {
  const { row, secret } = await storeChild(store, parentId, input, now, parentSecret)
  return { secret, expiresAt: row.expires_at ?? now }
}

async function storeChild(
  store: Store,
  parentId: string,
  input: ChildInput,
  now: number,
  parentSecret: string,
): Promise<{ row: KeyRow; secret: string }> {
  const { secret, publicId, hash } = createSecret('tmk')
  const id = newId('key', now)
  const made = await store.run(insertChild, {
    parentId,
    parentSecret,
    id,
    publicId,
    hash,
    input,
    now,
  })
  if (typeof made === 'string') throw refusals[made]()
  if ('wider' in made)
    throw invalidFields(made.wider.map(({ param, detail }) => fieldError(param, detail)))
  return { row: made.row, secret }
}

/** TABLE of the reasons why a key cannot have a child. */
const refusals = {
  revoked,
  inactive: () =>
    new Problem(
      'key_inactive',
      'The key is disabled or has expired. Enable it or extend its expiry before you create child keys.',
    ),
  child: isChild,
  full: () =>
    new Problem(
      'too_many_child_keys',
      `The key has ${MAX_CHILDREN} child keys that are active or expired in the last minute. Give them a shorter ttl, or end some: GET /api/v1/keys?parent_id={id} lists them.`,
    ),
} as const

type ChildArgs = {
  parentId: string
  parentSecret: string
  id: string
  publicId: string
  hash: NewSecret['hash']
  input: ChildInput
  now: number
}

/** Stores a child key if its parent may have one with these rights. */
export const insertChild = procedure(
  import.meta.url,
  'insertChild',
  function* (
    db,
    args: ChildArgs,
  ): Steps<{ row: KeyRow } | { wider: Widening[] } | keyof typeof refusals> {
    const { parentId, parentSecret, now } = args
    const parent = yield* first(db.selectFrom('keys').selectAll().where('id', '=', parentId))
    if (parent === undefined || parent.revoked_at !== null) return 'revoked'
    if (parent.parent_id !== null) return 'child'
    const opener = yield* first(
      db
        .selectFrom('key_secrets')
        .select('expires_at')
        .where('public_id', '=', parentSecret)
        .where('key_id', '=', parentId),
    )
    const isOpen = opener !== undefined && (opener.expires_at === null || opener.expires_at > now)
    if (statusOf(parent, now) !== 'active' || !isOpen) return 'inactive'
    const wider = wideningsOf(args.input, restrictionsOf(parent))
    if (wider.length > 0) return { wider }
    if ((yield* liveChildren(db, parentId, now)) >= MAX_CHILDREN) return 'full'
    const row = childRow(args, parent, opener.expires_at, yield* nextRevision(db))
    yield* run(db.insertInto('keys').values(row))
    yield* run(
      db
        .insertInto('key_secrets')
        .values({ public_id: args.publicId, key_id: args.id, hash: args.hash, expires_at: null }),
    )
    return { row }
  },
  keyChangeLock,
)

function restrictionsOf({ models, rpm, allowed_origins }: KeyRow): Restrictions {
  return {
    models: fromJsonList(models),
    rpm,
    allowed_origins: fromJsonList(allowed_origins),
  }
}

function* liveChildren(db: QueryBuilder, parentId: string, now: number): Steps<number> {
  const live = yield* all(
    db
      .selectFrom('keys')
      .select('id')
      .where('parent_id', '=', parentId)
      .where('expires_at', '>', now - COUNTED_MS)
      .where('revoked_at', 'is', null)
      .limit(MAX_CHILDREN),
  )
  return live.length
}

function childRow(
  { id, publicId, parentSecret, input, now }: ChildArgs,
  parent: KeyRow,
  secretEnd: number | null,
  revision: number,
): KeyRow {
  const { ttl, models, rpm, allowed_origins, end_user, providers } = input
  return {
    id,
    account_id: parent.account_id,
    name: end_user ?? parent.name,
    public_id: publicId,
    models: toJsonList(models),
    rpm,
    allowed_origins: toJsonList(allowed_origins),
    objects: parent.objects,
    providers: toJsonList(providers ?? null),
    read_only: parent.read_only,
    expires_at: Math.min(now + ttl * 1000, parent.expires_at ?? Infinity, secretEnd ?? Infinity),
    disabled: 0,
    revoked_at: null,
    purged_at: null,
    created_at: now,
    parent_id: parent.id,
    parent_secret: parentSecret,
    end_user,
    revision,
  }
}

/** Keys to delete in one transaction. */
const MAX_BATCH = 100

/** Deletes some of the child keys that ended before a time. Returns whether there may be more. */
export const deleteEnded = procedure(
  import.meta.url,
  'deleteEnded',
  function* (db, { before }: { before: number }): Steps<boolean> {
    // The row with the highest revision is never deleted: the next revision is counted from it.
    const newest = (yield* nextRevision(db)) - 1
    const ended = yield* all(
      db
        .selectFrom('keys')
        .select('id')
        .where('parent_id', 'is not', null)
        .where('revision', '<', newest)
        .where((e) => e.or([e('expires_at', '<=', before), e('revoked_at', '<=', before)]))
        .limit(MAX_BATCH),
    )
    for (const { id } of ended) {
      yield* run(db.deleteFrom('key_secrets').where('key_id', '=', id))
      yield* run(db.deleteFrom('keys').where('id', '=', id))
    }
    return ended.length === MAX_BATCH
  },
  keyChangeLock,
)

/**
 * Deletes the child keys that ended over ten minutes ago. Their requests remain, counted under the
 * parent.
 */
export async function deleteEndedChildren(store: Store, now: number): Promise<void> {
  while (await store.run(deleteEnded, { before: now - KEPT_MS }));
}
