// What step 5 takes, and what it finds.
import type { HttpExchange } from '../../http1/exchange.ts'
import type { OutboundRequest } from '../../http1/client/client.ts'
import type { CachedKey } from '../../keys/cache.ts'
import type { ObjectOwners } from '../objects/objects.ts'
import type { Match } from '../providers/endpoint.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { RequestSlot } from '../shares/request-shares.ts'
import type { BatchLines } from './batch-lines.ts'
import type { BodyTimeouts, BufferedBody } from './buffer-body.ts'
import type { CheckedUpload } from './checked-upload.ts'
import type { BodyObserver } from './observer.ts'
import { loggedModel } from './places.ts'
import type { ModelResolution } from './resolve-models.ts'
import type { InspectionQueue } from './scheduler.ts'

/** What step 5 has found. */
export interface InspectedRequest {
  /** The key as it is now: it may have changed while the body came. */
  readonly key: CachedKey
  /** The model as the ledger has it; null where none is known. */
  readonly model: string | null
  /** Whether the request asks the provider to keep the response, or may do so. */
  readonly keepsResponse: boolean
  /** Stored objects that it names where its endpoint expects one, and those in its path. */
  readonly objects: readonly ObjectRef[]
  readonly body: OutboundRequest['body']
  /**
   * The same objects without ids that occur in prose only, which may be anything: evaluated where a
   * request would be refused for one.
   */
  readonly outsideProse?: () => readonly ObjectRef[]
  /** Whether the body goes up unread, so that nothing is known of what it names. */
  readonly isUnread: boolean
  /** Reads the model of a body that is not held while it goes up. */
  readonly observer: BodyObserver | null
  /** The rest of an upload, of which the parts behind a file have to be checked; null: none is. */
  readonly upload: CheckedUpload | null
  /** Reads a file that may become a batch's input while it goes up. */
  readonly lines: BatchLines | null
}

/** `body`: bytes of a body that has to be read whole. */
export interface InspectionLimits extends BodyTimeouts {
  readonly body: number
}

/** What an inspection needs. */
export interface InspectionDeps {
  readonly limits: InspectionLimits
  readonly objects: ObjectOwners
  readonly inspectionQueue: InspectionQueue
}

/** A request whose key and endpoint are known. */
export interface InspectionTarget {
  readonly exchange: HttpExchange
  readonly slot: RequestSlot
  readonly key: CachedKey
  readonly provider: Provider
  readonly match: Match
  readonly pathAndQuery: string
  /** Whether messages of a socket name the model, if the request does not. */
  readonly isNamedLater?: boolean
}

/** A body that is held whole. */
export type CompleteBody = Extract<BufferedBody, { ok: true }>

/** Of a request whose body, if any, has been read. */
export const PLAIN = {
  keepsResponse: false,
  isUnread: false,
  observer: null,
  upload: null,
  lines: null,
} as const

/** The model that is logged: the first one named, or the one that was refused. */
export const modelOf = (resolution: ModelResolution, match: Match): string | null =>
  loggedModel((resolution.ok ? resolution.models[0] : resolution.model) ?? match.model)
