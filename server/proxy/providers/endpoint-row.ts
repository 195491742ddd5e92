// What a row says of an endpoint: what it runs, and where its requests and answers name models and
// stored objects.
import type { Auth, UsageKind } from './provider.ts'
import type { SocketRow } from './socket-row.ts'
import type { KeyedTools, ToolPlace } from './tools.ts'

/** What an endpoint is to a key. */
export type EndpointClass =
  /** Runs a model. */
  | 'model'
  /** Lists, files, polling: reaches no model. */
  | 'neutral'
  /** Returns upstream access (client secrets, tokens, sessions). */
  | 'minting'
  /** Runs the account. */
  | 'admin'

/**
 * What a request body may say about models, as paths of scanner.ts. In multipart bodies `required`
 * and `also` are field names.
 */
export interface BodyRule {
  /** At least one of these must name a model, unless the path does, or there is none of them. */
  readonly required: readonly string[]
  /** Further places that name a model when they are there. */
  readonly also?: readonly string[]
  /**
   * Places that point to something stored which chooses the model: no scoped key passes when one is
   * there.
   */
  readonly stored?: readonly string[]
  /** Lists on the way to these places in whose stead a text may stand, which names nothing. */
  readonly texts?: readonly string[]
  /**
   * Places of text that is read by a model, or drawn, spoken or searched for: an id alone in one is
   * what somebody said.
   */
  readonly prose?: readonly string[]
  /** Where tools stand that may run models of their own. */
  readonly tools?: readonly ToolPlace[]
  /** Tools that are told apart by their keys. */
  readonly keyedTools?: KeyedTools
  /** Places that name a stored object, and its kind. */
  readonly objects?: Readonly<Record<string, string>>
  /** The place that says that the provider keeps the answer, and the values that say so. */
  readonly keeps?: { readonly at: string; readonly by: readonly unknown[] }
  /** Whether multipart/form-data is spoken here too. */
  readonly multipart?: true
  /**
   * Where a form is spoken here too whose part `part` is this body as JSON, and whose other parts are
   * files, of these names.
   */
  readonly formJson?: { readonly part: string; readonly files: readonly string[] }
}

/**
 * Where the model stands. `path`: the pattern's `{model}`, or the row's `modelName`, and the body may
 * not name another. `body`: JSON or multipart. `header`: one of `headers`, in lower case, or
 * the query's `parameter`. `query`: `?model=`, or another `parameter`. `stored`: nowhere in the request, so that no scoped key passes.
 */
export type ModelPlace =
  | {
      readonly at: 'path' | 'body' | 'header'
      readonly body: BodyRule
      readonly headers?: readonly string[]
      readonly parameter?: string
    }
  | { readonly at: 'query'; readonly parameter?: string }
  | { readonly at: 'stored' }

/** Query parameters, and the kind of stored object that each of them names. */
export type Asks = Readonly<Record<string, string>>

/** One endpoint of a provider, or several with the same rules. */
export interface EndpointRow {
  /**
   * `POST GET …` and a path pattern: `{name}` is one segment without a colon, `{name:}` one
   * segment, `{name*}` one or more; `{path*}` is a path that callers make up.
   */
  readonly on: string
  readonly class: EndpointClass
  readonly model?: ModelPlace
  readonly usage?: UsageKind
  /**
   * Places of the body that name a stored object, and its kind, where the endpoint has no rule for
   * the body's models.
   */
  readonly names?: Readonly<Record<string, string>>
  /** What its query names; also that of the address where an upload that was begun goes on. */
  readonly asks?: Asks
  /** Places of the answer that name an object that came into being, and its kind. */
  readonly creates?: Readonly<Record<string, string>>
  /** The same of headers of the answer, in lower case. */
  readonly createsInHeaders?: Readonly<Record<string, string>>
  /**
   * Whether callers may choose the name of what they make: the provider refuses one that is taken.
   */
  readonly chosen?: true
  /** The kind among them that is only there where the body's rule `keeps` the answer. */
  readonly kept?: string
  /**
   * What of its body is a file, which is content and names nothing: a part of a form, or all of it.
   */
  readonly uploads?: 'form' | 'body'
  /**
   * The kind of stored objects that the answer lists with all that they hold, whoever made them.
   */
  readonly lists?: string
  /**
   * Places of a GET's answer that name stored objects, whoever made them, where lists.ts cannot
   * tell by the other rows; null where the answer names none, although they say so.
   */
  readonly listed?: Readonly<Record<string, string>> | null
  /**
   * The kind of stored object that the path's model must be: base models are changed for nobody.
   */
  readonly modelObject?: string
  /**
   * Whether a POST is there to make or change something stored, where changes.ts cannot tell by the
   * rest of the row.
   */
  readonly changes?: boolean
  readonly auth?: Auth
  /** What passes where a GET asks for a WebSocket; without it none is opened. */
  readonly socket?: SocketRow
  /**
   * How the parameters of the path and the parts of the host (`<deployment>`) make the model's name,
   * where it is more than `{model}`; a name of its own where no model is named: `xai/tts`.
   */
  readonly modelName?: string
}
