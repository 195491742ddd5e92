// Reads a request body to its end where the gate has to see all of it before the upstream may see any.
import type { IncomingMessage } from 'node:http'

export type WholeBody = { ok: true; body: Buffer } | { ok: false; reason: 'too_large' | 'busy' | 'gone' }

/** Bytes of bodies held in memory at one time, by all requests together. */
const MOST_HELD = 512 * 1024 * 1024
let held = 0

/**
 * Reads the body, `limit` bytes at most. What was read counts as held until `release` is called.
 *
 * `busy`: so many bodies are held that another one would not fit. `gone`: the caller left in the middle.
 */
export function readWhole(req: IncomingMessage, limit: number): Promise<WholeBody> {
  const announced = Number(req.headers['content-length'] ?? 0)
  if (announced > limit) return Promise.resolve({ ok: false, reason: 'too_large' })
  if (held + announced > MOST_HELD) return Promise.resolve({ ok: false, reason: 'busy' })
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    const end = (result: WholeBody) => {
      req.off('data', onData).off('end', onEnd).off('close', onClose)
      if (!result.ok) release(length)
      resolve(result)
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      held += chunk.length
      chunks.push(chunk)
      if (length > limit) end({ ok: false, reason: 'too_large' })
      else if (held > MOST_HELD) end({ ok: false, reason: 'busy' })
    }
    const onEnd = () => end({ ok: true, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) })
    const onClose = () => end({ ok: false, reason: 'gone' })
    req.on('data', onData).on('end', onEnd).on('close', onClose)
    if (req.destroyed) onClose()
  })
}

/** Bytes that were held are not any more. */
export function release(length: number): void {
  held -= length
}
