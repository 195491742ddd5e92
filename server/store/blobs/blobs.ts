// Blobs: stored bytes under an id. Each has a row, written before the bytes, so that every existing
// blob can be found and is deleted in the end, whatever happens. While a blob is being stored, its
// row names the storing instance and is removed with it. Then the row that needs the blob takes
// ownership (`takeBlob`) and sets its lifetime.
import type { Readable } from 'node:stream'
import { HOUR } from '../../common/clock.ts'
import { newId } from '../../common/ids.ts'
import { StoreError } from '../store-error.ts'
import type { Store } from '../store.ts'
import { run, type Steps } from '../procedure.ts'
import type { QueryBuilder } from '../statement.ts'
import { isDiskFull } from '../transient-errors.ts'

/**
 * The storage of the bytes: a local folder or an S3 bucket. Its failures are a StoreError, `blobs`
 * or `full`, or `missing` for reading bytes that are certainly gone.
 */
export interface BlobStore {
  /**
   * Stores the file at `path`, which may be gone afterwards; when this resolves, the bytes survive
   * a crash. Until then, they are not visible.
   */
  put(id: string, path: string): Promise<void>
  /** @param range only these bytes; both ends are included, and within the blob */
  open(id: string, range?: BlobRange): Promise<OpenedBlob>
  /** The size in bytes. */
  size(id: string): Promise<number>
  /**
   * The bytes as a file on this machine, for random access; it may be gone after it is disposed of.
   */
  file(id: string): Promise<AsyncDisposable & { readonly path: string }>
  /** Deletes the bytes, if they exist. */
  remove(id: string): Promise<void>
  /** Rejects if blobs cannot be stored at the moment. */
  check(): Promise<void>
}

/** A range of bytes, including both ends. */
export interface BlobRange {
  readonly start: number
  readonly end: number
}

/** A blob that is being read. */
export interface OpenedBlob {
  /** The number of bytes in the stream. */
  readonly size: number
  readonly stream: Readable
}

/** The expiry of blobs without a limited lifetime. */
export const FOR_NOW = Number.MAX_SAFE_INTEGER
/**
 * How long (milliseconds) a blob may exist without an owner while its instance lives: longer than
 * any request or job takes from `keepBlob` to `takeBlob`.
 */
const UNTAKEN = HOUR
const SWEEP_AT_ONCE = 200
/** The instance in the row of a blob that is being deleted, so that it cannot be taken. */
const SWEEPING = 'sweep'

/**
 * Stores the file at `path` as a blob that is deleted with this instance unless `takeBlob` follows.
 * @throws StoreError
 */
export async function keepBlob(
  store: Store,
  blobs: Pick<BlobStore, 'put' | 'remove'>,
  path: string,
  instance: string,
  now: number,
): Promise<string> {
  const id = newId('blob', now)
  await store.db
    .insertInto('blobs')
    .values({ id, expires_at: now + UNTAKEN, instance_id: instance })
    .execute()
  try {
    await blobs.put(id, path)
    const row = await store.db
      .selectFrom('blobs')
      .select('instance_id')
      .where('id', '=', id)
      .executeTakeFirst()
    if (row?.instance_id !== instance)
      throw new StoreError('blobs', `${id} took so long that the sweep deleted it`)
  } catch (error) {
    await dropBlobs(store, blobs, [id]).catch(() => {}) // then the sweep does it
    throw error
  }
  return id
}

/** Keeps a blob that `instance` has just stored until `expiresAt`, as part of a procedure. */
export function* takeBlob(
  db: QueryBuilder,
  id: string,
  instance: string,
  expiresAt: number,
): Steps<void> {
  const taken = db
    .updateTable('blobs')
    .set({ instance_id: null, expires_at: expiresAt })
    .where('id', '=', id)
    .where('instance_id', '=', instance)
  if ((yield* run(taken)) === 0) throw new StoreError('blobs', `the blob ${id} is gone`)
}

/** Releases a blob that was taken, as part of a procedure; `dropBlobs` or the sweep deletes it. */
export function* releaseBlob(db: QueryBuilder, id: string): Steps<void> {
  yield* run(
    db.updateTable('blobs').set({ instance_id: SWEEPING, expires_at: 0 }).where('id', '=', id),
  )
}

/** Deletes blobs that are no longer needed: the bytes first, then the row. */
export async function dropBlobs(
  store: Store,
  blobs: Pick<BlobStore, 'remove'>,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    await blobs.remove(id)
    await store.db.deleteFrom('blobs').where('id', '=', id).execute()
  }
}

/** Deletes expired blobs, and blobs that a removed instance was storing. Returns their number. */
export async function sweepBlobs(
  store: Store,
  blobs: Pick<BlobStore, 'remove'>,
  now: number,
): Promise<number> {
  const { db } = store
  // Selected and marked in one statement, so that blobs taken meanwhile stay.
  await db
    .updateTable('blobs')
    .set({ instance_id: SWEEPING, expires_at: 0 })
    .where('expires_at', '>', 0)
    .where((e) =>
      e.or([
        e('expires_at', '<', now),
        e.and([
          e('instance_id', '>', ''),
          e('instance_id', 'not in', e.selectFrom('instances').select('id')),
        ]),
      ]),
    )
    .execute()
  for (let swept = 0; ;) {
    const marked = await db
      .selectFrom('blobs')
      .select('id')
      .where('instance_id', '=', SWEEPING)
      .limit(SWEEP_AT_ONCE)
      .execute()
    if (marked.length === 0) return swept
    await dropBlobs(
      store,
      blobs,
      marked.map(({ id }) => id),
    )
    swept += marked.length
  }
}

/**
 * Runs an operation on stored files and turns failures into the store's error. @throws StoreError
 * `blobs` or `full`, or what the operation throws as one
 */
export async function withStoreErrors<T>(effect: () => Promise<T>): Promise<T> {
  try {
    return await effect()
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(
      isDiskFull(error) ? 'full' : 'blobs',
      error instanceof Error ? error.message : 'stored files cannot be reached',
      { cause: error },
    )
  }
}
