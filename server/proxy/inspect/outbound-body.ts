// The outbound body of a request: buffered, or streamed while it is read.
import type { RequestBody } from '../../http1/exchange.ts'
import type { RawHeaders } from '../../http1/header-fields.ts'
import type { OutboundRequest } from '../../http1/client/client.ts'
import { requestHeaders } from '../forward/apply-header-rules.ts'
import { BatchLines, inputKindOf } from './batch-lines.ts'
import { headerRefs } from './header-refs.ts'
import type { CompleteBody, InspectionTarget } from './inspected-request.ts'
import type { BodyObserver } from './observer.ts'
import { trailersOf } from './outside-body.ts'

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

/**
 * The outbound body.
 *
 * @param complete the whole body, if it has been read
 * @param observer reads the rest of a body while it is streamed
 * @param begun the beginning of a streamed body
 */
export function outboundBody(
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
  // The request has been sent when trailers arrive, so the names in them can no longer be checked.
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
