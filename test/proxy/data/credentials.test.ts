import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createPool, retryAfter, type Credential } from '../../../server/proxy/credentials.ts'
import { seal, unseal } from '../../../server/proxy/credentials/seal.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'

const credential = (id: string, more: Partial<Credential> = {}): Credential => ({ id, provider: 'openai', secret: `sk-${id}`, values: {}, weight: 1, ...more })
const table = createProviderTable({ instances: [{ provider: 'azure', values: { resource: 'one' } }, { provider: 'azure', values: { resource: 'two' } }] })
const OPENAI = table.find('api.openai.com', 443)!

function poolOf(...credentials: Credential[]) {
  let now = 0
  const pool = createPool(() => now)
  pool.use(credentials)
  return { pool, later: (milliseconds: number) => (now += milliseconds) }
}

test('requests with one context stay on one credential while it is healthy, and come back to it', () => {
  const all = ['a', 'b', 'c', 'd'].map((id) => credential(id))
  const { pool, later } = poolOf(...all)
  const first = pool.pick(OPENAI, 'conversation 7', null)!
  for (let i = 0; i < 50; i++) assert.equal(pool.pick(OPENAI, 'conversation 7', null), first)
  pool.note(first, 429, 5_000)
  const second = pool.pick(OPENAI, 'conversation 7', null)!
  assert.notEqual(second, first)
  later(4_999)
  assert.equal(pool.pick(OPENAI, 'conversation 7', null), second)
  later(2)
  assert.equal(pool.pick(OPENAI, 'conversation 7', null), first)
})

test('when a credential goes, only its own contexts move', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 50 }), (contexts) => {
      const all = ['a', 'b', 'c'].map((id) => credential(id))
      const [before, after] = [poolOf(...all).pool, poolOf(...all.slice(1)).pool]
      for (const context of contexts) {
        const had = before.pick(OPENAI, context, null)!
        if (had.id !== 'a') assert.equal(after.pick(OPENAI, context, null)!.id, had.id)
      }
    }),
  )
})

test('shares follow the weights, with a context or without', () => {
  const weights = { light: 1, middle: 2, heavy: 5, none: 0 }
  const { pool } = poolOf(...Object.entries(weights).map(([id, weight]) => credential(id, { weight })))
  for (const contextOf of [String, () => null]) {
    const counts = { light: 0, middle: 0, heavy: 0, none: 0 }
    for (let i = 0; i < 8_000; i++) counts[pool.pick(OPENAI, contextOf(i), null)!.id as keyof typeof counts]++
    for (const [id, weight] of Object.entries(weights)) assert.ok(Math.abs(counts[id as keyof typeof counts] / 8_000 - weight / 8) < 0.03, JSON.stringify(counts))
    assert.equal(counts.none, 0)
  }
})

test('what takes no requests gets none, also where it is the only one or all others rest', () => {
  const [paused, other] = [credential('paused', { weight: 0 }), credential('other')]
  assert.equal(poolOf(paused).pool.pick(OPENAI, null, null), null)
  assert.equal(poolOf(paused).pool.pick(OPENAI, null, 'paused'), paused)
  assert.equal(poolOf(other).pool.pick(OPENAI, null, 'gone'), null)
  const { pool } = poolOf(paused, other)
  pool.note(other, 401, null)
  assert.equal(pool.pick(OPENAI, null, null), other)
})

test('how long an answer sends a credential to rest where the provider does not say, and at most', () => {
  const rests: [status: number, asked: number | null, milliseconds: number][] = [
    [401, null, 60_000], [403, null, 10_000], [429, null, 10_000], [500, null, 1_000], [502, null, 1_000], [503, null, 2_000], [504, null, 1_000], [529, null, 2_000],
    [400, null, 0], [404, 5_000, 0], [429, 0, 0], [429, 86_400_000, 3_600_000],
  ]
  for (const [status, asked, milliseconds] of rests) {
    const { pool } = poolOf(credential('a'))
    pool.note(credential('a'), status, asked)
    assert.equal(pool.resting('a'), milliseconds, String(status))
  }
})

test('the last error is known until the credential works again; health is kept of those that stay', () => {
  const [a, b] = [credential('a'), credential('b')]
  const { pool, later } = poolOf(a, b)
  pool.note(a, 401, null)
  pool.note(b, 503, null)
  later(500)
  for (const status of [404, 400]) pool.note(b, status, null)
  assert.deepEqual(pool.lastError('b'), { status: 503, ago: 500 })
  pool.use([b])
  assert.deepEqual([pool.all, pool.lastError('a'), pool.resting('a'), pool.resting('b')], [[b], null, 0, 1_500])
  pool.note(b, 399, null)
  assert.equal(pool.lastError('b'), null)
})

test('when all rest, the one that is back first is tried; a pinned one is used whatever its state', () => {
  const [a, b] = [credential('a'), credential('b')]
  const { pool } = poolOf(a, b)
  pool.note(a, 429, 9_000)
  pool.note(b, 503, 4_000)
  assert.equal(pool.pick(OPENAI, null, null), b)
  assert.equal(pool.pick(OPENAI, null, 'a'), a)
  assert.equal(pool.pick(OPENAI, null, 'gone'), null)
  pool.note(a, 200, null)
  assert.equal(Math.round(pool.resting('a')), 9_000)
})

test('a credential goes to the very host that it is for', () => {
  const [one, two] = ['one', 'two'].map((resource) => credential(resource, { provider: 'azure', values: { resource: resource.toUpperCase() } }))
  const { pool } = poolOf(one!, two!, credential('openai'))
  for (let i = 0; i < 20; i++) {
    assert.equal(pool.pick(table.find('one.openai.azure.com', 443)!, `c${i}`, null), one)
    assert.equal(pool.pick(table.find('two.openai.azure.com', 443)!, `c${i}`, null), two)
    assert.equal(pool.pick(OPENAI, `c${i}`, null)!.id, 'openai')
  }
  assert.equal(poolOf(one!).pool.pick(table.find('two.openai.azure.com', 443)!, null, null), null)
  assert.equal(table.find('three.openai.azure.com', 443), null)
  assert.equal(pool.pick(table.find('api.anthropic.com', 443)!, null, null), null)
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
  for (const [headers, milliseconds] of rows) assert.equal(retryAfter(headers, now), milliseconds, headers.join())
})

test('a sealed secret opens for its own record under its own key only', () => {
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
