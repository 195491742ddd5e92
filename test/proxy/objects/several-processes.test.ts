// Stored objects are their maker's in every process on one PostgreSQL database.
process.env['TEST_STORE'] = 'postgres'

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openObjectOwners } from '../../../server/proxy/objects/objects.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { openStore } from '../../../server/store/open.ts'
import { placeOf } from '../../support/store-settings.ts'
import { usedFolder } from '../../support/templates.ts'
import { keyOf } from './ownership-requests.ts'

const provider = createProviderTable({}).byId('openai')!

test('an object just created in one process has its owner in another', async (t) => {
  const place = await placeOf(usedFolder(t))
  const stores = [
    await openStore({ ...place, now: 0 }),
    await openStore({ ...place, now: 0 }),
  ] as const
  t.after(() => Promise.all(stores.map((store) => store.close())))
  const fail = (error: unknown) => assert.fail(String(error))
  const [here, there] = [openObjectOwners(stores[0], fail), openObjectOwners(stores[1], fail)]
  const [mine, other, upstream] = [
    keyOf('mine', 'own'),
    keyOf('other', 'own'),
    keyOf('upstream', 'upstream'),
  ]
  const look = async (objects: typeof here, key: typeof mine, id: string) => {
    const match = classify(provider, 'GET', `/v1/files/${id}`)
    return (await objects.lookup({ provider, key, match, method: 'GET', objects: match.objects }))
      .denied
  }
  const make = (id: string) =>
    here.recordCreated('openai', { kind: 'file', id }, { key: 'mine', credential: 'c', now: 0 })
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
  const rows = async () =>
    await stores[1].db
      .selectFrom('objects')
      .select(['object_id', 'key_id'])
      .orderBy('object_id')
      .execute()
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
