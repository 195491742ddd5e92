// The package's main entry needs Node; this one runs everywhere, and express mode is the same in
// both.
import { createVertex } from '@ai-sdk/google-vertex/edge'
import type { GoogleVertexProviderSettings } from '@ai-sdk/google-vertex/edge'
import { createManagedFetch, PROXY_MANAGED } from '@proxy-sdk/core'
import type { ManagedFetchConfig } from '@proxy-sdk/core'

/**
 * The provider of the installed `@ai-sdk/google-vertex`, with everything that express mode can do.
 */
export type ProxyExpress = ReturnType<typeof createVertex>

/** TABLE of settings that are the proxy's business: credentials, and what would lead past it. */
const MANAGED = ['apiKey', 'fetch', 'googleCredentials', 'googleAuthOptions', 'webSocket'] as const

/** What else the provider can be told. */
export type ProxyExpressSettings = Partial<
  Omit<GoogleVertexProviderSettings, (typeof MANAGED)[number]>
>

/** Options of `createProxyExpress`. */
export interface ProxyExpressConfig {
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
  /** What else `createVertex` can be told. */
  settings?: ProxyExpressSettings | undefined
  /**
   * What sends the requests: any function that is called as `fetch` is. The platform's `fetch` by
   * default.
   */
  fetch?: ManagedFetchConfig['fetch']
}

const EXPRESS = 'https://aiplatform.googleapis.com'

/**
 * A provider for Vertex AI in express mode whose every request to Vertex goes through the proxy.
 * Creating it never fails for want of a key: the first call does, with an Error that says what to
 * do.
 *
 * @throws Error where the installed `@ai-sdk/google-vertex` belongs to AI SDK 5 or older
 */
export function createProxyExpress({
  settings = {},
  ...config
}: ProxyExpressConfig = {}): ProxyExpress {
  // The provider also fetches the files that a tool's result names, from anywhere. Those are not
  // the proxy's.
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
