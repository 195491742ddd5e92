// The proxy's endpoint.

/** An http(s) URL in serialized form: its origin, and its path. */
export const HTTP_ADDRESS = /^(https?:\/\/[^/?#\\\s]+)([^?#]*)/i

/** The address that takes `?url=`. @throws TypeError if `proxyUrl` cannot be called from here */
export function parseEndpoint(proxyUrl: string): { origin: string; path: string } {
  try {
    const [, origin = '', path = ''] =
      HTTP_ADDRESS.exec(proxyUrl ? new Request(proxyUrl).url : '') ?? []
    if (origin === '' || origin.includes('@')) throw new TypeError()
    return { origin, path: `${path.replace(/\/+$/, '')}/proxy` }
  } catch (cause) {
    throw new TypeError(
      '`proxyUrl` must be an address such as https://ai.example.com or, in browsers only, a path such as /api/ai.',
      { cause },
    )
  }
}
