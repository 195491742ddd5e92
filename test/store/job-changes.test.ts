import assert from 'node:assert/strict'
import { test } from 'node:test'
import { query } from '../support/postgres.ts'
import { openAt, placeOn } from '../support/stores.ts'
import { until } from '../support/until.ts'

test('postgres: every process is notified of new jobs and changed states, not of progress', async (t) => {
  const place = await placeOn.postgres(t)
  const store = await openAt(t, place)
  let heard = 0
  t.after(store.onChange(() => heard++))
  // The trigger tells of a statement, whatever it meets. What is told arrives in its order.
  await query(place.databaseUrl!, 'update jobs set pages_done = 1')
  await query(place.databaseUrl!, `update jobs set status = 'canceled'`)
  await until(() => heard > 0)
  await query(place.databaseUrl!, 'insert into jobs select * from jobs')
  await until(() => heard > 1)
  assert.equal(heard, 2)
})
