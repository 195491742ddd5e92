// Proxy keys.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, send } from './http.ts'
import { useChange, useOnce, usePages, type PageOf } from './queries.ts'
import { Key, NewKey, SharedObject, listOf } from './shapes.ts'

/** Filters and order of the list of keys. */
export interface KeyFilter {
  search: string
  status: string
  model: string
  sort: string
}

/** The fields of a key that a user sets. */
export interface KeyInput {
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
/** Milliseconds between refetches of visible keys, because their usage changes. */
const LIVE = 10_000

/** Without a filter, hides revoked keys. */
const statusesOf = (status: string): string =>
  status === '' ? 'active,disabled,expired' : status === 'all' ? '' : status

/** Keys page by page, newest first unless `sort` says otherwise. */
export const useKeys = (filter: KeyFilter) =>
  usePages({
    key: [...KEYS, 'list', filter],
    item: Key,
    path: '/api/v1/keys',
    query: { ...filter, status: statusesOf(filter.status), limit: 25 },
    refetchMs: LIVE,
  })

/**
 * A key. While it loads, shows it as it was in a list, so that dependent queries need not wait.
 */
export function useKey(id: string, enabled = true) {
  const client = useQueryClient()
  const listed = (): Key | undefined =>
    client
      .getQueriesData<PageOf<Key>>({ queryKey: [...KEYS, 'list'] })
      .flatMap(([, page]) => page?.rows ?? [])
      .find((key) => key.id === id)
  return useQuery({
    queryKey: [...KEYS, id],
    queryFn: ({ signal }) => call(Key, `/api/v1/keys/${encodeURIComponent(id)}`, { signal }),
    placeholderData: listed,
    refetchInterval: LIVE,
    enabled,
  })
}

/** The newest keys whose name contains `search`; there may be thousands. */
export function useKeySearch(search: string, enabled: boolean) {
  return useQuery({
    queryKey: [...KEYS, 'search', search],
    queryFn: ({ signal }) =>
      call(listOf(Key), '/api/v1/keys', { query: { limit: 8, search }, signal }),
    select: ({ data }) => data,
    placeholderData: keepPreviousData,
    enabled,
  })
}

/** Whether there is any key, whatever its status. */
export function useHasKeys(): boolean | undefined {
  return useQuery({
    queryKey: [...KEYS, 'any'],
    queryFn: ({ signal }) => call(listOf(Key), '/api/v1/keys', { query: { limit: 1 }, signal }),
    select: ({ data }) => data.length > 0,
  }).data
}

/** Creates a key. Its secret is only in this response. */
export const useCreateKey = (onCreated: (created: NewKey) => void) =>
  useOnce(
    useChange(
      KEYS,
      (body: KeyInput) => call(NewKey, '/api/v1/keys', { method: 'POST', body }),
      onCreated,
    ),
  )

/** Changes a key's fields. */
export const useChangeKey = (id: string) =>
  useChange(KEYS, (body: Partial<KeyInput> & { status?: 'active' | 'disabled' }) =>
    call(Key, `/api/v1/keys/${encodeURIComponent(id)}`, { method: 'PATCH', body }),
  )

/** Revokes a key. */
export const useRevokeKey = (id: string) =>
  useChange(KEYS, () => send(`/api/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }))

/** Revokes the old secret of a rotated key. */
export const useEndRotation = (id: string) =>
  useChange(KEYS, () =>
    call(Key, `/api/v1/keys/${encodeURIComponent(id)}/rotate/end`, { method: 'POST', body: {} }),
  )

/** Removes a revoked or expired key from every list. */
export const usePurgeKey = (id: string) =>
  useChange(KEYS, () =>
    send(`/api/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE', query: { purge: 'true' } }),
  )

/** Removes all keys with this status from every list. */
export const usePurgeKeys = () =>
  useChange(KEYS, (status: 'expired' | 'revoked') =>
    send('/api/v1/keys/purge', { method: 'POST', body: { status: [status] } }),
  )

/** Gives a key a new secret; the old one stays valid for the grace period. */
export const useRotateKey = (id: string, onCreated: (created: NewKey) => void) =>
  useOnce(
    useChange(
      KEYS,
      (grace_seconds: number) =>
        call(NewKey, `/api/v1/keys/${encodeURIComponent(id)}/rotate`, {
          method: 'POST',
          body: { grace_seconds },
        }),
      onCreated,
    ),
  )

/** The active child keys of a key, newest first. */
export function useChildKeys(id: string) {
  return useQuery({
    queryKey: [...KEYS, id, 'children'],
    queryFn: ({ signal }) =>
      call(listOf(Key), '/api/v1/keys', {
        query: { parent_id: id, status: 'active', limit: 100 },
        signal,
      }),
    select: ({ data }) => data,
    refetchInterval: LIVE,
  })
}

/** Revokes a child key. */
export const useEndChild = () =>
  useChange(KEYS, (child: string) =>
    send(`/api/v1/keys/${encodeURIComponent(child)}`, { method: 'DELETE' }),
  )

const objectsOf = (id: string): string => `/api/v1/keys/${encodeURIComponent(id)}/objects`

/** The objects shared with a key. */
export function useSharedObjects(id: string) {
  return useQuery({
    queryKey: [...KEYS, id, 'objects'],
    queryFn: ({ signal }) => call(listOf(SharedObject), objectsOf(id), { signal }),
    select: ({ data }) => data,
  })
}

/** Shares a stored provider object with a key. */
export const useShareObject = (id: string) =>
  useOnce(
    useChange(
      [...KEYS, id, 'objects'],
      (body: Pick<SharedObject, 'provider' | 'kind' | 'object_id'>) =>
        call(SharedObject, objectsOf(id), { method: 'POST', body }),
    ),
  )

/** Stops sharing an object with a key. */
export const useUnshareObject = (id: string) =>
  useChange([...KEYS, id, 'objects'], (object: string) =>
    send(`${objectsOf(id)}/${encodeURIComponent(object)}`, { method: 'DELETE' }),
  )
