// Inspects a store without migrating or creating anything.
import { existsSync } from 'node:fs'
import { openFailure, sqlitePath, type StoreOptions } from './open.ts'
import { Connection } from './sqlite/connection.ts'
import { pendingOn } from './sqlite/migrate.ts'
import { MIGRATION_NAMES } from './migrations/names.ts'

/** The state of a store. */
export interface InspectedStore {
  readonly store: 'sqlite' | 'postgres'
  /** Whether no server has ever run on it. */
  readonly isEmpty: boolean
  /** Names of the migrations that the next start runs, in order. */
  readonly pending: readonly string[]
  /** Version of SQLite or the PostgreSQL server. */
  readonly version: string
  /** Size of the SQLite file, and of the pages in it that have no data; 0 for PostgreSQL. */
  readonly bytes: number
  readonly unused: number
}

const NO_SPACE = { bytes: 0, unused: 0 } as const

/**
 * Reads the state of a store.
 *
 * @throws SetupError if it cannot be read, or a newer version of Tollmark wrote it;
 *   StoreUnreachable
 */
export async function inspectStore(
  place: Pick<StoreOptions, 'data' | 'databaseUrl'>,
): Promise<InspectedStore> {
  const path = sqlitePath(place)
  if (path === null && place.databaseUrl !== null) {
    const { inspectPostgres } = await import('./postgres/migrate.ts')
    return { store: 'postgres', ...(await inspectPostgres(place.databaseUrl)), ...NO_SPACE }
  }
  const version = process.versions['sqlite'] ?? ''
  if (path === null || !existsSync(path))
    return {
      store: 'sqlite',
      isEmpty: true,
      pending: MIGRATION_NAMES,
      version,
      ...NO_SPACE,
    }
  let connection: Connection | undefined
  try {
    connection = new Connection(path, 'read')
    const pending = pendingOn(connection)
    return {
      store: 'sqlite',
      isEmpty: pending.length === MIGRATION_NAMES.length,
      pending,
      version,
      ...spaceOf(connection),
    }
  } catch (thrown) {
    throw openFailure(path, thrown)
  } finally {
    connection?.close()
  }
}

function spaceOf(connection: Connection): Pick<InspectedStore, 'bytes' | 'unused'> {
  const [found] = connection.execute({
    sql: 'SELECT page_count * page_size AS bytes, freelist_count * page_size AS unused FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
    parameters: [],
  }).rows
  return found as Pick<InspectedStore, 'bytes' | 'unused'>
}
