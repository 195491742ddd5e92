// Keeps converted documents in this browser, because the server stores only those of jobs. They
// survive a reload, belong to one account, and are deleted at sign-out.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import * as z from 'zod/mini'

const SavedDocument = z.object({
  id: z.string(),
  account: z.string(),
  name: z.string(),
  format: z.enum(['markdown', 'json']),
  text: z.string(),
  at: z.string(),
  /** The source archive, for its pictures; or the converted folder of pages. */
  archive: z.nullable(z.instanceof(Blob)),
  layout: z.optional(z.enum(['document', 'pages'])),
  certified: z.optional(
    z.nullable(z.object({ words: z.number(), tables: z.number(), differences: z.number() })),
  ),
})
/** A converted document in this browser's IndexedDB. */
export type SavedDocument = z.output<typeof SavedDocument>

/** Documents kept per account; older ones are deleted. */
const MAX_DOCUMENTS = 10
/** Fewer archives, because they are larger. */
const MAX_ARCHIVES = 3
const STORE = 'documents'
const SAVED_KEY = ['kept'] as const

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('tollmark', 1)
    request.addEventListener('upgradeneeded', () =>
      request.result.createObjectStore(STORE, { keyPath: 'id' }),
    )
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('no database')))
  })
}

/** Uses the object store. Null if the browser has no storage, as in some private windows. */
async function withStore<T>(
  mode: IDBTransactionMode,
  run: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | null> {
  try {
    const database = await openDatabase()
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode)
      const request = run(transaction.objectStore(STORE))
      transaction.addEventListener('complete', () => resolve(request.result))
      transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('aborted')))
      transaction.addEventListener('complete', () => database.close())
    })
  } catch {
    return null
  }
}

/** The documents of an account, newest first. */
async function listSaved(account: string): Promise<SavedDocument[]> {
  const all = z.safeParse(
    z.array(SavedDocument),
    (await withStore('readonly', (store) => store.getAll())) ?? [],
  )
  return all.success
    ? all.data.filter((one) => one.account === account).sort((a, b) => (a.at < b.at ? 1 : -1))
    : []
}

/** Deletes the saved documents of all accounts. */
export const deleteSavedDocuments = (): Promise<unknown> =>
  withStore('readwrite', (store) => store.clear())

/** The account's saved documents, newest first, and functions to save and delete one. */
export function useSavedDocuments(account: string) {
  const client = useQueryClient()
  const key = [...SAVED_KEY, account]
  const saved = useQuery({ queryKey: key, queryFn: () => listSaved(account), staleTime: Infinity })
  const invalidate = (): Promise<void> => client.invalidateQueries({ queryKey: key })
  return {
    documents: saved.data,
    keep: async (document: SavedDocument): Promise<void> => {
      await withStore('readwrite', (store) => store.put(document))
      const saved = await listSaved(account)
      for (const { id } of saved.slice(MAX_DOCUMENTS))
        await withStore('readwrite', (store) => store.delete(id))
      for (const one of saved.filter(({ archive }) => archive !== null).slice(MAX_ARCHIVES))
        // Without its archive, a folder of pages would be empty.
        await (one.layout === 'pages'
          ? withStore('readwrite', (store) => store.delete(one.id))
          : withStore('readwrite', (store) => store.put({ ...one, archive: null })))
      await invalidate()
    },
    drop: async (id: string): Promise<void> => {
      await withStore('readwrite', (store) => store.delete(id))
      await invalidate()
    },
  }
}
