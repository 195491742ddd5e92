// Gives the unused pages of a SQLite file back to the file system.
//
// Ordinarily they stay in the file, and new rows take them. With `auto_vacuum`, SQLite could give
// them back in small steps, but it notes in extra pages what each page belongs to: under load, an
// admission would sync 5 pages instead of 4, or 10 instead of 8 (docs/operations.md).
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { SetupError } from '../common/errors.ts'
import { openFailure, sqlitePath, type StoreOptions } from './open.ts'
import { Connection } from './sqlite/connection.ts'
import { readError } from './store-error.ts'

/** A file that was rewritten, and its size in bytes. */
export interface VacuumedFile {
  readonly path: string
  readonly before: number
  readonly after: number
}

/**
 * Rewrites the SQLite file without unused pages. If it fails or is killed, the file stays as it
 * was.
 *
 * @throws SetupError if there is no such file, another process has it open, or the disk is too full
 */
export function vacuumStore(place: Pick<StoreOptions, 'data' | 'databaseUrl'>): VacuumedFile {
  const path = sqlitePath(place)
  if (path === null)
    throw new SetupError(
      'This is for SQLite. PostgreSQL reuses the space of deleted rows by itself.',
    )
  if (!existsSync(path))
    throw new SetupError(
      `There is no Tollmark database at ${path}. Set TOLLMARK_DATA or DATABASE_URL to what the server uses.`,
    )
  let connection: Connection | undefined
  let before: number
  try {
    connection = new Connection(path, 'write')
    // Fails if any other connection is open, and then keeps others from opening the file.
    connection.exec('PRAGMA locking_mode = EXCLUSIVE')
    connection.execute({ sql: 'BEGIN IMMEDIATE', parameters: [] })
    connection.exec('COMMIT')
    before = statSync(path).size
    // The copy may not fit into the folder for temporary files.
    connection.exec(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`)
    connection.exec('VACUUM')
  } catch (thrown) {
    throw vacuumFailure(path, thrown)
  } finally {
    connection?.close()
  }
  return { path, before, after: statSync(path).size }
}

function vacuumFailure(path: string, thrown: unknown): SetupError {
  const { code } = readError(thrown)
  if (code === 'busy')
    return new SetupError(`Another process uses ${path}. Stop the server, then try again.`, {
      cause: thrown,
    })
  if (code === 'full')
    return new SetupError(
      `The disk is too full. It needs free space for twice the data that ${path} would keep. Nothing has changed.`,
      { cause: thrown },
    )
  return openFailure(path, thrown)
}
