// SECURITY.md names the test that holds each wall between keys: every one of them is there, and is
// a test that `npm test` runs.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'SECURITY.md'), 'utf8')

test('every defence names an existing test', () => {
  const rows = (page.split('## The walls between keys')[1] ?? '')
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| wall'))
  assert.ok(rows.length > 20, `${rows.length} walls`)
  for (const row of rows) {
    const named = /`([^`]+)` \|$/.exec(row)?.[1] ?? ''
    assert.match(named, /^test\/.+\.test\.ts$/, row)
    assert.ok(existsSync(join(root, named)), `${named} is not there`)
  }
})
