// The API of a running server.
import { SetupError, codeOf } from '../common/errors.ts'
import { ApiClient } from './client.ts'
import { Misuse } from './failure.ts'

/**
 * @param url address of the server
 * @throws Misuse without an API token, which every call needs
 */
export function remoteClient(url: URL, token: string | null): ApiClient {
  if (token === null)
    throw new Misuse('Give an API token for that server: --token tmt_…, or TOLLMARK_TOKEN.')
  const base = url.href.replace(/\/$/, '')
  const authorization = { authorization: `Bearer ${token}` }
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
