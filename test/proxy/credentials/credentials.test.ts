import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  createCredentialPool,
  retryAfter,
  type Credential,
} from '../../../server/proxy/credentials/pool.ts'
import type { RateLimitGroup } from '../../../server/proxy/credentials/health.ts'
import { seal, unseal } from '../../../server/proxy/credentials/encryption.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'

const credential = (id: string, more: Partial<Credential> = {}): Credential => ({
  id,
  provider: 'openai',
  secret: `sk-${id}`,
  values: {},
  weight: 1,
  ...more,
})
const table = createProviderTable({
  instances: [
    { provider: 'azure', values: { resource: 'one' } },
    { provider: 'azure', values: { resource: 'two' } },
  ],
})
const OPENAI = table.find('api.openai.com', 443)!

/** A lane of requests whose model is known. */
const LANE: RateLimitGroup = { model: 'm', key: 'key_1' }

function poolOf(...credentials: Credential[]) {
  let now = 0
  const probed: string[] = []
  let finish = () => {}
  const pool = createCredentialPool(
    () => now,
    ({ id }) => {
      probed.push(id)
      return new Promise<void>((resolve) => (finish = resolve))
    },
  )
  pool.replace(credentials)
  return {
    pool,
    later: (milliseconds: number) => (now += milliseconds),
    /** Whose probes have begun. */
    probed,
    /** Ends the probe that has begun last. */
    async end(credential: Credential, status: number | null) {
      pool.recordProbe(credential, status)
      finish()
      await new Promise(setImmediate)
    },
  }
}

test('requests with one context stay on one healthy credential and return to it', () => {
  const all = ['a', 'b', 'c', 'd'].map((id) => credential(id))
  const { pool, later } = poolOf(...all)
  const first = pool.pick(OPENAI, 'conversation 7', null, LANE)!
  for (let i = 0; i < 50; i++) assert.equal(pool.pick(OPENAI, 'conversation 7', null, LANE), first)
  pool.record(first, LANE, 429, 5_000)
  const second = pool.pick(OPENAI, 'conversation 7', null, LANE)!
  assert.notEqual(second, first)
  later(4_999)
  assert.equal(pool.pick(OPENAI, 'conversation 7', null, LANE), second)
  later(2)
  assert.equal(pool.pick(OPENAI, 'conversation 7', null, LANE), first)
})

test('removing a credential moves only its own contexts', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 50 }), (contexts) => {
      const all = ['a', 'b', 'c'].map((id) => credential(id))
      const [before, after] = [poolOf(...all).pool, poolOf(...all.slice(1)).pool]
      for (const context of contexts) {
        const had = before.pick(OPENAI, context, null, LANE)!
        if (had.id !== 'a') assert.equal(after.pick(OPENAI, context, null, LANE)!.id, had.id)
      }
    }),
  )
})

test('traffic follows the weights, with or without a context', () => {
  const weights = { light: 1, middle: 2, heavy: 5, none: 0 }
  const { pool } = poolOf(
    ...Object.entries(weights).map(([id, weight]) => credential(id, { weight })),
  )
  for (const contextOf of [String, () => null]) {
    const counts = { light: 0, middle: 0, heavy: 0, none: 0 }
    for (let i = 0; i < 8_000; i++)
      counts[pool.pick(OPENAI, contextOf(i), null, LANE)!.id as keyof typeof counts]++
    for (const [id, weight] of Object.entries(weights))
      assert.ok(
        Math.abs(counts[id as keyof typeof counts] / 8_000 - weight / 8) < 0.03,
        JSON.stringify(counts),
      )
    assert.equal(counts.none, 0)
  }
})

test('a paused credential gets no requests, even if it is the only one or all others cool down', () => {
  const [paused, other] = [credential('paused', { weight: 0 }), credential('other')]
  assert.equal(poolOf(paused).pool.pick(OPENAI, null, null, LANE), null)
  assert.equal(poolOf(paused).pool.pick(OPENAI, null, 'paused', LANE), paused)
  assert.equal(poolOf(other).pool.pick(OPENAI, null, 'gone', LANE), null)
  const { pool } = poolOf(paused, other)
  pool.recordProbe(other, 401)
  pool.record(other, LANE, 429, null)
  assert.equal(pool.pick(OPENAI, null, null, LANE), other)
})

