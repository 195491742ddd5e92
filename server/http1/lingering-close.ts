// An answer that is given before the request's body has been read (401, 413, 429, …). Closing the
// connection at once would make the caller's system throw the answer away together with what it is
// still sending (a reset), so we go on reading for a while, into nothing (slow-reads.ts).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardSlowly } from './slow-reads.ts'

/**
 * More than the largest upload: a caller that sends everything before it reads the answer still
 * gets to read it.
 */
const MAX_DISCARDED_BYTES = 64 * 1_048_576
const MAX_LINGER_MS = 5000

/**
 * Call it before the head of the answer is written: with that, Node decides whether it closes the
 * connection behind the answer's last byte.
 * @returns to be called with the end of the answer: throws away what is left of the request's body,
 *   within bounds; then, or where the caller wants it, the connection is closed
 */
export function lingeringClose(incoming: IncomingMessage, outgoing: ServerResponse): () => void {
  if (incoming.complete || incoming.destroyed) return () => {}
  const wantsClose = !outgoing.shouldKeepAlive
  outgoing.shouldKeepAlive = true
  // Where nobody has asked for the body, Node reads it itself behind the answer, all at once.
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
