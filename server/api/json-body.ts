// Reads the JSON body of a request, within limits of size, silence and rate.
import { startRateMonitor } from '../common/body-rate.ts'
import { Problem, invalidFields } from '../common/errors.ts'
import type { ApiContext, Middleware } from './api.ts'
import { duplicateName, hasTooManyNames } from './request/duplicate-names.ts'

/** Milliseconds before the minimum rate applies to a JSON body. */
const BODY_GRACE_MS = 30_000

/** The largest JSON body that a route reads. */
const MAX_JSON_BYTES = 65_536

/**
 * Reads a JSON body of at most `MAX_JSON_BYTES`, and sends 100 Continue if the caller expects it. A
 * missing body counts as empty.
 *
 * @throws Problem `file_too_large`, `request_timeout` if it stalls or is too slow,
 *   `malformed_request` if it is cut off, `invalid_field` if it is not JSON or names a field twice
 */
export const jsonBody: Middleware = async (c, next) => {
  const announced = Number(c.req.header('content-length') ?? 0)
  if (announced > MAX_JSON_BYTES) throw tooLarge()
  sendContinue(c)
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const idle = setTimeout(
    () =>
      reject(new Problem('request_timeout', 'The request body stopped arriving. Send it again.')),
    c.get('transferIdle'),
  )
  const rateMonitor = startRateMonitor(BODY_GRACE_MS, () =>
    reject(
      new Problem(
        'request_timeout',
        'The request body arrives too slowly (below 16 KB a second). Send it again.',
      ),
    ),
  )
  rateMonitor.waiting()
  const bytes = await Promise.race([collect(c.req.raw.body, idle), silence]).finally(() => {
    clearTimeout(idle)
    rateMonitor.stop()
  })
  // Many bodies may end in the same turn, and handling one takes up to half a millisecond.
  if (bytes.length > 0) await c.get('turn')()
  const body = readJson(bytes, c.req.header('content-type'))
  // Hono's readers look in this cache first; the stream itself can be read only once.
  const [text, whole]: unknown[] = [Promise.resolve(body), Promise.resolve(bytes)]
  c.req.bodyCache.text = text as string
  c.req.bodyCache.arrayBuffer = whole as ArrayBuffer
  await next()
}

const NOT_JSON = 'The body must be valid JSON, sent with Content-Type: application/json.'
const TOO_MANY_NAMES = 'The JSON body has more fields than any request needs. Send fewer.'

/**
 * The text of a JSON body, `{}` if it is empty. Refuses duplicate fields, and a Content-Type that
 * Hono would not read as JSON.
 *
 * @throws Problem `invalid_field`
 */
function readJson(bytes: Buffer, type: string | undefined): string {
  if (bytes.length === 0) return '{}'
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type ?? ''))
    throw new Problem('invalid_field', NOT_JSON)
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // Before it is parsed, which is what would take long.
    if (hasTooManyNames(text)) throw new Problem('invalid_field', TOO_MANY_NAMES)
    JSON.parse(text)
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    throw new Problem('invalid_field', NOT_JSON, { cause })
  }
  const duplicate = duplicateName(text)
  if (duplicate !== null)
    throw invalidFields([
      { param: duplicate, code: 'duplicate', detail: 'This field was sent twice. Send it once.' },
    ])
  return text
}

/** @param idle restarted by each chunk */
async function collect(
  body: ReadableStream<Uint8Array> | null,
  idle: NodeJS.Timeout,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of body ?? []) {
      idle.refresh()
      length += piece.length
      if (length > MAX_JSON_BYTES) throw tooLarge()
      pieces.push(piece)
    }
  } catch (error) {
    throw error instanceof Problem
      ? error
      : new Problem(
          'malformed_request',
          'The request ended before its whole body arrived. Send it again.',
          { cause: error },
        )
  }
  return Buffer.concat(pieces)
}

function tooLarge(): Problem {
  return new Problem('file_too_large', 'The JSON body is larger than 64 KB. Send a smaller one.')
}

/** Sends 100 Continue to a caller that expects it (RFC 9110, section 10.1.1). */
export function sendContinue(c: ApiContext): void {
  if (/^100-continue$/i.test(c.req.header('expect') ?? '')) c.get('writeContinue')()
}
