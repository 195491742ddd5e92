// Usage, and the ledger behind it.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call, ping } from './http.ts'
import { withQuery } from './query-string.ts'
import { usePages } from './queries.ts'
import { withAccountScope } from './account-scope.ts'
import * as z from 'zod/mini'
import { Model, Overview, Refusal, RefusalCounts, Request, UsageLine, listOf } from './shapes.ts'

/** The time ranges that the overview offers. */
export type Range = 'hour' | 'day' | 'week' | 'month'

/** Recent usage of the account or one key, and what needs attention. */
export function useOverview(range: Range, key?: string) {
  const overview = useQuery({
    queryKey: ['overview', range, key ?? null],
    // With its range, because the old range stays visible while another loads.
    queryFn: async ({ signal }) => ({
      range,
      ...(await call(Overview, '/api/v1/overview', { query: { range, key }, signal })),
    }),
    placeholderData: keepPreviousData,
    // The last minutes change while visible.
    refetchInterval: range === 'hour' ? LIVE : 30_000,
  })
  // Notices at once that the server is down, and not only at the next refetch.
  const away = useQuery({
    queryKey: ['alive'],
    queryFn: ({ signal }) => ping(signal).then(() => true),
    refetchInterval: LIVE,
    retry: false,
  }).isError
  const { refetch } = overview
  useEffect(() => {
    if (away) void refetch()
  }, [away, refetch])
  return overview
}

/** Keys or models shown separately in a chart; the server sums up the rest. */
const TOP = 5

/** Usage by key or model and time step, between two times: the top ones, and all others as one. */
export function useUsage(
  { by, from, to, key }: { by: string; from: string; to: string; key?: string | undefined },
  enabled: boolean,
) {
  return useQuery({
    queryKey: ['usage', by, from, to, key ?? null],
    queryFn: ({ signal }) =>
      call(listOf(UsageLine), '/api/v1/usage', { query: { by, from, to, key, top: TOP }, signal }),
    select: ({ data }) => data,
    enabled,
    // Rows with another dimension would get wrong names.
    placeholderData: (before, query) => (query?.queryKey[1] === by ? before : undefined),
  })
}

/** Filters of the list of proxied requests. */
export type RequestFilter = Readonly<
  Record<
    'key' | 'child' | 'end_user' | 'model' | 'provider' | 'outcome' | 'status' | 'from' | 'to',
    string
  >
>

/** Milliseconds between refetches of current usage while visible. */
const LIVE = 5000

/** Lists proxied requests, page by page. */
export const useRequests = (filter: Partial<RequestFilter>, limit = 50) =>
  usePages({
    key: ['requests', filter, limit],
    item: Request,
    path: '/api/v1/requests',
    query: { ...filter, limit },
    refetchMs: LIVE,
  })

/** Filters of the list of rejected requests. */
export type RefusalFilter = Readonly<Record<'key' | 'code' | 'from' | 'to', string>>

/** Lists requests that the proxy rejected, page by page. */
export const useRefusals = (filter: Partial<RefusalFilter>, limit = 50) =>
  usePages({
    key: ['refusals', filter, limit],
    item: Refusal,
    path: '/api/v1/refusals',
    query: { ...filter, limit },
    refetchMs: LIVE,
  })

/** Refusals by reason, whatever reason is selected. */
export function useRefusalCounts({ key, from, to }: Partial<RefusalFilter>) {
  return useQuery({
    queryKey: ['refusals', 'counts', key ?? '', from ?? '', to ?? ''],
    queryFn: ({ signal }) =>
      call(RefusalCounts, '/api/v1/refusals', { query: { key, from, to, limit: 1 }, signal }),
    refetchInterval: 15_000,
  })
}

/** A request of the ledger, or a refusal. */
export function useRequest(id: string | null) {
  return useQuery({
    queryKey: ['request', id],
    queryFn: ({ signal }) =>
      call(z.union([Request, Refusal]), `/api/v1/requests/${encodeURIComponent(id ?? '')}`, {
        signal,
      }),
    enabled: id !== null,
    // Refetch a request in progress, to see its end.
    refetchInterval: ({ state }) =>
      state.data?.object === 'request' && state.data.outcome === 'in_progress' && 2000,
  })
}

/** The URL of the filtered ledger as CSV. */
export function requestsCsv(filter: Partial<RequestFilter>): string {
  const path = '/api/v1/requests'
  return withQuery(path, withAccountScope('GET', path, { ...filter, format: 'csv' }))
}

const askModels = ({ signal }: { signal: AbortSignal }) =>
  call(listOf(Model), '/api/v1/models', { signal })

/** Models named in requests, with their providers, most used first. */
export function useModels(): Model[] {
  return useQuery({ queryKey: ['models'], queryFn: askModels, staleTime: 60_000 }).data?.data ?? []
}

/** Choices of the model filter: any, the models seen, and the selected one. */
export function useModelChoices(chosen: string): (string | { value: string; label: string })[] {
  const models = new Set(
    [...useModels().map(({ id }) => id), chosen].filter((model) => model !== ''),
  )
  return [{ value: '', label: 'Any model' }, ...models]
}
