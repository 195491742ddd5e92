// Stores backups: as folders in a folder, or as prefixes in a bucket.
import { createWriteStream } from 'node:fs'
import { access, constants, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { randomText } from '../../common/ids.ts'
import { makeFolder } from '../../common/make-folder.ts'
import { SetupError, codeOf } from '../../common/errors.ts'
import type { Config } from '../../config/settings.ts'
import { openBlobs } from '../blobs/open.ts'
import { StoreError } from '../store-error.ts'
import { JOURNAL_FOLDER, MANIFEST } from './manifest.ts'

type Storage = Config['storage']

/** A backup that is being written. */
export interface BackupWriter {
  /** Where the disk must have room. */
  readonly folder: string
  /** A path for the next file; `add` takes ownership of it. */
  stage(name: string): Promise<string>
  /** Stores the staged file; when this resolves, it survives a crash. */
  add(name: string): Promise<void>
  /** Completes the backup and returns its location. Before that it does not exist. */
  finish(): Promise<string>
  /** Removes the staged files. */
  abandon(): Promise<void>
}

/** A complete backup. */
export interface BackupReader extends AsyncDisposable {
  read(name: string): Promise<AsyncIterable<Buffer>>
  /** A piece of its journal, numbered from 1; null if it does not exist. */
  piece(number: number): Promise<Buffer | null>
}

/** The journal of a complete backup: see journal.ts. */
export interface JournalWriter extends AsyncDisposable {
  /** Stores a piece; when this resolves, it survives a crash, and until then it is not visible. */
  put(number: number, source: AsyncIterable<Buffer>): Promise<void>
}

/**
 * Begins a backup.
 *
 * @param target a folder, or `s3://bucket/prefix`, accessed with the S3 settings
 * @param name of the backup
 */
export async function writeBackup(
  target: string,
  name: string,
  storage: Storage,
): Promise<BackupWriter> {
  return isS3(target) ? writeToS3(target, name, storage) : writeToFolder(resolve(target), name)
}

/**
 * Creates the folder of backups, if the target is one. A bucket may be unavailable now, so only its
 * name is checked.
 *
 * @throws SetupError if the folder cannot be written, or no bucket is named
 */
export async function prepareTarget(target: string): Promise<void> {
  if (isS3(target)) return void parseS3(target)
  const folder = resolve(target)
  try {
    makeFolder(folder, 0o700)
    await access(folder, constants.W_OK)
  } catch (error) {
    throw unwritable(folder, error)
  }
}

const unwritable = (folder: string, error: unknown): SetupError =>
  new SetupError(`The folder ${folder} cannot be written (${codeOf(error) ?? 'unknown reason'}).`, {
    cause: error,
  })

/** @param source as returned by `finish` */
export async function readBackup(source: string, storage: Storage): Promise<BackupReader> {
  if (!isS3(source)) {
    const read = async (name: string): Promise<AsyncIterable<Buffer>> =>
      (await open(join(source, name))).createReadStream() as AsyncIterable<Buffer>
    return {
      read,
      piece: (number) =>
        readFile(join(source, pieceName(number))).catch((error: unknown) => {
          if (codeOf(error) !== 'ENOENT') throw error
          return null
        }),
      [Symbol.asyncDispose]: async () => {},
    }
  }
  const closing = new AsyncDisposableStack()
  const { blobs, prefix } = await openBucket(source, storage, closing)
  const read = async (name: string): Promise<AsyncIterable<Buffer>> =>
    (await blobs.open(`${prefix}${name}`)).stream as AsyncIterable<Buffer>
  return {
    read,
    piece: async (number) => {
      try {
        return await buffer(await read(pieceName(number)))
      } catch (error) {
        if (!mayBeMissing(error)) throw error
        // Throws if access to the whole backup is denied.
        await blobs.size(`${prefix}${MANIFEST}`)
        return null
      }
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** To those who may not list a bucket, S3 denies access to missing objects. */
function mayBeMissing(error: unknown): boolean {
  const { cause } = error instanceof StoreError ? error : {}
  return cause instanceof Error && ['NoSuchKey', 'AccessDenied'].includes(cause.name)
}

const pieceName = (number: number): string => `${JOURNAL_FOLDER}${String(number).padStart(8, '0')}`

/** Opens the journal of a complete backup. @param location as returned by `finish` */
export async function openJournal(location: string, storage: Storage): Promise<JournalWriter> {
  if (!isS3(location)) {
    const folder = join(location, JOURNAL_FOLDER)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await sync(location)
    return {
      put: async (number, source) => {
        const staged = join(folder, '.partial')
        await pipeline(source, createWriteStream(staged, { mode: 0o600 }))
        await sync(staged)
        await rename(staged, join(location, pieceName(number)))
        await sync(folder)
      },
      [Symbol.asyncDispose]: async () => {},
    }
  }
  const closing = new AsyncDisposableStack()
  const { blobs, prefix } = await openBucket(location, storage, closing)
  const folder = join(tmpdir(), `tollmark-journal-${randomText(8)}`)
  await mkdir(folder, { mode: 0o700 })
  closing.defer(() => rm(folder, { recursive: true, force: true }))
  const staged = join(folder, 'piece')
  return {
    put: async (number, source) => {
      await pipeline(source, createWriteStream(staged, { mode: 0o600 }))
      await blobs.put(`${prefix}${pieceName(number)}`, staged)
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** With one slash it is not the name of a folder either, but a typing error. */
const isS3 = (place: string): boolean => place.startsWith('s3:')

/** @throws SetupError if it names no bucket */
function parseS3(place: string): { bucket: string; path: string } {
  const [, bucket, path = ''] = /^s3:\/\/([^/]+)\/*(.*?)\/*$/.exec(place) ?? []
  if (bucket === undefined)
    throw new SetupError(`${place} names no bucket. Write s3://BUCKET/PREFIX.`)
  return { bucket, path }
}

async function writeToFolder(target: string, name: string): Promise<BackupWriter> {
  const partial = join(target, `.${name}.partial`)
  const folders = new Set([partial, target])
  try {
    makeFolder(partial, 0o700)
  } catch (error) {
    throw unwritable(target, error)
  }
  return {
    folder: target,
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
    folder: tmpdir(),
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
  const { bucket, path } = parseS3(place)
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
