import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticate, createToken, getToken } from '../../server/accounts/tokens.ts'
import { PAGE, file, form } from '../support/form.ts'
import { assertProblem, call, convert, startServer } from '../support/harness.ts'
import type { ReceivedResponse } from '../support/harness.ts'
import { openAt, placeOn } from '../support/stores.ts'

const GOOD = form(file('Page.html', PAGE))

interface Record_ {
  id: string
  object: string
  name: string
  prefix: string
  account_id: string
  scopes: string[]
  status: string
  secret?: string
  expires_at: string | null
  last_used_at: string | null
}

const post = (url: string, token: string, body: unknown): Promise<ReceivedResponse> =>
  call(url, '/api/v1/tokens', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

test('a token is created, shown once, used, listed and revoked', async (t) => {
  const server = await startServer(t)
  const manage = await server.token({ scopes: ['manage'] })
  const made = await post(server.url, manage, {
    name: 'CI',
    scopes: ['convert'],
    expires_at: '2027-01-01T00:00:00Z',
  })
  assert.equal(made.status, 201, made.text)
  const { secret, ...record } = made.json<Record_>()
  assert.match(String(secret), /^tmt_/)
  assert.ok(secret?.startsWith(record.prefix))
  assert.deepEqual(
    { ...record, id: '', prefix: '', account_id: '', created_at: '' },
    {
      id: '',
      object: 'token',
      name: 'CI',
      prefix: '',
      account_id: '',
      scopes: ['convert'],
      status: 'active',
      created_at: '',
      expires_at: '2027-01-01T00:00:00.000Z',
      last_used_at: null,
    },
  )
  assert.equal((await convert(server.url, secret, GOOD)).status, 200)

  const listed = await call(server.url, '/api/v1/tokens', { token: manage })
  assert.equal(listed.status, 200)
  assert.ok(!listed.text.includes(String(secret)))
  const read = (
    await call(server.url, `/api/v1/tokens/${record.id}`, { token: manage })
  ).json<Record_>()
  assert.notEqual(read.last_used_at, null)

  assert.equal(
    (await call(server.url, `/api/v1/tokens/${record.id}`, { method: 'DELETE', token: manage }))
      .status,
    204,
  )
  assert.equal(
    (await call(server.url, `/api/v1/tokens/${record.id}`, { method: 'DELETE', token: manage }))
      .status,
    204,
  )
  assert.equal(
    (await call(server.url, `/api/v1/tokens/${record.id}`, { token: manage })).json<Record_>()
      .status,
    'revoked',
  )
  assertProblem(await convert(server.url, secret, GOOD), 401, 'invalid_token')
})

test("a token's last use is recorded to the minute", async (t) => {
  const store = await openAt(t, await placeOn.sqlite(t))
  const { token } = await createToken(
    store,
    { name: null, plan: 'free' },
    { name: 't', scopes: ['manage'], expiresAt: null },
    0,
  )
  const known: (string | null)[] = []
  for (const now of [10, 60_009, 60_010, 60_020]) {
    await authenticate(store, `Bearer ${token.secret}`, now)
    // It stands behind the note, for which nobody waits.
    await store.db.updateTable('tokens').set({ name: 't' }).execute()
    known.push((await getToken(store, token.id, null, now)).last_used_at)
  }
  assert.deepEqual(
    known,
    [10, 10, 60_010, 60_010].map((at) => new Date(at).toISOString()),
  )
})

test('lists come in pages, newest first', async (t) => {
  const server = await startServer(t)
  const manage = await server.token({ scopes: ['manage'] })
  for (const name of ['a', 'b', 'c', 'd']) {
    server.step(5)
    assert.equal((await post(server.url, manage, { name })).status, 201)
  }
  const names: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: ReceivedResponse = await call(
      server.url,
      `/api/v1/tokens?limit=2${cursor && `&cursor=${cursor}`}`,
      { token: manage },
    )
    const list = page.json<{ object: string; data: Record_[]; next_cursor: string | null }>()
    assert.equal(list.object, 'list')
    assert.ok(list.data.length <= 2)
    names.push(...list.data.map(({ name }) => name))
    cursor = list.next_cursor
  }
  assert.deepEqual(names, ['d', 'c', 'b', 'a', 'test'])
})

test('an account manages its own tokens; an administrator names the account', async (t) => {
  const server = await startServer(t)
  const admin = await server.token({ scopes: ['manage'] })
  const member = await server.newToken({ account: 'member', scopes: ['manage'] })
  const other = await server.newToken({ account: 'other', scopes: ['manage'] })
  const ids = async (token: string, query = '') =>
    (await call(server.url, `/api/v1/tokens${query}`, { token }))
      .json<{ data: Record_[] }>()
      .data.map(({ account_id }) => account_id)
  assert.deepEqual(await ids(member.secret), [member.account_id])
  assert.equal((await ids(admin)).length, 1)
  assert.equal((await ids(admin, '?account=all')).length, 3)
  assert.deepEqual(await ids(admin, `?account=${other.account_id}`), [other.account_id])
  assertProblem(
    await call(server.url, '/api/v1/tokens?account=all', { token: member.secret }),
    403,
    'insufficient_scope',
  )
  assertProblem(
    await call(server.url, `/api/v1/tokens/${other.id}`, { token: member.secret }),
    404,
    'token_not_found',
  )
  assertProblem(
    await call(server.url, `/api/v1/tokens/${other.id}`, {
      method: 'DELETE',
      token: member.secret,
    }),
    404,
    'token_not_found',
  )
  assertProblem(
    await post(server.url, member.secret, { name: 'x', account_id: other.account_id }),
    403,
    'insufficient_scope',
  )
  assert.equal(
    (await post(server.url, admin, { name: 'x', account_id: other.account_id })).json<Record_>()
      .account_id,
    other.account_id,
  )
  assertProblem(
    await post(server.url, admin, { name: 'x', account_id: 'acc_nobody' }),
    404,
    'account_not_found',
  )
})

test('invalid bodies and parameters are refused with a sentence', async (t) => {
  const server = await startServer(t)
  const token = await server.token({ scopes: ['manage'] })
  for (const body of [
    '',
    '{',
    '[]',
    '"x"',
    '{}',
    '{"name":""}',
    '{"name":" "}',
    '{"name":5}',
    '{"name":"x","scopes":[]}',
    '{"name":"x","scopes":["all"]}',
    '{"name":"x","expires_at":"soon"}',
    '{"name":"x","expires_at":"2020-01-01T00:00:00Z"}',
  ]) {
    assertProblem(await post(server.url, token, body), 400, 'invalid_field')
  }
  assertProblem(await post(server.url, token, { name: 'x'.repeat(70_000) }), 413, 'file_too_large')
  for (const query of ['limit=0', 'limit=101', 'limit=x'])
    assertProblem(
      await call(server.url, `/api/v1/tokens?${query}`, { token }),
      400,
      'invalid_field',
    )
  const plain = await call(server.url, '/api/v1/tokens', {
    method: 'POST',
    token,
    body: '{"name":"x"}',
  })
  assertProblem(plain, 400, 'invalid_field')
})
