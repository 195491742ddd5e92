// Step 5: which models and stored objects a request can reach, and what of its body had to be read
// to know that.
import type { HttpExchange, RequestBody } from '../../http1/exchange.ts'
import { valuesOf, type RawHeaders } from '../../http1/header-fields.ts'
import type { CachedKey } from '../../keys/cache.ts'
import { discard, readWhole, type BodyPace, type WholeBody } from './buffer-body.ts'
import { headerRefs } from './header-refs.ts'
import { requestHeaders } from '../forward/headers.ts'
import type { Objects } from '../objects/objects.ts'
import { trailersOf } from './outside-body.ts'
import { bodyRuleOf, type Match } from '../providers/endpoint.ts'
import type { BodyRule } from '../providers/endpoint-row.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import { busy, Refused, type Trip } from '../request-context.ts'
import type { OutboundRequest } from '../../http1/client/client.ts'
import { BatchLines, inputKindOf } from './batch-lines.ts'
import { isForm } from './body-reader.ts'
import { Inspection } from './inspection.ts'
import { needsBody, resolveModels } from './resolve-models.ts'
import { BodyObserver, headModel } from './observer.ts'
import { placesOf, written } from './places.ts'
import type { InspectionQueue } from './scheduler.ts'

export interface InspectedRequest {
  /** Stored objects that it names where its endpoint expects one, and those in its path. */
  readonly objects: readonly ObjectRef[]
  readonly body: OutboundRequest['body']
  /**
   * The same objects, where ids that stand in prose only may be nobody's: asked for where a request
   * would be refused for one.
   */
  readonly besideProse?: () => readonly ObjectRef[]
  /** Whether nothing is known of what the body names. */
  readonly isUnread?: boolean
  /** Reads the model of a body that is not held while it goes up. */
  readonly observer: BodyObserver | null
  /** Reads a file that may become a batch's input while it goes up. */
  readonly lines?: BatchLines | null
}

/** `body`: bytes of a body that has to be read whole. */
export interface Limits extends BodyPace {
  readonly body: number
}

/** What an inspection is done with. */
export interface InspectionParts {
  readonly limits: Limits
  readonly objects: Objects
  readonly inspections: InspectionQueue
}

/** A request whose key and endpoint are known. */
interface Target {
  readonly trip: Trip
  readonly provider: Provider
  readonly match: Match
  readonly pathAndQuery: string
}

type Read = Extract<WholeBody, { ok: true }>

/**
 * Bodies up to this size are inspected at once, which takes less than a millisecond: `npm run bench
 * -- inspect`.
 */
const MAX_SYNC_BYTES = 128 * 1024

/**
 * Null: the caller has left. There at once, unless the body has still to come, or is long, or has
 * to be decoded.
 *
 * @param prove proves the key again: what becomes of it while the body comes, which may take its
 *   time, counts
 * @throws Refused
 */
export function inspectRequest(
  target: Target,
  parts: InspectionParts,
  prove: () => CachedKey,
): InspectedRequest | null | Promise<InspectedRequest | null> {
  const { trip, provider, match } = target
  const { caller, key } = trip
  const { limits, objects } = parts
  caller.writeContinue()
  const { body } = caller
  if (
    body === null ||
    !(
      (!key!.scope.all && needsBody(match)) ||
      namesObjects(match, bodyRuleOf(match), caller.headers)
    )
  )
    return decideUnread(target, [])
  const decide = (
    result: WholeBody,
    { scope, id, objects: holdings }: CachedKey,
  ): InspectedRequest | null | Promise<InspectedRequest | null> => {
    if (result.ok) return inspectBody(target, parts, result, prove)
    if (result.reason === 'busy') throw busy(HOLDS_TOO_MUCH)
    if (result.reason !== 'too_large')
      throw new Refused(
        'body_too_slow',
        'The body of the request came too slowly. A body that has to be read whole must come at 16 KB/s on average.',
      )
    const begun = result.pieces
    if (!scope.all) throw tooLarge('model', limits.body)
    if (holdings === 'own') throw tooLarge('stored objects', limits.body)
    // Of a key without limits on its models only stored objects matter; where there is none that it
    // may not name, the rest need not be read.
    return objects.anyForeign(provider.id, id).then((some) => {
      if (some) throw tooLarge('stored objects', limits.body)
      return decideUnread(target, begun)
    })
  }
  const go = (
    result: WholeBody,
    proven: () => CachedKey,
  ): InspectedRequest | null | Promise<InspectedRequest | null> =>
    !result.ok && result.reason === 'gone'
      ? null
      : holding(body, result, () => decide(result, proven()))
  const reading = readWhole(body, limits.body, limits, trip.place!)
  return reading instanceof Promise
    ? reading.then((result) => go(result, prove))
    : go(reading, () => key!)
}

