// Step 5: which models and stored objects a request can reach. Its body is read as far as that takes.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HttpExchange, RequestBody } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import type { OutboundRequest } from '../../http1/client/client.ts'
import type { CachedKey } from '../../keys/cache.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import { requestHeaders } from '../forward/headers.ts'
import type { ObjectOwners } from '../objects/objects.ts'
import { bodyRuleOf, type Match } from '../providers/endpoint.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { RequestSlot } from '../shares/request-shares.ts'
import { BatchLines, inputKindOf } from './batch-lines.ts'
import { bufferBody, discardBody, type BodyTimeouts, type BufferedBody } from './buffer-body.ts'
import { ambiguous, BUFFERS_FULL, CheckedUpload } from './checked-upload.ts'
import { headerRefs } from './header-refs.ts'
import { Inspection } from './inspection.ts'
import { BodyObserver, headModel } from './observer.ts'
import { trailersOf } from './outside-body.ts'
import { loggedModel } from './places.ts'
import { needsBody, resolveModels, type ModelResolution } from './resolve-models.ts'
import type { InspectionQueue } from './scheduler.ts'
import { uploadKindOf, uploadReaderOf } from './upload-kind.ts'

/** What step 5 has found. */
export interface InspectedRequest {
  /** The key as it is now: it may have changed while the body came. */
  readonly key: CachedKey
  /** The model as the ledger has it; null where none is known. */
  readonly model: string | null
  /** Whether the request asks the provider to keep the response, or may do so. */
  readonly keepsResponse: boolean
  /** Stored objects that it names where its endpoint expects one, and those in its path. */
  readonly objects: readonly ObjectRef[]
  readonly body: OutboundRequest['body']
  /**
   * The same objects without ids that occur in prose only, which may be anything: evaluated where a
   * request would be refused for one.
   */
  readonly outsideProse?: () => readonly ObjectRef[]
  /** Whether the body goes up unread, so that nothing is known of what it names. */
  readonly isUnread: boolean
  /** Reads the model of a body that is not held while it goes up. */
  readonly observer: BodyObserver | null
  /** The rest of an upload, of which the parts behind a file have to be checked; null: none is. */
  readonly upload: CheckedUpload | null
  /** Reads a file that may become a batch's input while it goes up. */
  readonly lines: BatchLines | null
}

/** `body`: bytes of a body that has to be read whole. */
export interface InspectionLimits extends BodyTimeouts {
  readonly body: number
}

/** What an inspection needs. */
export interface InspectionDeps {
  readonly limits: InspectionLimits
  readonly objects: ObjectOwners
  readonly inspectionQueue: InspectionQueue
}

/** A request whose key and endpoint are known. */
export interface InspectionTarget {
  readonly exchange: HttpExchange
  readonly slot: RequestSlot
  readonly key: CachedKey
  readonly provider: Provider
  readonly match: Match
  readonly pathAndQuery: string
}

type CompleteBody = Extract<BufferedBody, { ok: true }>

/**
 * Bodies up to this size are inspected at once, which takes less than a millisecond: `npm run bench
 * -- inspect`.
 */
const MAX_SYNC_BYTES = 128 * 1024

/**
 * Inspects a request; null where the caller has left.
 *
 * @param reauthenticate gives the key as it is now: called when the body has taken its time
 * @throws GatewayError
 */
export async function inspectRequest(
  target: InspectionTarget,
  deps: InspectionDeps,
  reauthenticate: () => CachedKey,
): Promise<InspectedRequest | null> {
  const { exchange } = target
  exchange.writeContinue()
  const { body } = exchange
  if (body === null) return inspectStreamed(target, [])
  const kind = uploadKindOf({ ...target, headers: exchange.headers })
  if (kind === 'parts') return inspectUpload(target, body, deps, reauthenticate)
  if (kind === 'content' && !mustBeRead(target)) return inspectStreamed(target, [])
  const reading = bufferBody(body, deps.limits.body, deps.limits, target.slot)
  const hasWaited = reading instanceof Promise
  const buffered = hasWaited ? await reading : reading
  if (!buffered.ok && buffered.reason === 'gone') return null
  try {
    const current = hasWaited ? { ...target, key: reauthenticate() } : target
    if (!buffered.ok) return await inspectPartial(current, deps, buffered)
    const inspection = inspectionOf(current, deps, buffered)
    return runsAtOnce(inspection, deps, buffered)
      ? inspectBuffered(current, buffered, inspection)
      : await inspectInTurns(current, deps, buffered, inspection, reauthenticate)
  } catch (error) {
    // The rest of a body that has been read in part.
    if (!buffered.ok && buffered.reason === 'too_large') discardBody(body)
    throw error
  }
}

