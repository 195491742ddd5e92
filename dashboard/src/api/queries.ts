// What the calls of several records share: lists that come page by page, and changes after which
// something is asked anew.
import {
  useMutation,
  useQuery,
  useQueryClient,
  type MutateOptions,
  type QueryKey,
  type UseMutationResult,
} from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type * as z from 'zod/mini'
import { call, type Query } from './http.ts'
import { listOf } from './shapes.ts'

interface PagesOptions<S extends z.ZodMiniType> {
  key: QueryKey
  item: S
  path: string
  /** Filters, and the length of a page. */
  query: Query & { limit: number }
  /**
   * How often the first page is asked anew while it is looked at, in milliseconds; never where it
   * is left out.
   */
  refetchMs?: number | ((rows: readonly z.output<S>[]) => number | false)
}

/** One page of a list. */
export interface PageOf<T> {
  rows: readonly T[]
  next: string | null
  /** Rows of all pages; left out where the server does not count them. */
  total?: number | undefined
}

/** Where somebody is in a list: the cursor of each page up to theirs, and the rows before it. */
interface PagePosition {
  of: string
  pages: readonly { cursor: string; before: number }[]
}

/** The page that was loaded last. */
interface LastPage<T> {
  of: string
  data: PageOf<T>
  before: number
}

/**
 * The server may answer a page with fewer rows than asked for where few fit; it is asked at most so
 * often for one page.
 */
const MAX_CALLS = 5

/**
 * A list page by page, of which one is held. While another page or filter loads, the rows of the
 * one before stay.
 */
export function usePages<S extends z.ZodMiniType>({
  key,
  item,
  path,
  query,
  refetchMs,
}: PagesOptions<S>) {
  const of = JSON.stringify(key)
  const [position, setPlace] = useState<PagePosition>({ of, pages: [] })
  const pages = position.of === of ? position.pages : []
  const { cursor, before } = pages.at(-1) ?? { cursor: '', before: 0 }
  const page = useQuery({
    queryKey: [...key, 'page', cursor],
    queryFn: async ({ signal }): Promise<PageOf<z.output<S>>> => {
      const rows: z.output<S>[] = []
      let next: string | null = cursor
      let total: number | undefined
      for (
        let calls = 0;
        calls < MAX_CALLS && next !== null && rows.length < query.limit;
        calls++
      ) {
        const answer: z.output<ReturnType<typeof listOf<S>>> = await call(listOf(item), path, {
          query: { ...query, limit: query.limit - rows.length, cursor: next },
          signal,
        })
        rows.push(...answer.data)
        next = answer.next_cursor
        total ??= answer.total
      }
      return { rows, next, total }
    },
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      cursor !== '' || refetchMs === undefined
        ? false
        : typeof refetchMs === 'number'
          ? refetchMs
          : refetchMs(state.data?.rows ?? []),
  })
  const { data } = page
  const [lastPage, setGood] = useState<LastPage<z.output<S>> | null>(null)
  if (data !== undefined && !page.isPlaceholderData && lastPage?.data !== data)
    setGood({ of, data, before })
  // A page that could not be loaded leaves the one before it where it is.
  const kept = data === undefined && page.error !== null && lastPage?.of === of ? lastPage : null
  return {
    ...page,
    data: kept === null ? data : kept.data,
    isPlaceholderData: kept !== null || page.isPlaceholderData,
    /** Rows on the pages before this one. */
    before: kept === null ? before : kept.before,
    toNext: (): void => {
      if (kept !== null) void page.refetch()
      else if (data?.next && !page.isPlaceholderData)
        setPlace({
          of,
          pages: [...pages, { cursor: data.next, before: before + data.rows.length }],
        })
    },
    toPrevious: (): void => setPlace({ of, pages: pages.slice(0, -1) }),
  }
}

/**
 * A change, after which everything under `key` is asked anew. Changes under one key go one after
 * the other: the last one stays.
 *
 * @param onDone told what came of it, also where the page that asked for it is gone
 */
export function useChange<Input, Output>(
  key: QueryKey,
  mutationFn: (input: Input) => Promise<Output>,
  onDone?: (output: Output) => void,
) {
  const client = useQueryClient()
  const onSuccess = async (output: Output): Promise<void> => {
    await client.invalidateQueries({ queryKey: key })
    onDone?.(output)
  }
  return useMutation({ mutationFn, scope: { id: JSON.stringify(key) }, onSuccess })
}

/**
 * A mutation that must not happen twice: whoever presses again before the page can show that it is
 * under way has pressed once.
 */
export function useOnce<Input, Output>(mutation: UseMutationResult<Output, Error, Input>) {
  const started = useRef(false)
  const mutate = (input: Input, onDone: MutateOptions<Output, Error, Input> = {}): void => {
    if (started.current || mutation.isPending) return
    started.current = true
    void mutation
      .mutateAsync(input, onDone)
      .catch(() => {})
      .finally(() => (started.current = false))
  }
  return { ...mutation, mutate }
}
