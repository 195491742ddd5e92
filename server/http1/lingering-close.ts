// A response that is sent before the request's body has been read (401, 413, 429, …). Closing the
// connection at once would reset it, and the caller's system would discard the response. So the
// rest is read for a while and discarded (drain-request.ts).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardSlowly } from './drain-request.ts'

/**
 * More than the largest upload: a caller that sends everything before it reads the response still
 * gets to read it.
 */
const MAX_DISCARDED_BYTES = 64 * 1_048_576
const MAX_LINGER_MS = 5000

/**
 * Call it before the head of the response is written: at that point, Node decides whether to close
 * the connection after the response.
 * @returns a function to call at the end of the response: it discards the rest of the request's
 *   body, within bounds, and closes the connection then or when the caller does
 */
export function lingeringClose(incoming: IncomingMessage, outgoing: ServerResponse): () => void {
  if (incoming.complete || incoming.destroyed) return () => {}
  const wantsClose = !outgoing.shouldKeepAlive
  outgoing.shouldKeepAlive = true
  // If the body is not read, Node itself reads all of it after the response.
  incoming.read(0)
  const finish = (): void => {
    if (!wantsClose) return
    if (outgoing.writableFinished) incoming.socket.end()
    else outgoing.once('finish', () => incoming.socket.end())
  }
  return () => {
    if (incoming.complete) return finish()
    const timer = setTimeout(() => incoming.socket.destroy(), MAX_LINGER_MS)
    incoming.on('error', () => {})
    incoming.once('close', () => clearTimeout(timer))
    incoming.once('end', () => {
      clearTimeout(timer)
      finish()
    })
    discardSlowly(incoming, incoming.socket.remoteAddress ?? '', MAX_DISCARDED_BYTES, () =>
      incoming.socket.destroy(),
    )
  }
}
