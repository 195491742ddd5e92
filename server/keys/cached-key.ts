// A proxy key in memory, with everything that decides about a request.
import type { Scope } from './scope.ts'

/** A child key's own fields; all others are its parent's. */
export interface CachedChild {
  readonly id: string
  /** Its own limit, never above its parent's; null where only that counts. */
  readonly rpm: number | null
  /** The person it was made for, as given. */
  readonly endUser: string | null
}

/** A key with everything that decides about a request. */
export interface CachedKey {
  /** A child key has its parent's: it counts, and owns objects, as that one. */
  readonly id: string
  /** Null for a key of its own. */
  readonly child: CachedChild | null
  readonly accountId: string
  readonly scope: Scope
  readonly rpm: number | null
  readonly allowedOrigins: ReadonlySet<string> | null
  readonly objects: 'own' | 'upstream'
  /** Ids of the providers it may call; null means every provider. */
  readonly providers: ReadonlySet<string> | null
  readonly readOnly: boolean
  /** Objects shared with it, as `sharedName` writes them. */
  readonly shared: ReadonlySet<string>
  readonly expiresAt: number | null
  readonly disabled: boolean
  readonly revoked: boolean
}
