// Proxy keys.
import { useQuery } from '@tanstack/react-query'
import type * as z from 'zod/mini'
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
  objects: Key['objects']
  providers: string[] | null
  read_only: boolean
  expires_at: string | null
}

const KEYS = ['keys'] as const
const Keys = listOf(Key)

/** Keys page by page, newest first unless `sort` says otherwise. */
export const useKeys = (filter: KeyFilter) => usePages({ key: [...KEYS, 'list', filter], item: Key, path: '/api/v1/keys', query: { ...filter, limit: 25 } })

export function useKey(id: string) {
  return useQuery({ queryKey: [...KEYS, id], queryFn: ({ signal }) => call(Key, `/api/v1/keys/${encodeURIComponent(id)}`, { signal }) })
}

/** Names of all keys by id, to choose from, newest first. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: [...KEYS, 'names'],
    queryFn: async ({ signal }) => {
      const keys: Key[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: z.output<typeof Keys> = await call(Keys, '/api/v1/keys', { query: { limit: 100, cursor }, signal })
        keys.push(...page.data)
        cursor = page.next_cursor
      }
      return keys
    },
    staleTime: 60_000,
  })
  return new Map(data?.map(({ id, name }) => [id, name]))
}

export const useCreateKey = (then: (made: NewKey) => void) => useOnce(useChange(KEYS, (body: KeyWishes) => call(NewKey, '/api/v1/keys', { method: 'POST', body }), then))

export const useChangeKey = (id: string) =>
  useChange(KEYS, (body: Partial<KeyWishes> & { status?: 'active' | 'disabled' }) => call(Key, `/api/v1/keys/${encodeURIComponent(id)}`, { method: 'PATCH', body }))

export const useRevokeKey = (id: string) => useChange(KEYS, () => send(`/api/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }))

export const useRotateKey = (id: string, then: (made: NewKey) => void) =>
  useOnce(useChange(KEYS, (grace_seconds: number) => call(NewKey, `/api/v1/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST', body: { grace_seconds } }), then))