/** Whether a body has to be read before the upstream may see any of it, also where it is a file. */
function mustBeRead({ key, match }: InspectionTarget): boolean {
  return (!key.scope.all && needsBody(match)) || bodyRuleOf(match)?.objects !== undefined
}

/**
 * An upload in parts: held until its first file begins, and read while the rest of it streams up;
 * null where the caller has left.
 */
async function inspectUpload(
  first: InspectionTarget,
  body: RequestBody,
  deps: InspectionDeps,
  reauthenticate: () => CachedKey,
): Promise<InspectedRequest | null> {
  const { exchange, slot } = first
  const reader = uploadReaderOf({ ...first, headers: exchange.headers })
  const buffered = await bufferBody(
    body,
    deps.limits.body,
    deps.limits,
    slot,
    (piece) => reader.write(piece) || reader.problem !== null,
  )
  if (!buffered.ok && buffered.reason === 'gone') return null
  try {
    const target = { ...first, key: reauthenticate() }
    if (!buffered.ok && buffered.reason !== 'begun') {
      if (buffered.reason === 'too_large') throw tooLarge('stored objects', deps.limits.body)
      return await inspectPartial(target, deps, buffered)
    }
    if (buffered.ok) reader.end()
    while (!reader.settle()) await nextTurn()
    if (reader.problem !== null) throw ambiguous(reader.problem)
    const named = reader.takeNews()
    if (buffered.ok) return uploaded(target, named, outboundBody(target, buffered, null, []), null)
    const upload = new CheckedUpload(body, reader, slot)
    const streamed = outboundBody(target, null, null, buffered.pieces)
    return uploaded(target, named, streamed && { ...streamed, rest: upload }, upload)
  } catch (error) {
    // The rest of a body that has been read in part.
    if (!buffered.ok && buffered.reason !== 'busy') discardBody(body)
    throw error
  }
}

/** What is known of an upload in parts whose beginning, or all of it, names these objects. */
function uploaded(
  target: InspectionTarget,
  named: readonly ObjectRef[],
  body: OutboundRequest['body'],
  upload: CheckedUpload | null,
): InspectedRequest {
  const { key, provider, match, pathAndQuery, exchange } = target
  let model = match.model
  let { objects } = match
  if (!key.scope.all) {
    const { headers } = exchange
    const resolution = resolveModels(key.scope, { provider, match, pathAndQuery, headers }, null)
    model = modelOf(resolution, match)
    if (!resolution.ok) throw new GatewayError(resolution.code, resolution.message, [], model)
    objects = resolution.objects
  }
  const lines = key.scope.all ? batchLinesOf(target) : null
  return {
    ...PLAIN,
    key,
    model: loggedModel(model),
    objects: objects.concat(named),
    body: withLines(body, lines),
    isUnread: body !== null,
    upload,
    lines,
  }
}

/** A body that could not be held. */
async function inspectPartial(
  target: InspectionTarget,
  { limits, objects }: InspectionDeps,
  buffered: Extract<BufferedBody, { ok: false }>,
): Promise<InspectedRequest> {
  if (buffered.reason === 'busy') throw serviceUnavailable(BUFFERS_FULL)
  if (buffered.reason !== 'too_large')
    throw new GatewayError(
      'body_too_slow',
      'The body of the request came too slowly. A body that has to be read whole must come at 16 KB/s on average.',
    )
  const { key, provider } = target
  if (!key.scope.all) throw tooLarge('model', limits.body)
  if (key.objects === 'own') throw tooLarge('stored objects', limits.body)
  // For a key without limits on its models only stored objects matter: where none belongs to another
  // key, the rest need not be read.
  if (await objects.anyOwnedByOther(provider.id, key.id))
    throw tooLarge('stored objects', limits.body)
  return inspectStreamed(target, buffered.pieces)
}

