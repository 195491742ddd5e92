// What was used, and the ledger behind it.
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { address, call } from './http.ts'
import { Request, UsageLine, listOf } from './shapes.ts'

export interface UsageFilter {
  by: string
  /** Milliseconds since 1970. */
  from: number
  to: number
  key?: string | undefined
  model?: string | undefined
}

const Lines = listOf(UsageLine)
const Requests = listOf(Request)

export function useUsage({ from, to, ...rest }: UsageFilter) {
  const query = { ...rest, from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  return useQuery({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => call(Lines, '/api/v1/usage', { query, signal }),
    select: ({ data }) => data,
    placeholderData: keepPreviousData,
  })
}

export type RequestFilter = Readonly<Record<'key' | 'model' | 'provider' | 'state' | 'status' | 'from' | 'to', string>>

export function useRequests(filter: Partial<RequestFilter>, limit = 50) {
  return useInfiniteQuery({
    queryKey: ['requests', filter, limit],
    queryFn: ({ pageParam, signal }) => call(Requests, '/api/v1/requests', { query: { ...filter, limit, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  })
}

export function useRequest(id: string | null) {
  return useQuery({
    queryKey: ['request', id],
    queryFn: ({ signal }) => call(Request, `/api/v1/requests/${encodeURIComponent(id ?? '')}`, { signal }),
    enabled: id !== null,
  })
}

/** Where the ledger under this filter is as CSV. */
export function requestsCsv(filter: Partial<RequestFilter>): string {
  return address('/api/v1/requests', { ...filter, format: 'csv' })
}

/** Models that requests named in the last 30 days, most used first. */
export function useSeenModels(): string[] {
  const { data } = useQuery({ queryKey: ['usage', 'models'], queryFn: ({ signal }) => call(Lines, '/api/v1/usage', { query: { by: 'model' }, signal }), staleTime: 60_000 })
  const lines = [...(data?.data ?? [])].sort((a, b) => b.requests - a.requests)
  return lines.flatMap(({ model }) => (typeof model === 'string' ? [model] : []))
}
