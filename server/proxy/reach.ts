// Step 5: which models and stored objects a request can reach, and what of its body had to be read to know that.
import type { Caller, CallerBody } from '../http/caller.ts'
import type { RawHeaders } from '../http/fields.ts'
import type { CachedKey } from '../keys/cache.ts'
import { discard, readWhole, type BodyPace, type WholeBody } from './body.ts'
import { requestHeaders } from './headers.ts'
import { bodyNeeded, checkScope, type Reach } from './model.ts'
import { written } from './model/names.ts'
import { trailersOf } from './outside-body.ts'
import { ModelObserver, namesObjects, observeHeld } from './model/observer.ts'
import type { Objects } from './objects.ts'
import type { Match, ObjectRef } from './providers/endpoint.ts'
import type { Provider } from './providers/provider.ts'
import { busy, Refused, type Trip } from './trip.ts'
import type { Outgoing } from './upstream.ts'

export interface Reached {
  readonly objects: readonly ObjectRef[]
  readonly body: Outgoing['body']
  /** Reads the model of a body that is not held while it goes up. */
  readonly observer: ModelObserver | null
}

/** `body`: bytes of a body that has to be read whole. */
export interface Limits extends BodyPace {
  readonly body: number
}

type Read = Extract<WholeBody, { ok: true }>

/**
 * Null: the caller has left. There at once, unless the body has still to come or to be decoded.
 *
 * @param prove proves the key again: what becomes of it while the body comes, which may take its time, counts
 * @throws Refused
 */
export function reachOf(trip: Trip, provider: Provider, match: Match, pathAndQuery: string, limits: Limits, objects: Objects, prove: () => CachedKey): Reached | null | Promise<Reached | null> {
  const { caller, key } = trip
  const limit = limits.body
  caller.proceed()
  const { body } = caller
  if (body === null || !((!key!.scope.all && bodyNeeded(match)) || namesObjects(match, caller.headers))) return look(trip, provider, match, pathAndQuery, limit, null)
  const decide = (result: WholeBody, { scope, id }: CachedKey): Reached | Promise<Reached> => {
    if (result.ok) return look(trip, provider, match, pathAndQuery, limit, result)
    if (result.reason === 'busy') throw busy('The proxy holds too many large requests at the moment.')
    if (result.reason !== 'too_large') throw new Refused('body_too_slow', 'The body of the request came too slowly. A body that has to be read whole must come at 16 KB/s on average.')
    const begun = result.pieces
    const refuse = (what: string): never => {
      throw new Refused('body_too_large', `The body must be read to find its ${what}, and is larger than ${limit} bytes.`)
    }
    if (!scope.all) return refuse('model')
    // Of a key without limits on its models only stored objects matter; where there is none that it may not name, the rest need not be read.
    return objects.anyForeign(provider.id, id).then((some) => (some ? refuse('stored objects') : look(trip, provider, match, pathAndQuery, limit, null, begun)))
  }
  const go = (result: WholeBody, proven: () => CachedKey): Reached | null | Promise<Reached> =>
    !result.ok && result.reason === 'gone' ? null : holding(body, result, () => decide(result, proven()))
  const reading = readWhole(body, limit, limits, trip.place!)
  return reading instanceof Promise ? reading.then((result) => go(result, prove)) : go(reading, () => key!)
}

const unclear = (): Refused => new Refused('ambiguous_body', 'The body cannot be read, so it is not known which stored objects it names.')

/**
 * @param read the body where it was read whole
 * @param begun the beginning of one that is too long for that
 */
function look(trip: Trip, provider: Provider, match: Match, pathAndQuery: string, limit: number, read: Read | null, begun: readonly Buffer[] = []): Reached | Promise<Reached> {
  const { caller } = trip
  const { headers } = caller
  const { scope } = trip.key!
  // For the readers that take one buffer; a body of one piece is not copied.
  const body = read === null ? null : read.pieces.length === 1 ? read.pieces[0]! : Buffer.concat(read.pieces)
  if (!scope.all) {
    const go = (reach: Reach): Reached | Promise<Reached> => {
      if (!reach.ok) throw new Refused(reach.code, reach.message)
      trip.model = written(reach.models[0] ?? match.model)
      trip.kept = reach.kept === true
      const reached = (objects: readonly ObjectRef[]): Reached => ({ objects, body: outgoingBody(caller, provider, match, read, null, begun), observer: null })
      // Where no model runs, the body was read for the objects that it names.
      if (body === null || match.class !== 'neutral') return reached(reach.objects)
      return after(observeHeld(match, headers, pathAndQuery, body, limit), (naming) => {
        if (naming === null) throw unclear()
        return reached(naming.objects)
      })
    }
    return after(checkScope(scope, { provider, match, pathAndQuery, headers, body, limit }), go)
  }
  const observing = body === null ? new ModelObserver(match, headers, pathAndQuery) : observeHeld(match, headers, pathAndQuery, body, limit)
  return after(observing, (observer) => {
    if (observer === null) throw unclear()
    if (body === null) for (const piece of begun) observer.write(piece)
    const watching = body === null && observer.watching ? observer : null
    trip.model = written(observer.model)
    // Of a body that streams by it is not known in time.
    trip.kept = observer.kept || watching !== null
    return { objects: body === null ? match.objects : observer.objects, body: outgoingBody(caller, provider, match, read, watching, begun), observer: watching }
  })
}

/** Where it fails, the rest of a body that has been read in part is let go. */
function holding<T>(body: CallerBody, result: WholeBody, deed: () => T | Promise<T>): T | Promise<T> {
  const letGo = (error: unknown): never => {
    if (!result.ok && result.reason === 'too_large') discard(body)
    throw error
  }
  try {
    const done = deed()
    return done instanceof Promise ? done.catch(letGo) : done
  } catch (error) {
    return letGo(error)
  }
}

/** Goes on with a value that may still have to come: at once where it is there, because promises cost more than most of what is decided here. */
function after<T, R>(value: T | Promise<T>, go: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(go) : go(value)
}

function outgoingBody({ body }: Caller, provider: Provider, match: Match, read: Read | null, observer: ModelObserver | null, begun: readonly Buffer[]): Outgoing['body'] {
  if (body === null) return null
  const place = match.endpoint?.model
  const named = (place !== undefined && 'body' in place ? place.headers : undefined) ?? []
  const trailers = (raw: RawHeaders) => (raw.length === 0 ? raw : trailersOf(requestHeaders(raw, provider, match.endpoint), named))
  if (read !== null) return { length: body.length, held: read.pieces, heldTrailers: read.trailers, rest: null, watch: null, trailers }
  return { length: body.length, held: begun, heldTrailers: [], rest: body, watch: observer === null ? null : (piece) => observer.write(piece), trailers }
}
