// Restores the upstream's addresses in a response that came through the proxy.

/** Matches an address that leads through a proxy, and captures the upstream address in it. */
const THROUGH_PROXY = /^[^?#]*\/proxy\?url=([^&#]*)/

/** The upstream address in an address that leads through the proxy; any other unchanged. */
export function upstreamAddress(address: string): string {
  const [, inside] = THROUGH_PROXY.exec(address) ?? []
  try {
    return inside === undefined ? address : decodeURIComponent(inside)
  } catch {
    return address
  }
}

/**
 * The same response with the upstream's `url`, and its `Location` if it is a redirect that the
 * platform has not followed: code that follows redirects itself resolves them against the requested
 * address. Everything else is unchanged, and so are these if a runtime does not allow other values.
 */
export function withUpstreamUrl(response: Response): Response {
  const define = (name: 'url' | 'headers' | 'clone', value: unknown): void =>
    void Reflect.defineProperty(response, name, { value, configurable: true })
  const clone = response.clone.bind(response)
  define('url', upstreamAddress(response.url))
  define('clone', () => withUpstreamUrl(clone()))
  const location = response.headers.get('Location')
  if (location !== null) {
    // The headers of a response are immutable.
    const headers = new Headers(response.headers)
    headers.set('Location', upstreamAddress(location))
    define('headers', headers)
  }
  return response
}
