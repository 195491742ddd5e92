// The fields of a row of the provider table. The rows are in `rows/`, one file per provider.
import type { MintShapeName } from '../minting/mint-shapes.ts'
import type { EndpointEntry } from '../../config/providers-file.ts'
import type { StringFilter } from '../json/tables.ts'
import type { ModelNames, Spelling } from './id-spelling.ts'
import type { EndpointTable } from './endpoint-table.ts'
import type { IdNames } from './id-names.ts'
import type { Asks, EndpointRow } from './endpoint-row.ts'
import type { Operated, OperatedKeys } from './cloud-resources.ts'
import type { ObjectRef } from './object-ref.ts'

/** How a credential is presented: `Authorization: Bearer …`, `x-api-key: …`. */
export interface Auth {
  readonly header: string
  readonly scheme?: string
}

/** How a provider writes an error, so that our own errors read like its. See error-response.ts. */
export type ErrorShape =
  | 'google'
  | 'openai'
  | 'anthropic'
  | 'mistral'
  | 'groq'
  | 'cohere'
  | 'fireworks'
  | 'perplexity'
  | 'cerebras'
  | 'bedrock'

/**
 * An example error: `{message}`, `{code}` and `{type}` are replaced by ours, `{status}` by the HTTP
 * status as a number.
 */
export type ErrorTemplate = { readonly [name: string]: ErrorValue }
type ErrorValue = string | boolean | null | ErrorTemplate | readonly ErrorValue[]

/** How a provider counts tokens. See usage/usage.ts. */
export type UsageKind =
  | 'openai'
  | 'xai'
  | 'perplexity'
  | 'anthropic'
  | 'gemini'
  | 'interactions'
  | 'cohere'
  | 'bedrock'

/** The compiled spelling of a provider's ids: which strings of a body are ids. */
export interface IdForms extends StringFilter {
  /** The object that a whole, decoded string names; null if it is not an id. */
  refOf(text: string): ObjectRef | null
  /** Ids without a prefix, of letters and digits alone, where they all have one length. */
  readonly bare?: RegExp
  /** The objects in a list of addresses in a scheme of the provider's; null for other texts. */
  listed?(text: string): readonly ObjectRef[] | null
  /** The objects that a model's name names. */
  readonly models?: ModelNames
}

/** A call that costs nothing and that only a good credential opens. */
export interface ProbeCall {
  readonly path: string
  readonly headers?: readonly string[]
  /** Sent by POST; a GET without. */
  readonly body?: string
  /** Further statuses that mean a valid credential: 404 for an object that does not exist. */
  readonly opens?: readonly number[]
}

