// The fields of a row of the provider table. The rows are in `rows/`, one file per provider.
import type { MintShapeName } from '../minting/mint-shapes.ts'
import type { EndpointEntry } from '../../config/providers-file.ts'
import type { IdForms, Spelling } from './id-spelling.ts'
import type { EndpointTable } from './endpoint-table.ts'
import type { IdNames } from './id-names.ts'
import type { Asks, EndpointRow } from './endpoint-row.ts'
import type { Operated, OperatedKeys } from './cloud-resources.ts'
import type { Auth, ErrorShape, ErrorTemplate, UsageKind } from './wire-format.ts'

/** A call that costs nothing and that needs a valid credential. */
export interface ProbeCall {
  readonly path: string
  readonly headers?: readonly string[]
  /** The body of a POST; without it, a GET. */
  readonly body?: string
  /** Further statuses that mean a valid credential: 404 for an object that does not exist. */
  readonly opens?: readonly number[]
}

/** A provider, as declared in its file. */
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
   * Hosts with the same API but another credential, which an operator adds; the usual form of that
   * credential, and other differences.
   */
  readonly elsewhere?: Pick<ProviderRow, 'hosts' | 'auth' | 'accountChoice'>
  /** Further hosts of the same provider, with their differences. */
  readonly sites?: readonly Site[]
  readonly endpoints: readonly EndpointRow[]
  /**
   * Endpoints that issue access or administer the account, in addition to those that are closed
   * everywhere, matched anywhere in the loosened path: refused for every key.
   */
  readonly minting?: readonly RegExp[]
  readonly admin?: readonly RegExp[]
  /**
   * Minting endpoints for which we respond with a child key, `POST /path`, and the shape; the
   * provider gets no request. All others stay closed.
   */
  readonly mints?: Readonly<Record<string, MintShapeName>>
  readonly errors: ErrorShape | ErrorTemplate
  readonly usage: UsageKind
  /**
   * Response headers that name our account with this provider, in addition to those that are always
   * dropped.
   */
  readonly accountHeaders?: readonly string[]
  /**
   * Request headers that select an account, project or the like within our credential: dropped.
   */
  readonly accountChoice?: readonly string[]
  /**
   * Request headers that are forwarded although their names look like a credential or a person
   * (forward/header-rules.ts), because the provider documents them.
   */
  readonly passes?: readonly string[]
  /** The objects that a request's query names, for any path. */
  readonly asks?: Asks
  /** Headers that name a stored object, and its kind. */
  readonly objectHeaders?: Readonly<Record<string, string>>
  /** The spelling of its objects' ids; by default, as in OpenAI's dialect. */
  readonly spelling?: Spelling
  /**
   * Whether stored objects here have names that callers or operators choose, so that any name after
   * a collection in an unknown path is one.
   */
  readonly chosenNames?: true
  /** Public names, by kind: stock voices, published versions. */
  readonly publicObjects?: Readonly<Record<string, RegExp>>
  /** Whether its ids may have any form at every endpoint, because its software is unknown. */
  readonly anyIds?: true
  /** Keys of a body that use the operator's resources at the provider. */
  readonly operated?: Operated
  /** Advice in the refusal of an unowned object, by kind, if another request would work. */
  readonly instead?: Readonly<Record<string, string>>
  /** Parameters of paths that may be percent-encoded as a whole (Bedrock's ARNs). */
  readonly encoded?: readonly string[]
  /**
   * All spellings of one model, for comparison with a key's scope; by default, only the name
   * itself.
   */
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
  /** Whether they serve files to anyone who knows the address, so that no credential is sent. */
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

/** A provider that the operator adds, or changes to a built-in one's address or authentication. */
export interface CustomProvider {
  readonly id: string
  /** The origin for callers, https and without a path. */
  readonly origin: string
  /** The dialled address instead, http or https, with an optional path prefix. */
  readonly dial?: string
  readonly auth?: Auth
  /** The built-in provider whose API it implements; by default, OpenAI's dialect. */
  readonly speaks?: string
  readonly endpoints?: readonly EndpointEntry[]
  /** Closed paths, with everything below them. */
  readonly minting?: readonly string[]
  readonly admin?: readonly string[]
}

/** An address that may be called: its provider, the origin for callers and the address to dial. */
export interface Upstream {
  readonly provider: Provider
  /** The origin for callers: `https://host[:port]`. */
  readonly origin: string
  readonly dial: DialAddress
  /**
   * The values of the host pattern (`{ resource: 'acme' }`); the credential must have the same.
   */
  readonly instance: Readonly<Record<string, string>>
  /** The parts of the host that callers choose (`{ deployment: 'model-1' }`). */
  readonly hostParts?: Readonly<Record<string, string>>
}

/** The dialled address of an upstream, as set by the operator. */
export interface DialAddress {
  /** `http://127.0.0.1:9000` */
  readonly origin: string
  /** Put before the path, without a final slash; `''` for none. */
  readonly basePath: string
}
