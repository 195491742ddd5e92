// What was used, and the ledger behind it.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { address, call } from './http.ts'
import { usePages } from './queries.ts'
import { Model, Overview, Request, UsageLine, listOf } from './shapes.ts'

export type Range = 'hour' | 'day' | 'month'

/** What happened lately, to everything or to one key, and what needs attention. */
export function useOverview(range: Range, key?: string) {
  return useQuery({
    queryKey: ['overview', range, key ?? null],
    queryFn: ({ signal }) => call(Overview, '/api/v1/overview', { query: { range, key }, signal }),
    placeholderData: keepPreviousData,
    // The last minutes move on while somebody looks.
    refetchInterval: range === 'hour' ? 15_000 : 60_000,
  })
}

/** The same by key or model and step of time, between two moments. */
export function useUsage({ by, from, to, key }: { by: string; from: string; to: string; key?: string | undefined }, enabled: boolean) {
  return useQuery({
    queryKey: ['usage', by, from, to, key ?? null],
    queryFn: ({ signal }) => call(listOf(UsageLine), '/api/v1/usage', { query: { by, from, to, key }, signal }),
    select: ({ data }) => data,
    enabled,
    // What was counted by something else would be shown under wrong names.
    placeholderData: (before, query) => (query?.queryKey[1] === by ? before : undefined),
  })
}

export type RequestFilter = Readonly<Record<'key' | 'model' | 'provider' | 'state' | 'status' | 'from' | 'to', string>>

export const useRequests = (filter: Partial<RequestFilter>, limit = 50) => usePages({ key: ['requests', filter, limit], item: Request, path: '/api/v1/requests', query: { ...filter, limit } })

export function useRequest(id: string | null) {
  return useQuery({
    queryKey: ['request', id],
    queryFn: ({ signal }) => call(Request, `/api/v1/requests/${encodeURIComponent(id ?? '')}`, { signal }),
    enabled: id !== null,
    // One that is under way has an end to be seen.
    refetchInterval: ({ state }) => state.data?.state === 'reserved' && 2000,
  })
}

/** Where the ledger under this filter is as CSV. */
export function requestsCsv(filter: Partial<RequestFilter>): string {
  return address('/api/v1/requests', { ...filter, format: 'csv' })
}

/** Models that requests have named, most used first. */
export function useSeenModels(): string[] {
  const { data } = useQuery({ queryKey: ['models'], queryFn: ({ signal }) => call(listOf(Model), '/api/v1/models', { signal }), staleTime: 60_000 })
  return [...new Set(data?.data.map(({ id }) => id))]
}

/** What a filter by model offers: any, those that have been seen, and the one that is chosen. */
export function useModelChoices(chosen: string): (string | { value: string; label: string })[] {
  const models = new Set([...useSeenModels(), chosen].filter((model) => model !== ''))
  return [{ value: '', label: 'Any model' }, ...models]
}
