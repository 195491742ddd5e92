// The API of a running server.
import { SetupError, codeOf } from '../common/errors.ts'
import { ApiClient } from './client.ts'

/**
 * @param url address of the server
 * @param token an API token; without one, the server's error says so
 */
export function remoteClient(url: URL, token: string | null): ApiClient {
  const base = url.href.replace(/\/$/, '')
  const authorization: Record<string, string> =
    token === null ? {} : { authorization: `Bearer ${token}` }
  return new ApiClient(false, async (path, init) => {
    try {
      const headers = { ...Object.fromEntries(new Headers(init.headers)), ...authorization }
      // Do not follow redirects: the token is for this server only.
      return await fetch(base + path, { ...init, headers, redirect: 'manual' })
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined
      const why = codeOf(cause) ?? codeOf(error) ?? 'no answer'
      throw new SetupError(`The server at ${url.origin} cannot be reached (${why}).`, {
        cause: error,
      })
    }
  })
}
