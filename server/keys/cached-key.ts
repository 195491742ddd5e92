// A proxy key in memory, with everything needed to decide about a request.
import type { Scope } from './scope.ts'

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
