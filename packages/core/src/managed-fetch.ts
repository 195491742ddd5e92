import { createProxyFetch } from './proxy-fetch.ts'
import type { Fetch, ProxyFetchConfig } from './proxy-fetch.ts'

/** Where `npm start` listens. */
export const DEFAULT_PROXY_URL = 'http://localhost:8484'

/** As for `createProxyFetch`, with what may come from the environment left to it. */
export type ManagedFetchConfig = { [Name in keyof ProxyFetchConfig]?: ProxyFetchConfig[Name] | undefined }

/** The two variables. Not every runtime has `process`, and bundlers put a text in the place of the whole expression. */
declare const process: { env: { NEXT_PUBLIC_AI_PROXY_KEY?: string; NEXT_PUBLIC_AI_PROXY_URL?: string } }

/**
 * `createProxyFetch` with fallbacks: `apiKey` → NEXT_PUBLIC_AI_PROXY_KEY; `proxyUrl` → NEXT_PUBLIC_AI_PROXY_URL → `DEFAULT_PROXY_URL`.
 * They are read when a call is made, not before; it rejects with an Error when there is no key.
 */
export function createManagedFetch(config: ManagedFetchConfig = {}): Fetch {
  return async (input, init) => {
    const apiKey = config.apiKey || keyFromEnvironment()
    const proxyUrl = config.proxyUrl || urlFromEnvironment() || DEFAULT_PROXY_URL
    return createProxyFetch({ ...config, apiKey, proxyUrl })(input, init)
  }
}

// Bundlers replace the literal texts `process.env.NEXT_PUBLIC_…` and no other spelling. Where they do not, `process` may be missing.

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
