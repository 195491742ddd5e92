import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MIGRATIONS } from '../../server/store/migrations/index.ts'
import { MIGRATION_NAMES } from '../../server/store/migrations/names.ts'

test('the names of the migrations are those of their table, in its order', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ name }) => name),
    MIGRATION_NAMES,
  )
})
