// Keeps shared caches from serving one key's response to another.
import { valueAt, type RawHeaders } from '../../http1/header-fields.ts'
import { KEY_HEADERS } from '../authenticate-request.ts'
import type { Provider } from '../providers/provider.ts'
import { isBare, TARGET_HEADER } from '../find-route.ts'

/**
 * Headers that allow caching or revalidation of a response (RFC 9111, sections 4.2 and 4.3). Most
 * API responses have none of them and are passed on unchanged.
 */
const CACHING_HEADERS: ReadonlySet<string> = new Set([
  'cache-control',
  'expires',
  'etag',
  'last-modified',
])

/** Whether a response's headers allow a cache to store it. */
export const isCacheable = (headers: RawHeaders): boolean =>
  headers.some(
    (name, i) =>
      i % 2 === 0 &&
      CACHING_HEADERS.has(name.toLowerCase()) &&
      !/^no-store$/i.test(valueAt(headers, i).trim()),
  )

const varyByProvider = new WeakMap<Provider, string>()

/**
 * The request headers on which a response depends, for `Vary` (RFC 9110, section 12.5.5): those
 * that may contain a key (caches know only `Authorization`), `Origin`, and the header that names
 * the upstream if the target does not.
 */
export function varyHeader(provider: Provider, target: string): string {
  let names = varyByProvider.get(provider)
  if (names === undefined) {
    const all = new Set([
      'authorization',
      ...KEY_HEADERS,
      provider.auth.header.toLowerCase(),
      'origin',
    ])
    varyByProvider.set(provider, (names = [...all].join(', ')))
  }
  return isBare(target) ? `${names}, ${TARGET_HEADER}` : names
}
