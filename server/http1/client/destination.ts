// Decides where and how connections to an upstream are opened, and which addresses are never
// dialled.
import { BlockList, connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { sharedResolve, type Resolve } from './lookup.ts'

// An import would read every export of the module, and so parse all root certificates, which adds
// 20 ms to each start.
const { connect: connectTls, createSecureContext } = process.getBuiltinModule('node:tls')

/**
 * The address and host name of one provider. Built from the operator's settings, never from a
 * request.
 */
export type Destination = {
  tls: boolean
  /** The host name or address (without brackets) and port that we connect to. */
  host: string
  port: number
  /** The name that the certificate must be valid for, and that SNI names. */
  servername: string
  /** The `Host` header. */
  hostHeader: string
  /**
   * The path of the operator's base URL, which is put before the request path; '' if it has none.
   */
  basePath: string
  /**
   * Whether addresses in private ranges may be dialled: only for an address, `localhost` or a base
   * URL that the operator set.
   */
  allowPrivate: boolean
}

/** The host is, or resolves to, a private address that must not be dialled. */
export class PrivateAddressError extends Error {}

/**
 * TABLE of address ranges in which no provider lives: those of IANA's special-purpose registries
 * (RFC 6890 and updates), and public addresses at which clouds serve their own machines.
 * IPv4-mapped addresses are compared with the IPv4 rows; every other way to embed an IPv4 address
 * in IPv6 is rejected.
 */
const PRIVATE_RANGES: readonly [
  net: string,
  prefix: number,
  family: 'ipv4' | 'ipv6',
  what: string,
][] = [
  ['0.0.0.0', 8, 'ipv4', 'this network'],
  ['10.0.0.0', 8, 'ipv4', 'private use'],
  ['100.64.0.0', 10, 'ipv4', 'shared by carriers; metadata of Alibaba Cloud'],
  ['127.0.0.0', 8, 'ipv4', 'loopback'],
  ['161.26.0.0', 16, 'ipv4', 'services of IBM Cloud'],
  ['166.8.0.0', 14, 'ipv4', 'services of IBM Cloud'],
  ['168.63.129.16', 32, 'ipv4', 'wire server of Azure'],
  ['169.254.0.0', 16, 'ipv4', 'link-local; metadata of most clouds'],
  ['172.16.0.0', 12, 'ipv4', 'private use'],
  ['192.0.0.0', 24, 'ipv4', 'protocol assignments; metadata of Oracle Cloud'],
  ['192.0.2.0', 24, 'ipv4', 'documentation'],
  ['192.88.99.0', 24, 'ipv4', '6to4 relays'],
  ['192.168.0.0', 16, 'ipv4', 'private use'],
  ['198.18.0.0', 15, 'ipv4', 'benchmarks'],
  ['198.51.100.0', 24, 'ipv4', 'documentation'],
  ['203.0.113.0', 24, 'ipv4', 'documentation'],
  ['224.0.0.0', 3, 'ipv4', 'multicast, reserved, broadcast'],
  ['::', 96, 'ipv6', 'unspecified, loopback, IPv4-compatible'],
  ['::ffff:0:0:0', 96, 'ipv6', 'IPv4-translated (RFC 2765)'],
  ['64:ff9b::', 96, 'ipv6', 'NAT64'],
  ['64:ff9b:1::', 48, 'ipv6', 'NAT64 of one network'],
  ['100::', 64, 'ipv6', 'discard'],
  ['100:0:0:1::', 64, 'ipv6', 'dummy (RFC 9780)'],
  ['2001::', 23, 'ipv6', 'protocol assignments: Teredo, ORCHID, benchmarks'],
  ['2001:db8::', 32, 'ipv6', 'documentation'],
  ['2002::', 16, 'ipv6', '6to4'],
  ['3fff::', 20, 'ipv6', 'documentation'],
  ['5f00::', 16, 'ipv6', 'segment routing'],
  ['fc00::', 7, 'ipv6', 'unique local; metadata of AWS and Google Cloud'],
  ['fe80::', 10, 'ipv6', 'link-local'],
  ['fec0::', 10, 'ipv6', 'site-local'],
  ['ff00::', 8, 'ipv6', 'multicast'],
]

const privateRanges = new BlockList()
for (const [net, prefix, family] of PRIVATE_RANGES) privateRanges.addSubnet(net, prefix, family)

/**
 * Whether an IP address is in a range that may be dialled only if the operator allows it; true for
 * text that is no address.
 */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return true
  return privateRanges.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * The destination of a provider's origin (`https://host[:port]`), or of the base URL that the
 * operator set instead. A base URL with a host name is a server of its own (a regional endpoint):
 * its name is checked and sent. One with a bare address or `localhost` only changes the route: the
 * provider's name stays in SNI, certificate check and `Host`. Private addresses may be dialled if
 * the operator set the base URL, or an address or `localhost` as the origin.
 *
 * @throws {TypeError} the URL is neither http nor https
 */
export function destinationOf(origin: URL, base: URL = origin): Destination {
  if (base.protocol !== 'https:' && base.protocol !== 'http:')
    throw new TypeError('a base URL starts with http:// or https://')
  const host = base.hostname.replace(/^\[|\]$/g, '')
  const routed = isIP(host) !== 0 || host === 'localhost'
  const named = routed ? origin : base
  return {
    tls: base.protocol === 'https:',
    host,
    port: base.port === '' ? (base.protocol === 'https:' ? 443 : 80) : Number(base.port),
    servername: named.hostname,
    hostHeader: named.host,
    basePath: base.pathname.replace(/\/+$/, ''),
    allowPrivate: base !== origin || routed,
  }
}

/**
 * A resolver that never returns a private address. It runs for the connection being opened, so a
 * name that resolves differently the second time (DNS rebinding) gains nothing.
 */
export function publicLookup(resolve: Resolve): LookupFunction {
  return lookupOf(resolve, (address) => !isPrivateAddress(address))
}

function lookupOf(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0)
      const addresses = found.filter(({ address }) => isAllowed(address))
      const first = addresses[0]
      if (!first)
        return callback(new PrivateAddressError('the host resolves to a private address'), '', 0)
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

const resolveOnce = sharedResolve()
const guardedLookup = publicLookup(resolveOnce)
const openLookup = lookupOf(resolveOnce, () => true)
/**
 * Shared by all connections, because Node would otherwise create one for each. Created lazily,
 * because it reads certificates.
 */
let secureContext: SecureContext | undefined
/** TLS sessions by server name: a resumed handshake saves a round trip. */
const sessions = new Map<string, Buffer>()

/**
 * All sockets read into this buffer, one at a time: Node would allocate 64 KB for every piece that
 * arrives.
 */
const incoming = Buffer.allocUnsafeSlow(64 * 1024)

/** How long to wait for bytes that arrived before a reset (milliseconds). */
const LAST_READS_MS = 1_000

/**
 * A server that rejects an upload responds and closes, which resets the connection while we write.
 * Node would discard the bytes that have arrived. Here, a failed write ends the socket with its
 * error only after everything has been read. A failed read ends it when it is the socket's turn:
 * Node would do so at once, and a provider may reset thousands in one moment.
 */
function handleReset(socket: Socket, user: SocketUser): Socket {
  const destroy = socket.destroy.bind(socket)
  let failed: Error | null = null
  socket.destroy = (error?: Error) => {
    const syscall = error !== undefined && 'syscall' in error ? error.syscall : null
    if (error === undefined || (syscall !== 'write' && syscall !== 'read'))
      return destroy(failed ?? error)
    const isFirst = failed === null
    const reason = (failed ??= error)
    if (isFirst) user.lost(reason)
    if (syscall === 'read') user.closeInTurn(() => destroy(reason))
    else if (isFirst) setTimeout(() => destroy(reason), LAST_READS_MS).unref()
    return socket
  }
  return socket
}

/** Receives the events of a socket. Its functions may be replaced. */
export interface SocketUser {
  /** It can be written to. */
  ready(): void
  /** A piece has arrived. Its memory is only lent for the call. */
  read(chunk: Buffer): void
  /**
   * Reading or writing failed. The socket ends with this error when all that had arrived is read.
   */
  lost(error: Error): void
  /** Calls `close` now, or in a later turn of the event loop if many sockets are closed. */
  closeInTurn(close: () => void): void
}

/**
 * Opens a connection. Certificates are always verified. Failures are emitted as the socket's
 * `error`. After its `end`, the user must destroy it.
 * @throws {PrivateAddressError} the destination names a private address that the operator did not
 *   allow
 */
export function openSocket(destination: Destination, user: SocketUser): Socket {
  // An address literal never reaches the resolver, so it is checked here.
  if (
    !destination.allowPrivate &&
    isIP(destination.host) !== 0 &&
    isPrivateAddress(destination.host)
  )
    throw new PrivateAddressError('the host is a private address')
  const route = {
    host: destination.host,
    port: destination.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    // Otherwise Node closes a socket as soon as the other side has; the user does that in turns.
    allowHalfOpen: true,
    onread: {
      buffer: incoming,
      callback: (length: number) => {
        user.read(incoming.subarray(0, length))
        return true
      },
    },
    lookup: destination.allowPrivate ? openLookup : guardedLookup,
  }
  if (!destination.tls) {
    const socket = handleReset(connectTcp(route), user)
    socket.once('connect', () => user.ready())
    return socket
  }
  const cacheKey = `${destination.servername}:${destination.host}:${destination.port}`
  const session = sessions.get(cacheKey)
  const tls = connectTls({
    ...route,
    // SNI carries names only; an address is still checked against the certificate.
    servername:
      isIP(destination.servername.replace(/^\[|\]$/g, '')) === 0 ? destination.servername : '',
    ALPNProtocols: ['http/1.1'],
    secureContext: (secureContext ??= createSecureContext({ minVersion: 'TLSv1.2' })),
    rejectUnauthorized: true,
    ...(session ? { session } : {}),
  })
  tls.on('session', (fresh) => sessions.set(cacheKey, fresh))
  tls.once('secureConnect', () => user.ready())
  return handleReset(tls, user)
}
