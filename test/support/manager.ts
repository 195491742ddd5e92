// Calls the management API with a token.
import { createToken, type NewToken } from '../../server/accounts/tokens.ts'
import type { Running } from '../../server/app/serve.ts'
import { call, type ReceivedResponse } from './harness.ts'

export interface Manager {
  readonly token: NewToken
  api(method: string, path: string, body?: unknown): Promise<ReceivedResponse>
}

/**
 * The API with a token of the first account, which is an administrator, or of the named account.
 */
export async function manager(
  { running: { url, store } }: { running: Pick<Running, 'url' | 'store'> },
  account: string | null = null,
): Promise<Manager> {
  const { token } = await createToken(
    store,
    { name: account, plan: 'free' },
    { name: 'test', scopes: ['manage'], expiresAt: null },
    Date.now(),
  )
  return {
    token,
    api: (method, path, body) =>
      call(url, `/api/v1/${path}`, {
        method,
        token: token.secret,
        ...(body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      }),
  }
}
