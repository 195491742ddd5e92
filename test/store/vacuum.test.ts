// A SQLite file keeps the space of deleted rows; a vacuum gives it back.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CHECKS, examine } from '../../server/cli/doctor/checks.ts'
import { readConfig } from '../../server/config/settings.ts'
import { SetupError } from '../../server/common/errors.ts'
import { Connection } from '../../server/store/sqlite/connection.ts'
import { vacuumStore } from '../../server/store/vacuum.ts'
import { openAt } from '../support/stores.ts'
import { usedFolder } from '../support/templates.ts'

const MB = 1_000_000

test('a vacuum gives unused space back when no other process has the file open', async (t) => {
  const place = { data: usedFolder(t), databaseUrl: null }
  const path = join(place.data, 'tollmark.db')
  const diskSpace = async (): Promise<readonly [string, string]> => {
    const examined = await examine(readConfig({ TOLLMARK_DATA: place.data }))
    await using _ = examined.store
    return CHECKS.find(({ name }) => name === 'disk_space')!.look(examined)
  }
  const store = await openAt(t, place)
  const connection = new Connection(path, 'write')
  connection.exec('PRAGMA synchronous = OFF')
  connection.exec('CREATE TABLE large AS SELECT zeroblob(70000000) AS bytes')
  connection.exec("INSERT INTO usage_added (name, before) VALUES ('days', 7)")
  connection.exec('DROP TABLE large')
  connection.close()

  const inUse = {
    name: 'SetupError',
    message: `Another process uses ${path}. Stop the server, then try again.`,
  }
  assert.throws(() => vacuumStore(place), inUse)
  await store.close()
  assert.ok(statSync(path).size > 70 * MB)
  const [status, detail] = await diskSpace()
  assert.equal(status, 'warning')
  assert.match(detail, /0\.1 GiB of the database's 0\.1 GiB are unused: "tollmark vacuum"/)

  const { before, after } = vacuumStore(place)
  assert.ok(before > 70 * MB && after < 2 * MB, `${before}, then ${after} bytes`)
  assert.equal(statSync(path).size, after)
  assert.doesNotMatch((await diskSpace())[1], /unused/)
  const again = await openAt(t, place)
  const { before: mark } = await again.db
    .selectFrom('usage_added')
    .selectAll()
    .executeTakeFirstOrThrow()
  assert.equal(mark, 7)
  assert.throws(() => vacuumStore(place), inUse)
})

test('a vacuum of anything but a SQLite store is refused with the reason', (t) => {
  const data = usedFolder(t)
  const cases = [
    [new URL('postgres://localhost/x'), /PostgreSQL reuses the space of deleted rows by itself/],
    [
      new URL('sqlite:/nowhere/tollmark.db'),
      /There is no Tollmark database at \/nowhere\/tollmark\.db/,
    ],
  ] as const
  for (const [databaseUrl, message] of cases)
    assert.throws(
      () => vacuumStore({ data, databaseUrl }),
      (error) => error instanceof SetupError && message.test(error.message),
    )
})
