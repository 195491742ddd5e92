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

/** What a person decides about a key. */
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
/**
 * Milliseconds after which keys are asked for again, while somebody looks: what they have used
 * moves on.
 */
const LIVE = 10_000

/** What has been revoked is over: it is shown where somebody asks for it. */
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
 * A key; until it has come, as it stood in a list: so what else is asked about it does not wait for
 * it.
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

/** The newest keys whose name has this in it, to choose from; there may be thousands. */
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

/** Whether there is any key, of whatever status. */
export function useHasKeys(): boolean | undefined {
  return useQuery({
    queryKey: [...KEYS, 'any'],
    queryFn: ({ signal }) => call(listOf(Key), '/api/v1/keys', { query: { limit: 1 }, signal }),
    select: ({ data }) => data.length > 0,
  }).data
}

/** Creates a key; its secret is in the answer, once. */
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

/** Ends the secret that was rotated away, at once. */
export const useEndRotation = (id: string) =>
  useChange(KEYS, () =>
    call(Key, `/api/v1/keys/${encodeURIComponent(id)}/rotate/end`, { method: 'POST', body: {} }),
  )

/** Takes a revoked or expired key out of every list. */
export const usePurgeKey = (id: string) =>
  useChange(KEYS, () =>
    send(`/api/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE', query: { purge: 'true' } }),
  )

/** Takes all keys out of every list that have ended in this way. */
export const usePurgeKeys = () =>
  useChange(KEYS, (status: 'expired' | 'revoked') =>
    send('/api/v1/keys/purge', { method: 'POST', body: { status: [status] } }),
  )

/** Gives a key a new secret; the old one works for the grace period. */
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

/** The child keys of a key that are alive, the newest first. */
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

/** Ends a child key. */
export const useEndChild = () =>
  useChange(KEYS, (child: string) =>
    send(`/api/v1/keys/${encodeURIComponent(child)}`, { method: 'DELETE' }),
  )

const objectsOf = (id: string): string => `/api/v1/keys/${encodeURIComponent(id)}/objects`

/** What an administrator shares with a key. */
export function useSharedObjects(id: string) {
  return useQuery({
    queryKey: [...KEYS, id, 'objects'],
    queryFn: ({ signal }) => call(listOf(SharedObject), objectsOf(id), { signal }),
    select: ({ data }) => data,
  })
}

/** Lets a key use a stored object of the provider. */
export const useShareObject = (id: string) =>
  useOnce(
    useChange(
      [...KEYS, id, 'objects'],
      (body: Pick<SharedObject, 'provider' | 'kind' | 'object_id'>) =>
        call(SharedObject, objectsOf(id), { method: 'POST', body }),
    ),
  )

/** Takes a shared object away from a key. */
export const useUnshareObject = (id: string) =>
  useChange([...KEYS, id, 'objects'], (object: string) =>
    send(`${objectsOf(id)}/${encodeURIComponent(object)}`, { method: 'DELETE' }),
  )
