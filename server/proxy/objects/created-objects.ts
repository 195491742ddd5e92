// Decides which objects a response created; these belong to the request's key. They are those that
// the response names as created, except those that the request itself named: a response may repeat
// its request, and repeating an id must not make its object the key's.
import { decodedFully, type ObjectRef } from '../providers/object-ref.ts'
import { madeSomewhere, OF_UNKNOWN_KIND } from '../providers/unknown-ids.ts'
import type { Match } from '../providers/match.ts'
import type { Provider } from '../providers/provider.ts'

/** The known objects of a request. */
export interface CreatingRequest {
  readonly provider: Pick<Provider, 'unknownIds'>
  readonly match: Pick<Match, 'class' | 'endpoint' | 'objects'>
  readonly pathAndQuery: string
  readonly headers: readonly string[]
  /** The objects that its path, query and body name. */
  readonly objects: readonly ObjectRef[]
  /** Whether it has a body that was forwarded unread. */
  readonly isUnread: boolean
  /**
   * Whether its path names an object that is not the key's, in which case the objects that it
   * creates are not the key's either.
   */
  readonly namesForeignObject: boolean
}

/** Decides what one response created. */
export class CreatedObjects {
  readonly #request: CreatingRequest
  #named: ReadonlySet<string> | null = null
  /** The rest of the request, if anything in it may be an id. */
  #text: string | null = null

  constructor(request: CreatingRequest) {
    this.#request = request
  }

  /**
   * The object; if the endpoint is unknown, its kind is determined by its id. Null if it was not
   * created by this request.
   */
  resolve(object: ObjectRef): ObjectRef | null {
    const { provider, match, isUnread, namesForeignObject } = this.#request
    if (match.class !== 'unknown')
      return (namesForeignObject && !this.#isOfRequest(object)) || this.#isNamed(object)
        ? null
        : object
    if (isUnread || this.#isNamed(object) || this.#isInHead(object.id)) return null
    if (object.kind !== OF_UNKNOWN_KIND) return object
    const made =
      provider.unknownIds === undefined ? null : madeSomewhere(object.id, provider.unknownIds)
    return made === null || this.#isNamed(made) ? null : made
  }

  /** Whether every request creates it, whatever the path names: for example, speech by a voice. */
  #isOfRequest({ kind }: ObjectRef): boolean {
    const { createsInHeaders = {} } = this.#request.match.endpoint ?? {}
    return Object.values(createsInHeaders).includes(kind)
  }

  #isNamed({ id }: ObjectRef): boolean {
    const { match, objects } = this.#request
    if (objects.length === 0 || match.endpoint?.chosen === true) return false
    // An object created with the path's object may have its id: xAI's video, and the file that it
    // becomes.
    this.#named ??= new Set(
      objects.flatMap((object) =>
        match.objects.includes(object) ? [] : [object.id.toLowerCase()],
      ),
    )
    return this.#named.has(id.toLowerCase())
  }

  #isInHead(id: string): boolean {
    const { pathAndQuery, headers } = this.#request
    this.#text ??= [pathAndQuery, ...headers.filter((_, i) => i % 2 === 1)]
      .map(decodedFully)
      .join('\n')
      .toLowerCase()
    return this.#text.includes(id.toLowerCase())
  }
}
