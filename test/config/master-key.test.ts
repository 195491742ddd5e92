import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readMasterKey } from '../../server/config/master-key.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('a key is made once, for its owner only, and kept', (t) => {
  const data = temporaryFolder(t)
  const key = readMasterKey(null, data)
  assert.equal(key.length, 32)
  assert.deepEqual(readMasterKey(null, data), key)
  assert.deepEqual(readdirSync(data), ['master.key'])
  assert.equal(statSync(join(data, 'master.key')).mode & 0o777, 0o600)
})

test('a key that is given wins, and nothing is kept', (t) => {
  const data = temporaryFolder(t)
  const given = Buffer.alloc(32, 7)
  assert.deepEqual(readMasterKey(given, data), given)
  assert.deepEqual(readdirSync(data), [])
})

test('a file that holds no key is never replaced', (t) => {
  const data = temporaryFolder(t)
  writeFileSync(join(data, 'master.key'), 'half a k')
  assert.throws(() => readMasterKey(null, data), /holds no key of 32 bytes/)
})
