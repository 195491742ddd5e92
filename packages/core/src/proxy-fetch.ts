import { cleanAddress, cleanHeaders, PROXY_MANAGED } from './credentials.ts'
import { parseEndpoint, HTTP_ADDRESS, leadsThrough } from './endpoint.ts'
import { withUpstreamUrl } from './response.ts'

/** The type of the platform's `fetch`. */
export type Fetch = typeof globalThis.fetch
type Input = Parameters<Fetch>[0]
type Init = NonNullable<Parameters<Fetch>[1]>

/**
 * The key, or a function that returns it when it is needed: for keys that are created on demand, or
 * change. It gets the key that the proxy has just rejected.
 */
export type ApiKey = string | ((refused?: string) => string | Promise<string>)

/** Options of `createProxyFetch`. */
export interface ProxyFetchConfig {
  /**
   * The address of the proxy: `https://ai.example.com`, with a path if it is mounted below one, or
   * in a browser relative to the page: `/api/ai`.
   */
  proxyUrl: string
  /**
   * The proxy's key, `tmk_…`, or a function that returns it. The function is called for each
   * request, and again if the proxy rejects the key (401); a different key is then tried, unless
   * the body was a stream, which cannot be sent twice. `PROXY_MANAGED` sends no key: use it if
   * `proxyUrl` is a route of your own, which adds the key.
   */
  apiKey: ApiKey
  /**
   * Requests with the same context key go to the same upstream credential, so that the provider's
   * prompt cache stays warm.
   */
  contextKey?: string | undefined
  /**
   * Sends the requests: any function with the signature of `fetch`. Default: the platform's
   * `fetch`.
   */
  fetch?: Sender['fetch'] | undefined
  /** Addresses that are fetched directly, not through the proxy. Default: none. */
  bypass?: ((url: URL) => boolean) | undefined
}

/**
 * Declared as a method, whose parameters TypeScript compares bivariantly, so that a function that
 * accepts only strings is allowed, too.
 */
interface Sender {
  fetch(input: Input, init?: Init): Promise<Response>
}

/**
 * A `fetch` whose requests go through the proxy. It takes and returns the same as the platform's;
 * the provider's credentials are dropped, the proxy's key is set, and everything else is unchanged.
 * The response's `url` and `Location` are the upstream's.
 *
 * Fetched directly, without the proxy's key: addresses that are not http(s) (`data:`, `blob:`),
 * those that `bypass` names, and those at the proxy's origin but not its endpoint. An address of
 * the endpoint (`…/proxy?url=`, or a base URL below `…/proxy/`) gets the key and is not wrapped
 * again. Nothing is checked before the first call, so creating one never fails. A call rejects with
 * a TypeError if `proxyUrl` is not an address, with an Error if there is no key, and otherwise as
 * the platform's `fetch` does.
 *
 * The body of a `Request` is read to its end before it is sent (only the platform can look inside
 * one); a stream in `init.body` is streamed.
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
    // The platform's own parser, for relative addresses and its errors. React Native's URL does
    // neither reliably.
    const { url: address } = request ?? new Request(input)
    const target = HTTP_ADDRESS.exec(address)
    if (target === null || bypass?.(new URL(address)) === true) return send(input, init)
    const endpoint = parseEndpoint(proxyUrl)
    const atProxy = target[1] === endpoint.origin
    if (atProxy && !leadsThrough(endpoint, target[2] ?? '')) return send(input, init)

    const options = requestInit(request, init ?? {})
    const headers = cleanHeaders(init?.headers ?? request?.headers)
    if (contextKey && !headers.has(CONTEXT_KEY)) headers.set(CONTEXT_KEY, headerText(contextKey))
    const resolveKey = async (refused?: string): Promise<string> =>
      keyText(typeof apiKey === 'function' ? await apiKey(refused) : apiKey)
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
    if (typeof apiKey !== 'function' || !refusesKey(response) || isStream(options.body))
      return response
    const other = await resolveKey(key)
    if (other === key || other === '') return response
    await response.body?.cancel()
    return sendWith(other)
  }
}

/** A key as it is sent; empty if it is a variable that is not set. */
export const keyText = (key: string | undefined): string => key?.trim() ?? ''
/** The error of a call without a key. */
export const NO_KEY =
  'There is no key for the proxy. Pass `apiKey` (tmk_…), or set NEXT_PUBLIC_AI_PROXY_KEY, which createProxyGenai and createProxyExpress read.'
/** The header of the context key. */
export const CONTEXT_KEY = 'X-Proxy-Context-Key'

/** Accepts a Request of another realm (a test's, a virtual machine's), too. */
function isRequest(input: Input): input is Request {
  return typeof input === 'object' && 'url' in input
}

/** A body that can be sent only once: Node's `fetch` also takes its own streams, and generators. */
const isStream = (body: unknown): boolean =>
  body != null && typeof body === 'object' && ('getReader' in body || Symbol.asyncIterator in body)

/**
 * Whether the proxy itself rejected the key; a provider's 401 has another value in this header.
 */
function refusesKey({ status, headers }: Response): boolean {
  return status === 401 && /api_key/.test(headers.get('X-Proxy-Error') ?? '')
}

/**
 * TABLE of a request's properties, apart from address and headers. They are read by name, because
 * `init` may be a Request, whose properties do not spread.
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

/** The options of `init`, completed from the Request, without the Request's body. */
function requestInit(request: Request | undefined, init: Init): Init {
  // Options that a runtime adds (`cf`, `dispatcher`, `next`, …) are kept, too.
  const options: Init = { ...init }
  for (const name of OPTIONS) {
    const own: unknown = Reflect.get(init, name)
    const value: unknown =
      own === undefined && request && name !== 'body' ? Reflect.get(request, name) : own
    if (value !== undefined) Object.assign(options, { [name]: value })
  }
  return options
}

/** A Request's body, or null if it is empty. The signal also aborts the reading. */
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
    // A slice has no type, which would otherwise become a Content-Type.
    return blob.size === 0 ? null : blob.slice()
  } finally {
    done.abort()
  }
}

/** A header contains bytes, so characters beyond ASCII are percent-encoded. */
export function headerText(text: string): string {
  return text.replace(/[^ -~]+/gu, encodeURIComponent)
}
