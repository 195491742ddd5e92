import { cleanAddress, cleanHeaders, PROXY_MANAGED } from './credentials.ts'

export type Fetch = typeof globalThis.fetch
type Input = Parameters<Fetch>[0]
type Init = NonNullable<Parameters<Fetch>[1]>

export interface ProxyFetchConfig {
  /** Where the proxy is: `https://ai.example.com`, with a path if it is mounted below one, or in a browser relative to the page: `/api/ai`. */
  proxyUrl: string
  /**
   * The proxy's key, `tmk_…`. `PROXY_MANAGED` sends none: for a `proxyUrl` that leads to a route of your own, which adds the key on its
   * way to the proxy.
   */
  apiKey: string
  /** Requests with the same context key go to the same upstream credential, so that the provider's prompt cache stays warm. */
  contextKey?: string | undefined
  /** The fetch that sends; the platform's where it is left out. */
  fetch?: Fetch | undefined
  /** Addresses that must not go through the proxy: they are fetched as they are. None by default. */
  bypass?: ((url: URL) => boolean) | undefined
}

/**
 * A `fetch` whose requests go through the proxy. It takes whatever the platform's takes and gives what that gives; the provider's
 * credentials are dropped, the proxy's key is set, and everything else passes unchanged.
 *
 * Not proxied: what is no http(s) address (`data:`, `blob:`), what `bypass` names, and what is at the proxy already (which still gets the key).
 * Nothing is checked before the first call, so that creating one never fails. A call rejects with a TypeError when `proxyUrl` is no
 * address, with an Error when there is no key, and otherwise as the platform's `fetch` does.
 *
 * The body of a `Request` is read to its end before it is sent (only the platform can look inside one); a stream in `init.body` goes up as it comes.
 */
export function createProxyFetch({ proxyUrl, apiKey, contextKey, fetch, bypass }: ProxyFetchConfig): Fetch {
  return async (input, init) => {
    const send = fetch ?? globalThis.fetch
    const request = isRequest(input) ? input : undefined
    // The platform's own parser: relative addresses, its errors.
    const url = new URL(request === undefined ? new Request(input).url : request.url)
    if (!url.protocol.startsWith('http') || bypass?.(url) === true) return send(input, init)
    const endpoint = endpointOf(proxyUrl)
    const atProxy = url.origin === endpoint.origin
    if (atProxy && url.pathname !== endpoint.pathname) return send(input, init)
    if (!apiKey) throw new Error(NO_KEY)

    const options = optionsOf(request, init ?? {})
    const headers = cleanHeaders(init?.headers ?? request?.headers)
    if (apiKey !== PROXY_MANAGED) headers.set('Authorization', `Bearer ${apiKey.trim()}`)
    if (contextKey && !headers.has(CONTEXT_KEY)) headers.set(CONTEXT_KEY, headerText(contextKey))
    if (request && request.body !== null && options.body == null) options.body = await bodyOf(request, options.signal)
    return send(atProxy ? url.href : `${endpoint.href}?url=${encodeURIComponent(cleanAddress(url))}`, { ...options, headers })
  }
}

const NO_KEY = 'There is no key for the proxy. Pass `apiKey` (tmk_…), or set NEXT_PUBLIC_AI_PROXY_KEY, which createProxyGenai and createProxyExpress read.'
const CONTEXT_KEY = 'X-Proxy-Context-Key'

/** Also a Request of another realm (a test's, a virtual machine's) is one. */
function isRequest(input: Input): input is Request {
  return typeof input === 'object' && 'url' in input
}

/** The address that takes `?url=`. @throws TypeError when `proxyUrl` is none that can be called from here */
function endpointOf(proxyUrl: string): URL {
  try {
    const url = new URL(new Request(proxyUrl).url)
    if (!proxyUrl || !/^https?:$/.test(url.protocol)) throw new TypeError(url.protocol)
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/proxy`
    url.search = url.hash = ''
    return url
  } catch (cause) {
    throw new TypeError('`proxyUrl` must be an http(s) address such as https://ai.example.com or, in a browser only, a path such as /api/ai.', { cause })
  }
}

/** TABLE of what a request has besides address and headers. Read by name: `init` may be a Request, whose properties do not spread. */
const OPTIONS = [
  'method', 'body', 'duplex', 'signal', 'redirect', 'credentials', 'mode', 'cache', 'referrer', 'referrerPolicy', 'integrity', 'keepalive', 'priority',
] as const

/** What `init` says, and where it is silent what the Request says; without the Request's body. */
function optionsOf(request: Request | undefined, init: Init): Init {
  // What a runtime adds (`cf`, `dispatcher`, `next`, …) passes too.
  const options: Init = { ...init }
  for (const name of OPTIONS) {
    const said: unknown = Reflect.get(init, name)
    const value: unknown = said === undefined && request && name !== 'body' ? Reflect.get(request, name) : said
    if (value !== undefined) Object.assign(options, { [name]: value })
  }
  return options
}

/** A Request's body, or null where it is empty. The signal ends the reading too. */
async function bodyOf(request: Request, signal: AbortSignal | null | undefined): Promise<Blob | null> {
  signal?.throwIfAborted()
  const done = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: done.signal })
  })
  try {
    const blob = await Promise.race([request.blob(), aborted])
    // A slice has no type of its own, which would become a Content-Type.
    return blob.size === 0 ? null : blob.slice()
  } finally {
    done.abort()
  }
}

/** A header takes bytes: whatever is beyond ASCII is percent-encoded. */
function headerText(text: string): string {
  return text.replace(/[^ -~]+/gu, encodeURIComponent)
}
