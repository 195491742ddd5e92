// `npm run release:record`: saves the stores of the current version, filled by its own server, in
// test/store/releases/VERSION. Later versions must be able to continue them. It needs `pg_dump` of
// the PostgreSQL that the tests start.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import manifest from '../server/package.json' with { type: 'json' }
import { openSite } from '../test/browser/dashboard/seeded.ts'
import { dumpPostgres, dumpSqlite } from '../test/store/releases/dump.ts'
import { ask, LIFETIME, live, SETTINGS, type Memory } from '../test/store/releases/life.ts'
import { startPostgres } from '../test/support/postgres.ts'

const target = join(import.meta.dirname, '../test/store/releases', manifest.version)

/** Runs a server on an empty store, and saves the store. */
async function record(data: string, databaseUrl: URL | null): Promise<Memory> {
  const settings = { ...SETTINGS, ...(databaseUrl && { DATABASE_URL: databaseUrl.href }) }
  let known
  {
    await using site = await openSite(data, settings, LIFETIME)
    known = await live(site)
  }
  const at = Date.now()
  await using site = await openSite(data, settings)
  return { at, ...known, answers: await ask(site, at), files: filesIn(data) }
}

/** The files of a data folder, except the database. */
function filesIn(data: string): Memory['files'] {
  const files = readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('tollmark.db'))
    .map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    files.map((path) => [relative(data, path), readFileSync(path).toString('base64')]),
  )
}

const folder = mkdtempSync(join(tmpdir(), 'tollmark-release-'))
try {
  await using server = await startPostgres()
  mkdirSync(target, { recursive: true })
  for (const [store, url] of [
    ['sqlite', null],
    ['postgres', server.url],
  ] as const) {
    const data = mkdtempSync(join(folder, 'data-'))
    const memory = await record(data, url)
    const sql = url === null ? dumpSqlite(join(data, 'tollmark.db')) : dumpPostgres(url)
    writeFileSync(join(target, `${store}.sql`), sql)
    writeFileSync(join(target, `${store}.json`), `${JSON.stringify(memory, null, 1)}\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
