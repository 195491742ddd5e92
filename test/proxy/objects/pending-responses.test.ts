// A response that is still being decoded may have created an object that the next request names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openObjectOwners } from '../../../server/proxy/objects/objects.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { EMPTY, keyOf } from './ownership-requests.ts'

const provider = createProviderTable({ instances: [] }).byId('openai')!
const match = classify(provider, 'GET', '/v1/files/file-1')
const named = [{ kind: 'file', id: 'file-1' }]

test("a request waits for its key's own responses, never for those of others", async () => {
  const objects = openObjectOwners(EMPTY, () => {})
  const [key, other] = [keyOf('mine', 'own'), keyOf('theirs', 'own')]
  const decoded = Promise.withResolvers<void>()
  objects.trackPending(key.id, decoded.promise)
  const lookup = (asking: typeof key) =>
    objects.lookup({ provider, key: asking, match, method: 'GET', objects: named })
  const waiting = lookup(key)
  assert.equal((await lookup(other)).denied, 'unknown')
  objects.recordCreated('openai', named[0]!, { key: key.id, credential: 'c', now: 0 })
  decoded.resolve()
  assert.deepEqual(await waiting, { denied: null, credential: 'c' })
  assert.equal((await lookup(other)).denied, 'foreign')
})

test('a request that may name objects without an owner waits for the responses of all keys', async () => {
  const objects = openObjectOwners(EMPTY, () => {})
  const decoded = Promise.withResolvers<void>()
  objects.trackPending('theirs', decoded.promise)
  const key = keyOf('mine', 'upstream')
  const waiting = objects.lookup({ provider, key, match, method: 'GET', objects: named })
  objects.recordCreated('openai', named[0]!, { key: 'theirs', credential: 'c', now: 0 })
  decoded.resolve()
  assert.equal((await waiting).denied, 'foreign')
})
