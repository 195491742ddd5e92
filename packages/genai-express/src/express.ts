// The package's main entry needs Node; this one runs everywhere, and express mode is the same in
// both.
import { createVertex } from '@ai-sdk/google-vertex/edge'
import type { GoogleVertexProviderSettings } from '@ai-sdk/google-vertex/edge'
import { createManagedFetch, PROXY_MANAGED } from '@proxy-sdk/core'
import type { ManagedFetchConfig } from '@proxy-sdk/core'

/** The provider of the installed `@ai-sdk/google-vertex`, with all features of express mode. */
export type ProxyExpress = ReturnType<typeof createVertex>

/** TABLE of settings that the proxy controls: credentials, and addresses that would bypass it. */
const MANAGED = ['apiKey', 'fetch', 'googleCredentials', 'googleAuthOptions', 'webSocket'] as const

/** The provider's other settings. */
export type ProxyExpressSettings = Partial<
  Omit<GoogleVertexProviderSettings, (typeof MANAGED)[number]>
>

/** Options of `createProxyExpress`. */
export interface ProxyExpressConfig {
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
  /** Other settings of `createVertex`. */
  settings?: ProxyExpressSettings | undefined
  /**
   * Sends the requests: any function with the signature of `fetch`. Default: the platform's
   * `fetch`.
   */
  fetch?: ManagedFetchConfig['fetch']
}

const EXPRESS = 'https://aiplatform.googleapis.com'

/**
 * A provider for Vertex AI in express mode; all its requests to Vertex go through the proxy.
 * Without a key, creating it succeeds, and the first call fails with an Error that says what to do.
 *
 * @throws Error if the installed `@ai-sdk/google-vertex` belongs to AI SDK 5 or older
 */
export function createProxyExpress({
  settings = {},
  ...config
}: ProxyExpressConfig = {}): ProxyExpress {
  // The provider also fetches the files named in a tool's result, from anywhere. Those do not go
  // through the proxy.
  const bypass = (url: URL): boolean => url.origin !== new URL(settings.baseURL ?? EXPRESS).origin
  const fetch = createManagedFetch({ ...config, bypass })
  const allowed: ProxyExpressSettings = { ...settings }
  for (const name of MANAGED) Reflect.deleteProperty(allowed, name)
  const provider = createVertex({ ...allowed, apiKey: PROXY_MANAGED, fetch })
  if (!('specificationVersion' in provider)) {
    throw new Error(
      '@proxy-sdk/genai-express needs AI SDK 6 or 7. The installed @ai-sdk/google-vertex is older: npm install ai@latest @ai-sdk/google-vertex@latest',
    )
  }
  return provider
}
