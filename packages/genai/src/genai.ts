import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createManagedFetch, createManagedWebSocket, PROXY_MANAGED } from '@proxy-sdk/core'
import type { ManagedFetchConfig, ManagedWebSocketConfig } from '@proxy-sdk/core'
import { withProxiedDownloads } from './videos.ts'

/** The provider of the installed `@ai-sdk/google`, with all its features. */
export type ProxyGenai = ReturnType<typeof createGoogleGenerativeAI>

/** Options of `createProxyGenai`. */
export interface ProxyGenaiConfig {
  /**
   * The proxy's key, `tmk_…`, or a function that returns it. Default: NEXT_PUBLIC_AI_PROXY_KEY.
   */
  apiKey?: ManagedFetchConfig['apiKey']
  /** The address of the proxy. Default: NEXT_PUBLIC_AI_PROXY_URL, then http://localhost:8484. */
  proxyUrl?: string | undefined
  /**
   * Requests with the same context key go to the same upstream credential, so that the provider's
   * prompt cache stays warm.
   */
  contextKey?: string | undefined
  /** Headers for every request; credentials among them are dropped. */
  headers?: Record<string, string | undefined> | undefined
  /**
   * Sends the requests: any function with the signature of `fetch`. Default: the platform's
   * `fetch`.
   */
  fetch?: ManagedFetchConfig['fetch']
  /** Opens the sockets of live models: the platform's `WebSocket` by default, or that of `ws`. */
  webSocket?: ManagedWebSocketConfig['webSocket']
}

/**
 * A provider for the Gemini API; all its requests go through the proxy. Without a key, creating it
 * succeeds, and the first call fails with an Error that says what to do.
 *
 * @throws Error if the installed `@ai-sdk/google` belongs to AI SDK 5 or older
 */
export function createProxyGenai({
  headers = {},
  fetch: send,
  ...config
}: ProxyGenaiConfig = {}): ProxyGenai {
  const fetch = createManagedFetch({ ...config, fetch: send })
  const webSocket = createManagedWebSocket(config)
  // AI SDK 6 has no `webSocket` option, and ignores it.
  const settings = { apiKey: PROXY_MANAGED, headers, fetch, webSocket }
  const provider = createGoogleGenerativeAI(settings)
  if (!('specificationVersion' in provider))
    throw new Error(
      '@proxy-sdk/genai needs AI SDK 6 or 7. The installed @ai-sdk/google is older: npm install ai@latest @ai-sdk/google@latest',
    )
  // The oldest releases in the peer range do not support videos.
  for (const name of ['video', 'videoModel'] as const)
    if (name in provider) provider[name] = withProxiedDownloads(provider[name], fetch)
  return provider
}
