// API tokens.
import { call, send } from './http.ts'
import { useChange, useOnce, usePages } from './queries.ts'
import { NewToken, Token } from './shapes.ts'

const TOKENS = ['tokens'] as const

/** The fields of a new API token. */
export interface TokenInput {
  name: string
  scopes: Token['scopes']
  expires_at: string | null
}

/** Lists API tokens, page by page. */
export const useTokens = (filter: { search: string; status: string }) =>
  usePages({
    key: [...TOKENS, filter],
    item: Token,
    path: '/api/v1/tokens',
    query: { ...filter, limit: 25 },
  })

/** Creates an API token. Its secret is only in this response. */
export const useCreateToken = (onCreated: (created: NewToken) => void) =>
  useOnce(
    useChange(
      TOKENS,
      (body: TokenInput) => call(NewToken, '/api/v1/tokens', { method: 'POST', body }),
      onCreated,
    ),
  )

/** Removes an expired or revoked token from the list. */
export const usePurgeToken = () =>
  useChange(TOKENS, (id: string) =>
    send(`/api/v1/tokens/${encodeURIComponent(id)}`, {
      method: 'DELETE',
      query: { purge: 'true' },
    }),
  )

/** Revokes an API token. */
export const useRevokeToken = () =>
  useChange(TOKENS, (id: string) =>
    send(`/api/v1/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  )