const tooLarge = (what: string, limit: number): Refused =>
  new Refused(
    'body_too_large',
    `The body must be read to find its ${what}, and is larger than ${limit} bytes.`,
  )
const HOLDS_TOO_MUCH = 'The proxy holds too many large requests at the moment.'

/**
 * Whether a body may name stored objects: any may, but for files that are uploaded to be stored.
 * Those are content.
 */
function namesObjects(match: Match, rule: BodyRule | null, headers: readonly string[]): boolean {
  const uploads = match.endpoint?.uploads
  if (uploads === undefined) return true
  if (!isForm(valuesOf(headers, 'content-type')[0] ?? ''))
    return rule?.objects !== undefined || (uploads === 'form' && !storesFile(match))
  return rule !== null && placesOf(rule).objectFields.size > 0
}

/**
 * A body that streams up without being held. @param begun the beginning of one that is too long to
 * be held
 */
function decideUnread(
  { trip, provider, match, pathAndQuery }: Target,
  begun: readonly Buffer[],
): InspectedRequest {
  const { caller, key } = trip
  if (!key!.scope.all) {
    const resolved = resolveModels(
      key!.scope,
      { provider, match, pathAndQuery, headers: caller.headers },
      null,
    )
    trip.model = written((resolved.ok ? resolved.models[0] : resolved.model) ?? match.model)
    if (!resolved.ok) throw new Refused(resolved.code, resolved.message)
    return {
      objects: resolved.objects,
      body: outgoingBody(caller, provider, match, null, null, begun),
      observer: null,
    }
  }
  const observer = new BodyObserver(match, caller.headers, pathAndQuery)
  for (const piece of begun) observer.write(piece)
  const watching = caller.body !== null && observer.watching ? observer : null
  trip.model = written(observer.model)
  // It is not known in time.
  trip.kept = watching !== null
  const input =
    match.endpoint?.uploads === undefined
      ? null
      : inputKindOf(Object.values(match.endpoint.creates ?? {}))
  const lines =
    key!.objects === 'own' && caller.body !== null && input !== null
      ? BatchLines.of(caller.headers, caller.body.length, provider.ids, input)
      : null
  const body = withLines(outgoingBody(caller, provider, match, null, watching, begun), lines)
  return { objects: match.objects, body, isUnread: body !== null, observer: watching, lines }
}

/** Whether what is uploaded becomes a file. */
const storesFile = ({ endpoint }: Match): boolean =>
  endpoint?.uploads !== undefined && Object.values(endpoint.creates ?? {}).includes('file')

/** A body that streams up while its lines are read. */
function withLines(
  body: OutboundRequest['body'],
  lines: BatchLines | null,
): OutboundRequest['body'] {
  if (body === null || lines === null) return body
  for (const piece of body.held) lines.write(piece)
  const { observe, trailers } = body
  return {
    ...body,
    observe: (piece) => {
      observe?.(piece)
      lines.write(piece)
    },
    trailers: (raw) => {
      lines.end()
      return trailers(raw)
    },
  }
}

/** Where no model runs, the body is read for the objects that it names. */
const isStrict = ({ trip, match }: Target): boolean =>
  !trip.key!.scope.all && match.class !== 'neutral'

