// A writer thread that ends without an error is a failed store, too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore } from '../../server/store/open.ts'
import { placeOn } from '../support/stores.ts'
import { leave } from './leaving.ts'

test('the owner of a store learns that its writer thread has ended', async (t) => {
  const { data, databaseUrl } = await placeOn.sqlite(t)
  const failed = Promise.withResolvers<Error>()
  const store = await openStore({ data, databaseUrl, now: 0, onFailure: failed.resolve })
  t.after(() => store.close())
  await assert.rejects(store.run(leave, null), { code: 'closed' })
  assert.match((await failed.promise).message, /database thread has ended/)
})
