import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MIGRATIONS } from '../../server/store/migrations/index.ts'
import { openStore } from '../../server/store/open.ts'
import { Connection } from '../../server/store/sqlite/connection.ts'
import { NODE_FLAGS } from '../support/node.ts'
import { query } from '../support/postgres.ts'
import { argumentsOf } from '../support/place.ts'
import type { Place } from '../support/place.ts'
import { onEveryEmptyPlace, openAt } from '../support/stores.ts'

async function migrations({ data, databaseUrl }: Place): Promise<unknown[]> {
  const sql = 'SELECT name FROM migrations ORDER BY name'
  if (databaseUrl) return query(databaseUrl, sql)
  const connection = new Connection(`${data}/tollmark.db`, 'read')
  try {
    return connection.execute({ sql, parameters: [] }).rows.map((row) => ({ ...(row as object) }))
  } finally {
    connection.close()
  }
}

onEveryEmptyPlace('ten processes that start together migrate once', async (_, place) => {
  const args = [
    ...NODE_FLAGS,
    join(import.meta.dirname, 'opener-process.ts'),
    ...argumentsOf(place),
  ]
  await Promise.all(Array.from({ length: 10 }, () => promisify(execFile)(process.execPath, args)))
  assert.deepEqual(
    await migrations(place),
    MIGRATIONS.map(({ name }) => ({ name })),
  )
})

onEveryEmptyPlace('a store of a newer version is refused with a sentence', async (t, place) => {
  const store = await openAt(t, place)
  await store.write({
    compile: () => ({
      ...store.db.selectNoFrom([]).compile(),
      sql: `INSERT INTO migrations (name, applied_at) VALUES ('9999-later', 0)`,
    }),
  })
  await assert.rejects(openStore({ ...place, now: 0 }), {
    name: 'SetupError',
    message: /newer version of Tollmark \(it has 9999-later\)/,
  })
})
