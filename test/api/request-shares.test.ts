// One token with far too many requests at once: it is told so, and another account's requests
// succeed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tooManyRequests } from '../../server/api/guard.ts'
import { assertProblem, call, start, startServer } from '../support/harness.ts'
import { onEveryStore } from '../support/stores.ts'
import { until } from '../support/until.ts'

onEveryStore(
  "when full, requests beyond an account's share are 429, and another account's succeed",
  async (t, { databaseUrl }) => {
    const server = await startServer(
      t,
      databaseUrl === null ? {} : { DATABASE_URL: databaseUrl.href },
    )
    const [many, few] = [
      await server.token({ account: 'many', scopes: ['manage'] }),
      await server.token({ account: 'few', scopes: ['manage'] }),
    ]
    // What is slow here is the caller's own body, so that no luck decides how many are under way.
    const headers = { 'content-type': 'application/json', 'content-length': 100 }
    const refusals: number[] = []
    const slow = Array.from({ length: 140 }, () => {
      const outgoing = start(server.url, '/api/v1/tokens', { method: 'POST', token: many, headers })
      outgoing
        .on('error', () => {})
        .on('response', ({ statusCode = 0 }) => void refusals.push(statusCode))
      outgoing.write('{')
      return outgoing
    })
    t.after(() => slow.forEach((outgoing) => outgoing.destroy()))
    await until(() => refusals.length === 12)
    assert.deepEqual(new Set(refusals), new Set([429]))
    const refused = await call(server.url, '/api/v1/requests', { token: many })
    assertProblem(refused, 429, 'too_many_requests')
    assert.equal(refused.headers['retry-after'], '1')
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => call(server.url, '/api/v1/requests', { token: few })),
    )
    assert.deepEqual(
      responses.filter(({ status }) => status !== 200),
      [],
    )
    for (const outgoing of slow) outgoing.destroy()
    await until(
      async () => (await call(server.url, '/api/v1/requests', { token: many })).status === 200,
    )
  },
)

test('a request that a full server refuses does not blame the account', () => {
  const full = tooManyRequests('full', 'You send too many.')
  assert.deepEqual(
    [full.code, full.status, full.message, full.retryAfter],
    [
      'too_many_requests',
      503,
      'The server has too many requests in progress. Try again in a moment.',
      1,
    ],
  )
  const share = tooManyRequests('share', 'You send too many.')
  assert.deepEqual([share.status, share.message], [429, 'You send too many.'])
})
