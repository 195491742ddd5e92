import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createManagedFetch, createManagedWebSocket, PROXY_MANAGED } from '@proxy-sdk/core'
import type { ManagedFetchConfig, ManagedWebSocketConfig } from '@proxy-sdk/core'
import { withProxiedDownloads } from './videos.ts'

/** The provider of the installed `@ai-sdk/google`, with everything that it can do. */
export type ProxyGenai = ReturnType<typeof createGoogleGenerativeAI>

/** Options of `createProxyGenai`. */
export interface ProxyGenaiConfig {
  /**
   * The proxy's key, `tmk_…`, or a function that gives it; NEXT_PUBLIC_AI_PROXY_KEY where it is
   * left out.
   */
  apiKey?: ManagedFetchConfig['apiKey']
  /**
   * Where the proxy is; NEXT_PUBLIC_AI_PROXY_URL where it is left out, then http://localhost:8484.
   */
  proxyUrl?: string | undefined
  /**
   * Requests with the same context key go to the same upstream credential, so that the provider's
   * prompt cache stays warm.
   */
  contextKey?: string | undefined
  /** Headers for every request. Credentials among them are dropped. */
  headers?: Record<string, string | undefined> | undefined
  /**
   * What sends the requests: any function that is called as `fetch` is. The platform's `fetch` by
   * default.
   */
  fetch?: ManagedFetchConfig['fetch']
  /**
   * What opens the sockets of live models: the platform's `WebSocket` by default, or that of `ws`.
   */
  webSocket?: ManagedWebSocketConfig['webSocket']
}

/**
 * A provider for the Gemini API whose every request goes through the proxy. Creating it never fails
 * for want of a key: the first call does, with an Error that says what to do.
 *
 * @throws Error where the installed `@ai-sdk/google` belongs to AI SDK 5 or older
 */
export function createProxyGenai({
  headers = {},
  fetch: send,
  ...config
}: ProxyGenaiConfig = {}): ProxyGenai {
  const fetch = createManagedFetch({ ...config, fetch: send })
  const webSocket = createManagedWebSocket(config)
  // AI SDK 6 has no `webSocket`, and ignores it.
  const settings = { apiKey: PROXY_MANAGED, headers, fetch, webSocket }
  const provider = createGoogleGenerativeAI(settings)
  if (!('specificationVersion' in provider))
    throw new Error(
      '@proxy-sdk/genai needs AI SDK 6 or 7. The installed @ai-sdk/google is older: npm install ai@latest @ai-sdk/google@latest',
    )
  // The oldest releases that the peer range allows make no videos.
  for (const name of ['video', 'videoModel'] as const)
    if (name in provider) provider[name] = withProxiedDownloads(provider[name], fetch)
  return provider
}