const tooLarge = (what: string, limit: number): GatewayError =>
  new GatewayError(
    'body_too_large',
    `The body must be read to find its ${what}, and is larger than ${limit} bytes.`,
  )

/**
 * A body that streams up without being held. @param begun the beginning of one that is too long to
 * be held
 */
function inspectStreamed(target: InspectionTarget, begun: readonly Buffer[]): InspectedRequest {
  const { exchange, key, provider, match, pathAndQuery } = target
  const { headers } = exchange
  if (!key.scope.all) {
    const resolution = resolveModels(key.scope, { provider, match, pathAndQuery, headers }, null)
    const model = modelOf(resolution, match)
    if (!resolution.ok) throw new GatewayError(resolution.code, resolution.message, [], model)
    const body = outboundBody(target, null, null, begun)
    return { ...PLAIN, key, model, objects: resolution.objects, body }
  }
  const observer = new BodyObserver(match, headers, pathAndQuery)
  for (const piece of begun) observer.write(piece)
  const watching = exchange.body !== null && observer.watching ? observer : null
  const lines = batchLinesOf(target)
  const body = withLines(outboundBody(target, null, watching, begun), lines)
  return {
    key,
    model: loggedModel(observer.model),
    // It is not known in time.
    keepsResponse: watching !== null,
    objects: match.objects,
    body,
    isUnread: body !== null,
    observer: watching,
    upload: null,
    lines,
  }
}

/** Of a request whose body, if any, has been read. */
const PLAIN = {
  keepsResponse: false,
  isUnread: false,
  observer: null,
  upload: null,
  lines: null,
} as const

/** A reader for the lines of an upload that may become a batch's input; null for other requests. */
function batchLinesOf({ exchange, key, provider, match }: InspectionTarget): BatchLines | null {
  const kind =
    match.endpoint?.uploads === undefined
      ? null
      : inputKindOf(Object.values(match.endpoint.creates ?? {}))
  return key.objects === 'own' && exchange.body !== null && kind !== null
    ? BatchLines.of(exchange.headers, exchange.body.length, provider, kind)
    : null
}

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

/** Whether a model is decided about; where none runs, the body is read for the objects it names. */
const isStrict = ({ key, match }: InspectionTarget): boolean =>
  !key.scope.all && match.class !== 'neutral'

const inspectionOf = (
  target: InspectionTarget,
  { limits }: InspectionDeps,
  { pieces }: CompleteBody,
): Inspection => {
  const { exchange, provider, match } = target
  const { headers } = exchange
  const strict = isStrict(target)
  return new Inspection({ provider, match, headers, strict, limit: limits.body }, pieces)
}

/** Inspects a short body at once. @returns whether all of it is done */
const runsAtOnce = (
  inspection: Inspection,
  { inspectionQueue }: InspectionDeps,
  { length }: CompleteBody,
): boolean =>
  length <= MAX_SYNC_BYTES && !inspection.needsDecoding && inspectionQueue.runNow(inspection)

/** Inspects a body in turns with all others; null where the caller has left. */
async function inspectInTurns(
  target: InspectionTarget,
  deps: InspectionDeps,
  body: CompleteBody,
  inspection: Inspection,
  reauthenticate: () => CachedKey,
): Promise<InspectedRequest | null> {
  if (!(await waitForTurns(target, deps.inspectionQueue, inspection))) return null
  const current = { ...target, key: reauthenticate() }
  if (isStrict(current) === inspection.strict) return inspectBuffered(current, body, inspection)
  // The key has got other limits meanwhile.
  const again = inspectionOf(current, deps, body)
  return runsAtOnce(again, deps, body)
    ? inspectBuffered(current, body, again)
    : inspectInTurns(current, deps, body, again, reauthenticate)
}

