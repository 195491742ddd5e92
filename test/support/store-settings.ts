// Chooses the store of server tests: SQLite, or with TEST_STORE=postgres a PostgreSQL database per
// data folder. Test files need no code for it.
import type { Place } from './place.ts'
import { closeDatabases, usedDatabase } from './postgres.ts'
import { processEnds } from './process-ends.ts'

const databases = new Map<string, Promise<URL>>()
processEnds.after(closeDatabases)

/** The settings for the store of a data folder. */
export async function storeSettings(
  data: string,
): Promise<{ TOLLMARK_DATA: string; DATABASE_URL?: string }> {
  if (process.env['TEST_STORE'] !== 'postgres') return { TOLLMARK_DATA: data }
  let database = databases.get(data)
  if (!database) databases.set(data, (database = usedDatabase()))
  return { TOLLMARK_DATA: data, DATABASE_URL: (await database).href }
}

/** The place of a data folder's store, for a test that opens it itself. */
export async function placeOf(data: string): Promise<Place> {
  const { DATABASE_URL: url } = await storeSettings(data)
  return { data, databaseUrl: url === undefined ? null : new URL(url) }
}
