// Inspects a body that is streamed: a file, or one that is too long to be buffered. Some are read
// while they pass: for their model, or for the objects in the lines of a batch's input.
import type { OutboundRequest } from '../../http1/client/client.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import { BatchLines, inputKindOf } from './batch-lines.ts'
import type { BufferedBody } from './buffer-body.ts'
import { BUFFERS_FULL } from './checked-upload.ts'
import { headerRefs } from './header-refs.ts'
import {
  PLAIN,
  type InspectedRequest,
  type InspectionDeps,
  type InspectionTarget,
} from './inspected-request.ts'
import { BodyObserver } from './observer.ts'
import { outboundTrailers } from './outside-body.ts'
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
  const { exchange, key, provider, match, pathAndQuery, isModelNamedLater } = target
  const { headers } = exchange
  if (!key.scope.all) {
    const request = { provider, match, pathAndQuery, headers, isModelNamedLater }
    const resolution = resolveModels(key.scope, request, null)
    const model = modelOf(provider, resolution, match)
    if (!resolution.ok) throw new GatewayError(resolution.code, resolution.message, [], model)
    const body = streamedBody(target, begun, null)
    return { ...PLAIN, key, model, objects: resolution.objects, body }
  }
  const observer = new BodyObserver(match, headers, pathAndQuery)
  for (const piece of begun) observer.write(piece)
  const watching = exchange.body !== null && observer.watching ? observer : null
  const lines = batchLinesOf(target)
  const body = withLines(streamedBody(target, begun, watching), lines)
  return {
    key,
    model: loggedModel(provider, observer.model),
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

/**
 * The outbound body of a request that is streamed; null if it has none.
 *
 * @param begun the beginning that has been read
 * @param observer reads the body while it passes
 */
export function streamedBody(
  { exchange: { body }, provider, match }: InspectionTarget,
  begun: readonly Buffer[],
  observer: BodyObserver | null,
): OutboundRequest['body'] {
  if (body === null) return null
  // The request has been sent when trailers arrive, so the names in them can no longer be checked.
  const withoutRefs = (raw: RawHeaders): RawHeaders =>
    raw.flatMap((_, i) =>
      i % 2 === 0 && headerRefs(provider, raw.slice(i, i + 2)).length === 0
        ? raw.slice(i, i + 2)
        : [],
    )
  return {
    length: body.length,
    held: begun,
    heldTrailers: [],
    rest: body,
    observe: observer === null ? null : (piece) => observer.write(piece),
    trailers: (raw) => outboundTrailers(withoutRefs(raw), { provider, match }),
  }
}

/** A reader for the lines of an upload that may become a batch's input; null for other requests. */
export function batchLinesOf({
  exchange,
  key,
  provider,
  match,
}: InspectionTarget): BatchLines | null {
  const kind =
    match.endpoint?.uploads === undefined
      ? null
      : inputKindOf(Object.values(match.endpoint.creates ?? {}))
  return key.objects === 'own' && exchange.body !== null && kind !== null
    ? BatchLines.of(exchange.headers, exchange.body.length, provider, kind)
    : null
}

/** A body that is streamed while its lines are read. */
export function withLines(
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
