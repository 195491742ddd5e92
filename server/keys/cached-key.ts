// A proxy key in memory, with everything needed to decide about a request.
import type { KeyRow, SharedObjectRow } from '../store/schema.ts'
import { fromJsonList } from './key-record.ts'
import { compileScope, type Scope } from './scope.ts'

/** The fields that a child key has of its own; all others are its parent's. */
export interface CachedChild {
  readonly id: string
  /** Its own limit, never above its parent's; null if only the parent's applies. */
  readonly rpm: number | null
  /** The person it was created for, as given. */
  readonly endUser: string | null
}

/** A key with everything needed to decide about a request. */
export interface CachedKey {
  /** A child key has its parent's id: it counts, and owns objects, as its parent. */
  readonly id: string
  /** Null unless it is a child key. */
  readonly child: CachedChild | null
  readonly accountId: string
  readonly scope: Scope
  readonly rpm: number | null
  readonly allowedOrigins: ReadonlySet<string> | null
  readonly objects: 'own' | 'upstream'
  /** Ids of the providers it may call; null means every provider. */
  readonly providers: ReadonlySet<string> | null
  readonly readOnly: boolean
  /** Objects shared with it, named by `sharedName`. */
  readonly shared: ReadonlySet<string>
  readonly expiresAt: number | null
  readonly disabled: boolean
  readonly revoked: boolean
}

/** A child key with only its own restrictions, without its parent's. */
export interface ChildParts {
  readonly id: string
  readonly endUser: string | null
  readonly scope: Scope
  readonly rpm: number | null
  readonly allowedOrigins: ReadonlySet<string> | null
  readonly providers: ReadonlySet<string> | null
  readonly expiresAt: number
  readonly disabled: boolean
  readonly revoked: boolean
}

/** The name of a provider's object, as a member of a `Set`. */
export const sharedName = (provider: string, kind: string, id: string): string =>
  `${provider} ${kind} ${id}`

const NO_SHARED_OBJECTS: ReadonlySet<string> = new Set()

/** An object that is shared with a key. */
export type SharedName = Pick<SharedObjectRow, 'provider' | 'kind' | 'object_id'>

/** A stored key without a parent. */
export function cachedKey(row: KeyRow, shared: readonly SharedName[]): CachedKey {
  return {
    id: row.id,
    child: null,
    accountId: row.account_id,
    scope: scopeOf(row),
    rpm: row.rpm,
    allowedOrigins: setOf(row.allowed_origins),
    objects: row.objects,
    providers: setOf(row.providers),
    readOnly: row.read_only === 1,
    shared:
      shared.length === 0
        ? NO_SHARED_OBJECTS
        : new Set(
            shared.map(({ provider, kind, object_id }) => sharedName(provider, kind, object_id)),
          ),
    expiresAt: row.expires_at,
    disabled: row.disabled === 1,
    revoked: row.revoked_at !== null,
  }
}

/** A stored child key. */
export function childParts(row: KeyRow): ChildParts {
  return {
    id: row.id,
    endUser: row.end_user,
    scope: scopeOf(row),
    rpm: row.rpm,
    allowedOrigins: setOf(row.allowed_origins),
    providers: setOf(row.providers),
    expiresAt: row.expires_at ?? 0,
    disabled: row.disabled === 1,
    revoked: row.revoked_at !== null,
  }
}

function setOf(list: string | null): ReadonlySet<string> | null {
  const items = fromJsonList(list)
  return items === null ? null : new Set(items)
}

/** A revoked key never comes back, so its list need not be kept. */
const scopeOf = ({ models, revoked_at }: KeyRow): Scope =>
  compileScope(revoked_at === null ? fromJsonList(models) : [])
