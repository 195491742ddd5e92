// The package's main entry needs Node; this one runs everywhere, and express mode is the same in both.
import { createVertex } from '@ai-sdk/google-vertex/edge'
import type { GoogleVertexProviderSettings } from '@ai-sdk/google-vertex/edge'
import { createManagedFetch, PROXY_MANAGED } from '@proxy-sdk/core'

/** The provider of the installed `@ai-sdk/google-vertex`, with everything that express mode can do. */
export type ProxyExpress = ReturnType<typeof createVertex>

/** TABLE of settings that are the proxy's business: credentials, and what would lead past it. */
const MANAGED = ['apiKey', 'fetch', 'googleCredentials', 'googleAuthOptions', 'webSocket'] as const

/** What else the provider can be told. */
export type ProxyExpressSettings = Partial<Omit<GoogleVertexProviderSettings, (typeof MANAGED)[number]>>

export interface ProxyExpressConfig {
  /** The proxy's key, `tmk_…`; NEXT_PUBLIC_AI_PROXY_KEY where it is left out. */
  apiKey?: string | undefined
  /** Where the proxy is; NEXT_PUBLIC_AI_PROXY_URL where it is left out, then http://localhost:8484. */
  proxyUrl?: string | undefined
  /** Requests with the same context key go to the same upstream credential, so that the provider's prompt cache stays warm. */
  contextKey?: string | undefined
  settings?: ProxyExpressSettings | undefined
}

const EXPRESS = 'https://aiplatform.googleapis.com'

/**
 * A provider for Vertex AI in express mode whose every request to Vertex goes through the proxy. Creating it never fails: the first call
 * does, with an Error that says what to do, when there is no key.
 */
export function createProxyExpress({ apiKey, proxyUrl, contextKey, settings = {} }: ProxyExpressConfig = {}): ProxyExpress {
  // The provider also fetches the files that a tool's result names, from anywhere. Those are not the proxy's.
  const bypass = (url: URL): boolean => url.origin !== new URL(settings.baseURL ?? EXPRESS).origin
  const fetch = createManagedFetch({ apiKey, proxyUrl, contextKey, bypass })
  const allowed: ProxyExpressSettings = { ...settings }
  for (const name of MANAGED) Reflect.deleteProperty(allowed, name)
  return createVertex({ ...allowed, apiKey: PROXY_MANAGED, fetch })
}
