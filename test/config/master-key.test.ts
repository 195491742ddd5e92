import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readMasterKey } from '../../server/config/master-key.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('a master key is generated once, readable only by its owner, and kept', (t) => {
  const data = temporaryFolder(t)
  const key = readMasterKey(null, data)
  assert.equal(key.length, 32)
  assert.deepEqual(readMasterKey(null, data), key)
  assert.deepEqual(readdirSync(data), ['master.key'])
  assert.equal(statSync(join(data, 'master.key')).mode & 0o777, 0o600)
})

test('a configured master key takes precedence and is not stored', (t) => {
  const data = temporaryFolder(t)
  const given = Buffer.alloc(32, 7)
  assert.deepEqual(readMasterKey(given, data), given)
  assert.deepEqual(readdirSync(data), [])
})

test('a file without a valid key is never replaced', (t) => {
  const data = temporaryFolder(t)
  writeFileSync(join(data, 'master.key'), 'half a k')
  assert.throws(() => readMasterKey(null, data), /does not contain a 32-byte key/)
})