test('default and maximum cool-down times for each status', () => {
  const rests: [status: number, asked: number | null, milliseconds: number][] = [
    [429, null, 10_000],
    [500, null, 1_000],
    [502, null, 1_000],
    [503, null, 2_000],
    [504, null, 1_000],
    [529, null, 2_000],
    [400, null, 0],
    [401, null, 0],
    [403, 30_000, 0],
    [404, 5_000, 0],
    [429, 0, 0],
    [429, 59_999, 59_999],
    [429, 86_400_000, 60_000],
    [503, 86_400_000, 60_000],
  ]
  for (const [status, asked, milliseconds] of rests) {
    const [a, b] = [credential('a'), credential('b')]
    const { pool, later } = poolOf(a, b)
    pool.record(a, LANE, status, asked)
    assert.equal(pool.coolingFor('a'), milliseconds, String(status))
    if (milliseconds > 0)
      for (let i = 0; i < 20; i++) assert.equal(pool.pick(OPENAI, `c${i}`, null, LANE), b)
    later(milliseconds)
    assert.equal(pool.coolingFor('a'), 0)
  }
})

test('a later error with a shorter cool-down does not shorten a longer one', () => {
  const [a, b] = [credential('a'), credential('b')]
  const { pool, later } = poolOf(a, b)
  pool.record(a, LANE, 429, 30_000)
  later(1_000)
  pool.record(a, LANE, 503, null)
  assert.equal(pool.coolingFor('a'), 29_000)
  later(28_999)
  pool.record(a, LANE, 503, null)
  assert.equal(pool.coolingFor('a'), 2_000)
})

test('a cool-down applies to its model, or to its key if the model is unknown; a success ends it', () => {
  const [a, b] = [credential('a'), credential('b')]
  const lanes: [note: RateLimitGroup, other: RateLimitGroup][] = [
    [LANE, { model: 'another', key: 'key_1' }],
    [
      { model: null, key: 'key_1' },
      { model: null, key: 'key_2' },
    ],
    [{ model: null, key: 'key_1' }, LANE],
    [
      { model: 'key key_1', key: 'key_2' },
      { model: null, key: 'key_1' },
    ],
    [{ model: null, key: 'm' }, LANE],
  ]
  for (const [lane, other] of lanes) {
    const { pool } = poolOf(a, b)
    const picks = (by: RateLimitGroup) =>
      new Set(Array.from({ length: 40 }, (_, i) => pool.pick(OPENAI, `c${i}`, null, by)!.id))
    pool.record(a, lane, 429, null)
    assert.deepEqual([picks(lane), picks(other).size], [new Set(['b']), 2])
    pool.record(a, other, 200, null)
    assert.deepEqual([picks(lane), pool.lastError('a')], [new Set(['b']), null])
    pool.record(a, lane, 200, null)
    assert.deepEqual([picks(lane).size, pool.coolingFor('a')], [2, 0])
  }
  // A caller that makes up models fills no memory, and what it asked for first is forgotten first.
  const { pool } = poolOf(a, b)
  for (let i = 0; i < 1_001; i++) pool.record(a, { model: `made-up-${i}`, key: 'key_1' }, 429, null)
  const free = (model: string) =>
    new Set(
      Array.from(
        { length: 40 },
        (_, i) => pool.pick(OPENAI, `c${i}`, null, { model, key: 'key_1' })!.id,
      ),
    ).size === 2
  assert.deepEqual(
    [free('made-up-0'), free('made-up-1'), free('made-up-1000')],
    [true, false, false],
  )
})

