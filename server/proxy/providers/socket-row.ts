// The row of a WebSocket endpoint: how to recognise its messages, and where they name models,
// stored objects and usage.
import type { BodyRule } from './body-rule.ts'
import type { ErrorTemplate } from './wire-format.ts'

/**
 * A sign of a message: an existing place (`serverContent.modelTurn`), or a place and its value
 * (`type=response.done`).
 */
export type Sign = string

/** Messages of a WebSocket. Those of clients are JSON, in text or binary frames. */
export interface SocketRow {
  /**
   * What each row of the ledger counts: a response of the provider, or a minute of a socket whose
   * responses have no beginning and end.
   */
  readonly counts: 'responses' | 'minutes'
  /** The places of models and stored objects in a client's messages. */
  readonly body: BodyRule
  /** Places that name the session's model. */
  readonly naming: readonly string[]
  /** Whether one of them names it, and not the handshake. */
  readonly namedLater?: true
  /** Messages of clients that start no response. */
  readonly quiet: readonly Sign[]
  /**
   * Messages of clients that ask for a response: the next message that may start one waits until it
   * has begun.
   */
  readonly starts: readonly Sign[]
  /**
   * Client messages that may start a response together, such as audio. Any other message is
   * unknown: it may start one, and is refused for scoped keys.
   */
  readonly mayStart: readonly Sign[]
  /**
   * Media as most clients write it: the text before and after one string. Such a message may start
   * a response and names nothing; it is not read further.
   */
  readonly mediaText?: readonly (readonly [before: string, after: string])[]
  /** Places in which clients may send a credential: a message with one is refused. */
  readonly credentials?: readonly string[]
  /** Non-JSON text of clients that starts no response. */
  readonly commands?: readonly string[]
  /** Whether binary frames of clients contain media, not JSON. */
  readonly media?: true
  /** Messages of the provider that begin and end a response. */
  readonly begins: readonly Sign[]
  readonly ends: readonly Sign[]
  /** Provider messages that report that a requested response does not begin. */
  readonly fails: readonly Sign[]
  /** The place of the response's name in a provider message. */
  readonly responseId?: string
  /** The place of usage in a provider message. */
  readonly usage?: string
  /**
   * Kinds of objects that a session may have created: an id without a known owner is allowed,
   * another key's is not.
   */
  readonly local?: readonly string[]
  /** The message of an error; without it only the close frame reports it. */
  readonly error?: ErrorTemplate
  /**
   * The query parameter, and its value, that ask for another kind of socket if the query names no
   * model.
   */
  readonly instead?: {
    readonly query: readonly [name: string, value: string]
    readonly socket: SocketRow
  }
}

/** For a socket whose responses have no beginning and end: each minute is a row. */
export const BY_MINUTE = {
  counts: 'minutes',
  naming: [],
  starts: [],
  begins: [],
  ends: [],
  fails: [],
} as const satisfies Partial<SocketRow>
