// On which store a test of the server runs. A file of tests says nothing about it, and runs on
// SQLite; where TEST_STORE is `postgres`, everything that is started on a data folder works on a
// database of that folder's.
import { after } from 'node:test'
import type { Place } from './place.ts'
import { closeDatabases, usedDatabase } from './postgres.ts'

const databases = new Map<string, Promise<URL>>()
after(closeDatabases)

/** The settings that say where the store of a data folder is. */
export async function storeSettings(
  data: string,
): Promise<{ TOLLMARK_DATA: string; DATABASE_URL?: string }> {
  if (process.env['TEST_STORE'] !== 'postgres') return { TOLLMARK_DATA: data }
  let database = databases.get(data)
  if (!database) databases.set(data, (database = usedDatabase()))
  return { TOLLMARK_DATA: data, DATABASE_URL: (await database).href }
}

/** The store of a data folder, for a test that opens it by itself. */
export async function placeOf(data: string): Promise<Place> {
  const { DATABASE_URL: url } = await storeSettings(data)
  return { data, databaseUrl: url === undefined ? null : new URL(url) }
}
