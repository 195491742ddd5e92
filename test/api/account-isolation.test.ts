import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Account } from '../../server/accounts/accounts.ts'
import { newId } from '../../server/common/ids.ts'
import { requestNow } from '../support/ledger-row.ts'
import { assertProblem, call, startServer } from '../support/harness.ts'
import { invite, openBrowser, setUp } from '../support/browser-request.ts'
import type { Browser } from '../support/browser-request.ts'

/** What an account has; every text of it is unmistakable. */
interface Belongings {
  account: string
  key: string
  token: string
  request: string
  job: string
  refusal: string
}

async function furnish(
  server: Awaited<ReturnType<typeof startServer>>,
  browser: Browser,
): Promise<Belongings> {
  const { account } = (await browser.send('GET', 'session')).json<{ account: Account }>()
  const key = (await browser.send('POST', 'keys', { name: `key of ${account.name}` })).json<{
    id: string
  }>().id
  const token = (
    await browser.send('POST', 'tokens', { name: 't', scopes: ['convert', 'manage'] })
  ).json<{ id: string }>().id
  const request = await requestNow(server, {
    account: account.id,
    key,
    model: `model-of-${account.id}`,
  })
  const job = newId('job', server.clock())
  await server.store.db
    .insertInto('jobs')
    .values({
      id: job,
      account_id: account.id,
      status: 'canceled',
      format: 'markdown',
      include_metadata: 0,
      source_map: 0,
      certify: 0,
      certificate: null,
      file_name: 'x.zip',
      file_size: 1,
      upload_blob: null,
      result_blob: null,
      pages_done: 0,
      pages_total: null,
      created_at: server.clock(),
      started_at: null,
      finished_at: server.clock(),
      expires_at: null,
      error_code: null,
      error_detail: null,
      claimable_at: 0,
      instance_id: null,
      claim: null,
      claims: 0,
      failures: 0,
      turn: 0,
      counted_day: null,
      quota_limit: null,
    })
    .execute()
  const refusal = {
    id: newId('req', server.clock()),
    created_at: server.clock(),
    account_id: account.id,
    key_id: key,
    provider: null,
    model: null,
    method: 'POST',
    status: 403,
    code: 'model_not_allowed',
    detail: 'No.',
    count: 1,
  }
  await server.store.db.insertInto('refusals').values(refusal).execute()
  return { account: account.id, key, token, request, job, refusal: refusal.id }
}

/**
 * TABLE of addresses with an id that belongs to an account: method, address, body, and what a
 * stranger reads.
 */
const BY_ID: [
  method: string,
  path: (of: Belongings) => string,
  body: object | undefined,
  code: string,
][] = [
  ['GET', ({ key }) => `keys/${key}`, undefined, 'key_not_found'],
  ['PATCH', ({ key }) => `keys/${key}`, { name: 'stolen' }, 'key_not_found'],
  ['DELETE', ({ key }) => `keys/${key}`, undefined, 'key_not_found'],
  ['POST', ({ key }) => `keys/${key}/rotate`, {}, 'key_not_found'],
  ['GET', ({ token }) => `tokens/${token}`, undefined, 'token_not_found'],
  ['DELETE', ({ token }) => `tokens/${token}`, undefined, 'token_not_found'],
  ['GET', ({ request }) => `requests/${request}`, undefined, 'request_not_found'],
  ['GET', ({ refusal }) => `requests/${refusal}`, undefined, 'request_not_found'],
  ['POST', ({ key }) => `keys/${key}/rotate/end`, undefined, 'key_not_found'],
  ['POST', ({ key }) => `keys/${key}/children`, { ttl: 60 }, 'key_not_found'],
  ['GET', ({ job }) => `jobs/${job}`, undefined, 'job_not_found'],
  ['GET', ({ job }) => `jobs/${job}/events`, undefined, 'job_not_found'],
  ['GET', ({ job }) => `jobs/${job}/result`, undefined, 'job_not_found'],
  ['DELETE', ({ job }) => `jobs/${job}`, undefined, 'job_not_found'],
]

/** TABLE of lists and reports: the account that asks reads of itself and of nobody else. */
const LISTS = [
  'jobs',
  'keys',
  'keys?search=key',
  'tokens',
  'requests',
  'requests?format=csv',
  'refusals',
  'usage?by=key,model',
  'usage?by=key&top=5',
  'usage?by=key,model,hour&format=csv',
  'models',
  'overview',
]

/**
 * TABLE of pages after a record of another account: its position would tell its name, its use or
 * that it exists.
 */
const AFTER: ((of: Belongings) => string)[] = [
  ...['-created_at', 'created_at', 'name', '-name', 'expires_at', 'requests', '-requests'].map(
    (sort) =>
      ({ key }: Belongings) =>
        `keys?sort=${sort}&cursor=${key}`,
  ),
  ({ request }) => `requests?cursor=${request}`,
  ({ refusal }) => `refusals?cursor=${refusal}`,
]

