// Where the proxy is asked.

/** An http(s) address as platforms write them: its origin, and its path. */
export const HTTP_ADDRESS = /^(https?:\/\/[^/?#\\\s]+)([^?#]*)/i

/**
 * The address that takes `?url=`. @throws TypeError when `proxyUrl` is none that can be called from
 * here
 */
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
