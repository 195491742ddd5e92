// API tokens.
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { NewToken, Token, listOf } from './shapes.ts'

const TOKENS = ['tokens'] as const

export interface TokenWishes {
  name: string
  scopes: Token['scopes']
  expires_at: string | null
}

export function useTokens() {
  return useInfiniteQuery({
    queryKey: TOKENS,
    queryFn: ({ pageParam, signal }) => call(listOf(Token), '/api/v1/tokens', { query: { limit: 25, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
  })
}

export function useCreateToken() {
  const client = useQueryClient()
  return useMutation({ mutationFn: (body: TokenWishes) => call(NewToken, '/api/v1/tokens', { method: 'POST', body }), onSuccess: () => client.invalidateQueries({ queryKey: TOKENS }) })
}

export function useRevokeToken() {
  const client = useQueryClient()
  return useMutation({ mutationFn: (id: string) => send(`/api/v1/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' }), onSuccess: () => client.invalidateQueries({ queryKey: TOKENS }) })
}