/**
 * TABLE of what filters name: the other account's key or model gives nothing, never an error that
 * tells it apart.
 */
const FILTERED: ((of: Belongings) => string)[] = [
  ({ key }) => `requests?key=${key}`,
  ({ key }) => `keys?parent_id=${key}`,
  ({ account }) => `requests?model=model-of-${account}`,
  ({ request }) => `requests?cursor=${request}`,
  ({ key }) => `refusals?key=${key}`,
  ({ refusal }) => `refusals?cursor=${refusal}`,
  ({ key }) => `usage?by=day&key=${key}`,
  ({ account }) => `usage?by=day&model=model-of-${account}`,
]

/** TABLE of what only administrators do. */
const ADMINISTRATORS: [method: string, path: (of: Belongings) => string, body?: object][] = [
  ['GET', ({ key }) => `keys/${key}/objects`],
  [
    'POST',
    ({ key }) => `keys/${key}/objects`,
    { provider: 'openai', kind: 'file', object_id: 'file-1' },
  ],
  ['DELETE', ({ key }) => `keys/${key}/objects/share_x`],
  ['POST', () => 'accounts', { name: 'x' }],
  ['PATCH', ({ account }) => `accounts/${account}`, { plan: 'free' }],
  ['DELETE', ({ account }) => `accounts/${account}`],
  ['POST', ({ account }) => `accounts/${account}/reset-password`],
  ['GET', () => 'invitations'],
  ['POST', () => 'invitations', {}],
  ['DELETE', () => 'invitations/inv_x'],
  ['GET', () => 'credentials'],
  ['POST', () => 'credentials', { provider: 'openai', secret: 'x' }],
  ['GET', () => 'credentials/cred_x'],
  ['PATCH', () => 'credentials/cred_x', { weight: 1 }],
  ['DELETE', () => 'credentials/cred_x'],
  ['POST', () => 'credentials/cred_x/test'],
  ['POST', () => 'providers', { id: 'acme', origin: 'https://api.acme.test' }],
  ['PATCH', () => 'providers/acme', { dial: null }],
  ['DELETE', () => 'providers/acme'],
]

/**
 * TABLE of addresses that this table need not name: nothing at them belongs to an account, or it is
 * the caller's own by its very address.
 */
