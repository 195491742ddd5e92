// Short-lived keys that are asked for when one is needed, and replaced before they end.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createProxyFetch, createRenewedKey, type ExpiringKey } from '@proxy-sdk/core'

const MINUTE = 60_000

/** Keys that live so long, one after another, and how many were asked for. */
function giving(t: TestContext, lifeMs: number | null) {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const source = { asked: 0, fails: false }
  const apiKey = createRenewedKey(async (): Promise<ExpiringKey> => {
    source.asked++
    if (source.fails) throw new RangeError('signed out')
    return {
      secret: `tmk_${source.asked}`,
      expires_at: lifeMs === null ? null : new Date(Date.now() + lifeMs).toISOString(),
    }
  })
  return { source, apiKey, pass: (ms: number) => t.mock.timers.setTime(Date.now() + ms) }
}

test('all calls share one key and one request for it', async (t) => {
  const { source, apiKey } = giving(t, 10 * MINUTE)
  assert.deepEqual(await Promise.all([apiKey(), apiKey(), apiKey()]), ['tmk_1', 'tmk_1', 'tmk_1'])
  assert.equal(await apiKey(), 'tmk_1')
  assert.equal(source.asked, 1)
})

test('the next key is requested before the current one expires', async (t) => {
  const { source, apiKey, pass } = giving(t, 10 * MINUTE)
  await apiKey()
  pass(9 * MINUTE - 1)
  assert.equal(await apiKey(), 'tmk_1')
  pass(1)
  assert.deepEqual(await Promise.all([apiKey(), apiKey()]), ['tmk_2', 'tmk_2'])
  assert.equal(source.asked, 2)
})

test('when renewal fails, the key is used until it expires, then the failure is reported', async (t) => {
  const { source, apiKey, pass } = giving(t, 10 * MINUTE)
  await apiKey()
  source.fails = true
  pass(9.5 * MINUTE)
  assert.equal(await apiKey(), 'tmk_1')
  pass(MINUTE)
  await assert.rejects(apiKey(), RangeError)
  source.fails = false
  assert.equal(await apiKey(), 'tmk_4')
})

test('a wrong clock does not cause a renewal on every call', async (t) => {
  const { source, apiKey, pass } = giving(t, -60 * MINUTE)
  await apiKey()
  assert.equal(await apiKey(), 'tmk_1')
  pass(5_000)
  assert.equal(await apiKey(), 'tmk_2')
  assert.equal(source.asked, 2)
})

test('a key that never expires is kept until the proxy refuses it', async (t) => {
  const { source, apiKey, pass } = giving(t, null)
  const keys: (string | null)[] = []
  const fetch = createProxyFetch({
    proxyUrl: 'https://proxy.test',
    apiKey,
    fetch: async (_, init) => {
      keys.push(new Headers(init?.headers).get('Authorization'))
      const isRevoked = keys.at(-1) === 'Bearer tmk_1' && keys.length > 1
      return new Response('', {
        status: isRevoked ? 401 : 200,
        headers: { 'X-Proxy-Error': 'invalid_api_key' },
      })
    },
  })
  const call = async () => (await fetch('https://api.openai.com/v1/models')).status
  assert.equal(await call(), 200)
  pass(1_000_000 * MINUTE)
  assert.deepEqual(await Promise.all([call(), call()]), [200, 200])
  assert.equal(source.asked, 2)
  assert.equal(keys.filter((key) => key === 'Bearer tmk_2').length, 2)
})
