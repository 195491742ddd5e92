import { createProxyFetch } from './proxy-fetch.ts'
import type { Fetch, ProxyFetchConfig } from './proxy-fetch.ts'
import { createProxyWebSocket } from './proxy-websocket.ts'
import type { ProxyWebSocketConfig, ProxyWebSocketConstructor } from './proxy-websocket.ts'

/** Where `npm start` listens. */
export const DEFAULT_PROXY_URL = 'http://localhost:8484'

/** As for `createProxyFetch`, with what may come from the environment left to it. */
export type ManagedFetchConfig = {
  [Name in keyof ProxyFetchConfig]?: ProxyFetchConfig[Name] | undefined
}

/**
 * The two variables. Not every runtime has `process`, and bundlers put a text in the place of the
 * whole expression.
 */
declare const process: {
  env: { NEXT_PUBLIC_AI_PROXY_KEY?: string; NEXT_PUBLIC_AI_PROXY_URL?: string }
}

/**
 * `createProxyFetch` with fallbacks: `apiKey` → NEXT_PUBLIC_AI_PROXY_KEY; `proxyUrl` →
 * NEXT_PUBLIC_AI_PROXY_URL → `DEFAULT_PROXY_URL`. They are read when a call is made, not before; it
 * rejects with an Error when there is no key. When nothing answers at the default address, the
 * error's `cause` says that the address was the default.
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

/** As for `createProxyWebSocket`, with what may come from the environment left to it. */
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
 * How platforms say that there was no connection: Node, Chromium, Safari, Firefox and React Native,
 * Bun.
 */
const UNREACHABLE = /fetch failed|failed to fetch|load failed|network|unable to connect/i

function isUnreachable(error: unknown): error is Error {
  return error instanceof Error && UNREACHABLE.test(error.message)
}

/** The same error, for the AI SDK knows it by its message; it shows the message of the cause. */
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
