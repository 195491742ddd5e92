// The account scope of an administrator: their own account, another one, or all. Kept while the tab
// is open.
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { Query } from './query-string.ts'

const STORAGE_KEY = 'whose'
const listeners = new Set<() => void>()
let accountScope = sessionStorage.getItem(STORAGE_KEY) ?? ''

/** '' is the own account, `all` is every account, otherwise an account's id. */
export const getAccountScope = (): string => accountScope

/** Resets to the own account, for example at sign-out. */
export function resetAccountScope(): void {
  accountScope = ''
  sessionStorage.removeItem(STORAGE_KEY)
  for (const notify of listeners) notify()
}

/** TABLE of calls that accept another account. */
const ACCEPT_ACCOUNT = [
  /^GET \/api\/v1\/(?:overview|usage|models|requests|refusals|keys|sockets)(?:\/|$)/,
  /^(?:PATCH|DELETE) \/api\/v1\/keys\/[^/]+$/,
  /^DELETE \/api\/v1\/sockets\/[^/]+$/,
  /^POST \/api\/v1\/keys\/(?:purge|[^/]+\/rotate(?:\/end)?)$/,
]

/** The parameters of a call, with the chosen account, if any. */
export function withAccountScope(method: string, path: string, query: Query): Query {
  const acceptsAccount =
    accountScope !== '' &&
    !path.endsWith('/objects') &&
    ACCEPT_ACCOUNT.some((form) => form.test(`${method} ${path}`))
  return acceptsAccount ? { ...query, account: accountScope } : query
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify)
  return () => void listeners.delete(notify)
}

const SCOPED_QUERIES: ReadonlySet<unknown> = new Set([
  'overview',
  'usage',
  'models',
  'requests',
  'request',
  'refusals',
  'keys',
  'sockets',
])

/** Refetches everything that belongs to an account. */
const resetScopedQueries = (client: QueryClient): Promise<void> =>
  client.resetQueries({ predicate: ({ queryKey }) => SCOPED_QUERIES.has(queryKey[0]) })

/** The chosen account scope, and a function that changes it and reloads its records. */
export function useAccountScope(): [string, (scope: string) => void] {
  const client = useQueryClient()
  const change = (scope: string): void => {
    accountScope = scope
    sessionStorage.setItem(STORAGE_KEY, scope)
    for (const notify of listeners) notify()
    void resetScopedQueries(client)
  }
  return [useSyncExternalStore(subscribe, getAccountScope), change]
}
