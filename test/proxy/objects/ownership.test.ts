// Generated requests: no spelling of another key's object passes, and no ordinary body is refused.
// `npm run bench -- ownership` makes 100,000 of each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignThatPass, ordinaryThatFail } from './ownership-requests.ts'

test("another key's object is refused in every request and spelling", async () => {
  assert.deepEqual(await foreignThatPass(3_000, 1), { passed: 0, first: null })
})

test("no ordinary body is refused because of other keys' object names", async () => {
  assert.deepEqual(await ordinaryThatFail(3_000, 2), { refused: 0, first: null })
})
