// API tokens.
import { call, send } from './http.ts'
import { useChange, useOnce, usePages } from './queries.ts'
import { NewToken, Token } from './shapes.ts'

const TOKENS = ['tokens'] as const

export interface TokenWishes {
  name: string
  scopes: Token['scopes']
  expires_at: string | null
}

export const useTokens = () => usePages({ key: TOKENS, item: Token, path: '/api/v1/tokens', query: { limit: 25 } })

export const useCreateToken = (then: (made: NewToken) => void) => useOnce(useChange(TOKENS, (body: TokenWishes) => call(NewToken, '/api/v1/tokens', { method: 'POST', body }), then))

export const useRevokeToken = () => useChange(TOKENS, (id: string) => send(`/api/v1/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' }))