test('429 and 5xx make a credential unused only while another is healthy', () => {
  const [a, b] = [credential('a'), credential('b')]
  const { pool } = poolOf(a, b)
  const picks = () =>
    new Set(Array.from({ length: 40 }, (_, i) => pool.pick(OPENAI, `c${i}`, null, LANE)!.id))
  pool.record(a, LANE, 429, null)
  assert.deepEqual([picks(), pool.coolingFor('a')], [new Set(['b']), 10_000])
  pool.record(b, LANE, 503, null)
  assert.deepEqual(
    [picks(), pool.coolingFor('a'), pool.coolingFor('b')],
    [new Set(['a', 'b']), 0, 0],
  )
  const alone = poolOf(a).pool
  alone.record(a, LANE, 429, 30_000)
  assert.deepEqual(
    [alone.pick(OPENAI, null, null, LANE), alone.coolingFor('a'), alone.lastError('a')],
    [a, 0, { status: 429, code: null, ago: 0 }],
  )
  // Neither one that takes no requests stands in for it, nor one for another host.
  const spare = poolOf(
    a,
    credential('paused', { weight: 0 }),
    credential('else', { values: { resource: 'x' } }),
  ).pool
  spare.record(a, LANE, 429, null)
  assert.equal(spare.coolingFor('a'), 0)
})

test('after a 401 a credential cools down only if our probe fails too', async () => {
  const [a, b] = [credential('a'), credential('b')]
  for (const [probe, milliseconds] of [
    [401, 60_000],
    [403, 60_000],
    [200, 0],
    [404, 0],
    [429, 0],
    [500, 0],
    [null, 0],
  ] as const) {
    const { pool, probed, end, later } = poolOf(a, b)
    for (let i = 0; i < 50; i++) pool.record(a, LANE, 401, null)
    assert.deepEqual(
      [probed, pool.coolingFor('a'), pool.lastError('a')?.status],
      [['a'], 0, 401],
      'one probe at a time',
    )
    await end(a, probe)
    assert.deepEqual(
      [pool.coolingFor('a'), pool.lastError('a')?.status ?? null],
      [milliseconds, probe === 200 ? null : probe === null || probe === 404 ? 401 : probe],
      String(probe),
    )
    pool.record(a, LANE, 401, null)
    later(29_999)
    pool.record(a, LANE, 401, null)
    assert.deepEqual(probed, ['a'], 'a flood of 401s is none of probes')
    later(31_000)
    pool.record(a, LANE, 401, null)
    assert.deepEqual(probed, ['a', 'a'])
  }
  // Each credential has its own, and a 403 alone asks for none and says nothing of the whole.
  const { pool, probed, end } = poolOf(a, b)
  pool.record(a, LANE, 403, null)
  assert.deepEqual([probed, pool.coolingFor('a')], [[], 0])
  pool.recordProbe(a, 403)
  assert.equal(pool.coolingFor('a'), 0)
  pool.record(a, LANE, 401, null)
  pool.record(b, LANE, 401, null)
  assert.deepEqual(probed, ['a', 'b'])
  await end(a, 401)
  assert.equal(pool.pick(OPENAI, null, null, LANE), b)
  // A success of anybody's, or of a probe, is a proof that it works.
  pool.record(a, { model: 'another', key: 'key_2' }, 200, null)
  assert.deepEqual([pool.coolingFor('a'), pool.lastError('a')], [0, null])
  pool.recordProbe(a, 401)
  pool.recordProbe(a, 200)
  assert.deepEqual([pool.coolingFor('a'), pool.lastError('a')], [0, null])
})

test('the last error is kept until the credential works again; health survives a reload', () => {
  const [a, b] = [credential('a'), credential('b')]
  const { pool, later } = poolOf(a, b)
  pool.recordProbe(a, 401)
  pool.record(b, LANE, 503, null)
  later(500)
  for (const status of [404, 400]) pool.record(b, LANE, status, null)
  assert.deepEqual(pool.lastError('b'), { status: 503, code: null, ago: 500 })
  pool.replace([b, credential('c')])
  assert.deepEqual(
    [pool.all.length, pool.lastError('a'), pool.coolingFor('a'), pool.coolingFor('b')],
    [2, null, 0, 1_500],
  )
  pool.record(b, LANE, 399, null)
  assert.deepEqual([pool.lastError('b'), pool.coolingFor('b')], [null, 0])
})

