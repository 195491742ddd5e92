// What a row says of an endpoint that is a WebSocket: how its messages are told apart, and where
// they name models, stored objects and usage.
import type { BodyRule } from './endpoint-row.ts'
import type { ErrorTemplate } from './provider.ts'

/**
 * By what a message is known: a place that is there (`serverContent.modelTurn`), or one and its value
 * (`type=response.done`).
 */
export type Sign = string

/** Messages of a WebSocket. Those of clients are JSON, in text or binary frames. */
export interface SocketRow {
  /**
   * What is a row of the ledger: each response of the provider, or each minute of a socket whose
   * answers have no beginning and no end.
   */
  readonly counts: 'responses' | 'minutes'
  /** Where a client's messages name models and stored objects. */
  readonly body: BodyRule
  /** Places that name the session's model. */
  readonly naming: readonly string[]
  /** Whether one of them names it, and not the handshake. */
  readonly namedLater?: true
  /** Messages of clients that start no response. */
  readonly quiet: readonly Sign[]
  /** Messages of clients that ask for one: the next that may start one waits until it has begun. */
  readonly starts: readonly Sign[]
  /**
   * Messages of clients of which many together may start one, such as audio. What is none of these
   * is not known: it may start one, and passes for no scoped key.
   */
  readonly mayStart: readonly Sign[]
  /**
   * Media as most clients write it: what stands before and behind one string. Such a message may
   * start a response, and names nothing; it is not read any further.
   */
  readonly mediaText?: readonly (readonly [before: string, after: string])[]
  /** Places in which clients may send a credential: a message that has one does not pass. */
  readonly credentials?: readonly string[]
  /** Text of clients that is no JSON, and starts nothing. */
  readonly commands?: readonly string[]
  /** Whether binary frames of clients hold media, and not JSON. */
  readonly media?: true
  /** Messages of the provider with which a response begins and ends. */
  readonly begins: readonly Sign[]
  readonly ends: readonly Sign[]
  /** Messages of the provider that say that what was asked for does not begin. */
  readonly fails: readonly Sign[]
  /** Where a message of the provider names the response. */
  readonly responseId?: string
  /** Where a message of the provider holds usage. */
  readonly usage?: string
  /**
   * Kinds of objects that a session may have made: an id that nobody is known to have passes, and
   * another key's does not.
   */
  readonly local?: readonly string[]
  /** The message of an error; without it the close frame alone tells it. */
  readonly error?: ErrorTemplate
  /**
   * The parameter of the query, and its value, that ask for another kind of socket where the query
   * names no model.
   */
  readonly instead?: {
    readonly query: readonly [name: string, value: string]
    readonly socket: SocketRow
  }
}

/** Of a socket whose answers have no beginning and no end: each minute is a row. */
export const BY_MINUTE = {
  counts: 'minutes',
  naming: [],
  starts: [],
  begins: [],
  ends: [],
  fails: [],
} as const satisfies Partial<SocketRow>
