// What the calls of several records share: lists that come page by page, and changes after which something is asked anew.
import { useInfiniteQuery, useMutation, useQueryClient, type MutateOptions, type QueryKey, type UseMutationResult } from '@tanstack/react-query'
import { useRef } from 'react'
import type * as z from 'zod/mini'
import { call, type Query } from './http.ts'
import { listOf } from './shapes.ts'

interface PagesOptions<S extends z.ZodMiniType> {
  key: QueryKey
  item: S
  path: string
  /** Filters and the length of a page. */
  query: Query
  /** How often it is asked anew while it has these rows, in milliseconds; never where it is left out. */
  every?: (rows: readonly z.output<S>[]) => number | false
}

/** A list page by page. While another filter loads, the rows of the one before stay. */
export function usePages<S extends z.ZodMiniType>({ key, item, path, query, every }: PagesOptions<S>) {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => call(listOf(item), path, { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => every?.(state.data?.pages.flatMap(({ data }) => data) ?? []) ?? false,
  })
}

/**
 * A change, after which everything under `key` is asked anew. Changes under one key go one after the other: the last one stays.
 *
 * @param then told what came of it, also where the page that asked for it is gone
 */
export function useChange<Input, Output>(key: QueryKey, mutationFn: (input: Input) => Promise<Output>, then?: (output: Output) => void) {
  const client = useQueryClient()
  const onSuccess = async (output: Output): Promise<void> => {
    await client.invalidateQueries({ queryKey: key })
    then?.(output)
  }
  return useMutation({ mutationFn, scope: { id: JSON.stringify(key) }, onSuccess })
}

/** A mutation that must not happen twice: whoever presses again before the page can show that it is under way has pressed once. */
export function useOnce<Input, Output>(mutation: UseMutationResult<Output, Error, Input>) {
  const started = useRef(false)
  const mutate = (input: Input, then: MutateOptions<Output, Error, Input> = {}): void => {
    if (started.current || mutation.isPending) return
    started.current = true
    void mutation.mutateAsync(input, then).catch(() => {}).finally(() => (started.current = false))
  }
  return { ...mutation, mutate }
}
