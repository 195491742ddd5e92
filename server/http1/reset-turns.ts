// Closes connections that their peers have reset, a few in one turn of the event loop.
import type { Socket } from 'node:net'

/** Whether it is the error of a failed read: the peer has reset the connection. */
const isReset = (error: Error | undefined): boolean =>
  error !== undefined && 'syscall' in error && error.syscall === 'read'

/**
 * Closes a socket that its peer resets in a turn of its own: Node would do so at once, and
 * thousands may be reset in one moment.
 *
 * @param inTurn calls `close` now or in a later turn
 */
export function closeInTurn(socket: Socket, inTurn: (close: () => void) => void): void {
  const destroy = socket.destroy.bind(socket)
  socket.destroy = (error?: Error) => {
    if (isReset(error)) inTurn(() => destroy(error))
    else destroy(error)
    return socket
  }
}

/** Undoes `closeInTurn`. */
export const closeAtOnce = (socket: Socket): void => void Reflect.deleteProperty(socket, 'destroy')
