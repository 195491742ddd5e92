// Where backups lie: folders in a folder, or prefixes in a bucket.
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { randomText } from '../../common/secrets.ts'
import { SetupError, codeOf } from '../../common/errors.ts'
import type { Config } from '../../config/settings.ts'
import { openBlobs } from '../blobs/open.ts'

type Storage = Config['storage']

/** A backup that is being written. */
export interface BackupWriter {
  /** A path for the next file; `add` takes it over. */
  stage(name: string): Promise<string>
  /** Stores the staged file; when this resolves, it survives a crash. */
  add(name: string): Promise<void>
  /** The backup is complete; gives where it is. Before that there is none. */
  finish(): Promise<string>
  /** Removes what was staged. */
  abandon(): Promise<void>
}

/** A complete backup. */
export interface BackupReader extends AsyncDisposable {
  read(name: string): Promise<AsyncIterable<Buffer>>
}

/**
 * Begins a backup.
 *
 * @param target a folder, or `s3://bucket/prefix`, reached as the S3 settings say
 * @param name of the backup
 */
export async function writeBackup(
  target: string,
  name: string,
  storage: Storage,
): Promise<BackupWriter> {
  return isS3(target) ? writeToS3(target, name, storage) : writeToFolder(resolve(target), name)
}

/** @param source as `finish` gave it */
export async function readBackup(source: string, storage: Storage): Promise<BackupReader> {
  if (!isS3(source)) {
    return {
      read: async (name) =>
        (await open(join(source, name))).createReadStream() as AsyncIterable<Buffer>,
      [Symbol.asyncDispose]: async () => {},
    }
  }
  const closing = new AsyncDisposableStack()
  const { blobs, prefix } = await openBucket(source, storage, closing)
  return {
    read: async (name) => (await blobs.open(`${prefix}${name}`)).stream as AsyncIterable<Buffer>,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const isS3 = (place: string): boolean => place.startsWith('s3://')

async function writeToFolder(target: string, name: string): Promise<BackupWriter> {
  const partial = join(target, `.${name}.partial`)
  const folders = new Set([partial, target])
  try {
    await mkdir(partial, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new SetupError(
      `The folder ${target} cannot be written (${codeOf(error) ?? 'unknown reason'}).`,
      { cause: error },
    )
  }
  return {
    stage: async (file) => {
      const path = join(partial, file)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      folders.add(dirname(path))
      return path
    },
    add: (file) => sync(join(partial, file)),
    finish: async () => {
      for (const folder of folders) await sync(folder)
      await rename(partial, join(target, name))
      await sync(target)
      return join(target, name)
    },
    abandon: () => rm(partial, { recursive: true, force: true }),
  }
}

async function writeToS3(target: string, name: string, storage: Storage): Promise<BackupWriter> {
  const closing = new AsyncDisposableStack()
  const { blobs, prefix, bucket } = await openBucket(target, storage, closing)
  const folder = join(tmpdir(), `tollmark-backup-${randomText(8)}`)
  await mkdir(folder, { mode: 0o700 })
  const staged = join(folder, 'file')
  const abandon = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true })
    await closing.disposeAsync()
  }
  await blobs.check()
  return {
    stage: async () => staged,
    add: async (file) => {
      await blobs.put(`${prefix}${name}/${file}`, staged)
      await rm(staged)
    },
    finish: async () => {
      await abandon()
      return `s3://${bucket}/${prefix}${name}`
    },
    abandon,
  }
}

async function openBucket(place: string, storage: Storage, closing: AsyncDisposableStack) {
  const { host: bucket, pathname } = new URL(place)
  const path = decodeURIComponent(pathname).replaceAll(/^\/+|\/+$/g, '')
  const noScratch = {
    place: (): never => {
      throw new Error('backups are not fetched as files')
    },
    [Symbol.dispose]: () => {},
  }
  const blobs = await openBlobs({ ...storage, s3Bucket: bucket }, noScratch, closing)
  return { blobs, bucket, prefix: path === '' ? '' : `${path}/` }
}

/** Flushes a file, or the names in a folder, to the disk. */
async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}