/** @returns false where the caller has left */
async function waitForTurns(
  { exchange, key, slot }: InspectionTarget,
  inspectionQueue: InspectionQueue,
  inspection: Inspection,
): Promise<boolean> {
  if (exchange.closed) return false
  const ticket = inspectionQueue.run({ account_id: key.accountId, key_id: key.id }, inspection)
  let isEvicted = false
  exchange.watch({ onDrain() {}, onFinish() {}, onClose: () => ticket.cancel() })
  slot.allowEviction(() => {
    isEvicted = true
    ticket.cancel()
  })
  try {
    const isDone = await ticket.done
    if (isEvicted) throw serviceUnavailable(BUFFERS_FULL)
    return isDone
  } finally {
    slot.forbidEviction()
    inspection.close()
  }
}

/** What follows from the inspection of a body that is held. */
function inspectBuffered(
  target: InspectionTarget,
  complete: CompleteBody,
  inspection: Inspection,
): InspectedRequest {
  const { exchange, key, provider, match, pathAndQuery } = target
  const { headers } = exchange
  const { findings } = inspection
  const body = outboundBody(target, complete, null, [])
  const trailerRefs = headerRefs(provider, complete.trailers)
  const outsideProse = (): readonly ObjectRef[] =>
    match.objects.concat(inspection.mentionedOutsideProse(), trailerRefs)
  if (inspection.strict) {
    const request = { provider, match, pathAndQuery, headers }
    const resolution = resolveModels(key.scope, request, inspection)
    const model = modelOf(resolution, match)
    if (!resolution.ok) throw new GatewayError(resolution.code, resolution.message, [], model)
    const objects = resolution.objects.concat(trailerRefs)
    return { ...PLAIN, key, model, keepsResponse: resolution.kept, objects, body, outsideProse }
  }
  refuseUnreadable(key, inspection)
  return {
    ...PLAIN,
    key,
    model: loggedModel(findings.model ?? headModel(match, pathAndQuery, exchange.headers)),
    keepsResponse: findings.kept,
    objects: match.objects.concat(findings.mentioned, trailerRefs),
    body,
    outsideProse,
  }
}

/** @throws GatewayError `ambiguous_body` where it is not known which stored objects a body names */
function refuseUnreadable({ objects }: CachedKey, inspection: Inspection): void {
  if (inspection.refusal !== null || inspection.findings.unclear)
    throw new GatewayError(
      'ambiguous_body',
      'The body cannot be read, so it is not known which stored objects it names.',
    )
  if (objects === 'own' && inspection.isUnreadable)
    throw new GatewayError(
      'ambiguous_body',
      'The body is neither JSON nor a form of UTF-8, so it is not known which stored objects it names.',
    )
}

/** The model that is logged: the first one named, or the one that was refused. */
const modelOf = (resolution: ModelResolution, match: Match): string | null =>
  loggedModel((resolution.ok ? resolution.models[0] : resolution.model) ?? match.model)

/**
 * The body as it goes up.
 *
 * @param complete the whole body, where it has been read
 * @param observer reads the rest of a body while it streams up
 * @param begun the beginning of a body that streams up
 */
function outboundBody(
  { exchange, provider, match }: InspectionTarget,
  complete: CompleteBody | null,
  observer: BodyObserver | null,
  begun: readonly Buffer[],
): OutboundRequest['body'] {
  const body: RequestBody | null = exchange.body
  if (body === null) return null
  const place = match.endpoint?.model
  const modelHeaders = (place !== undefined && 'body' in place ? place.headers : undefined) ?? []
  const trailers = (raw: RawHeaders): RawHeaders =>
    raw.length === 0 ? raw : trailersOf(requestHeaders(raw, provider, match.endpoint), modelHeaders)
  if (complete !== null)
    return {
      length: body.length,
      held: complete.pieces,
      freesHeld: true,
      heldTrailers: complete.trailers,
      rest: null,
      observe: null,
      trailers,
    }
  // The head is on its way when these come: what they would name cannot be checked any more.
  const withoutRefs = (raw: RawHeaders): RawHeaders =>
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
    trailers: withoutRefs,
  }
}
