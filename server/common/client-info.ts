// What a connection says about the caller: its address, and the origin by which it reached us.
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'

/** The other end of a request. */
export interface Client {
  /** Scheme and host by which we were reached, in the form of a browser's `Origin`. */
  readonly origin: string
  /** Whether the request came over TLS, as reported by a trusted reverse proxy. */
  readonly secure: boolean
  /** An IPv4 address, or the /64 network of an IPv6 address: what one person has. */
  readonly address: string
}

/**
 * Reads the other end of a request.
 *
 * @param trusted whether a reverse proxy is in front, whose `X-Forwarded-…` headers are reliable
 */
export function readClient({ headers, socket }: IncomingMessage, trusted: boolean): Client {
  const forwarded = (name: string): string | undefined =>
    trusted ? lastValue(headers[name]) : undefined
  const origin = readOrigin((name) => headers[name], trusted)
  return {
    origin,
    secure: origin.startsWith('https:'),
    address: networkPrefix(forwarded('x-forwarded-for') ?? socket.remoteAddress ?? ''),
  }
}

/**
 * Scheme and host by which a request reached us. @param value returns a header's value by its
 * lower-case name
 */
export function readOrigin(
  value: (name: string) => string | string[] | undefined,
  trusted: boolean,
): string {
  const forwarded = (name: string): string | undefined =>
    trusted ? lastValue(value(name)) : undefined
  const host = forwarded('x-forwarded-host') ?? value('host')?.toString() ?? ''
  return `${forwarded('x-forwarded-proto') === 'https' ? 'https' : 'http'}://${host.toLowerCase()}`
}

/**
 * The last value of a header that may be a list, which the nearest proxy appended; earlier values
 * may be forged. Undefined if there is none.
 */
export function lastValue(value: string | string[] | undefined): string | undefined {
  return [value ?? []].flat().join(',').split(',').at(-1)?.trim() || undefined
}

/** An IPv4 address in IPv6 form (RFC 4291, section 2.5.5.2), in each of its spellings. */
const MAPPED = /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+(?:\.\d+){3})|([\da-f]{1,4}):([\da-f]{1,4}))$/i

/** Two bytes of an IPv4 address, from four hex digits. */
function ipv4Of(group: string): string {
  const value = Number.parseInt(group, 16)
  return `${value >> 8}.${value & 0xff}`
}

/**
 * An IPv4 address unchanged, an IPv6 address as its /64 network. @param written an address, which
 * some proxies write with its port (`192.0.2.1:5678`, `[2001:db8::1]:5678`)
 */
export function networkPrefix(written: string): string {
  const plain = written
    .replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2')
    .replace(MAPPED, (_, dotted: string | undefined, high: string, low: string) =>
      dotted === undefined ? `${ipv4Of(high)}.${ipv4Of(low)}` : dotted,
    )
  if (!isIPv6(plain)) return plain
  const [head = '', tail = ''] = plain.toLowerCase().split('::')
  const groups = head.split(':').filter(Boolean)
  const missing = plain.includes('::')
    ? 8 - groups.length - tail.split(':').filter(Boolean).length
    : 0
  const whole = [...groups, ...Array<string>(missing).fill('0'), ...tail.split(':').filter(Boolean)]
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/**
 * Whether a browser sent this request for one of our own pages. Undefined if no header says.
 *
 * `Sec-Fetch-Site` is the browser's own judgement and comes first (W3C Fetch Metadata); `Origin` is
 * compared without its scheme, because a TLS proxy that is not configured as trusted changes only
 * the scheme.
 */
export function isSameSite(
  { origin }: Client,
  headers: { site: string | undefined; origin: string | undefined },
): boolean | undefined {
  if (headers.site !== undefined) return headers.site === 'same-origin'
  if (headers.origin === undefined) return undefined
  return headers.origin.toLowerCase().replace(/^https?:/, '') === origin.replace(/^https?:/, '')
}
