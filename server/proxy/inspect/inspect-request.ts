// Step 5: finds the models and stored objects that a request can reach. Its body is read as far as
// needed.
import type { CachedKey } from '../../keys/cache.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import { bufferBody, discardBody, heldBody, type CompleteBody } from './buffer-body.ts'
import { BUFFERS_FULL } from './checked-upload.ts'
import { headerRefs } from './header-refs.ts'
import { inspectPartial, inspectStreamed } from './inspect-streamed.ts'
import { inspectUpload } from './inspect-upload.ts'
import {
  PLAIN,
  type InspectedRequest,
  type InspectionDeps,
  type InspectionTarget,
} from './inspected-request.ts'
import { Inspection } from './inspection.ts'
import { headModel } from './observer.ts'
import { loggedModel } from './places.ts'
import { modelOf, needsBody, resolveModels } from './resolve-models.ts'
import type { InspectionQueue } from './scheduler.ts'
import { uploadKindOf } from './upload-kind.ts'

/**
 * Bodies up to this size are inspected synchronously, which takes less than a millisecond: `npm run
 * bench -- inspect`.
 */
const MAX_SYNC_BYTES = 128 * 1024

/**
 * Inspects a request; null if the caller has left.
 *
 * @param reauthenticate returns the current key; called after a slow body
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
  const isUpload = target.match.endpoint?.uploads !== undefined
  const kind = isUpload ? uploadKindOf({ ...target, headers: exchange.headers }) : 'request'
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
    // The rest of a partly read body.
    if (!buffered.ok && buffered.reason === 'too_large') discardBody(body)
    throw error
  }
}

/** Whether a body has to be read before any of it is forwarded, even if it is a file. */
function mustBeRead({ key, match }: InspectionTarget): boolean {
  return (!key.scope.all && needsBody(match)) || match.body?.objects !== undefined
}

/**
 * Whether a model must be decided; if none runs, the body is read only for the objects that it
 * names.
 */
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

/** Inspects a short body synchronously. @returns whether it is complete */
const runsAtOnce = (
  inspection: Inspection,
  { inspectionQueue }: InspectionDeps,
  { length }: CompleteBody,
): boolean =>
  length <= MAX_SYNC_BYTES && !inspection.needsDecoding && inspectionQueue.runNow(inspection)

/** Inspects a body in turns with all others; null if the caller has left. */
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
  // The key's limits have changed meanwhile.
  const again = inspectionOf(current, deps, body)
  return runsAtOnce(again, deps, body)
    ? inspectBuffered(current, body, again)
    : inspectInTurns(current, deps, body, again, reauthenticate)
}

/** @returns false if the caller has left */
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

/** The result of inspecting a buffered body. */
function inspectBuffered(
  target: InspectionTarget,
  complete: CompleteBody,
  inspection: Inspection,
): InspectedRequest {
  const { exchange, key, provider, match, pathAndQuery } = target
  const { headers } = exchange
  const { findings } = inspection
  const body = heldBody(exchange.body, complete, target)
  const trailerRefs = headerRefs(provider, complete.trailers)
  const outsideProse = (): readonly ObjectRef[] =>
    match.objects.concat(inspection.mentionedOutsideProse(), trailerRefs)
  if (inspection.strict) {
    const request = { provider, match, pathAndQuery, headers }
    const resolution = resolveModels(key.scope, request, inspection)
    const model = modelOf(provider, resolution, match)
    if (!resolution.ok) throw new GatewayError(resolution.code, resolution.message, [], model)
    const objects = resolution.objects.concat(trailerRefs)
    return { ...PLAIN, key, model, keepsResponse: resolution.kept, objects, body, outsideProse }
  }
  refuseUnreadable(key, inspection)
  return {
    ...PLAIN,
    key,
    model: loggedModel(
      provider,
      findings.model ?? headModel(match, pathAndQuery, exchange.headers),
    ),
    keepsResponse: findings.kept,
    objects: match.objects.concat(findings.mentioned, trailerRefs),
    body,
    outsideProse,
  }
}

/** @throws GatewayError `ambiguous_body` if it is not known which stored objects a body names */
export function refuseUnreadable({ objects }: CachedKey, inspection: Inspection): void {
  if (inspection.refusal !== null || inspection.findings.unclear)
    throw new GatewayError(
      'ambiguous_body',
      'The body cannot be read, so the stored objects that it names are unknown.',
    )
  if (objects === 'own' && inspection.isUnreadable)
    throw new GatewayError(
      'ambiguous_body',
      'The body is neither JSON nor a form in UTF-8, so the stored objects that it names are unknown.',
    )
}
