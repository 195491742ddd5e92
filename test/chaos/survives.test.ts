// The chaos test, short. `npm run bench -- chaos` is the same for as long as one likes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BACKINGS } from './backings.ts'
import { chaos } from './chaos.ts'

for (const [name, begin] of Object.entries(BACKINGS)) {
  test(`${name}: nothing is lost, duplicated or wrong while processes are killed and restarted`, async () => {
    await using backing = await begin()
    const { wrong, kills, received, told } = await chaos(backing, {
      seconds: 3,
      pause: 1_000,
      ease: 10,
      seed: 5,
    })
    assert.deepEqual(wrong, [])
    assert.ok(
      kills > 0 && received > 0 && told.jobs.size > 0,
      `${kills} kills, ${received} requests, ${told.jobs.size} jobs: too little to tell anything`,
    )
  })
}
