import { createProxyFetch } from './proxy-fetch.ts'
import type { Fetch, ProxyFetchConfig } from './proxy-fetch.ts'
import { createProxyWebSocket } from './proxy-websocket.ts'
import type { ProxyWebSocketConfig, ProxyWebSocketConstructor } from './proxy-websocket.ts'

/** Where `npm start` listens. */
export const DEFAULT_PROXY_URL = 'http://localhost:8484'

/** The options of `createProxyFetch`; those with a fallback are optional. */
export type ManagedFetchConfig = {
  [Name in keyof ProxyFetchConfig]?: ProxyFetchConfig[Name] | undefined
}

/**
 * The two variables. Not every runtime has `process`, and bundlers replace the whole expression
 * with a string.
 */
declare const process: {
  env: { NEXT_PUBLIC_AI_PROXY_KEY?: string; NEXT_PUBLIC_AI_PROXY_URL?: string }
}

/**
 * `createProxyFetch` with fallbacks: `apiKey` → NEXT_PUBLIC_AI_PROXY_KEY; `proxyUrl` →
 * NEXT_PUBLIC_AI_PROXY_URL → `DEFAULT_PROXY_URL`. They are read for each call, which rejects with
 * an Error if there is no key. If nothing responds at the default address, the error's `cause` says
 * that the address was the default.
 */
export function createManagedFetch(config: ManagedFetchConfig = {}): Fetch {
  return async (input, init) => {
    const apiKey = config.apiKey || keyFromEnvironment()
    const proxyUrl = config.proxyUrl || urlFromEnvironment()
    const send = createProxyFetch({ ...config, apiKey, proxyUrl: proxyUrl || DEFAULT_PROXY_URL })
    if (proxyUrl) return send(input, init)
    return send(input, init).catch((error: unknown) => {
      throw isUnreachable(error) ? defaultUnreachableError(error) : error
    })
  }
}

/** The options of `createProxyWebSocket`; those with a fallback are optional. */
export type ManagedWebSocketConfig = {
  [Name in keyof ProxyWebSocketConfig]?: ProxyWebSocketConfig[Name] | undefined
}

/** `createProxyWebSocket` with the fallbacks of `createManagedFetch`, read for each socket. */
export function createManagedWebSocket(
  config: ManagedWebSocketConfig = {},
): ProxyWebSocketConstructor {
  return createProxyWebSocket({
    ...config,
    get apiKey() {
      return config.apiKey || keyFromEnvironment()
    },
    get proxyUrl() {
      return config.proxyUrl || urlFromEnvironment() || DEFAULT_PROXY_URL
    },
  })
}

/**
 * The platforms' messages for a failed connection: Node, Chromium, Safari, Firefox and React
 * Native, Bun.
 */
const UNREACHABLE = /fetch failed|failed to fetch|load failed|network|unable to connect/i

function isUnreachable(error: unknown): error is Error {
  return error instanceof Error && UNREACHABLE.test(error.message)
}

/**
 * Keeps the error, because the AI SDK recognizes it by its message, and shows the message of the
 * cause.
 */
function defaultUnreachableError(error: Error): TypeError {
  const { cause } = error
  const reason = cause instanceof Error && cause.message !== '' ? `${cause.message}. ` : ''
  const message = `${reason}No proxy answers at ${DEFAULT_PROXY_URL}, the default. Pass \`proxyUrl\`, or set NEXT_PUBLIC_AI_PROXY_URL.`
  return new TypeError(error.message, { cause: new Error(message, { cause: cause ?? error }) })
}

// Bundlers replace the literal texts `process.env.NEXT_PUBLIC_…` and no other spelling. Where they
// do not, `process` may be missing.

function keyFromEnvironment(): string {
  try {
    return process.env.NEXT_PUBLIC_AI_PROXY_KEY ?? ''
  } catch {
    return ''
  }
}

function urlFromEnvironment(): string {
  try {
    return process.env.NEXT_PUBLIC_AI_PROXY_URL ?? ''
  } catch {
    return ''
  }
}