/** A provider as its file writes it. */
export interface ProviderRow {
  readonly id: string
  readonly name: string
  /** The environment variable of its credential: the one that its own SDK reads. */
  readonly variable: string
  /** The base address in its documentation: an origin and the usual first path. */
  readonly base: string
  /**
   * Hosts, port 443. `{resource}` is a value of the credential; `*` is any part of a label, as is
   * `<deployment>`, which `modelName` may use.
   */
  readonly hosts: readonly string[]
  readonly auth: Auth
  /** The call that tests a credential; default: `GET /v1/models`. */
  readonly probe?: ProbeCall
  /** The query parameters in which its clients may send a key instead. */
  readonly keyParameters?: readonly string[]
  /**
   * Hosts with the same API and a credential of their own, which an operator adds; the usual form
   * of that credential, and other differences.
   */
  readonly elsewhere?: Pick<ProviderRow, 'hosts' | 'auth' | 'accountChoice'>
  /** Further hosts of the same provider, with their differences. */
  readonly sites?: readonly Site[]
  readonly endpoints: readonly EndpointRow[]
  /**
   * Endpoints that hand out access or run the account, beyond those that are closed everywhere,
   * matched anywhere in the loosened path: refused for every key.
   */
  readonly minting?: readonly RegExp[]
  readonly admin?: readonly RegExp[]
  /**
   * Minting endpoints that we answer with a child key, `POST /path`, and how: the provider is never
   * asked. All others stay closed.
   */
  readonly mints?: Readonly<Record<string, MintShapeName>>
  readonly errors: ErrorShape | ErrorTemplate
  readonly usage: UsageKind
  /**
   * Response headers that name our account with this provider, beyond those that are always
   * dropped.
   */
  readonly accountHeaders?: readonly string[]
  /**
   * Request headers that select an account, project or the like within our credential: dropped.
   */
  readonly accountChoice?: readonly string[]
  /**
   * Request headers that pass although their names look like a credential or a person
   * (forward/header-rules.ts), because the provider documents them.
   */
  readonly passes?: readonly string[]
  /** The objects that a request's query names, for any path. */
  readonly asks?: Asks
  /** Headers that name a stored object, and its kind. */
  readonly objectHeaders?: Readonly<Record<string, string>>
  /** How the ids of its objects are spelled; without it as in OpenAI's dialect. */
  readonly spelling?: Spelling
  /**
   * Whether stored objects here have names that callers or operators choose, so that any name
   * behind a collection in an unknown path is one.
   */
  readonly chosenNames?: true
  /** Public names, by kind: stock voices, published versions. */
  readonly publicObjects?: Readonly<Record<string, RegExp>>
  /** Whether its ids may have any form at every endpoint, because its software is unknown. */
  readonly anyIds?: true
  /** Keys of a body that use resources that the operator set up with the provider. */
  readonly operated?: Operated
  /** Advice in the refusal of an unowned object, by kind, if another request would work. */
  readonly instead?: Readonly<Record<string, string>>
  /** Parameters of paths that may be percent-encoded as a whole (Bedrock's ARNs). */
  readonly encoded?: readonly string[]
  /** All spellings of one model, for comparison with a key's scope; without it the name itself. */
  readonly modelNames?: (name: string) => string[]
}

/** Hosts of a provider at which a part of its row is different. */
export interface Site extends Partial<
  Pick<
    ProviderRow,
    'auth' | 'endpoints' | 'minting' | 'admin' | 'usage' | 'errors' | 'accountChoice'
  >
> {
  readonly hosts: readonly string[]
  /** Whether they serve files to anybody who knows the address: no credential is sent there. */
  readonly anonymous?: true
}

/** A provider ready for use, at some of its hosts or at all of them. */
export interface Provider extends Omit<ProviderRow, 'endpoints' | 'operated' | 'sites'> {
  readonly anonymous?: true
  readonly endpoints: EndpointTable
  readonly minting: readonly RegExp[]
  readonly admin: readonly RegExp[]
  readonly modelNames: (name: string) => string[]
  readonly ids?: IdForms
  /**
   * The forms of ids at endpoints that no row knows, and the names under which requests give them.
   */
  readonly unknownIds?: IdForms
  readonly idNames?: IdNames
  readonly operated?: OperatedKeys
}

/**
 * A provider that the operator adds, or the id of a built-in one that is dialled or authenticated
 * otherwise.
 */
export interface CustomProvider {
  readonly id: string
  /** The origin for callers, https and without a path. */
  readonly origin: string
  /** The dialled address instead, http or https, with an optional path prefix. */
  readonly dial?: string
  readonly auth?: Auth
  /** The built-in provider whose API it has; OpenAI's dialect if left out. */
  readonly speaks?: string
  readonly endpoints?: readonly EndpointEntry[]
  /** Paths that are closed, with all below. */
  readonly minting?: readonly string[]
  readonly admin?: readonly string[]
}

/** An address that may be called: whose it is, what callers name and where we dial. */
export interface Upstream {
  readonly provider: Provider
  /** As callers name it: `https://host[:port]`. */
  readonly origin: string
  readonly dial: DialAddress
  /**
   * The values of the host pattern (`{ resource: 'acme' }`): the credential must carry the same.
   */
  readonly instance: Readonly<Record<string, string>>
  /** The parts of the host that callers choose (`{ deployment: 'model-1' }`). */
  readonly hostParts?: Readonly<Record<string, string>>
}

/** The dialled address of an upstream, as the operator writes it. */
export interface DialAddress {
  /** `http://127.0.0.1:9000` */
  readonly origin: string
  /** Put in front of the path, without a slash at its end; `''` for none. */
  readonly basePath: string
}
