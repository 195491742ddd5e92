// Migrated stores to copy, because migrating takes three times as long. `npm test` creates them
// once per run; in a file that runs alone, servers migrate.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, sqlitePath } from '../../server/store/open.ts'
import { freshDatabase } from './postgres.ts'
import { temporaryFolder, type Ends } from './temporary.ts'

/**
 * Creates the templates with the server's migrations.
 *
 * @param data a folder that exists for the whole run
 * @returns settings for the processes of tests; TEST_DATABASE_URL must name a server
 */
export async function makeTemplates(data: string): Promise<Record<string, string>> {
  const databaseUrl = await freshDatabase()
  for (const place of [
    { data, databaseUrl: null },
    { data, databaseUrl },
  ])
    await (await openStore({ ...place, now: 0 })).close()
  return {
    TEST_SQLITE_TEMPLATE: sqlitePath({ data, databaseUrl: null })!,
    TEST_DATABASE_TEMPLATE: databaseUrl.pathname.slice(1),
  }
}

/** Creates a migrated data folder without data. */
export function usedFolder(t: Ends): string {
  const data = temporaryFolder(t)
  const template = process.env['TEST_SQLITE_TEMPLATE']
  if (template !== undefined) copyFileSync(template, join(data, 'tollmark.db'))
  return data
}
