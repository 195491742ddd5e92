import { cleanHeaders } from './credentials.ts'
import { parseEndpoint } from './endpoint.ts'
import type { ApiKey, ProxyFetchConfig } from './proxy-fetch.ts'

/** Options of `createProxyHandler`. */
export interface ProxyHandlerConfig {
  /**
   * The address of the proxy: `https://ai.example.com`, with a path if it is mounted below one.
   */
  proxyUrl: string
  /**
   * The proxy's key, `tmk_…`, or a function that returns it for each request. No caller ever sees
   * it.
   */
  apiKey: ApiKey
  /**
   * Authorizes each request before anything is sent: `true` allows it, `false` responds with 401,
   * and a Response is sent as is. An object allows it with its own key or context key, so that each
   * of your users can have one.
   */
  authorize: (request: Request) => Authorization | Promise<Authorization>
  /**
   * Sends the requests: any function with the signature of `fetch`. Default: the platform's
   * `fetch`.
   */
  fetch?: ProxyFetchConfig['fetch']
}

/** The decision about a request. */
export type Authorization =
  | boolean
  | Response
  | { apiKey?: string | undefined; contextKey?: string | undefined }

/**
 * A route that adds the proxy's key to the requests of your authenticated users: for Next.js, Hono,
 * Workers, Bun, Deno, and any other server with `Request` and `Response`. Mount it where it gets
 * `…/proxy` and everything below: `createProxyFetch({ proxyUrl: '/api/ai', apiKey: PROXY_MANAGED
 * })` calls `/api/ai/proxy?url=…`, and an SDK with a base URL calls `/api/ai/proxy/<host>/…`.
 *
 * Credentials and cookies of the request are not forwarded. The response is passed on unchanged,
 * including streams; if the caller leaves, the request to the proxy is aborted. A redirect leads
 * through the route again. The route's own errors have a shape that every AI SDK shows: 401 if
 * `authorize` refuses, 404 for another path, 502 if the proxy does not respond.
 *
 * It rejects with an Error if there is no key, and with the errors of `authorize` and `apiKey`.
 *
 * @throws TypeError if `authorize` is missing: without it, anyone could use the key
 */
export function createProxyHandler({
  proxyUrl,
  apiKey,
  authorize,
  fetch,
}: ProxyHandlerConfig): (request: Request) => Promise<Response> {
  if (typeof authorize !== 'function')
    throw new TypeError(
      '`authorize` must be a function. It decides whose requests may use the key.',
    )
  return async (request) => {
    const { pathname, search } = new URL(request.url)
    const [, mount, below] = ROUTE.exec(pathname) ?? []
    if (mount === undefined || below === undefined)
      return refusal(404, 'NOT_FOUND', 'This route takes /proxy?url=… and /proxy/<host>/<path>.')
    const allowed = await authorize(request)
    if (isResponse(allowed)) return allowed
    if (allowed === false)
      return refusal(401, 'UNAUTHENTICATED', 'You are not signed in, or may not use this route.')
    const own = allowed === true ? {} : allowed

    const headers = forwardedHeaders(request.headers)
    const key = own.apiKey ?? (typeof apiKey === 'function' ? await apiKey() : apiKey)
    if (!key) throw new Error('There is no key for the proxy. Pass `apiKey` (tmk_…).')
    headers.set('Authorization', `Bearer ${key}`)
    if (own.contextKey !== undefined)
      headers.set('X-Proxy-Context-Key', encodeURIComponent(own.contextKey))
    const proxy = parseEndpoint(proxyUrl)
    const { method, body, signal } = request
    const options: RequestInit & { duplex: 'half' } = {
      method,
      headers,
      body,
      signal,
      redirect: 'manual',
      duplex: 'half',
    }
    try {
      return toResponse(
        await (fetch ?? globalThis.fetch)(`${proxy.origin}${proxy.path}${below}${search}`, options),
        proxy,
        mount,
      )
    } catch (error) {
      if (signal.aborted) throw error
      return refusal(502, 'UNAVAILABLE', 'The proxy does not answer. Try again in a moment.')
    }
  }
}

/** Accepts a Response of another realm (a test's, a virtual machine's), too. */
function isResponse(allowed: Authorization): allowed is Response {
  return typeof allowed === 'object' && 'headers' in allowed
}

/** The path where the route is mounted, and the part after `/proxy`. */
const ROUTE = /^(.*?)\/proxy(\/.*|)$/

/**
 * TABLE of headers that concern the connection to the route (RFC 9110, section 7.6.1), or its
 * client.
 */
const OWN = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'cookie',
  'forwarded',
])

function forwardedHeaders(from: Headers): Headers {
  const headers = cleanHeaders(from)
  const named = (from.get('Connection') ?? '').toLowerCase().split(/\s*,\s*/)
  for (const name of from.keys())
    if (OWN.has(name) || named.includes(name) || name.startsWith('x-forwarded-'))
      headers.delete(name)
  // `fetch` would decode a compressed response, but keep its Content-Encoding.
  headers.set('Accept-Encoding', 'identity')
  return headers
}

/** The proxy's response, as the route's. */
function toResponse(
  { status, statusText, headers: from, body }: Response,
  proxy: { origin: string; path: string },
  mount: string,
): Response {
  const headers = new Headers(from)
  for (const name of ['connection', 'keep-alive', 'transfer-encoding']) headers.delete(name)
  if (headers.has('Content-Encoding'))
    for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  const location = headers.get('Location')
  if (location !== null)
    headers.set('Location', throughRoute(location, `${proxy.origin}${proxy.path}`, mount))
  return new Response(body, { status, statusText, headers })
}

/** An address at the proxy, rewritten to the route; any other unchanged. */
function throughRoute(location: string, proxy: string, mount: string): string {
  const address = URL.canParse(location, proxy) ? new URL(location, proxy).href : location
  return address.startsWith(proxy) ? `${mount}/proxy${address.slice(proxy.length)}` : location
}

/** An error that the SDKs of OpenAI, Anthropic and Google can all read. */
function refusal(code: number, status: string, message: string): Response {
  return Response.json(
    { type: 'error', error: { code, status, type: status.toLowerCase(), message } },
    { status: code },
  )
}
