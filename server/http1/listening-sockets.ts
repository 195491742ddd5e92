// The sockets that listen on one port: finding a free one, binding, and closing.
import { createServer, type Server } from 'node:http'
import { connect, Server as NetServer, type AddressInfo } from 'node:net'

/**
 * Connections that may wait to be accepted; the system may lower it (net.core.somaxconn). Callers
 * beyond it get no reply and retry after a second; with Node's default of 511, a burst of callers
 * would wait that long.
 */
const BACKLOG = 4096

/**
 * Sockets that listen on one port. Node accepts one connection per socket and turn of its loop
 * (libuv 1.52), so with a single socket, a burst of callers takes as many turns. Only Linux
 * distributes connections among sockets of one port.
 */
export const SOCKETS_PER_PORT = process.platform === 'linux' ? 8 : 1

/** How long another server on our port may take to accept a connection (milliseconds). */
const PROBE_MS = 1_000

/**
 * Finds the port, or a free one for 0. A socket that shares its port would also share it with
 * another server of this user, so we check for one by connecting. Binding a socket that does not
 * share would detect it, too, but a balancer that retries the port would be reset when that socket
 * closes.
 */
export async function freePort(address: string, port: number): Promise<number> {
  if (port !== 0) {
    if (SOCKETS_PER_PORT > 1 && (await isListening(address, port)))
      throw Object.assign(new Error('another server listens there'), { code: 'EADDRINUSE' })
    return port
  }
  const server = createServer()
  await bind(server, address, 0, false)
  const { port: free } = server.address() as AddressInfo
  await stop(server)
  return free
}

/** Whether a server accepts connections there, or could but leaves them waiting. */
function isListening(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: PROBE_MS })
    const finish = (isAnswered: boolean): void => {
      socket.destroy()
      resolve(isAnswered)
    }
    socket
      // The system may choose the same port for both ends: then no other server answered.
      .once('connect', () => finish(socket.localPort !== port))
      .once('timeout', () => finish(true))
      .once('error', () => finish(false))
  })
}

/** Listens. @param reusePort whether other sockets may share the port */
export function bind(
  server: Server,
  address: string,
  port: number,
  reusePort: boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host: address, backlog: BACKLOG, reusePort }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Closes a server; resolves when its last connection is closed. */
export function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

/**
 * Closes only the listening socket; resolves when its last connection is closed. `Server.close` of
 * node:http would also close idle connections.
 */
export function stopAccepting(server: Server): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
}
