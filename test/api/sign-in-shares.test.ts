// During a flood of sign-ins, others can sign in without waiting for it, and nobody is locked out
// of an account by the wrong guesses of others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureAccount } from '../../server/accounts/accounts.ts'
import { admitAttempt, withAttempt } from '../../server/accounts/attempts.ts'
import { HashingQueue } from '../../server/accounts/hashing-queue.ts'
import { hashPassword } from '../../server/accounts/passwords.ts'
import { signIn } from '../../server/accounts/sessions.ts'
import type { Problem } from '../../server/common/errors.ts'
import { ADMIN } from '../support/browser-request.ts'
import { onEveryStore, openAt, placeOn } from '../support/stores.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A queue whose hashes end when the test says so; `order` names the callers whose hash began. */
function hashing() {
  const order: string[] = []
  const ends: (() => void)[] = []
  const queue = new HashingQueue({
    concurrency: 2,
    waiting: 100,
    refusal: (hasHashedBefore) => new Error(hasHashedBefore ? '429' : '503'),
  })
  const hash = (address: string, owner: string | null = null): Promise<string> =>
    queue
      .run({ address, owner }, () => {
        order.push(owner ?? address)
        return new Promise<void>((resolve) => ends.push(resolve))
      })
      .then(
        () => '200',
        (refused: Error) => refused.message,
      )
  /** Ends the running hashes. */
  const end = async (): Promise<void> => {
    await settled()
    for (const resolve of ends.splice(0)) resolve()
    await settled()
  }
  return { order, hash, end }
}

/** Addresses in networks of their own. */
const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `198.${index}.7.9`)

/** TABLE of floods of 300 attempts: the addresses that they come from. */
const FLOODS: [name: string, from: readonly string[]][] = [
  ['one address', Array<string>(300).fill('203.0.113.7')],
  ['250 addresses', [...addresses(250), ...addresses(50)]],
  ['a /24 network', Array.from({ length: 300 }, (_, index) => `203.0.113.${index % 256}`)],
  [
    'a /48 network',
    Array.from({ length: 300 }, (_, index) => `2001:db8:0:${index.toString(16)}::/64`),
  ],
]

for (const [name, from] of FLOODS)
  test(`people sign in next during a flood from ${name}`, async () => {
    const { order, hash, end } = hashing()
    const flood = from.map((address) => hash(address))
    const known = hash('192.0.2.1', 'known')
    const stranger = hash('192.0.2.2')
    await end()
    assert.deepEqual(order.slice(2), ['known', '192.0.2.2'])
    const late = hash('192.0.2.3', 'late')
    await end()
    assert.deepEqual(await Promise.all([known, stranger]), ['200', '200'])
    assert.equal(order.at(4), 'late')
    for (let round = 0; round < 60; round++) await end()
    assert.equal(await late, '200')
    assert.ok(order.length <= 2 + 3 + 100, 'only so many wait')
    const refused = (await Promise.all(flood)).filter((outcome) => outcome !== '200')
    assert.ok(refused.length >= 195, `${refused.length}`)
  })

test('a caller who mistypes comes before addresses that go on hashing', async () => {
  const { order, hash, end } = hashing()
  const from = addresses(60)
  for (let round = 0; round < 3; round++) {
    for (const address of from) void hash(address)
    for (let ended = 0; ended < 30; ended++) await end()
  }
  for (const address of from) void hash(address)
  void hash('192.0.2.1')
  await end()
  const again = hash('192.0.2.1')
  await end()
  await end()
  assert.equal(await again, '200')
  assert.equal(order.filter((address) => address === '192.0.2.1').length, 2)
})

test('someone who signs in again and again with an account comes after everyone else', async () => {
  const { order, hash, end } = hashing()
  for (let index = 0; index < 20; index++) void hash(`198.51.100.${index}`, 'busy')
  void hash('192.0.2.1')
  void hash('192.0.2.2', 'known')
  for (let round = 0; round < 2; round++) await end()
  assert.deepEqual(order, ['busy', 'busy', 'busy', 'known', '192.0.2.1', 'busy'])
})

test('attempts of a known caller that were refused do not count', async () => {
  const { order, hash, end } = hashing()
  for (const address of addresses(102)) void hash(address, address)
  for (let attempt = 0; attempt < 30; attempt++)
    assert.equal(await hash('192.0.2.1', 'known'), '503')
  for (let round = 0; round < 51; round++) await end()
  const begun = order.length
  for (const address of addresses(60)) void hash(`${address}0`)
  void hash('192.0.2.1', 'known')
  await end()
  // Two strangers found the queue empty.
  assert.equal(order[begun + 2], 'known')
})

test('someone who signs in several times during a flood still comes first', async () => {
  const { order, hash, end } = hashing()
  for (const address of addresses(60)) void hash(address)
  for (let attempt = 0; attempt < 9; attempt++) {
    const known = hash('192.0.2.1', 'known')
    await end()
    assert.equal(order.at(-2), 'known')
    await end()
    assert.equal(await known, '200')
  }
})

test('someone who signs in from a known address waits for no stranger', async (t) => {
  const store = await openAt(t, await placeOn.sqlite(t))
  const choice = { name: null, plan: 'free', newId: 'acc_a', now: 1_000 }
  const { id } = await store.run(ensureAccount, choice)
  await store.db.updateTable('accounts').set({ email: ADMIN.email }).where('id', '=', id).execute()
  const hash = await hashPassword(ADMIN.password)
  await store.db.insertInto('passwords').values({ account_id: id, hash }).execute()
  const order: string[] = []
  const from = (address: string, password: string): Promise<unknown> =>
    signIn(store, { ...ADMIN, password, address }, undefined, 1_000)
      .catch(() => undefined)
      .then(() => order.push(address))
  await from('home', ADMIN.password)
  const strangers = addresses(10).map((address) => () => from(address, 'wrong password'))
  const first = strangers.splice(0, 3).map((send) => send())
  const home = from('home', ADMIN.password)
  await Promise.all([...first, home, ...strangers.map((send) => send())])
  assert.ok(order.indexOf('home', 1) <= 4, order.join())
})

onEveryStore(
  'wrong guesses from many addresses are slowed down together, and the owner can still sign in',
  async (t, place) => {
    const store = await openAt(t, place)
    let now = 1_000
    const attempt = async (address: string, right: boolean): Promise<boolean | string> => {
      const who = { email: 'ada@example.com', address }
      try {
        await admitAttempt(store, who, now)
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
