// Proxy keys.
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { Key, NewKey, listOf } from './shapes.ts'

export interface KeyFilter {
  search: string
  status: string
  model: string
  sort: string
}

/** What a person decides about a key. */
export interface KeyWishes {
  name: string
  models: string[] | null
  rpm: number | null
  allowed_origins: string[] | null
  expires_at: string | null
}

const KEYS = ['keys'] as const
const Keys = listOf(Key)

/** Keys page by page, newest first unless `sort` says otherwise. */
export function useKeys(filter: KeyFilter) {
  return useInfiniteQuery({
    queryKey: [...KEYS, 'list', filter],
    queryFn: ({ pageParam, signal }) => call(Keys, '/api/v1/keys', { query: { ...filter, limit: 25, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (before) => before,
  })
}

export function useKey(id: string) {
  return useQuery({ queryKey: [...KEYS, id], queryFn: ({ signal }) => call(Key, `/api/v1/keys/${encodeURIComponent(id)}`, { signal }) })
}

/** Names of the newest hundred keys by id, to choose from. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: [...KEYS, 'names'],
    queryFn: ({ signal }) => call(Keys, '/api/v1/keys', { query: { limit: 100 }, signal }),
    staleTime: 60_000,
  })
  return new Map(data?.data.map(({ id, name }) => [id, name]))
}

function useChange<Input, Output>(mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSuccess: () => client.invalidateQueries({ queryKey: KEYS }) })
}

export const useCreateKey = () => useChange((body: KeyWishes) => call(NewKey, '/api/v1/keys', { method: 'POST', body }))

export const useChangeKey = (id: string) =>
  useChange((body: Partial<KeyWishes> & { status?: 'active' | 'disabled' }) => call(Key, `/api/v1/keys/${encodeURIComponent(id)}`, { method: 'PATCH', body }))

export const useRevokeKey = (id: string) => useChange(() => send(`/api/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }))

export const useRotateKey = (id: string) =>
  useChange((grace_seconds: number) => call(NewKey, `/api/v1/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST', body: { grace_seconds } }))
