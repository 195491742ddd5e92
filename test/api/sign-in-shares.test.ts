// A flood of sign-ins: who else signs in waits for a turn, not for the flood, and nobody is locked
// out of an account by the wrong guesses of others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withAttempt, assertNotBlocked } from '../../server/accounts/attempts.ts'
import { queued } from '../../server/accounts/passwords.ts'
import type { Problem } from '../../server/common/errors.ts'
import { onEveryStore, openAt } from '../support/stores.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Hashes that end when the test says so; `order` is whose were begun. */
function hashing() {
  const order: string[] = []
  const ends: (() => void)[] = []
  const hash = (address: string, subject: string): Promise<number> =>
    queued({ address, subject }, () => {
      order.push(address)
      return new Promise<void>((resolve) => ends.push(resolve))
    }).then(
      () => 200,
      (refused: Problem) => refused.status,
    )
  const end = async (): Promise<void> => {
    for (const resolve of ends.splice(0)) resolve()
    await settled()
  }
  return { order, hash, end }
}

test('addresses take turns at password hashing, and a flood evicts its own newest attempts', async () => {
  const { order, hash, end } = hashing()
  const flood = Array.from({ length: 101 }, (_, index) => hash('flood', `nobody ${index}`))
  assert.equal(await hash('flood', 'nobody'), 429)
  const mine = hash('mine', 'me')
  await settled()
  assert.deepEqual(order, ['flood', 'mine'], 'it is begun at once, beside the one of the flood')
  const others = ['b', 'c', 'd'].map((address) => hash(address, address))
  await settled()
  await end()
  assert.equal(await mine, 200)
  for (let round = 0; round < 3; round++) await end()
  assert.deepEqual(await Promise.all(others), [200, 200, 200])
  assert.ok(order.slice(0, 8).filter((address) => address === 'flood').length <= 4, order.join())
  for (let round = 0; round < 110; round++) await end()
  const outcomes = await Promise.all(flood)
  assert.ok(outcomes.filter((status) => status === 503).length >= 3)
  assert.deepEqual(
    outcomes.slice(0, 90).filter((status) => status !== 200),
    [],
  )
})

test('a flood against one account leaves room for others to sign in', async () => {
  const { hash, end } = hashing()
  const flood = Array.from({ length: 130 }, (_, index) => hash(`address ${index}`, 'victim'))
  const others = Array.from({ length: 20 }, (_, index) => hash(`other ${index}`, `person ${index}`))
  for (let round = 0; round < 160; round++) await end()
  assert.deepEqual(
    (await Promise.all(others)).filter((status) => status !== 200),
    [],
  )
  assert.ok((await Promise.all(flood)).some((status) => status !== 200))
})

onEveryStore(
  'wrong guesses from many addresses are slowed down together, and the owner can still sign in',
  async (t, place) => {
    const store = await openAt(t, place)
    let now = 1_000
    const attempt = async (address: string, right: boolean): Promise<boolean | string> => {
      const who = { email: 'ada@example.com', address }
      try {
        await assertNotBlocked(store, who, now)
        return await withAttempt(store, who, now, () => Promise.resolve(right))
      } catch (error) {
        return (error as Problem).code
      }
    }
    assert.equal(await attempt('home', true), true)
    let guesses = 0
    for (let round = 0; round < 10; round++) {
      for (let index = 0; index < 5; index++)
        if ((await attempt(`attacker ${index}`, false)) === false) guesses++
    }
    // Each address has one, and they share what the e-mail has.
    assert.ok(guesses <= 10, `${guesses}`)
    assert.equal(await attempt('attacker 0', true), 'too_many_attempts')
    assert.equal(await attempt('home', true), true, 'from where it was before')
    for (let index = 0; index < 9; index++) await attempt(`another ${index}`, false)
    assert.equal(await attempt('a hotel', true), true, 'from where it never was')
    for (let round = 0; round < 100; round++) {
      now += 61_000
      await attempt('attacker 1', false)
      await attempt('attacker 2', false)
    }
    assert.equal(await attempt('home', true), true)
  },
)
