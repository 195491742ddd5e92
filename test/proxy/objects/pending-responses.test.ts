// A response that is still being decoded may have created an object that the next request names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openObjectOwners } from '../../../server/proxy/objects/objects.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import type { ObjectRef } from '../../../server/proxy/providers/object-ref.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { EMPTY, keyOf } from './ownership-requests.ts'

const provider = createProviderTable({ instances: [] }).byId('openai')!
const match = classify(provider, 'GET', '/v1/files/file-1')
const named = [{ kind: 'file', id: 'file-1' }]

test("a request waits for its key's own responses, never for those of others", async () => {
  const objects = openObjectOwners(EMPTY, () => {})
  const [key, other] = [keyOf('mine', 'own'), keyOf('theirs', 'own')]
  const decoded = Promise.withResolvers<void>()
  objects.trackPending('openai', key.id, decoded.promise)
  const lookup = (asking: typeof key) =>
    objects.lookup({ provider, key: asking, match, method: 'GET', objects: named })
  const waiting = lookup(key)
  assert.equal((await lookup(other)).denied, 'unknown')
  objects.recordCreated('openai', named[0]!, { key: key.id, credential: 'c', now: 0 })
  decoded.resolve()
  const { denied, credential } = await waiting
  assert.deepEqual([denied, credential], [null, 'c'])
  assert.equal((await lookup(other)).denied, 'foreign')
})

test('a key that may name objects without an owner waits for the responses of all keys', async () => {
  const objects = openObjectOwners(EMPTY, () => {})
  const decoded = Promise.withResolvers<void>()
  objects.trackPending('openai', 'theirs', decoded.promise)
  const key = keyOf('mine', 'upstream')
  const waiting = objects.lookup({ provider, key, match, method: 'GET', objects: named })
  // The lookup has found no owner, and would end now if it did not wait.
  await setImmediate()
  objects.recordCreated('openai', named[0]!, { key: 'theirs', credential: 'c', now: 0 })
  decoded.resolve()
  assert.equal((await waiting).denied, 'foreign')
})

test('it waits for a second at most for others, who may send what takes long to decode', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const objects = openObjectOwners(EMPTY, () => {})
  const own = Promise.withResolvers<void>()
  objects.trackPending('openai', 'mine', own.promise)
  objects.trackPending('openai', 'theirs', new Promise(() => {}))
  const key = keyOf('mine', 'upstream')
  let isOver = false
  const lookup = objects.lookup({ provider, key, match, method: 'GET', objects: named })
  void lookup.then(() => (isOver = true))
  await setImmediate()
  t.mock.timers.tick(1_000)
  await setImmediate()
  assert.equal(isOver, false, 'it waits for those of its own key')
  own.resolve()
  assert.equal((await lookup).denied, null)
})

test('no request waits whose objects have owners, or for the responses of another provider', async () => {
  const objects = openObjectOwners(EMPTY, () => {})
  const never = new Promise(() => {})
  for (const key of ['mine', 'theirs']) objects.trackPending('openai', key, never)
  const made = [
    { kind: 'file', id: 'file-mine' },
    { kind: 'file', id: 'file-theirs' },
  ] as const
  objects.recordCreated('openai', made[0], { key: 'mine', credential: 'c', now: 0 })
  objects.recordCreated('openai', made[1], { key: 'theirs', credential: 'c', now: 0 })
  for (const may of ['own', 'upstream'] as const) {
    const asked = { provider, key: keyOf('mine', may), match, method: 'GET' }
    const deniedOf = async (...names: ObjectRef[]) =>
      (await objects.lookup({ ...asked, objects: names })).denied
    assert.equal(await deniedOf(made[0]), null)
    assert.equal(await deniedOf(made[1]), 'foreign')
    assert.equal(await deniedOf(made[0], made[1]), 'foreign')
    const anthropic = createProviderTable({ instances: [] }).byId('anthropic')!
    const elsewhere = await objects.lookup({ ...asked, provider: anthropic, objects: named })
    assert.equal(elsewhere.denied, may === 'own' ? 'unknown' : null)
  }
})
