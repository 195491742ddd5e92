// Step 5: which models and stored objects a request can reach, and what of its body had to be read to know that.
import type { Caller } from '../http/caller.ts'
import { NO_BYTES, type RawHeaders } from '../http/fields.ts'
import { readWhole, release, type WholeBody } from './body.ts'
import { requestHeaders } from './headers.ts'
import { bodyNeeded, checkScope, ModelObserver } from './model.ts'
import type { Match, ObjectRef } from './providers/endpoint.ts'
import type { Provider } from './providers/provider.ts'
import { Refused, type Trip } from './trip.ts'
import type { Outgoing } from './upstream.ts'

/** Seconds after which it is worth trying again when we cannot serve right now. */
export const BUSY_RETRY_S = 5

export interface Reached {
  readonly objects: readonly ObjectRef[]
  readonly body: Outgoing['body']
  /** Bytes of the body that we hold; they must be released. */
  readonly held: number
  /** Reads the model of a body that is not held while it goes up. */
  readonly observer: ModelObserver | null
}

type Read = Extract<WholeBody, { ok: true }>

/** Null: the caller has left. @throws Refused */
export async function reachOf(trip: Trip, provider: Provider, match: Match, pathAndQuery: string, limit: number): Promise<Reached | null> {
  const { caller } = trip
  const { headers } = caller
  const { scope } = trip.key!
  caller.proceed()
  let read: Read | null = null
  if (caller.body !== null && ((!scope.all && bodyNeeded(match)) || namesObjects(match))) {
    const reading = readWhole(caller.body, limit)
    const result = reading instanceof Promise ? await reading : reading
    if (result.ok) read = result
    else if (result.reason === 'gone') return null
    else throw unread(result.reason, limit)
  }
  const body = read?.body ?? null
  const held = body?.length ?? 0
  if (!scope.all) {
    const checking = checkScope(scope, { provider, match, pathAndQuery, headers, body, limit })
    const reach = checking instanceof Promise ? await checking : checking
    if (!reach.ok) {
      release(held)
      throw new Refused(reach.code, reach.message)
    }
    trip.model = reach.models[0] ?? null
    return { objects: reach.objects, body: outgoingBody(caller, provider, match, read, null), held, observer: null }
  }
  const observer = new ModelObserver(match, headers, pathAndQuery)
  if (body !== null) observer.write(body)
  trip.model = observer.model
  const watching = body === null && observer.watching ? observer : null
  return { objects: body === null ? match.objects : observer.objects, body: outgoingBody(caller, provider, match, read, watching), held, observer: watching }
}

function unread(reason: 'busy' | 'too_large', limit: number): Refused {
  if (reason === 'busy') return new Refused('service_unavailable', 'The proxy holds too many large requests at the moment.', ['Retry-After', String(BUSY_RETRY_S)])
  return new Refused('body_too_large', `The body must be read to find its model, and is larger than ${limit} bytes.`)
}

function outgoingBody({ body }: Caller, provider: Provider, match: Match, read: Read | null, observer: ModelObserver | null): Outgoing['body'] {
  if (body === null) return null
  const trailers = (raw: RawHeaders) => (raw.length === 0 ? raw : requestHeaders(raw, provider, match.endpoint))
  if (read !== null) return { length: body.length, held: read.body, heldTrailers: read.trailers, rest: null, watch: null, trailers }
  return { length: body.length, held: NO_BYTES, heldTrailers: [], rest: body, watch: observer === null ? null : (piece) => observer.write(piece), trailers }
}

/** Whether a body of this endpoint may name stored objects. */
function namesObjects({ endpoint }: Match): boolean {
  return endpoint?.model !== undefined && 'body' in endpoint.model && endpoint.model.body.objects !== undefined
}
