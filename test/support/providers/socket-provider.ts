// A cheap provider of WebSockets: accepts a handshake and then, depending on the model, ignores
// what it receives, sends without end, or never responds.
import type { Socket } from 'node:net'
import { switchingHead } from '../../../server/http1/raw-connection.ts'
import { frameOf, OPCODE } from '../../../server/http1/websocket/frames.ts'
import { acceptHeaders } from '../../../server/http1/websocket/handshake.ts'

/** Models for which the provider sends without end, or nothing. */
export const ENDLESS_MODEL = 'gpt-endless'
export const SILENT_MODEL = 'gpt-silent'
const EVENT = frameOf(
  OPCODE.text,
  Buffer.from(`{"type":"x","delta":"${'A'.repeat(8_000)}"}`),
  false,
)

/**
 * Serves a connection whose request asked for a WebSocket.
 * @param key of its handshake
 */
export function serveSocket(socket: Socket, target: string, key: string): void {
  socket.removeAllListeners('data').resume()
  if (target.includes(SILENT_MODEL)) return
  socket.write(switchingHead(acceptHeaders({ key, protocols: [] }, null)))
  if (!target.includes(ENDLESS_MODEL)) return
  const send = (): void => {
    if (socket.destroyed) return
    if (socket.write(EVENT)) setImmediate(send)
    else socket.once('drain', send)
  }
  send()
}
