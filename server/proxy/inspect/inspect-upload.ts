// Inspects an upload in parts: everything except its files is read, and the files are streamed.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RequestBody } from '../../http1/exchange.ts'
import type { OutboundRequest } from '../../http1/client/client.ts'
import type { CachedKey } from '../../keys/cache.ts'
import { GatewayError } from '../gateway-error.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import { bufferBody, discardBody, heldBody } from './buffer-body.ts'
import { ambiguous, CheckedUpload } from './checked-upload.ts'
import {
  batchLinesOf,
  inspectPartial,
  streamedBody,
  tooLarge,
  withLines,
} from './inspect-streamed.ts'
import {
  PLAIN,
  type InspectedRequest,
  type InspectionDeps,
  type InspectionTarget,
} from './inspected-request.ts'
import { loggedModel } from './places.ts'
import { modelOf, resolveModels } from './resolve-models.ts'
import { uploadReaderOf } from './upload-kind.ts'

/**
 * Inspects an upload in parts: it is buffered until its first file begins, and then read while the
 * rest streams; null if the caller has disconnected.
 */
export async function inspectUpload(
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
    if (buffered.ok) return uploaded(target, named, heldBody(body, buffered, target), null)
    const upload = new CheckedUpload(body, reader, slot)
    const streamed = streamedBody(target, buffered.pieces, null)
    return uploaded(target, named, streamed && { ...streamed, rest: upload }, upload)
  } catch (error) {
    // The rest of a partly read body.
    if (!buffered.ok && buffered.reason !== 'busy') discardBody(body)
    throw error
  }
}

/** The inspected request for an upload in parts whose beginning, or whole, names these objects. */
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
    model = modelOf(provider, resolution, match)
    if (!resolution.ok) throw new GatewayError(resolution.code, resolution.message, [], model)
    objects = resolution.objects
  }
  const lines = key.scope.all ? batchLinesOf(target) : null
  return {
    ...PLAIN,
    key,
    model: loggedModel(provider, model),
    objects: objects.concat(named),
    body: withLines(body, lines),
    isUnread: body !== null,
    upload,
    lines,
  }
}
