// Blobs: stored bytes under an id. Each has a row with its expiry, written before the bytes, so that every blob that exists can be found
// and is deleted in the end, whatever happens in between.
import type { Readable } from 'node:stream'
import { newId } from '../../id.ts'
import type { Store } from '../open.ts'

/** Where the bytes lie: a folder here, an S3 bucket elsewhere. */
export interface BlobStore {
  /** Takes the file at `path` over; when this resolves, the bytes survive a crash. */
  put(id: string, path: string): Promise<void>
  /** @throws where there is no such blob */
  open(id: string): Promise<{ size: number; stream: Readable }>
  /** Deletes the bytes; nothing happens where there are none. */
  remove(id: string): Promise<void>
}

/** How long a blob may lie unclaimed: longer than any request or job takes from `keepBlob` to its own row. */
const UNCLAIMED = 3_600_000
const SWEEP_EVERY = 600_000
const SWEEP_AT_ONCE = 200

/** Stores the file at `path` as a blob that expires soon, unless its owner's row and a later `expires_at` follow. */
export async function keepBlob(store: Store, blobs: BlobStore, path: string, now: number): Promise<string> {
  const id = newId('blob', now)
  await store.db
    .insertInto('blobs')
    .values({ id, expires_at: now + UNCLAIMED })
    .execute()
  await blobs.put(id, path)
  return id
}

/** Deletes what has expired: the bytes first, then the row. Gives how many. */
export async function sweepBlobs(store: Store, blobs: BlobStore, now: number): Promise<number> {
  const expired = await store.db.selectFrom('blobs').select('id').where('expires_at', '<', now).limit(SWEEP_AT_ONCE).execute()
  for (const { id } of expired) {
    await blobs.remove(id)
    await store.db.deleteFrom('blobs').where('id', '=', id).execute()
  }
  return expired.length
}

/** Sweeps now and then. Ends with the disposable. */
export function sweepRegularly(store: Store, blobs: BlobStore, clock: () => number, onError: (error: unknown) => void): Disposable {
  const sweep = (): void => {
    sweepBlobs(store, blobs, clock()).catch(onError)
  }
  sweep()
  const timer = setInterval(sweep, SWEEP_EVERY).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
