import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createManagedFetch, PROXY_MANAGED } from '@proxy-sdk/core'
import { downloading } from './videos.ts'

/** The provider of the installed `@ai-sdk/google`, with everything that it can do. */
export type ProxyGenai = ReturnType<typeof createGoogleGenerativeAI>

export interface ProxyGenaiConfig {
  /** The proxy's key, `tmk_…`; NEXT_PUBLIC_AI_PROXY_KEY where it is left out. */
  apiKey?: string | undefined
  /** Where the proxy is; NEXT_PUBLIC_AI_PROXY_URL where it is left out, then http://localhost:8484. */
  proxyUrl?: string | undefined
}

/**
 * A provider for the Gemini API whose every request goes through the proxy. Creating it never fails: the first call does, with an
 * Error that says what to do, when there is no key.
 */
export function createProxyGenai(config: ProxyGenaiConfig = {}): ProxyGenai {
  const fetch = createManagedFetch({ apiKey: config.apiKey, proxyUrl: config.proxyUrl })
  const provider = createGoogleGenerativeAI({ apiKey: PROXY_MANAGED, fetch })
  // The oldest releases that the peer range allows make no videos.
  for (const name of ['video', 'videoModel'] as const) if (name in provider) provider[name] = downloading(provider[name], fetch)
  return provider
}
