// What a caller reads off an answer that came through the proxy: the upstream's addresses instead
// of the proxy's.

/** An address that leads through a proxy, and the upstream address within it. */
const THROUGH_PROXY = /^[^?#]*\/proxy\?url=([^&#]*)/

/** The upstream address within one that leads through the proxy; any other as it is. */
export function upstreamAddress(address: string): string {
  const [, inside] = THROUGH_PROXY.exec(address) ?? []
  try {
    return inside === undefined ? address : decodeURIComponent(inside)
  } catch {
    return address
  }
}

/**
 * The same response with the upstream's `url`, and its `Location` where that is a redirect which
 * the platform has not followed: whoever follows redirects by hand resolves them against the
 * address that was asked for. Everything else stays as the platform gave it, and so do these where
 * a runtime allows no other value.
 */
export function withUpstreamUrl(response: Response): Response {
  const define = (name: 'url' | 'headers' | 'clone', value: unknown): void =>
    void Reflect.defineProperty(response, name, { value, configurable: true })
  const clone = response.clone.bind(response)
  define('url', upstreamAddress(response.url))
  define('clone', () => withUpstreamUrl(clone()))
  const location = response.headers.get('Location')
  if (location !== null) {
    // The headers of an answer cannot be written.
    const headers = new Headers(response.headers)
    headers.set('Location', upstreamAddress(location))
    define('headers', headers)
  }
  return response
}
