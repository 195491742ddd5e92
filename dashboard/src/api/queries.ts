// Shared by the calls: paged lists, and changes that refetch what they affect.
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
import { call } from './http.ts'
import type { Query } from './query-string.ts'
import { listOf } from './shapes.ts'

interface PagesOptions<S extends z.ZodMiniType> {
  key: QueryKey
  item: S
  path: string
  /** Filters, and the length of a page. */
  query: Query & { limit: number }
  /** Milliseconds between refetches of the first page while it is visible. Default: never. */
  refetchMs?: number | ((rows: readonly z.output<S>[]) => number | false)
}

/** One page of a list. */
export interface PageOf<T> {
  rows: readonly T[]
  next: string | null
  /** Number of rows on all pages, if the server counts them. */
  total?: number | undefined
  /** How far back a page has been searched that is not full yet. */
  searchedTo?: string | null | undefined
}

/** A position in a list: the cursors of the pages up to this one, and the rows before it. */
interface PagePosition {
  of: string
  pages: readonly { cursor: string; before: number }[]
}

/** The last loaded page. */
interface LastPage<T> {
  of: string
  data: PageOf<T>
  before: number
}

/**
 * A paged list, of which one page is kept. While another page or filter loads, the previous rows
 * stay.
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
  const client = useQueryClient()
  const queryKey = [...key, 'page', cursor]
  const page = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<PageOf<z.output<S>>> => {
      const rows: z.output<S>[] = []
      let found: PageOf<z.output<S>> = { rows, next: cursor }
      const isFirst = client.getQueryData(queryKey) === undefined
      // The server searches for a moment only, so a page of few matches takes many calls.
      while (found.next !== null && rows.length < query.limit) {
        if (isFirst && found.searchedTo) client.setQueryData(queryKey, found)
        const list: z.output<ReturnType<typeof listOf<S>>> = await call(listOf(item), path, {
          query: { ...query, limit: query.limit - rows.length, cursor: found.next },
          signal,
        })
        rows.push(...list.data)
        found = {
          rows: [...rows],
          next: list.next_cursor,
          total: found.total ?? list.total,
          searchedTo: list.searched_to,
        }
      }
      return found
    },
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      cursor !== '' || refetchMs === undefined || state.data?.searchedTo
        ? false
        : typeof refetchMs === 'number'
          ? refetchMs
          : refetchMs(state.data?.rows ?? []),
  })
  const { data } = page
  const [lastPage, setGood] = useState<LastPage<z.output<S>> | null>(null)
  if (data !== undefined && !page.isPlaceholderData && lastPage?.data !== data)
    setGood({ of, data, before })
  // If a page cannot be loaded, the previous one stays.
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
    /** Ends the search for more rows of this page. */
    stop: (): void => void client.cancelQueries({ queryKey, exact: true }, { revert: false }),
    toPrevious: (): void => setPlace({ of, pages: pages.slice(0, -1) }),
  }
}

/**
 * A change that then refetches everything under `key`. Changes under one key run one after the
 * other, so that the last one wins.
 *
 * @param onDone called with the result, even if the page that made the change is gone
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
 * A mutation that must not run twice: ignores a second click before the page can show that the
 * first is in progress.
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
