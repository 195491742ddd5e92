// A thread that reads is there while somebody reads, and no longer.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { openReadingThread } from '../../../server/store/sqlite/reader-client.ts'
import { openAt, placeOn } from '../../support/stores.ts'
import { until } from '../../support/until.ts'
import { longRead } from '../long-read.ts'
import { threadOf } from '../thread-of.ts'

const WITHIN_MS = 60_000
const asked = { procedure: threadOf.address, args: null }

test('an idle reader thread ends after its last result and starts again on demand', async (t) => {
  const place = await placeOn.sqlite(t)
  await openAt(t, place)
  const idle = 100
  const thread = openReadingThread({ path: join(place.data, 'tollmark.db'), patient: false }, idle)
  t.after(() => thread.close())
  const first = await thread.send(asked, WITHIN_MS)
  assert.equal(await thread.send(asked, WITHIN_MS), first, 'it is the same one while it is used')
  const long = thread.send(
    { procedure: longRead.address, args: { times: 400, most: 20_000 } },
    WITHIN_MS,
  )
  await setTimeout(2 * idle)
  assert.deepEqual(
    await Promise.all([
      long.then((value) => (value as { times: number }).times),
      thread.send(asked, WITHIN_MS),
    ]),
    [400, first],
  )
  await until(async () => {
    await setTimeout(2 * idle)
    return (await thread.send(asked, WITHIN_MS)) !== first
  })
  await thread.close()
  assert.notEqual(await thread.send(asked, WITHIN_MS), first)
})
