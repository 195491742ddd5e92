// Stored objects are their maker's in every process on one PostgreSQL database.
process.env['TEST_STORE'] = 'postgres'

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { openObjectOwners } from '../../../server/proxy/objects/objects.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { openStore } from '../../../server/store/open.ts'
import { placeOf } from '../../support/store-settings.ts'
import { usedFolder } from '../../support/templates.ts'
import { keyOf } from './ownership-requests.ts'

const provider = createProviderTable({}).byId('openai')!

/** Objects of two processes on one database, and keys that look them up. */
async function openTwo(t: TestContext) {
  const place = await placeOf(usedFolder(t))
  const stores = [
    await openStore({ ...place, now: 0 }),
    await openStore({ ...place, now: 0 }),
  ] as const
  t.after(() => Promise.all(stores.map((store) => store.close())))
  const fail = (error: unknown) => assert.fail(String(error))
  const [here, there] = [openObjectOwners(stores[0], fail), openObjectOwners(stores[1], fail)]
  const look = async (objects: typeof here, key: ReturnType<typeof keyOf>, id: string) => {
    const match = classify(provider, 'GET', `/v1/files/${id}`)
    return (await objects.lookup({ provider, key, match, method: 'GET', objects: match.objects }))
      .denied
  }
  const make = (id: string) =>
    here.recordCreated('openai', { kind: 'file', id }, { key: 'mine', credential: 'c', now: 0 })
  const rows = () =>
    stores[1].db
      .selectFrom('objects')
      .select(['object_id', 'key_id'])
      .orderBy('object_id')
      .execute()
  return { here, there, look, make, rows }
}

const [mine, other, upstream] = [
  keyOf('mine', 'own'),
  keyOf('other', 'own'),
  keyOf('upstream', 'upstream'),
]

test('an object just created in one process has its owner in another', async (t) => {
  const { here, there, look, make, rows } = await openTwo(t)
  // Asked for before it is made, and once it is.
  const early = look(there, mine, 'file-1')
  make('file-1')
  assert.equal(await early, null)
  assert.deepEqual(
    [
      await look(there, other, 'file-1'),
      await look(there, upstream, 'file-1'),
      await look(there, mine, 'file-1'),
    ],
    ['foreign', 'foreign', null],
  )
  // Both know at once what they have made themselves, and neither gives it away.
  make('file-2')
  assert.deepEqual(
    [await look(here, mine, 'file-2'), await look(here, other, 'file-2')],
    [null, 'foreign'],
  )
  while ((await rows()).length < 2) await new Promise(setImmediate)
  // The first that is written down stays.
  there.recordCreated(
    'openai',
    { kind: 'file', id: 'file-2' },
    { key: 'other', credential: 'c', now: 0 },
  )
  while ((await look(there, mine, 'file-2')) !== null) await new Promise(setImmediate)
  assert.equal(await look(there, other, 'file-2'), 'foreign')
  assert.deepEqual(await rows(), [
    { object_id: 'file-1', key_id: 'mine' },
    { object_id: 'file-2', key_id: 'mine' },
  ])
  assert.equal(await look(there, other, 'file-nobodys'), 'unknown')
})

test('an unowned name is looked up again each second, however often it is asked for', async (t) => {
  const { there, look, make, rows } = await openTwo(t)
  const now = performance.now.bind(performance)
  let later = 0
  t.mock.method(performance, 'now', () => now() + later)
  assert.equal(await look(there, upstream, 'file-1'), null)
  make('file-1')
  while ((await rows()).length < 1) await new Promise(setImmediate)
  const found = []
  for (let i = 0; i < 4; i++) {
    later += 600
    found.push(await look(there, upstream, 'file-1'))
  }
  assert.deepEqual(found.slice(1), ['foreign', 'foreign', 'foreign'])
})
