// The row of an endpoint: what it runs, and where its requests and responses name models and stored
// objects.
import type { BodyRule } from './body-rule.ts'
import type { SocketRow } from './socket-row.ts'
import type { Auth, UsageKind } from './wire-format.ts'

/** The class of an endpoint for a key. */
export type EndpointClass =
  /** Runs a model. */
  | 'model'
  /** Lists, files, polling: reaches no model. */
  | 'neutral'
  /** Returns upstream access (client secrets, tokens, sessions). */
  | 'minting'
  /** Administers the account. */
  | 'admin'

/**
 * The place of the model. `path`: the pattern's `{model}`, or the row's `modelName`, and the body
 * may not name another. `body`: JSON or multipart. `header`: one of `headers`, in lower case, or
 * the query's `parameter`. Where the model is not in a header, no header of `headers` may name
 * another; `*model` is each with "model" in its name. `query`: `?model=`, or another `parameter`;
 * `qualifiers` are parameters that select another model with the same name, so scoped keys may not
 * send them. `stored`: not in the request, so scoped keys are refused.
 */
export type ModelPlace =
  | {
      readonly at: 'path' | 'body' | 'header'
      readonly body: BodyRule
      readonly headers?: readonly string[]
      readonly parameter?: string
    }
  | {
      readonly at: 'query'
      readonly parameter?: string
      readonly qualifiers?: readonly string[]
    }
  | { readonly at: 'stored' }

/** Query parameters, and the kind of stored object that each names. */
export type Asks = Readonly<Record<string, string>>

/** One endpoint of a provider, or several with the same rules. */
export interface EndpointRow {
  /**
   * `POST GET …` and a path pattern: `{name}` is one segment without a colon, `{name:}` one
   * segment, `{name*}` one or more; `{path*}` is a path chosen by callers.
   */
  readonly on: string
  readonly class: EndpointClass
  readonly model?: ModelPlace
  readonly usage?: UsageKind
  /**
   * Places of the body that name a stored object, and its kind, if the endpoint has no rule for the
   * body's models.
   */
  readonly names?: Readonly<Record<string, string>>
  /** The objects named by its query; also in the address of an upload's next request. */
  readonly asks?: Asks
  /** Places of the response that name a created object, and its kind. */
  readonly creates?: Readonly<Record<string, string>>
  /** The same for response headers, in lower case. */
  readonly createsInHeaders?: Readonly<Record<string, string>>
  /**
   * Whether callers choose the name of a new object; the provider rejects a name that is taken.
   */
  readonly chosen?: true
  /** The kind among them that exists only if the body's rule `keeps` the response. */
  readonly kept?: string
  /**
   * The part of its body that is a file, and so names nothing: a part of a form, or the whole body.
   */
  readonly uploads?: 'form' | 'body'
  /** The kind of stored objects that the response lists completely, of all owners. */
  readonly lists?: string
  /**
   * Places of stored objects of all owners in a GET's response, where lists.ts cannot derive them
   * from other rows; null if the response names none, although those rows say so.
   */
  readonly listed?: Readonly<Record<string, string>> | null
  /** The kind of stored object that the path's model must be: no key may change base models. */
  readonly modelObject?: string
  /**
   * Whether a POST creates or changes something stored, if changes.ts cannot tell from the rest of
   * the row.
   */
  readonly changes?: boolean
  readonly auth?: Auth
  /** The WebSocket at this path; without it, none is opened. */
  readonly socket?: SocketRow
  /**
   * How the parameters of the path and the parts of the host (`<deployment>`) form the model's
   * name, if it is more than `{model}`; a fixed name if no model is named: `xai/tts`.
   */
  readonly modelName?: string
}
