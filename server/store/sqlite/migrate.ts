// Finds the migrations that a store still needs, and runs them on a SQLite file: each once, in
// order, under the file's write lock.
import { SetupError } from '../../common/errors.ts'
import { MIGRATION_NAMES, type MigrationName } from '../migrations/names.ts'
import type { Connection } from './connection.ts'
import { statement, type QueryBuilder } from '../statement.ts'

/** The table of completed migrations. */
export const CREATE_MIGRATIONS =
  'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at bigint NOT NULL)'
/** Reads the migrations that have run. */
export const SELECT_MIGRATIONS = 'SELECT name FROM migrations'

/**
 * The names of the migrations that have not run yet, in their order.
 *
 * @param rows the result of SELECT_MIGRATIONS
 * @throws SetupError if a newer version of the program wrote the store
 */
export function pendingNames(rows: readonly unknown[]): readonly MigrationName[] {
  const applied = new Set(rows.map((row) => (row as { name: string }).name))
  const unknown = [...applied.difference(new Set<string>(MIGRATION_NAMES))].sort()
  if (unknown.length > 0) {
    throw new SetupError(
      `The database was written by a newer version of Tollmark (it has ${unknown.join(', ')}). Start that version, or use another database.`,
    )
  }
  return MIGRATION_NAMES.filter((name) => !applied.has(name))
}

/** Names of the migrations that a SQLite file still needs; nothing is changed. */
export function pendingOn(connection: Connection): readonly MigrationName[] {
  const { rows: tables } = connection.execute({
    sql: "SELECT name FROM sqlite_master WHERE name = 'migrations'",
    parameters: [],
  })
  const rows =
    tables.length === 0 ? [] : connection.execute({ sql: SELECT_MIGRATIONS, parameters: [] }).rows
  return pendingNames(rows)
}

/**
 * Runs pending migrations, all or none. Any number of processes may call it concurrently: the first
 * does the work, the others wait.
 *
 * @param now milliseconds since 1970, recorded with each migration
 * @throws SetupError if the store was written by a newer version of the program
 */
export async function migrate(
  connection: Connection,
  db: QueryBuilder,
  now: number,
): Promise<void> {
  if (pendingOn(connection).length === 0) return
  // Loaded only where they are needed: they are a sixth of the modules of a start.
  const { MIGRATIONS } = await import('../migrations/index.ts')
  connection.exec('BEGIN IMMEDIATE')
  try {
    connection.exec(CREATE_MIGRATIONS)
    const { rows } = connection.execute({ sql: SELECT_MIGRATIONS, parameters: [] })
    const names = pendingNames(rows)
    for (const migration of MIGRATIONS.filter(({ name }) => names.includes(name))) {
      for (const query of migration.up(db.schema)) connection.execute(statement(query))
      connection.execute({
        sql: 'INSERT INTO migrations (name, applied_at) VALUES (?, ?)',
        parameters: [migration.name, now],
      })
    }
    connection.exec('COMMIT')
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  }
}
