// SECURITY.md names a test for each guarantee of isolation between keys. Each of them must exist
// and be a test that `npm test` runs.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'SECURITY.md'), 'utf8')

test('every defence names an existing test', () => {
  const rows = (page.split('## Isolation between keys')[1] ?? '')
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| guarantee'))
  assert.ok(rows.length > 20, `${rows.length} guarantees`)
  for (const row of rows) {
    const named = /`([^`]+)` \|$/.exec(row)?.[1] ?? ''
    assert.match(named, /^test\/.+\.test\.ts$/, row)
    assert.ok(existsSync(join(root, named)), `${named} is not there`)
  }
})
