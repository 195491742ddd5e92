import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { MIGRATIONS } from '../../server/store/migrations/index.ts'
import { Connection } from '../../server/store/sqlite.ts'
import { temporaryFolder } from '../temporary.ts'

test('ten processes that start together migrate once', async (t) => {
  const data = temporaryFolder(t)
  const args = ['--conditions=tollmark', '--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'opener-process.ts'), data]
  await Promise.all(Array.from({ length: 10 }, () => promisify(execFile)(process.execPath, args)))
  const connection = new Connection(`${data}/tollmark.db`, 'read')
  t.after(() => connection.close())
  const { rows } = connection.execute({ sql: 'SELECT name FROM migrations ORDER BY name', parameters: [] })
  assert.deepEqual(rows.map((row) => ({ ...(row as object) })), MIGRATIONS.map(({ name }) => ({ name })))
})
