// Proxy keys.
import { useQuery } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { useChange, useOnce, usePages } from './queries.ts'
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

/** Keys page by page, newest first unless `sort` says otherwise. */
export const useKeys = (filter: KeyFilter) => usePages({ key: [...KEYS, 'list', filter], item: Key, path: '/api/v1/keys', query: { ...filter, limit: 25 } })

export function useKey(id: string) {
  return useQuery({ queryKey: [...KEYS, id], queryFn: ({ signal }) => call(Key, `/api/v1/keys/${encodeURIComponent(id)}`, { signal }) })
}

/** Names of the newest hundred keys by id, to choose from. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: [...KEYS, 'names'],
    queryFn: ({ signal }) => call(listOf(Key), '/api/v1/keys', { query: { limit: 100 }, signal }),
    staleTime: 60_000,
  })
  return new Map(data?.data.map(({ id, name }) => [id, name]))
}

export const useCreateKey = () => useOnce(useChange(KEYS, (body: KeyWishes) => call(NewKey, '/api/v1/keys', { method: 'POST', body })))

export const useChangeKey = (id: string) =>
  useChange(KEYS, (body: Partial<KeyWishes> & { status?: 'active' | 'disabled' }) => call(Key, `/api/v1/keys/${encodeURIComponent(id)}`, { method: 'PATCH', body }))

export const useRevokeKey = (id: string) => useChange(KEYS, () => send(`/api/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }))

export const useRotateKey = (id: string) =>
  useOnce(useChange(KEYS, (grace_seconds: number) => call(NewKey, `/api/v1/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST', body: { grace_seconds } })))
