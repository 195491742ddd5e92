// Restores a backup into an empty store, completely or not at all.
import { createHash, type KeyObject } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { SetupError } from '../../common/errors.ts'
import { randomText } from '../../common/ids.ts'
import type { Config } from '../../config/settings.ts'
import { inspectStore } from '../inspect.ts'
import { MIGRATION_NAMES } from '../migrations/names.ts'
import { makeDataFolder, sqlitePath } from '../open.ts'
import { decryptWith } from './encryption.ts'
import { filling, reasonOf } from './failures.ts'
import { applyJournal } from './journal.ts'
import {
  DATABASE_FILE,
  MANIFEST,
  MASTER_KEY_FILE,
  parseManifest,
  type BackupFile,
  type Manifest,
} from './manifest.ts'
import { restorePostgres, type ToolEnvironment } from './postgres-tools.ts'
import { readBackup, type BackupReader } from './target.ts'

/** The source and the target of a restore. */
export interface RestoreOptions {
  readonly storage: Config['storage']
  /** A backup: its folder, or `s3://bucket/prefix`. */
  readonly source: string
  /** Decrypts an encrypted one. */
  readonly identity: KeyObject | null
  readonly env: ToolEnvironment
  /** Aborts the restore, until the store is changed. */
  readonly signal: AbortSignal
}

/** The result of a restore. */
export interface Restored extends Manifest {
  /** Number of journal pieces applied after the full backup. */
  readonly journal: number
}

/**
 * Restores a backup, with its journal. Every file is checked before the store changes.
 *
 * @throws SetupError, and the reason of the signal
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { storage, source, identity, signal } = options
  await using reader = await readBackup(source, storage)
  const manifest = parseManifest(await textOf(reader, source))
  await assertFits(options, manifest)
  makeDataFolder(storage.data)
  const staging = join(storage.data, `.restore-${randomText(12)}`)
  await mkdir(staging, { mode: 0o700 })
  try {
    for (const file of manifest.files)
      await filling(storage.data, () =>
        fetchFile(
          reader,
          file,
          join(staging, file.name),
          manifest.encrypted ? identity : null,
          signal,
        ),
      )
    const journal =
      manifest.store === 'sqlite'
        ? await applyJournal(
            reader,
            join(staging, DATABASE_FILE.sqlite),
            manifest.encrypted ? identity : null,
            signal,
          )
        : 0
    signal.throwIfAborted()
    await putInPlace(options, manifest, staging)
    return { ...manifest, journal }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** @throws SetupError if the backup is for the other database, or the store is not empty */
async function assertFits(
  { storage, identity }: RestoreOptions,
  { store, schema, encrypted }: Manifest,
): Promise<void> {
  const here = await inspectStore(storage)
  if (here.store !== store)
    throw new SetupError(
      `The backup is of ${NAMES[store]}, and this server uses ${NAMES[here.store]}. Check DATABASE_URL.`,
    )
  const path = sqlitePath(storage)
  const found = path === null ? [] : [path, `${path}-wal`].filter((file) => existsSync(file))
  if (!here.isEmpty || found.length > 0)
    throw new SetupError(
      'There is a database already. Stop its servers, and restore into an empty data folder or database.',
    )
  if (schema !== null && !MIGRATION_NAMES.some((name) => name === schema))
    throw new SetupError(
      `The backup was made by a newer version of Tollmark (it has ${schema}). Restore it with that version.`,
    )
  if (encrypted && identity === null)
    throw new SetupError('The backup is encrypted. Name the private key with --identity.')
}

const NAMES = { sqlite: 'a SQLite file', postgres: 'PostgreSQL' } as const

async function textOf(reader: BackupReader, source: string): Promise<string> {
  try {
    return await text(await reader.read(MANIFEST))
  } catch (error) {
    throw new SetupError(
      `${source} is not a backup: its ${MANIFEST} cannot be read (${reasonOf(error)}).`,
      { cause: error },
    )
  }
}

/** The bytes of a file. @throws SetupError if they cannot be read */
async function* bytesOf(reader: BackupReader, name: string): AsyncGenerator<Buffer> {
  try {
    yield* await reader.read(name)
  } catch (error) {
    throw new SetupError(`The file ${name} of the backup cannot be read (${reasonOf(error)}).`, {
      cause: error,
    })
  }
}

/** Stores a file durably. @throws SetupError if it does not match the manifest */
async function fetchFile(
  reader: BackupReader,
  { name, bytes, sha256 }: BackupFile,
  path: string,
  identity: KeyObject | null,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const hash = createHash('sha256')
  let length = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const piece of bytesOf(reader, name)) {
      hash.update(piece)
      length += piece.length
      yield piece
    }
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const checked = identity === null ? counted() : decryptWith(identity, counted())
  await pipeline(checked, createWriteStream(path, { mode: 0o600 }), { signal })
  if (length !== bytes || hash.digest('hex') !== sha256)
    throw new SetupError(`The file ${name} of the backup is damaged.`)
  await using file = await open(path)
  await file.sync()
}

/** The database comes last, because with it the store exists. */
async function putInPlace(
  { storage, env, signal }: RestoreOptions,
  { files, store }: Manifest,
  staging: string,
): Promise<void> {
  const database = DATABASE_FILE[store]
  for (const { name } of files) {
    const target = join(storage.data, name)
    if (name === database || (name === MASTER_KEY_FILE && existsSync(target))) continue
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await rename(join(staging, name), target)
    await syncFolder(dirname(target))
  }
  const path = sqlitePath(storage)
  if (path !== null) {
    await rename(join(staging, database), path)
    await syncFolder(dirname(path))
  } else if (storage.databaseUrl !== null)
    await restorePostgres(storage.databaseUrl, join(staging, database), env, signal)
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path)
  await folder.sync()
}
