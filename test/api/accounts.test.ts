import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Account } from '../../server/accounts/accounts.ts'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, call, convert, startServer } from '../support/harness.ts'
import type { ReceivedResponse } from '../support/harness.ts'

const GOOD = form(file('Page.html', PAGE))

const send = (
  url: string,
  token: string,
  method: string,
  path: string,
  body: unknown,
): Promise<ReceivedResponse> =>
  call(url, path, {
    method,
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('an administrator creates, lists, changes and disables accounts', async (t) => {
  const server = await startServer(t, { TOLLMARK_PLANS: '{"team":{"conversions_per_day":2}}' })
  const admin = await server.token({ scopes: ['manage'] })
  const made = await send(server.url, admin, 'POST', '/api/v1/accounts', { name: 'Acme' })
  assert.equal(made.status, 201, made.text)
  const account = made.json<Account>()
  assert.deepEqual(account.quota, {
    conversions_per_day: 10,
    used_today: 0,
    resets_at: '2026-11-04T00:00:00.000Z',
  })
  assert.deepEqual(
    [account.object, account.name, account.plan, account.role, account.disabled],
    ['account', 'Acme', 'free', 'member', false],
  )
  for (const name of ['Acme', 'Acme ', ' '])
    assertProblem(
      await send(server.url, admin, 'POST', '/api/v1/accounts', { name }),
      400,
      'invalid_field',
    )
  assertProblem(
    await send(server.url, admin, 'POST', '/api/v1/accounts', { name: 'x', plan: 'gold' }),
    400,
    'invalid_field',
  )

  const path = `/api/v1/accounts/${account.id}`
  assert.equal(
    (await send(server.url, admin, 'PATCH', path, { plan: 'team' })).json<Account>().quota
      .conversions_per_day,
    2,
  )
  const token = await server.token({ account: 'Acme' })
  assert.equal((await convert(server.url, token, GOOD)).status, 200)
  assert.equal((await call(server.url, path, { token: admin })).json<Account>().quota.used_today, 1)
  assert.equal(
    (await send(server.url, admin, 'PATCH', path, { disabled: true })).json<Account>().disabled,
    true,
  )
  assertProblem(await convert(server.url, token, GOOD), 401, 'invalid_token')
  assert.equal((await send(server.url, admin, 'PATCH', path, { disabled: false })).status, 200)
  assert.equal((await convert(server.url, token, GOOD)).status, 200)

  const list = (await call(server.url, '/api/v1/accounts', { token: admin })).json<{
    data: Account[]
  }>()
  assert.deepEqual(
    list.data.map(({ name, role }) => [name, role]),
    [
      ['admin', 'admin'],
      ['Acme', 'member'],
    ],
  )
  const own = list.data[0]!.id
  assertProblem(
    await send(server.url, admin, 'PATCH', `/api/v1/accounts/${own}`, { disabled: true }),
    400,
    'invalid_field',
  )
  assertProblem(
    await send(server.url, admin, 'PATCH', '/api/v1/accounts/acc_x', { plan: 'team' }),
    404,
    'account_not_found',
  )
})

test('a member sees only its own account, and cannot change any', async (t) => {
  const server = await startServer(t)
  const admin = await server.newToken({ scopes: ['manage'] })
  const member = await server.newToken({ account: 'member', scopes: ['manage'] })
  const seen = (await call(server.url, '/api/v1/accounts', { token: member.secret })).json<{
    data: Account[]
  }>()
  assert.deepEqual(
    seen.data.map(({ id }) => id),
    [member.account_id],
  )
  assert.equal(
    (await call(server.url, `/api/v1/accounts/${member.account_id}`, { token: member.secret }))
      .status,
    200,
  )
  assertProblem(
    await call(server.url, `/api/v1/accounts/${admin.account_id}`, { token: member.secret }),
    404,
    'account_not_found',
  )
  assertProblem(
    await send(server.url, member.secret, 'PATCH', `/api/v1/accounts/${member.account_id}`, {
      plan: 'free',
    }),
    403,
    'insufficient_scope',
  )
  assertProblem(
    await send(server.url, member.secret, 'POST', '/api/v1/accounts', { name: 'x' }),
    403,
    'insufficient_scope',
  )
})

test('plans are listed', async (t) => {
  const server = await startServer(t, { TOLLMARK_PLANS: '{"all":{"conversions_per_day":null}}' })
  const plans = (
    await call(server.url, '/api/v1/plans', { token: await server.token({ scopes: ['manage'] }) })
  ).json<{ data: unknown[] }>()
  assert.deepEqual(plans.data, [
    { object: 'plan', name: 'free', conversions_per_day: 10 },
    { object: 'plan', name: 'all', conversions_per_day: null },
  ])
})
