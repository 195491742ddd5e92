// Whose records an administrator looks at: their own, those of another account, or of all. Kept
// while the tab is open.
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { Query } from './http.ts'

const NAME = 'whose'
const told = new Set<() => void>()
let whose = sessionStorage.getItem(NAME) ?? ''

/** '' is one's own account, `all` every one, else the id of one. */
export const getWhose = (): string => whose

export function forgetWhose(): void {
  whose = ''
  sessionStorage.removeItem(NAME)
  for (const tell of told) tell()
}

/** TABLE of the calls that may name another account. */
const TAKE_ACCOUNT = [
  /^GET \/api\/v1\/(?:overview|usage|models|requests|refusals|keys)(?:\/|$)/,
  /^(?:PATCH|DELETE) \/api\/v1\/keys\/[^/]+$/,
  /^POST \/api\/v1\/keys\/(?:purge|[^/]+\/rotate(?:\/end)?)$/,
]

/** The parameters of a call, with the account where one is chosen. */
export function withWhose(method: string, path: string, query: Query): Query {
  const takes =
    whose !== '' &&
    !path.endsWith('/objects') &&
    TAKE_ACCOUNT.some((form) => form.test(`${method} ${path}`))
  return takes ? { ...query, account: whose } : query
}

function subscribe(tell: () => void): () => void {
  told.add(tell)
  return () => void told.delete(tell)
}

const RECORDS: ReadonlySet<unknown> = new Set([
  'overview',
  'usage',
  'models',
  'requests',
  'request',
  'refusals',
  'keys',
])

/** Asks for everything anew that belongs to somebody. */
const anew = (client: QueryClient): Promise<void> =>
  client.resetQueries({ predicate: ({ queryKey }) => RECORDS.has(queryKey[0]) })

export function useWhose(): [string, (wanted: string) => void] {
  const client = useQueryClient()
  const change = (wanted: string): void => {
    whose = wanted
    sessionStorage.setItem(NAME, wanted)
    for (const tell of told) tell()
    void anew(client)
  }
  return [useSyncExternalStore(subscribe, getWhose), change]
}
