// Documents that this browser has converted, kept in it: the server does not keep what it answers
// at once. They outlive a reload, are the account's alone, and go when somebody signs out.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import * as z from 'zod/mini'

const Kept = z.object({
  id: z.string(),
  account: z.string(),
  name: z.string(),
  format: z.enum(['markdown', 'json']),
  text: z.string(),
  at: z.string(),
  /** The archive that it came from, for its pictures. */
  archive: z.nullable(z.instanceof(Blob)),
})
export type Kept = z.output<typeof Kept>

/** Documents that are kept of an account; older ones go. */
const MOST = 10
/** Archives are larger. */
const MOST_ARCHIVES = 3
const STORE = 'documents'
const KEPT = ['kept'] as const

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('tollmark', 1)
    opening.addEventListener('upgradeneeded', () =>
      opening.result.createObjectStore(STORE, { keyPath: 'id' }),
    )
    opening.addEventListener('success', () => resolve(opening.result))
    opening.addEventListener('error', () => reject(opening.error ?? new Error('no database')))
  })
}

/**
 * Does something with the documents. A browser that keeps nothing (a private window may) gives
 * null.
 */
async function inStore<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | null> {
  try {
    const database = await open()
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode)
      const request = work(transaction.objectStore(STORE))
      transaction.addEventListener('complete', () => resolve(request.result))
      transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('aborted')))
      transaction.addEventListener('complete', () => database.close())
    })
  } catch {
    return null
  }
}

/** The documents of an account, the newest first. */
async function listKept(account: string): Promise<Kept[]> {
  const all = z.safeParse(
    z.array(Kept),
    (await inStore('readonly', (store) => store.getAll())) ?? [],
  )
  return all.success
    ? all.data.filter((one) => one.account === account).sort((a, b) => (a.at < b.at ? 1 : -1))
    : []
}

export const forgetKept = (): Promise<unknown> => inStore('readwrite', (store) => store.clear())

export function useKept(account: string) {
  const client = useQueryClient()
  const key = [...KEPT, account]
  const kept = useQuery({ queryKey: key, queryFn: () => listKept(account), staleTime: Infinity })
  const changed = (): Promise<void> => client.invalidateQueries({ queryKey: key })
  return {
    documents: kept.data,
    keep: async (made: Kept): Promise<void> => {
      await inStore('readwrite', (store) => store.put(made))
      const kept = await listKept(account)
      for (const { id } of kept.slice(MOST)) await inStore('readwrite', (store) => store.delete(id))
      for (const one of kept.filter(({ archive }) => archive !== null).slice(MOST_ARCHIVES))
        await inStore('readwrite', (store) => store.put({ ...one, archive: null }))
      await changed()
    },
    drop: async (id: string): Promise<void> => {
      await inStore('readwrite', (store) => store.delete(id))
      await changed()
    },
  }
}
