// The list of files of a backup. It is written last, so a backup with a manifest is complete.
import { SetupError } from '../../common/errors.ts'

/** Name of the manifest in a backup. */
export const MANIFEST = 'manifest.json'

/** A file of a backup, as stored. */
export interface BackupFile {
  readonly name: string
  readonly bytes: number
  /** Hash of the stored bytes, in hex. */
  readonly sha256: string
}

/** The manifest of a backup. */
export interface Manifest {
  readonly object: 'backup_manifest'
  readonly version: 1
  /** ISO 8601. */
  readonly created_at: string
  readonly store: 'sqlite' | 'postgres'
  /** The last completed migration. */
  readonly schema: string | null
  readonly encrypted: boolean
  readonly files: readonly BackupFile[]
}

/** Name of the database in a backup, by store. */
export const DATABASE_FILE = { sqlite: 'tollmark.db', postgres: 'database.dump' } as const
/** Name of the master key in a backup that has it. */
export const MASTER_KEY_FILE = 'master.key'
/** The prefix of blobs' names in a backup. */
export const BLOB_FOLDER = 'blobs/'
/** The prefix of journal pieces' names in a backup; the manifest does not list them. */
export const JOURNAL_FOLDER = 'journal/'

/** Reads a manifest. @throws SetupError if the text is not a manifest of ours */
export function parseManifest(text: string): Manifest {
  try {
    const found: unknown = JSON.parse(text)
    if (isManifest(found)) return found
  } catch {
    // Throws the error below.
  }
  throw new SetupError('This is not a backup: its manifest.json was not written by Tollmark.')
}

function isManifest(found: unknown): found is Manifest {
  return (
    isRecord(found) &&
    found['object'] === 'backup_manifest' &&
    found['version'] === 1 &&
    typeof found['created_at'] === 'string' &&
    (found['store'] === 'sqlite' || found['store'] === 'postgres') &&
    typeof found['encrypted'] === 'boolean' &&
    Array.isArray(found['files']) &&
    found['files'].every(isFile)
  )
}

/** A name must be a path below the backup, because the manifest may be forged. */
function isFile(file: unknown): boolean {
  return (
    isRecord(file) &&
    typeof file['name'] === 'string' &&
    /^(?:tollmark\.db|database\.dump|master\.key|blobs\/\w+\/\w+)$/.test(file['name']) &&
    typeof file['bytes'] === 'number' &&
    typeof file['sha256'] === 'string'
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
