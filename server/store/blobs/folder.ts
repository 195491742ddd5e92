// Stores blobs in a folder on this machine.
import { createReadStream, existsSync } from 'node:fs'
import { access, constants, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from '../../common/errors.ts'
import { StoreError } from '../store-error.ts'
import { withStoreErrors, type BlobRange, type BlobStore, type OpenedBlob } from './blobs.ts'

/** Blobs under `folder`, which must be on the same file system as the files to store. */
export function folderBlobs(folder: string): BlobStore {
  // The ends of ids are random: 62² folders with few files each.
  const place = (id: string): string => join(folder, id.slice(-2), id)
  return {
    put: (id, path) =>
      withStoreErrors(async () => {
        const target = place(id)
        await sync(path)
        if (await mkdir(dirname(target), { recursive: true, mode: 0o700 })) await sync(folder)
        await rename(path, target)
        await sync(dirname(target))
      }),
    open: (id, range) => reading(place(id), (path) => openFile(path, range)),
    size: (id) => reading(place(id), async (path) => (await stat(path)).size),
    file: (id) =>
      reading(place(id), async (path) => {
        await access(path)
        return { path, [Symbol.asyncDispose]: async () => {} }
      }),
    remove: (id) => withStoreErrors(() => rm(place(id), { force: true })),
    check: () =>
      withStoreErrors(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await access(folder, constants.W_OK)
        await assertRoom(folder)
      }),
  }
}

/** Runs an operation on the file of a blob. @throws StoreError */
function reading<T>(path: string, effect: (path: string) => Promise<T>): Promise<T> {
  return withStoreErrors(async () => {
    try {
      return await effect(path)
    } catch (error) {
      // If its folder is not there either, a disk may not be mounted: nothing is known of the file.
      if (codeOf(error) === 'ENOENT' && existsSync(dirname(path)))
        throw new StoreError('missing', `the file ${path} is gone`, { cause: error })
      throw error
    }
  })
}

/** Opens a file, or a range of it, for reading; it may be unlinked meanwhile. */
export async function openFile(path: string, range?: BlobRange): Promise<OpenedBlob> {
  const file = await open(path)
  const stream = createReadStream('', { fd: file, ...range })
  return {
    size: range === undefined ? (await file.stat()).size : range.end - range.start + 1,
    stream,
  }
}

/** @throws ENOSPC if the file system has no room left for us */
async function assertRoom(folder: string): Promise<void> {
  const { blocks, bavail, bfree } = await statfs(folder)
  // Excludes space reserved for root. File systems without a size of their own report 0.
  const free = process.getuid?.() === 0 ? bfree : bavail
  if (blocks > 0 && free === 0)
    throw Object.assign(new Error('the file system is full'), { code: 'ENOSPC' })
}

/** Flushes a file, or the names in a folder, to the disk. */
async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}
