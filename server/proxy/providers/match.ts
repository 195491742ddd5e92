// What a request's method and path say about it.
import type { EndpointClass, EndpointRow } from './endpoint-row.ts'
import type { BodyRule } from './body-rule.ts'
import type { ObjectRef } from './object-ref.ts'

/** The classification of a request by its method and path alone. */
export interface Match {
  readonly class: EndpointClass | 'unknown'
  readonly endpoint: EndpointRow | null
  /** The places of interest in its request bodies; null if there are none. */
  readonly body: BodyRule | null
  /** The row's pattern, for the ledger; `''` for an unknown endpoint. */
  readonly pattern: string
  /** The model that the path names, decoded. */
  readonly model: string | null
  /** Stored objects that the path names; for an unknown endpoint, every possible one. */
  readonly objects: readonly ObjectRef[]
  /**
   * How the path's spelling is unusual. `dots`: a URL parser would rewrite it, so it is never sent;
   * nor is `long`, which has too many segments. `odd`: encoded, doubled, cased or parametrised in a
   * way that could reach a known endpoint.
   */
  readonly spelling: 'plain' | 'odd' | 'dots' | 'long'
  /** For a POST to an unknown endpoint: the places in the response that name created objects. */
  readonly creates?: Readonly<Record<string, string>>
  /**
   * For an unknown endpoint: whether it calls a method by name, which may list or read any stored
   * object.
   */
  readonly procedure?: true
}
