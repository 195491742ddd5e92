// Makes a backup while servers run: the database as of one moment, the files in the data folder,
// and, if it is encrypted, the master key.
import { createHash, type KeyObject } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { SetupError, codeOf } from '../../common/errors.ts'
import { randomText } from '../../common/ids.ts'
import type { Config } from '../../config/settings.ts'
import { inspectStore } from '../inspect.ts'
import { MIGRATION_NAMES } from '../migrations/names.ts'
import { sqlitePath } from '../open.ts'
import { openReadingThread } from '../sqlite/reader-client.ts'
import { encryptFor } from './encryption.ts'
import { filling, reasonOf } from './failures.ts'
import {
  BLOB_FOLDER,
  DATABASE_FILE,
  MANIFEST,
  MASTER_KEY_FILE,
  type BackupFile,
  type Manifest,
} from './manifest.ts'
import { dumpPostgres, type ToolEnvironment } from './postgres-tools.ts'
import { writeBackup, type BackupWriter } from './target.ts'

/** The source and the target of a backup. */
export interface BackupOptions {
  readonly storage: Config['storage']
  /** A folder, or `s3://bucket/prefix`. */
  readonly target: string
  /** Encrypts for the owner of this key; null: not encrypted, and without the master key. */
  readonly recipient: KeyObject | null
  readonly env: ToolEnvironment
  /** Milliseconds since 1970. */
  readonly now: number
  /** Aborts the backup and removes its files. */
  readonly signal: AbortSignal
}

/** A complete backup and its location. */
export interface MadeBackup {
  readonly location: string
  readonly manifest: Manifest
}

/**
 * Makes a backup. If it fails, it leaves nothing behind.
 *
 * @throws SetupError, StoreError, and the reason of the signal
 */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const { storage, target, recipient, now } = options
  const { store, isEmpty, pending } = await inspectStore(storage)
  if (isEmpty)
    throw new SetupError('There is nothing to back up: no server has run on this database yet.')
  const createdAt = new Date(now).toISOString()
  const writer = await writeBackup(target, `tollmark-${createdAt.replaceAll(':', '-')}`, storage)
  try {
    const files = await writeFiles(options, store, writer)
    const applied = MIGRATION_NAMES.filter((name) => !pending.includes(name))
    const manifest: Manifest = {
      object: 'backup_manifest',
      version: 1,
      created_at: createdAt,
      store,
      schema: applied.at(-1) ?? null,
      encrypted: recipient !== null,
      files,
    }
    await writeFile(await writer.stage(MANIFEST), JSON.stringify(manifest, null, 2), {
      mode: 0o600,
    })
    await writer.add(MANIFEST)
    return { location: await writer.finish(), manifest }
  } catch (error) {
    await writer.abandon()
    throw error
  }
}

async function writeFiles(
  { storage, recipient, env, signal }: BackupOptions,
  store: Manifest['store'],
  writer: BackupWriter,
): Promise<BackupFile[]> {
  const files = new Map<string, BackupFile>()
  const add = async (name: string, path: string): Promise<void> => {
    signal.throwIfAborted()
    files.set(name, await addFile(writer, name, path, recipient, signal))
  }
  // Files are copied before and after the database, so that the database names no missing file: a
  // row is written before its bytes, and bytes may be deleted in between.
  const blobs = async (): Promise<void> => {
    if (storage.s3Bucket !== null) return
    for (const name of await listBlobs(join(storage.data, 'blobs')))
      if (!files.has(BLOB_FOLDER + name))
        await add(BLOB_FOLDER + name, join(storage.data, 'blobs', name)).catch(unlessGone)
  }
  await blobs()
  const copy = join(storage.data, `.backup-${randomText(12)}`)
  try {
    // SQLite and pg_dump would create world-readable files, but they write into an existing empty
    // one.
    await writeFile(copy, '', { flag: 'wx', mode: 0o600 })
    await filling(storage.data, () => copyDatabase(storage, copy, env, signal))
    await add(DATABASE_FILE[store], copy)
  } finally {
    await rm(copy, { force: true })
  }
  await blobs()
  if (recipient !== null && storage.masterKey === null)
    await add(MASTER_KEY_FILE, join(storage.data, 'master.key')).catch(unlessGone)
  return [...files.values()]
}

async function copyDatabase(
  storage: Config['storage'],
  copy: string,
  env: ToolEnvironment,
  signal: AbortSignal,
): Promise<void> {
  const path = sqlitePath(storage)
  if (path === null && storage.databaseUrl !== null)
    return dumpPostgres(storage.databaseUrl, copy, env, signal)
  if (path === null) throw new Error('a database is either a file or a server')
  // In a thread, because in a server this one serves requests meanwhile.
  const reader = openReadingThread({ path, patient: true })
  try {
    await reader.send(
      { statements: [{ sql: 'VACUUM INTO ?', parameters: [copy] }] },
      Number.MAX_SAFE_INTEGER,
    )
  } finally {
    await reader.close()
  }
}

async function addFile(
  writer: BackupWriter,
  name: string,
  path: string,
  recipient: KeyObject | null,
  signal: AbortSignal,
): Promise<BackupFile> {
  const hash = createHash('sha256')
  let bytes = 0
  const file = await open(path)
  const source = file.createReadStream() as AsyncIterable<Buffer>
  const staged = await writer.stage(name)
  const counted = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      hash.update(piece)
      bytes += piece.length
      yield piece
    }
  }
  const sealed = recipient === null ? source : encryptFor(recipient, source)
  const target = createWriteStream(staged, { mode: 0o600 })
  await filling(writer.folder, () => pipeline(sealed, counted, target, { signal }))
  await writer.add(name)
  return { name, bytes, sha256: hash.digest('hex') }
}

/** Paths below the folder of blobs; none if the folder does not exist. */
async function listBlobs(folder: string): Promise<string[]> {
  try {
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    return found
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
  } catch (error) {
    unlessGone(error)
    return []
  }
}

function unlessGone(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error
}

/** Reads the PEM file that an option or a setting names. @throws SetupError */
export async function readPem(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new SetupError(
      `The file ${path}, which ${name} names, cannot be read (${reasonOf(error)}).`,
      {
        cause: error,
      },
    )
  }
}
