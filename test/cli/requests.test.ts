import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tollmark } from '../support/harness.ts'
import { usedFolder } from '../support/templates.ts'

test('refused requests are listed from the local store', async (t) => {
  const env = { TOLLMARK_DATA: usedFolder(t) }
  await tollmark(['keys', 'create', '--name', 'one'], env)
  const { code, out, err } = await tollmark(['requests', 'refused', '--json'], env)
  assert.equal(code, 0, err)
  assert.deepEqual((JSON.parse(out) as { data: unknown[] }).data, [])
})
