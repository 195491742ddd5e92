// The stores of each release are continued by this version: nothing that the API said of them is
// lost, and the secrets of their callers work as they did. `npm run release:record` adds a release.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import dashboard from '../../dashboard/package.json' with { type: 'json' }
import server from '../../server/package.json' with { type: 'json' }
import { verifyWindows } from '../../server/ledger/reports/verify.ts'
import { openSite } from '../browser/dashboard/seeded.ts'
import { settingsOf, type Place } from '../support/place.ts'
import { query } from '../support/postgres.ts'
import { emptyPlaceOn } from '../support/stores.ts'
import { loadSqlite } from './releases/dump.ts'
import { ask, documentOf, Memory, readStatus, SETTINGS, statusOf } from './releases/life.ts'

const FOLDER = join(import.meta.dirname, 'releases')
const read = (...path: string[]): string => readFileSync(join(FOLDER, ...path), 'utf8')
const releases = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

async function load(place: Place, sql: string, { files }: Memory): Promise<void> {
  if (place.databaseUrl) await query(place.databaseUrl, sql)
  else loadSqlite(join(place.data, 'tollmark.db'), sql)
  for (const [name, content] of Object.entries(files)) {
    const path = join(place.data, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, Buffer.from(content, 'base64'))
  }
}

/** Asserts that an answer says all that it said before; later versions may say more. */
function assertKept(path: string, now: unknown, before: unknown): void {
  assert.partialDeepStrictEqual(now, before, path)
  const rows = (answer: unknown): unknown => (answer as { data?: unknown[] }).data?.length
  assert.equal(rows(now), rows(before), path)
}

async function continues(t: TestContext, release: string, store: 'sqlite' | 'postgres') {
  const place = await emptyPlaceOn[store](t)
  const memory = Memory.parse(JSON.parse(read(release, `${store}.json`)))
  const { at, keys, token, object, job, document, answers } = memory
  await load(place, read(release, `${store}.sql`), memory)
  await using site = await openSite(
    place.data,
    { ...SETTINGS, ...settingsOf(place) },
    Date.now() - at,
  )
  const now = await ask(site, at)
  for (const [path, before] of Object.entries(answers)) assertKept(path, now[path], before)
  const statuses: Record<string, number[]> = {}
  for (const [name, secret] of Object.entries(keys))
    statuses[name] = [
      await statusOf(site, secret, 'gpt-5'),
      await statusOf(site, secret, 'gpt-4o'),
      await statusOf(site, secret, 'gpt-5'),
      await readStatus(site, secret, object),
    ]
  assert.deepEqual(statuses, {
    scoped: [200, 403, 200, 403],
    limited: [200, 200, 429, 429],
    owner: [200, 200, 200, 200],
    reader: [200, 200, 200, 403],
    revoked: [401, 401, 401, 401],
    child: [200, 403, 200, 403],
  })
  assert.equal(await documentOf(site, token, job), document)
  const proof = await verifyWindows(site.running.store)
  assert.deepEqual(proof.violations, [])
}

test('the stores of the current version are recorded here', () => {
  assert.ok(releases.includes(server.version), server.version)
  assert.equal(dashboard.version, server.version)
})

for (const release of releases)
  for (const store of ['sqlite', 'postgres'] as const)
    test(`${store}: the store of ${release} is continued`, (t) => continues(t, release, store))