test('when all are rejected, the first to recover is tried; a pinned credential is always used', () => {
  const [a, b] = [credential('a'), credential('b')]
  const { pool, later } = poolOf(a, b)
  pool.recordProbe(b, 401)
  assert.deepEqual([pool.coolingFor('b'), pool.rejectedFor('b')], [60_000, 60_000])
  later(1_000)
  pool.recordProbe(a, 401)
  assert.equal(pool.pick(OPENAI, null, null, LANE), b)
  assert.deepEqual(
    [pool.coolingFor('a'), pool.coolingFor('b'), pool.rejectedFor('b')],
    [60_000, 0, 59_000],
    'the one in use does not cool down',
  )
  assert.equal(pool.pick(OPENAI, null, 'a', LANE), a)
  assert.equal(pool.pick(OPENAI, null, 'gone', LANE), null)
})

test('a rejected credential without a substitute does not cool down, because it is used', () => {
  const a = credential('a')
  const { pool } = poolOf(a, credential('paused', { weight: 0 }))
  pool.recordProbe(a, 401)
  assert.equal(pool.pick(OPENAI, null, null, LANE), a)
  assert.deepEqual(
    [pool.coolingFor('a'), pool.rejectedFor('a'), pool.lastError('a')?.status],
    [0, 60_000, 401],
  )
})

test('a credential is sent only to its own host', () => {
  const [one, two] = ['one', 'two'].map((resource) =>
    credential(resource, { provider: 'azure', values: { resource: resource.toUpperCase() } }),
  )
  const { pool } = poolOf(one!, two!, credential('openai'))
  for (let i = 0; i < 20; i++) {
    assert.equal(pool.pick(table.find('one.openai.azure.com', 443)!, `c${i}`, null, LANE), one)
    assert.equal(pool.pick(table.find('two.openai.azure.com', 443)!, `c${i}`, null, LANE), two)
    assert.equal(pool.pick(OPENAI, `c${i}`, null, LANE)!.id, 'openai')
  }
  assert.equal(
    poolOf(one!).pool.pick(table.find('two.openai.azure.com', 443)!, null, null, LANE),
    null,
  )
  assert.equal(table.find('three.openai.azure.com', 443), null)
  assert.equal(pool.pick(table.find('api.anthropic.com', 443)!, null, null, LANE), null)
})

test('Retry-After is read in each of its forms', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const rows: [headers: string[], milliseconds: number | null][] = [
    [[], null],
    [['Retry-After', '7'], 7_000],
    [['retry-after', '0.5'], 500],
    [['Retry-After', 'Thu, 01 Jan 2026 00:00:30 GMT'], 30_000],
    [['Retry-After', 'Thu, 01 Jan 2025 00:00:30 GMT'], 0],
    [['Retry-After', '7', 'Retry-After-Ms', '6500'], 6_500],
    [['Retry-After', 'soon'], null],
    [['Retry-After', '7', 'Retry-After-Ms', '6500 ms'], 7_000],
    [['Retry-After-Ms', 'in 6500'], null],
    [['Retry-After-Ms', ''], null],
    [['X-Ratelimit-Limit-Requests', '9'], null],
  ]
  for (const [headers, milliseconds] of rows)
    assert.equal(retryAfter(headers, now), milliseconds, headers.join())
})

test('a sealed secret can only be decrypted for its own record and key', () => {
  const [master, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (secret, at) => {
      const sealed = seal(master, secret, 'cred_1 openai')
      assert.ok(secret.length < 4 || !sealed.includes(secret))
      assert.equal(unseal(master, sealed, 'cred_1 openai'), secret)
      assert.equal(unseal(other, sealed, 'cred_1 openai'), null)
      assert.equal(unseal(master, sealed, 'cred_2 openai'), null)
      const changed = Buffer.from(sealed, 'base64')
      changed[at % changed.length]! ^= 1
      assert.equal(unseal(master, changed.toString('base64'), 'cred_1 openai'), null)
    }),
  )
  assert.notEqual(seal(master, 'same', 'r'), seal(master, 'same', 'r'))
})