/** A body that is held. */
function inspectBody(
  target: Target,
  parts: InspectionParts,
  read: Read,
  prove: () => CachedKey,
): InspectedRequest | Promise<InspectedRequest | null> {
  const { trip, provider, match } = target
  const inspection = new Inspection(
    {
      provider,
      match,
      headers: trip.caller.headers,
      strict: isStrict(target),
      limit: parts.limits.body,
    },
    read.pieces,
  )
  if (read.length <= MAX_SYNC_BYTES && !inspection.waits && parts.inspections.runNow(inspection))
    return decideInspected(target, read, inspection)
  return inspectInTurns(trip, parts.inspections, inspection).then((done) => {
    if (!done) return null
    prove()
    // The key has got other limits meanwhile.
    return isStrict(target) === inspection.strict
      ? decideInspected(target, read, inspection)
      : inspectBody(target, parts, read, prove)
  })
}

/** @returns false where the caller has left */
async function inspectInTurns(
  { caller, key, place }: Trip,
  inspections: InspectionQueue,
  inspection: Inspection,
): Promise<boolean> {
  if (caller.closed) return false
  const ticket = inspections.run({ account_id: key!.accountId, key_id: key!.id }, inspection)
  let dropped = false
  caller.watch({ onDrain() {}, onFinish() {}, onClose: () => ticket.cancel() })
  place!.offer(() => {
    dropped = true
    ticket.cancel()
  })
  try {
    const done = await ticket.done
    if (dropped) throw busy(HOLDS_TOO_MUCH)
    return done
  } finally {
    place!.keep()
    inspection.close()
  }
}

function decideInspected(target: Target, read: Read, inspection: Inspection): InspectedRequest {
  const { trip, provider, match, pathAndQuery } = target
  const { caller } = trip
  const { findings, refusal } = inspection
  const body = outgoingBody(caller, provider, match, read, null, [])
  const behind = headerRefs(provider, read.trailers)
  const besideProse = () => match.objects.concat(inspection.mentionedBesideProse(), behind)
  if (inspection.strict) {
    const resolved = resolveModels(
      trip.key!.scope,
      { provider, match, pathAndQuery, headers: caller.headers },
      inspection,
    )
    trip.model = written((resolved.ok ? resolved.models[0] : resolved.model) ?? match.model)
    if (!resolved.ok) throw new Refused(resolved.code, resolved.message)
    trip.kept = resolved.kept
    return { objects: resolved.objects.concat(behind), body, besideProse, observer: null }
  }
  if (refusal !== null || findings.unclear)
    throw new Refused(
      'ambiguous_body',
      'The body cannot be read, so it is not known which stored objects it names.',
    )
  if (trip.key!.objects === 'own' && inspection.isUnreadable)
    throw new Refused(
      'ambiguous_body',
      'The body is neither JSON nor a form of UTF-8, so it is not known which stored objects it names.',
    )
  trip.model = written(findings.model ?? headModel(match, pathAndQuery))
  trip.kept = findings.kept
  return {
    objects: match.objects.concat(findings.mentioned, behind),
    body,
    besideProse,
    observer: null,
  }
}

/** Where it fails, the rest of a body that has been read in part is let go. */
function holding<T>(
  body: RequestBody,
  result: WholeBody,
  deed: () => T | Promise<T>,
): T | Promise<T> {
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

function outgoingBody(
  { body }: HttpExchange,
  provider: Provider,
  match: Match,
  read: Read | null,
  observer: BodyObserver | null,
  begun: readonly Buffer[],
): OutboundRequest['body'] {
  if (body === null) return null
  const place = match.endpoint?.model
  const named = (place !== undefined && 'body' in place ? place.headers : undefined) ?? []
  const trailers = (raw: RawHeaders) =>
    raw.length === 0 ? raw : trailersOf(requestHeaders(raw, provider, match.endpoint), named)
  if (read !== null)
    return {
      length: body.length,
      held: read.pieces,
      heldTrailers: read.trailers,
      rest: null,
      observe: null,
      trailers,
    }
  // The head is on its way when these come: what they would name cannot be asked for any more.
  const nameless = (raw: RawHeaders) =>
    trailers(
      raw.flatMap((_, i) =>
        i % 2 === 0 && headerRefs(provider, raw.slice(i, i + 2)).length === 0
          ? raw.slice(i, i + 2)
          : [],
      ),
    )
  return {
    length: body.length,
    held: begun,
    heldTrailers: [],
    rest: body,
    observe: observer === null ? null : (piece) => observer.write(piece),
    trailers: nameless,
  }
}
