// Requests that name as many objects as a body can: looking for their owners leaves others their
// turns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openObjectOwners } from '../../../server/proxy/objects/objects.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { openCounter } from '../../support/turn-counter.ts'
import { EMPTY, keyOf } from './ownership-requests.ts'

const provider = createProviderTable({ instances: [] }).byId('openai')!
const key = keyOf('own', 'own')
const match = classify(provider, 'POST', '/v1/responses')

/** So many names that nobody here has made, and that need not be anybody's. */
const unknowns = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ kind: 'item', id: `msg_${i}`, mayBeUnknown: true }))

test('the event loop runs while the owners of 100,000 objects are looked up', async () => {
  const objects = openObjectOwners(EMPTY, () => {})
  let turns = 0
  let over = false
  const count = (): void => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const found = await objects.lookup({
    provider,
    key,
    match,
    method: 'POST',
    objects: unknowns(100_000),
  })
  over = true
  assert.deepEqual([found.denied, found.credential], [null, null])
  assert.ok(turns >= 10, `${turns} turns`)
})

/** TABLE: where the only object that is another key's stands among 3,000. */
for (const at of [0, 999, 1_000, 2_999]) {
  test(`another key's object is refused as number ${at} of 3,000`, async () => {
    const objects = openObjectOwners(EMPTY, () => {})
    objects.recordCreated(
      'openai',
      { kind: 'file', id: 'file-1' },
      { key: 'victim', credential: 'c', now: 0 },
    )
    const named = unknowns(3_000).with(at, { kind: 'file', id: 'file-1', mayBeUnknown: true })
    assert.equal(
      (await objects.lookup({ provider, key, match, method: 'POST', objects: named })).denied,
      'foreign',
    )
  })
}

test('the first known object selects the credential, wherever it is', async () => {
  const objects = openObjectOwners(EMPTY, () => {})
  for (const id of ['1', '2'])
    objects.recordCreated(
      'openai',
      { kind: 'file', id: `file-${id}` },
      { key: key.id, credential: `c${id}`, now: 0 },
    )
  const named = unknowns(3_000)
    .with(1_500, { kind: 'file', id: 'file-1', mayBeUnknown: true })
    .with(2_500, { kind: 'file', id: 'file-2', mayBeUnknown: true })
  const found = await objects.lookup({ provider, key, match, method: 'POST', objects: named })
  assert.deepEqual([found.denied, found.credential], [null, 'c1'])
})

test('what many requests name outside prose is read by one in each turn', async (t) => {
  const objects = openObjectOwners(EMPTY, () => {})
  const counter = openCounter(t)
  const named = [{ kind: 'file', id: 'file-1' }]
  const outsideProse = () => (counter.count(), named)
  const asked = { provider, key, match, method: 'POST', objects: named, outsideProse }
  const found = await Promise.all(Array.from({ length: 50 }, () => objects.lookup(asked)))
  assert.ok(found.every(({ denied }) => denied === 'unknown'))
  assert.equal(counter.all(), 50)
  // What runs in one turn is at times counted in two.
  assert.ok(counter.most() <= 2, `${counter.most()} in one turn`)
})
