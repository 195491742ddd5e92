// Blobs in a folder of this machine.
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobStore } from './blobs.ts'

/** Blobs under `folder`, which must be on the file system of the files that are put into it. */
export function folderBlobs(folder: string): BlobStore {
  // The ends of ids are random: 62² folders with few files each.
  const place = (id: string): string => join(folder, id.slice(-2), id)
  return {
    put: async (id, path) => {
      const target = place(id)
      await sync(path)
      if (await mkdir(dirname(target), { recursive: true, mode: 0o700 })) await sync(folder)
      await rename(path, target)
      await sync(dirname(target))
    },
    open: async (id) => {
      const file = await open(place(id))
      return { size: (await file.stat()).size, stream: createReadStream('', { fd: file }) }
    },
    remove: (id) => rm(place(id), { force: true }),
  }
}

/** Flushes a file, or the names in a folder, to the disk. */
async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}
