// The input and the result of step 5.
import type { HttpExchange } from '../../http1/exchange.ts'
import type { OutboundRequest } from '../../http1/client/client.ts'
import type { CachedKey } from '../../keys/cache.ts'
import type { ObjectOwners } from '../objects/objects.ts'
import type { Match } from '../providers/match.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { RequestSlot } from '../admission/request-shares.ts'
import type { BatchLines } from './batch-lines.ts'
import type { BodyTimeouts } from './buffer-body.ts'
import type { CheckedUpload } from './checked-upload.ts'
import type { BodyObserver } from './observer.ts'
import type { InspectionQueue } from './scheduler.ts'

/** The result of step 5. */
export interface InspectedRequest {
  /** The current key: it may have changed while the body arrived. */
  readonly key: CachedKey
  /** The model for the ledger; null if unknown. */
  readonly model: string | null
  /** Whether the request asks, or may ask, the provider to keep the response. */
  readonly keepsResponse: boolean
  /** Stored objects named where its endpoint expects one, and those in its path. */
  readonly objects: readonly ObjectRef[]
  readonly body: OutboundRequest['body']
  /**
   * `objects` without ids that occur only in prose, where they may be anything: evaluated if a
   * request would be refused for one.
   */
  readonly outsideProse?: () => readonly ObjectRef[]
  /** Whether the body is forwarded unread, so that its objects are unknown. */
  readonly isUnread: boolean
  /** Reads the model of a streamed body while it passes. */
  readonly observer: BodyObserver | null
  /** Forwards the rest of an upload whose parts after a file have to be checked; null: none. */
  readonly upload: CheckedUpload | null
  /** Reads a file that may become a batch's input while it passes. */
  readonly lines: BatchLines | null
}

/** `body`: maximum bytes of a body that has to be read completely. */
export interface InspectionLimits extends BodyTimeouts {
  readonly body: number
}

/** Dependencies of an inspection. */
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
  readonly isModelNamedLater?: boolean
}

/** The result for a request whose body, if any, has been read. */
export const PLAIN = {
  keepsResponse: false,
  isUnread: false,
  observer: null,
  upload: null,
  lines: null,
} as const
