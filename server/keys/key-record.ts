// A proxy key as the API shows it, made from its row, its secrets and its usage.
import { isoTime } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import { usageOfKeys, type Totals } from '../ledger/reports/usage.ts'
import { displayPrefix } from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import type { KeyRow } from '../store/schema.ts'

/** State of a key. See `statusOf`. */
export type KeyStatus = 'active' | 'disabled' | 'expired' | 'revoked'

/** A key as the API shows it. */
export interface Key {
  id: string
  object: 'key'
  account_id: string
  account_name: string
  name: string
  /** The public beginning of the newest secret, for display. */
  prefix: string
  /** Exact names and `*` globs; null means every model. */
  models: string[] | null
  rpm: number | null
  allowed_origins: string[] | null
  /**
   * `own`: stored objects that this key created or that were shared with it. `upstream`: all
   * objects of the provider account.
   */
  objects: 'own' | 'upstream'
  /** Ids of providers; null means every provider. */
  providers: string[] | null
  /** Whether it may only generate and read, and change nothing that a provider stores. */
  read_only: boolean
  /** The parent that this key narrows and counts under; null unless it is a child key. */
  parent_id: string | null
  /** The person a child key was created for; null for other keys. */
  end_user: string | null
  expires_at: string | null
  status: KeyStatus
  created_at: string
  last_used_at: string | null
  /** When the previous secret stops working; null if no previous secret works. */
  previous_secret_expires_at: string | null
  usage: Totals
}

/** A new key and its secret, which is shown once. */
export type NewKey = Key & { secret: string }

/**
 * The row of a key.
 *
 * @throws Problem `key_not_found` if it does not exist, was purged, or (with `account`) belongs to
 *   another account
 */
export async function findRow(store: Store, id: string, account: string | null): Promise<KeyRow> {
  const row = await store.db
    .selectFrom('keys')
    .selectAll()
    .where('id', '=', id)
    .where('purged_at', 'is', null)
    .executeTakeFirst()
  if (!row || (account !== null && row.account_id !== account)) {
    throw new Problem(
      'key_not_found',
      'No key of this account has this id. GET /api/v1/keys lists them.',
    )
  }
  return row
}

/**
 * The row of a key that is not a child.
 *
 * @throws Problem `key_is_child`, and the errors of `findRow`
 */
export async function findOwnRow(
  store: Store,
  id: string,
  account: string | null,
): Promise<KeyRow> {
  const row = await findRow(store, id, account)
  if (row.parent_id !== null) throw isChild()
  return row
}

/** The error for an operation that child keys do not support. */
export function isChild(): Problem {
  return new Problem(
    'key_is_child',
    'A child key cannot be changed or rotated, and cannot have child keys. End it, and create another child of its parent.',
  )
}

/** The state of a key at a time. Revoked wins over disabled, and disabled over expired. */
export function statusOf(
  row: Pick<KeyRow, 'revoked_at' | 'disabled' | 'expires_at'>,
  now: number,
): KeyStatus {
  if (row.revoked_at !== null) return 'revoked'
  if (row.disabled === 1) return 'disabled'
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active'
}

/** Keys as the API shows them, from their rows. */
export async function showKeys(store: Store, rows: KeyRow[], now: number): Promise<Key[]> {
  const usage = await usageOfKeys(
    store,
    rows.map(({ id }) => id),
  )
  const ends = await previousEnds(
    store,
    rows.map(({ id }) => id),
    now,
  )
  const accounts = await accountNames(
    store,
    rows.map(({ account_id }) => account_id),
  )
  const effective = await narrowedRows(store, rows)
  return effective.map((row) => {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- usageOfKeys gives every key that it is asked for
    const { totals, lastUsedAt } = usage.get(row.id)!
    return {
      id: row.id,
      object: 'key',
      account_id: row.account_id,
      account_name: accounts.get(row.account_id) ?? '',
      name: row.name,
      prefix: displayPrefix('tmk', row.public_id),
      models: fromJsonList(row.models),
      rpm: row.rpm,
      allowed_origins: fromJsonList(row.allowed_origins),
      objects: row.objects,
      providers: fromJsonList(row.providers),
      read_only: row.read_only === 1,
      parent_id: row.parent_id,
      end_user: row.end_user,
      expires_at: isoTime(row.expires_at),
      status: statusOf(row, now),
      created_at: isoTime(row.created_at),
      last_used_at: isoTime(lastUsedAt),
      previous_secret_expires_at:
        row.revoked_at === null ? isoTime(ends.get(row.id) ?? null) : null,
      usage: totals,
    }
  })
}

/** The rows, with children's unset fields inherited from their parents. */
async function narrowedRows(store: Store, rows: KeyRow[]): Promise<KeyRow[]> {
  const ids = [...new Set(rows.flatMap(({ parent_id }) => parent_id ?? []))]
  if (ids.length === 0) return rows
  const parents = new Map<string, KeyRow>()
  for (let from = 0; from < ids.length; from += MAX_QUERY_IDS)
    for (const parent of await store.db
      .selectFrom('keys')
      .selectAll()
      .where('id', 'in', ids.slice(from, from + MAX_QUERY_IDS))
      .execute())
      parents.set(parent.id, parent)
  return rows.map((row) => {
    const parent = parents.get(row.parent_id ?? '')
    if (parent === undefined) return row
    return {
      ...row,
      models: row.models ?? parent.models,
      rpm: least(row.rpm, parent.rpm),
      allowed_origins: row.allowed_origins ?? parent.allowed_origins,
      objects: parent.objects,
      providers: row.providers ?? parent.providers,
      read_only: parent.read_only,
      expires_at: least(row.expires_at, parent.expires_at),
      disabled: Math.max(row.disabled, parent.disabled),
      revoked_at: least(row.revoked_at, parent.revoked_at),
    }
  })
}

/** The smaller of two limits; null is no limit. */
function least(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

/** Ids per query, because databases limit parameters. */
export const MAX_QUERY_IDS = 1000

/** The names of accounts by their ids. */
export async function accountNames(store: Store, ids: string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const asked = [...new Set(ids)]
  for (let from = 0; from < asked.length; from += MAX_QUERY_IDS) {
    const rows = await store.db
      .selectFrom('accounts')
      .select(['id', 'name'])
      .where('id', 'in', asked.slice(from, from + MAX_QUERY_IDS))
      .execute()
    for (const { id, name } of rows) names.set(id, name)
  }
  return names
}

/** When the last previous secret of each key stops working. */
async function previousEnds(
  store: Store,
  ids: string[],
  now: number,
): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (let from = 0; from < ids.length; from += MAX_QUERY_IDS) {
    const some = ids.slice(from, from + MAX_QUERY_IDS)
    const rows = await store.db
      .selectFrom('key_secrets')
      .select(['key_id', 'expires_at'])
      .where('key_id', 'in', some)
      .where('expires_at', '>', now)
      .execute()
    for (const { key_id, expires_at } of rows)
      ends.set(key_id, Math.max(ends.get(key_id) ?? 0, expires_at ?? 0))
  }
  return ends
}

/** A list in its stored form. */
export function toJsonList(list: string[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}

/** A stored list. */
export function fromJsonList(text: string | null): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]) // written by toJsonList only
}
