// The proxy's endpoint, in both of its forms.

/** An http(s) URL in serialized form: its origin, and its path. */
export const HTTP_ADDRESS = /^(https?:\/\/[^/?#\\\s]+)([^?#]*)/i

/** Where the proxy takes requests. */
export interface Endpoint {
  origin: string
  /** The path that takes `?url=`; below it, a path names the upstream's host. */
  path: string
}

/** Whether a path of the proxy's origin leads through the proxy, by `?url=` or as a base URL. */
export const leadsThrough = (endpoint: Endpoint, path: string): boolean =>
  path === endpoint.path || path.startsWith(`${endpoint.path}/`)

/** @throws TypeError if `proxyUrl` cannot be called from here */
export function parseEndpoint(proxyUrl: string): Endpoint {
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
