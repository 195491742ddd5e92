// What a log line may contain.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSecret } from '../../server/common/issued-secrets.ts'
import { openLog } from '../../server/common/log.ts'

test('an error in the log keeps the public part of our secrets, and not the rest', () => {
  let lines = ''
  const log = openLog('info', { write: (line) => void (lines += line) })
  const { secret, publicId } = createSecret('tmk')
  const cause = new Error(`the address /x?key=${secret} is invalid`)
  log.error('The request failed.', new Error(`tried ${secret}`, { cause }))
  assert.equal(lines.split(`tmk_${publicId}_…`).length - 1, 2, lines)
  assert.ok(!lines.includes(secret), lines)
})
