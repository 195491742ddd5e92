// Inspects a body that is streamed: a file, or one that is too long to be buffered.
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import type { BufferedBody } from './buffer-body.ts'
import { BUFFERS_FULL } from './checked-upload.ts'
import {
  PLAIN,
  type InspectedRequest,
  type InspectionDeps,
  type InspectionTarget,
} from './inspected-request.ts'
import { BodyObserver } from './observer.ts'
import { batchLinesOf, outboundBody, withLines } from './outbound-body.ts'
import { loggedModel } from './places.ts'
import { modelOf, resolveModels } from './resolve-models.ts'

/** Inspects a body that could not be buffered completely. @throws GatewayError if it has to be */
export async function inspectPartial(
  target: InspectionTarget,
  { limits, objects }: InspectionDeps,
  buffered: Extract<BufferedBody, { ok: false }>,
): Promise<InspectedRequest> {
  if (buffered.reason === 'busy') throw serviceUnavailable(BUFFERS_FULL)
  if (buffered.reason !== 'too_large')
    throw new GatewayError(
      'body_too_slow',
      'The body of the request arrived too slowly. A body that must be read completely has to arrive at 16 KB/s on average.',
    )
  const { key, provider } = target
  if (!key.scope.all) throw tooLarge('model', limits.body)
  if (key.objects === 'own') throw tooLarge('stored objects', limits.body)
  // For a key without limits on its models, only stored objects matter: if none belongs to another
  // key, the rest need not be read.
  if (await objects.anyOwnedByOther(provider.id, key.id))
    throw tooLarge('stored objects', limits.body)
  return inspectStreamed(target, buffered.pieces)
}

/** The error for a body that is too long to be buffered. @param limit bytes */
export const tooLarge = (what: string, limit: number): GatewayError =>
  new GatewayError(
    'body_too_large',
    `The body must be read to find its ${what}, and is larger than ${limit} bytes.`,
  )

/** Inspects a streamed body. @param begun the beginning of one that is too long to be buffered */
export function inspectStreamed(
  target: InspectionTarget,
  begun: readonly Buffer[],
): InspectedRequest {
  const { exchange, key, provider, match, pathAndQuery, isNamedLater } = target
  const { headers } = exchange
  if (!key.scope.all) {
    const request = { provider, match, pathAndQuery, headers, isNamedLater }
    const resolution = resolveModels(key.scope, request, null)
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
    // The model is not known in time.
    keepsResponse: watching !== null,
    objects: match.objects,
    body,
    isUnread: body !== null,
    observer: watching,
    upload: null,
    lines,
  }
}