const ELSEWHERE = new Set([
  'GET /livez',
  'GET /metrics',
  'GET /readyz',
  'GET /openapi.json',
  // sockets.test.ts looks at these with two accounts.
  'GET /api/v1/sockets',
  'DELETE /api/v1/sockets/{id}',
  'GET /api/v1/plans',
  'GET /api/v1/limits',
  'GET /api/v1/providers',
  'POST /api/v1/convert',
  'GET /api/v1/accounts',
  'GET /api/v1/accounts/{id}',
  'GET /api/v1/session',
  'POST /api/v1/session',
  'DELETE /api/v1/session',
  'POST /api/v1/session/password',
  'POST /api/v1/setup',
  'GET /api/v1/invitations/open',
  'POST /api/v1/invitations/accept',
  'POST /api/v1/keys',
  'POST /api/v1/keys/purge',
  'POST /api/v1/tokens',
  'GET /api/v1/password-resets/open',
  'POST /api/v1/password-resets/accept',
  // A key opens it, and nothing else does.
  ...['/proxy', '/proxy/{host}/{path}'].flatMap((path) =>
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} ${path}`),
  ),
])

test("two accounts cannot see each other's records on any route", async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const browsers = {
    admin,
    alice: await invite(server.url, admin, {
      email: 'alice@example.com',
      password: 'password of alice',
    }),
    bob: await invite(server.url, admin, { email: 'bob@example.com', password: 'password of bob' }),
  }
  const of = {
    admin: await furnish(server, browsers.admin),
    alice: await furnish(server, browsers.alice),
    bob: await furnish(server, browsers.bob),
  }
  const everybody = Object.keys(of) as (keyof typeof of)[]
  const pairs = everybody.flatMap((me) =>
    everybody.filter((other) => other !== me).map((other) => [me, other] as const),
  )

  for (const [me, other] of pairs) {
    for (const [method, path, body, code] of BY_ID) {
      await t.test(
        `${me} asks ${method} ${path(of[other]).replace(/_\w+/, '_…')} of ${other}`,
        async () => {
          assertProblem(await browsers[me].send(method, path(of[other]), body), 404, code)
        },
      )
    }
    for (const path of LISTS) {
      await t.test(`${me} reads ${path} without ${other}`, async () => {
        const { status, text } = await browsers[me].send('GET', path)
        assert.equal(status, 200, text)
        for (const id of Object.values(of[other]))
          assert.ok(!text.includes(id), `${text} tells ${id}`)
        assert.ok(
          Object.values(of[me]).some((id) => text.includes(id)),
          `${text} tells nothing of ${me}`,
        )
      })
    }
    for (const path of AFTER) {
      await t.test(
        `${me} asks ${path(of[other]).replace(/_\w+$/, '_…')} after one of ${other}`,
        async () => {
          const { data, next_cursor } = (await browsers[me].send('GET', path(of[other]))).json<{
            data: object[]
            next_cursor: string | null
          }>()
          assert.deepEqual({ data, next_cursor }, { data: [], next_cursor: null })
        },
      )
    }
    for (const path of FILTERED) {
      await t.test(
        `${me} asks ${path(of[other]).split('?')[0]} by a record of ${other}`,
        async () => {
          const { status, text } = await browsers[me].send('GET', path(of[other]))
          assert.equal(status, 200, text)
          assert.ok(!Object.values(of[other]).some((id) => text.includes(id)), text)
        },
      )
    }
  }
  // Jobs are nobody's but their account's.
  for (const path of LISTS.filter((list) => list !== 'jobs')) {
    const query = path.includes('?') ? '&' : '?'
    for (const named of ['all', of.bob.account]) {
      assertProblem(
        await browsers.alice.send('GET', `${path}${query}account=${named}`),
        403,
        'insufficient_scope',
      )
      const seen = await browsers.admin.send('GET', `${path}${query}account=${named}`)
      assert.ok(
        Object.values(of.bob).some((id) => seen.text.includes(id)),
        `${path}: ${seen.text}`,
      )
    }
  }
  for (const [method, path, body] of ADMINISTRATORS) {
    assertProblem(await browsers.alice.send(method, path(of.bob), body), 403, 'insufficient_scope')
  }
  assert.deepEqual(
    (await browsers.alice.send('GET', 'accounts'))
      .json<{ data: Account[] }>()
      .data.map(({ id }) => id),
    [of.alice.account],
  )
  assertProblem(
    await browsers.alice.send('GET', `accounts/${of.bob.account}`),
    404,
    'account_not_found',
  )
  for (const kind of ['keys', 'tokens'])
    assertProblem(
      await browsers.alice.send('POST', kind, { name: 'x', account_id: of.bob.account }),
      403,
      'insufficient_scope',
    )

  // What is deleted all at once is one's own.
  const { id: ended } = (await browsers.bob.send('POST', 'keys', { name: 'ended' })).json<{
    id: string
  }>()
  assert.equal((await browsers.bob.send('DELETE', `keys/${ended}`)).status, 204)
  for (const me of ['alice', 'admin'] as const) {
    assert.deepEqual(
      (await browsers[me].send('POST', 'keys/purge', { status: ['revoked'] })).json(),
      { object: 'purge', purged: 0 },
    )
  }
  assert.equal((await browsers.bob.send('GET', `keys/${ended}`)).status, 200)

  // Nothing is left out of the tables above.
  const { paths } = (await call(server.url, '/openapi.json')).json<{
    paths: Record<string, object>
  }>()
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const sample = {
    account: 'acc_x',
    key: 'key_x',
    token: 'tok_x',
    request: 'req_x',
    job: 'job_x',
    refusal: 'req_x',
  }
  const named = new Set(
    [
      ...BY_ID.map(([method, path]) => `${method} ${path(sample)}`),
      ...LISTS.map((path) => `GET ${path}`),
      ...ADMINISTRATORS.map(([method, path]) => `${method} ${path(sample)}`),
    ].map((line) =>
      line
        .replace(' ', ' /api/v1/')
        .replace(/\?.*/, '')
        .replace('share_x', '{object}')
        .replace(/\/(?:acc|key|tok|req|inv|cred|job)_x|(?<=providers)\/acme/, '/{id}'),
    ),
  )
  assert.deepEqual(
    routes.filter((route) => !ELSEWHERE.has(route) && !named.has(route)),
    [],
  )
})

test('a caller without credentials is refused on every route', async (t) => {
  const server = await startServer(t)
  await setUp(server)
  const { paths } = (await call(server.url, '/openapi.json')).json<{
    paths: Record<string, Record<string, { security?: unknown }>>
  }>()
  const open: string[] = []
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      if (path.startsWith('/proxy')) continue
      if (security === undefined) open.push(`${method.toUpperCase()} ${path}`)
      else
        assertProblem(
          await openBrowser(server.url).send(
            method.toUpperCase(),
            path.replace('/api/v1/', '').replace('{id}', 'x'),
          ),
          401,
          'invalid_token',
        )
    }
  }
  assert.deepEqual(open.sort(), [
    'GET /api/v1/invitations/open',
    'GET /api/v1/password-resets/open',
    'GET /api/v1/session',
    'GET /livez',
    'GET /metrics',
    'GET /openapi.json',
    'GET /readyz',
    'POST /api/v1/invitations/accept',
    'POST /api/v1/password-resets/accept',
    'POST /api/v1/session',
    'POST /api/v1/setup',
  ])
})
