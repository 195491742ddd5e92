import { cleanAddress, cleanHeaders, PROXY_MANAGED } from './credentials.ts'
import { parseEndpoint, HTTP_ADDRESS } from './endpoint.ts'
import { withUpstreamUrl } from './response.ts'

/** The type of the platform's `fetch`. */
export type Fetch = typeof globalThis.fetch
type Input = Parameters<Fetch>[0]
type Init = NonNullable<Parameters<Fetch>[1]>

/**
 * The key, or a function that gives it whenever one is needed: for keys that are made on demand, or
 * change. It is told which key the proxy has just refused.
 */
export type ApiKey = string | ((refused?: string) => string | Promise<string>)

/** Options of `createProxyFetch`. */
export interface ProxyFetchConfig {
  /**
   * Where the proxy is: `https://ai.example.com`, with a path if it is mounted below one, or in a
   * browser relative to the page: `/api/ai`.
   */
  proxyUrl: string
  /**
   * The proxy's key, `tmk_…`, or a function that gives it. The function is called for each request,
   * and once more when the proxy refuses what it gave (401); a different key is then tried, unless
   * the body was a stream, which cannot be sent twice. `PROXY_MANAGED` sends no key: for a
   * `proxyUrl` that leads to a route of your own, which adds the key on its way to the proxy.
   */
  apiKey: ApiKey
  /**
   * Requests with the same context key go to the same upstream credential, so that the provider's
   * prompt cache stays warm.
   */
  contextKey?: string | undefined
  /**
   * What sends the requests: any function that is called as `fetch` is. The platform's `fetch` by
   * default.
   */
  fetch?: Sender['fetch'] | undefined
  /**
   * Addresses that must not go through the proxy: they are fetched as they are. None by default.
   */
  bypass?: ((url: URL) => boolean) | undefined
}

/**
 * Written as a method, whose parameters TypeScript compares loosely: a function that takes only
 * texts is a sender too.
 */
interface Sender {
  fetch(input: Input, init?: Init): Promise<Response>
}

/**
 * A `fetch` whose requests go through the proxy. It takes whatever the platform's takes and gives
 * what that gives; the provider's credentials are dropped, the proxy's key is set, and everything
 * else passes unchanged. The response's `url` and `Location` are the upstream's.
 *
 * Fetched as it is, without the proxy's key: what is no http(s) address (`data:`, `blob:`), what
 * `bypass` names, and what is at the proxy's origin but not its endpoint. An address of the endpoint
 * gets the key and is not wrapped again. Nothing is checked before the first call, so that
 * creating one never fails. A call rejects with a TypeError when `proxyUrl` is no address, with an
 * Error when there is no key, and otherwise as the platform's `fetch` does.
 *
 * The body of a `Request` is read to its end before it is sent (only the platform can look inside
 * one); a stream in `init.body` goes up as it comes.
 */
export function createProxyFetch({
  proxyUrl,
  apiKey,
  contextKey,
  fetch,
  bypass,
}: ProxyFetchConfig): Fetch {
  return async (input, init) => {
    const send: Sender['fetch'] = fetch ?? globalThis.fetch
    const request = isRequest(input) ? input : undefined
    // The platform's own parser: relative addresses, its errors. React Native's URL cannot be
    // trusted with either.
    const { url: address } = request ?? new Request(input)
    const target = HTTP_ADDRESS.exec(address)
    if (target === null || bypass?.(new URL(address)) === true) return send(input, init)
    const endpoint = parseEndpoint(proxyUrl)
    const atProxy = target[1] === endpoint.origin
    if (atProxy && target[2] !== endpoint.path) return send(input, init)

    const options = requestInit(request, init ?? {})
    const headers = cleanHeaders(init?.headers ?? request?.headers)
    if (contextKey && !headers.has(CONTEXT_KEY)) headers.set(CONTEXT_KEY, headerText(contextKey))
    const resolveKey = async (refused?: string): Promise<string> =>
      (typeof apiKey === 'string' ? apiKey : await apiKey(refused)).trim()
    const key = await resolveKey()
    if (key === '') throw new Error(NO_KEY)
    if (request && request.body !== null && options.body == null)
      options.body = await replayableBody(request, options.signal)

    const url = atProxy
      ? address
      : `${endpoint.origin}${endpoint.path}?url=${encodeURIComponent(cleanAddress(address))}`
    const sendWith = async (key: string): Promise<Response> => {
      if (key !== PROXY_MANAGED) headers.set('Authorization', `Bearer ${key}`)
      return withUpstreamUrl(await send(url, { ...options, headers }))
    }
    const response = await sendWith(key)
    if (typeof apiKey === 'string' || !refusesKey(response) || isStream(options.body))
      return response
    const other = await resolveKey(key)
    if (other === key || other === '') return response
    await response.body?.cancel()
    return sendWith(other)
  }
}

/** What a call without a key says. */
export const NO_KEY =
  'There is no key for the proxy. Pass `apiKey` (tmk_…), or set NEXT_PUBLIC_AI_PROXY_KEY, which createProxyGenai and createProxyExpress read.'
/** The header of the context key. */
export const CONTEXT_KEY = 'X-Proxy-Context-Key'

/** Also a Request of another realm (a test's, a virtual machine's) is one. */
function isRequest(input: Input): input is Request {
  return typeof input === 'object' && 'url' in input
}

const isStream = (body: unknown): boolean =>
  body != null && typeof body === 'object' && 'getReader' in body

/**
 * Whether the proxy itself refused the key; a provider's 401 says something else in the same
 * header.
 */
function refusesKey({ status, headers }: Response): boolean {
  return status === 401 && /api_key/.test(headers.get('X-Proxy-Error') ?? '')
}

/**
 * TABLE of what a request has besides address and headers. Read by name: `init` may be a Request,
 * whose properties do not spread.
 */
const OPTIONS = [
  'method',
  'body',
  'duplex',
  'signal',
  'redirect',
  'credentials',
  'mode',
  'cache',
  'referrer',
  'referrerPolicy',
  'integrity',
  'keepalive',
  'priority',
] as const

/** What `init` says, and where it is silent what the Request says; without the Request's body. */
function requestInit(request: Request | undefined, init: Init): Init {
  // What a runtime adds (`cf`, `dispatcher`, `next`, …) passes too.
  const options: Init = { ...init }
  for (const name of OPTIONS) {
    const said: unknown = Reflect.get(init, name)
    const value: unknown =
      said === undefined && request && name !== 'body' ? Reflect.get(request, name) : said
    if (value !== undefined) Object.assign(options, { [name]: value })
  }
  return options
}

/** A Request's body, or null where it is empty. The signal ends the reading too. */
async function replayableBody(
  request: Request,
  signal: AbortSignal | null | undefined,
): Promise<Blob | null> {
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
export function headerText(text: string): string {
  return text.replace(/[^ -~]+/gu, encodeURIComponent)
}
