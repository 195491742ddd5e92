import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UNKNOWN_TOKENS } from '../../server/common/token-kinds.ts'
import { ensureAccount } from '../../server/accounts/accounts.ts'
import { expiringKeys, listKeys } from '../../server/keys/key-list.ts'
import type { Key, KeyStatus, NewKey } from '../../server/keys/key-record.ts'
import { createKey, updateKey } from '../../server/keys/keys.ts'
import { respond } from '../support/providers/fake.ts'
import { call as proxied } from '../proxy/support/relayed.ts'
import { OPENAI, startServed, type Served } from '../proxy/support/served.ts'
import { assertProblem, call, startServer } from '../support/harness.ts'
import { openAt, placeOn } from '../support/stores.ts'
import { until } from '../support/until.ts'
import { setUp } from '../support/browser-request.ts'
import { requestNow } from '../support/ledger-row.ts'
import { manager } from '../support/manager.ts'

const CHAT = `/proxy?url=${encodeURIComponent(`${OPENAI}/v1/chat/completions`)}`
const JSON_TYPE = { 'content-type': 'application/json' }

const use = async (served: Served, secret: string) =>
  (
    await proxied(served.port, {
      target: CHAT,
      headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
      body: '{"model":"gpt-5"}',
    })
  ).status

test('a key is created, read, listed, changed, rotated and revoked, and the proxy follows immediately', async (t) => {
  const served = await startServed(
    t,
    respond(200, JSON_TYPE, '{"usage":{"prompt_tokens":3,"completion_tokens":4}}'),
  )
  const { api, token } = await manager(served)
  const made = await api('POST', 'keys', {
    name: 'mine',
    models: ['gpt-*'],
    rpm: 100,
    allowed_origins: null,
    expires_at: null,
  })
  assert.equal(made.status, 201)
  const { secret, ...key } = made.json<NewKey & Record<string, unknown>>()
  assert.match(secret, /^tmk_/)
  assert.deepEqual(key, {
    id: key.id,
    object: 'key',
    account_id: token.account_id,
    account_name: 'admin',
    name: 'mine',
    prefix: secret.split('_').slice(0, 2).join('_'),
    models: ['gpt-*'],
    rpm: 100,
    allowed_origins: null,
    objects: 'own',
    providers: null,
    read_only: false,
    parent_id: null,
    end_user: null,
    expires_at: null,
    status: 'active',
    created_at: key.created_at,
    last_used_at: null,
    previous_secret_expires_at: null,
    usage: { requests: 0, errors: 0, ...UNKNOWN_TOKENS },
  })
  assert.equal(await use(served, secret), 200)
  const path = `keys/${key.id}`

  assert.deepEqual(
    (await api('PATCH', path, { status: 'disabled' })).json<Key>().status,
    'disabled',
  )
  assert.equal(await use(served, secret), 401)
  await api('PATCH', path, { status: 'active', models: ['o3'] })
  assert.equal(await use(served, secret), 403)
  await api('PATCH', path, { models: null, name: 'renamed', rpm: null })
  assert.equal(await use(served, secret), 200)

  const rotated = (await api('POST', `${path}/rotate`, { grace_seconds: 100 })).json<NewKey>()
  assert.notEqual(rotated.secret, secret)
  assert.deepEqual([await use(served, secret), await use(served, rotated.secret)], [200, 200])
  const again = (await api('POST', `${path}/rotate`, { grace_seconds: 0 })).json<NewKey>()
  assert.deepEqual(
    [await use(served, secret), await use(served, rotated.secret), await use(served, again.secret)],
    [401, 401, 200],
  )

  const list = (await api('GET', 'keys?search=RENAM&status=active')).json<{ data: Key[] }>()
  assert.deepEqual(
    list.data.map(({ id }) => id),
    [key.id],
  )
  assert.equal((await api('DELETE', path)).status, 204)
  assert.equal(await use(served, again.secret), 401)
  assert.equal((await api('GET', path)).json<Key>().status, 'revoked')
  assertProblem(await api('PATCH', path, { status: 'active' }), 409, 'key_revoked')
})

test('a search matches any text in a name', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const names = [
    'ci_deploy',
    'CI-deploy',
    'ci deploy',
    '50% off',
    '50 off',
    'a\\b',
    'KÖLN İ',
    'Köhn',
  ]
  for (const name of names) await api('POST', 'keys', { name })
  const searches = [
    ['ci_', ['ci_deploy']],
    ['ci-D', ['CI-deploy']],
    ['deploy', names.slice(0, 3)],
    ['0%', ['50% off']],
    ['%', ['50% off']],
    ['\\', ['a\\b']],
    ['a\\', ['a\\b']],
    ['\\%', []],
    ['Ö', ['KÖLN İ', 'Köhn']],
    ['köl', ['KÖLN İ']],
    ['köln İ', ['KÖLN İ']],
    ['KÖHN', ['Köhn']],
    ['ä', []],
    ['k%n', []],
  ] as const
  for (const [search, found] of searches) {
    const { data } = (
      await api('GET', `keys?sort=created_at&search=${encodeURIComponent(search)}`)
    ).json<{ data: Key[] }>()
    assert.deepEqual(
      data.map(({ name }) => name),
      found,
      search,
    )
  }
})

test('filtering by status returns the keys shown with it, including those that expire soon', async (t) => {
  const store = await openAt(t, await placeOn.sqlite(t))
  const now = 1_000
  const account = await store.run(ensureAccount, { name: null, plan: 'free', newId: 'acc_a', now })
  const ends = [null, now - 1, now, now + 1]
  const changes = [{}, { disabled: 1 }, { revoked_at: now }, { disabled: 1, revoked_at: now }]
  await Promise.all(
    ends.flatMap((expires_at) =>
      changes.map(async (change) => {
        const { id } = await createKey(
          store,
          account.id,
          { name: 'k', models: null, rpm: null, allowed_origins: null, expires_at },
          now,
        )
        await store.run(updateKey, { id, change })
      }),
    ),
  )
  const list = async (status?: KeyStatus) =>
    (
      await listKeys(
        store,
        { account: account.id, status: status && [status] },
        100,
        undefined,
        now,
      )
    ).keys.map((key) => [key.id, key.status])
  const all = await list()
  for (const [status, count] of [
    ['active', 2],
    ['expired', 2],
    ['disabled', 4],
    ['revoked', 8],
  ] as const) {
    const found = await list(status)
    assert.equal(found.length, count, status)
    assert.deepEqual(
      found,
      all.filter(([, shown]) => shown === status),
    )
  }
  // Of those in use one comes to its end now.
  assert.deepEqual(
    (await expiringKeys(store, account.id, now, now + 1)).map(({ expires_at }) => expires_at),
    [now + 1],
  )
})

test('a chunked body is read, a missing one is empty, and a large one is refused', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { token } = await manager(served)
  const post = (path: string, headers: Record<string, string>, body?: string) =>
    call(served.running.url, `/api/v1/${path}`, {
      method: 'POST',
      token: token.secret,
      headers: { ...JSON_TYPE, ...headers },
      ...(body === undefined ? {} : { body }),
    })
  const made = await post('keys', { 'transfer-encoding': 'chunked' }, '{"name":"in chunks"}')
  assert.equal(made.status, 201)
  assert.equal((await post(`keys/${made.json<Key>().id}/rotate`, {})).status, 200)
  // As curl sends it: neither a body nor a type of one.
  assert.equal(
    (
      await call(served.running.url, `/api/v1/keys/${made.json<Key>().id}/rotate`, {
        method: 'POST',
        token: token.secret,
      })
    ).status,
    200,
  )
  assertProblem(await post('keys', {}), 400, 'invalid_field')
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    assertProblem(
      await post('keys', headers, JSON.stringify({ name: 'x'.repeat(70_000) })),
      413,
      'file_too_large',
    )
  }
})

test('invalid values are refused with a sentence', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  for (const wrong of [
    {},
    { name: '' },
    { name: 'x', rpm: 0 },
    { name: 'x', rpm: 1_000_001 },
    { name: 'x', rpm: 1.5 },
    { name: 'x', models: [''] },
    { name: 'x', models: [] },
    { name: 'x', allowed_origins: ['nowhere'] },
    { name: 'x', allowed_origins: ['*'] },
    { name: 'x', allowed_origins: ['https://*.example.com'] },
    { name: 'x', expires_at: '2001-01-01' },
    { name: 'x', expires_at: 'soon' },
    { name: 'x', expires_at: '9999-12-31T23:59:59-01:00' },
  ]) {
    const refused = await api('POST', 'keys', wrong)
    assertProblem(refused, 400, 'invalid_field')
    assert.match(refused.text, /[^.]\.","code"/, 'it ends with one full stop')
  }
  for (const nouns of ['keys', 'tokens']) {
    assert.match(
      (await api('POST', nouns, { name: 'x', expires_at: '2030-02-30' })).text,
      /Must be a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z\./,
    )
    assert.equal(
      (await api('POST', nouns, { name: 'x', expires_at: '2030-01-31' })).json<NewKey>().expires_at,
      '2030-01-31T00:00:00.000Z',
    )
  }
  assertProblem(await api('GET', 'keys/key_nothing'), 404, 'key_not_found')
  // An end of the list would be taken for one.
  for (const list of ['keys', 'requests', 'tokens']) {
    for (const cursor of ['', 'zzz', '%2e'])
      assertProblem(await api('GET', `${list}?cursor=${cursor}`), 400, 'invalid_field')
  }
})

test('an account sees only its own keys and usage', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const [admin, member] = [await manager(served), await manager(served, 'member')]
  const key = (await admin.api('POST', 'keys', { name: 'theirs' })).json<NewKey>()
  const own = (await member.api('POST', 'keys', { name: 'own' })).json<NewKey>()
  assertProblem(await member.api('GET', `keys/${key.id}`), 404, 'key_not_found')
  assert.deepEqual(
    (await member.api('GET', 'keys')).json<{ data: Key[] }>().data.map(({ id }) => id),
    [own.id],
  )
  assertProblem(await member.api('GET', 'credentials'), 403, 'insufficient_scope')
})

test('disabling and enabling an account takes effect on its keys with the response', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const [admin, member] = [await manager(served), await manager(served, 'member')]
  const key = (await member.api('POST', 'keys', { name: 'k' })).json<NewKey>()
  for (let round = 0; round < 60; round++) {
    const disabled = round % 2 === 0
    assert.equal(
      (await admin.api('PATCH', `accounts/${member.token.account_id}`, { disabled })).status,
      200,
    )
    assert.equal(await use(served, key.secret), disabled ? 401 : 200, `round ${round}`)
  }
})

test('keys are sorted by use and by expiry, both ways and page by page, even while they are used', async (t) => {
  const server = await startServer(t)
  const admin = await setUp(server)
  const made: Record<string, NewKey> = {}
  /** TABLE of keys: days until the end, and requests, in the order of their last ones. */
  const wishes: [name: string, days: number | null, requests: number][] = [
    ['often', 2, 3],
    ['lately', null, 1],
    ['last', 1, 2],
    ['never', null, 0],
    ['new', 3, 0],
  ]
  for (const [name, days] of wishes) {
    server.step(5)
    made[name] = (
      await admin.send('POST', 'keys', {
        name,
        expires_at:
          days === null ? null : new Date(server.clock() + days * 86_400_000).toISOString(),
      })
    ).json<NewKey>()
  }
  const use = async (name: string): Promise<void> => {
    server.step(5)
    await requestNow(server, {
      account: made[name]!.account_id,
      key: made[name]!.id,
      model: 'gpt-5',
    })
  }
  for (const [name, , requests] of wishes) for (let i = 0; i < requests; i++) await use(name)
  const read = async (query: string) => {
    const { data, next_cursor } = (await admin.send('GET', `keys?${query}`)).json<{
      data: Key[]
      next_cursor: string | null
    }>()
    return {
      names: data.map(({ name }) => name),
      requests: data.map(({ usage }) => usage.requests),
      next: next_cursor,
    }
  }
  await until(async () => (await read('')).requests.reduce((all, one) => all + one) === 6)
  const all = async (query: string): Promise<string[]> => {
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { names, next } = await read(
        `limit=2&${query}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      found.push(...names)
      cursor = next
    }
    return found
  }
  /** TABLE: the order, and the names in it. */
  const orders: [sort: string, names: string[]][] = [
    ['requests', ['never', 'new', 'lately', 'last', 'often']],
    ['last_used_at', ['never', 'new', 'often', 'lately', 'last']],
    ['expires_at', ['last', 'often', 'new', 'lately', 'never']],
  ]
  for (const [sort, names] of orders) {
    assert.deepEqual(await all(`sort=${sort}`), names, sort)
    assert.deepEqual(await all(`sort=-${sort}`), names.toReversed(), `-${sort}`)
    assert.deepEqual(
      await all(`sort=-${sort}&model=gpt-5`),
      names.toReversed(),
      `-${sort} of a model`,
    )
  }

  // The last key of a page is used before the next page is asked for: nothing is left out after it,
  // and nothing comes again.
  for (const [sort, first, then] of [
    ['last_used_at', ['never', 'new', 'often'], ['lately', 'last']],
    ['-requests', ['often', 'last', 'lately'], ['new', 'never']],
  ] as const) {
    const page = await read(`sort=${sort}&limit=3`)
    assert.deepEqual(page.names, first)
    const before = (await read('')).requests.reduce((all, one) => all + one)
    for (let i = 0; i < 4; i++) await use(first[2])
    await until(
      async () => (await read('')).requests.reduce((all, one) => all + one) === before + 4,
    )
    const rest = (await read(`sort=${sort}&cursor=${encodeURIComponent(page.next!)}`)).names
    assert.deepEqual(
      rest.filter((name) => name !== first[2]),
      then,
      sort,
    )
    if (sort === '-requests') assert.ok(!rest.includes(first[2]))
  }
  for (const cursor of [
    'key_nothing',
    `${made['new']!.id}:`,
    `${made['new']!.id}:many`,
    `${made['new']!.id}:1e99`,
    ':1',
  ]) {
    assert.ok(
      [200, 400].includes(
        (await admin.send('GET', `keys?sort=requests&cursor=${encodeURIComponent(cursor)}`)).status,
      ),
      cursor,
    )
  }
  assert.deepEqual(
    (await read(`sort=-name&cursor=${encodeURIComponent(`${made['new']!.id}:1`)}`)).names,
    ['never', 'lately', 'last'],
  )
})

test('usage and the ledger can be read, as JSON and as CSV', async (t) => {
  const served = await startServed(
    t,
    respond(200, JSON_TYPE, '{"usage":{"prompt_tokens":3,"completion_tokens":4}}'),
  )
  const { api } = await manager(served)
  const key = (await api('POST', 'keys', { name: 'k' })).json<NewKey>()
  for (let i = 0; i < 3; i++) await use(served, key.secret)
  type Lines = {
    data: { key_id: string; key_name: string; model: string; requests: number; tokens_in: number }[]
  }
  let usage = (await api('GET', 'usage?by=key,model')).json<Lines>()
  while ((usage.data[0]?.requests ?? 0) < 3)
    usage = (await api('GET', 'usage?by=key,model')).json<Lines>()
  assert.deepEqual(
    usage.data.map(({ key_id, key_name, model, requests, tokens_in }) => ({
      key_id,
      key_name,
      model,
      requests,
      tokens_in,
    })),
    [{ key_id: key.id, key_name: 'k', model: 'gpt-5', requests: 3, tokens_in: 9 }],
  )
  assert.match(
    (await api('GET', 'usage?by=day,provider&format=csv')).text,
    /^time,provider,requests,.*\r\n\d{4}-\d\d-\d\dT00:00:00.000Z,openai,3,/,
  )
  assert.match(
    (await api('GET', 'usage?by=key&format=csv')).text,
    new RegExp(`^key_id,key_name,requests,.*\r\n${key.id},k,3,`),
  )
  assertProblem(await api('GET', 'usage?by=colour'), 400, 'invalid_field')

  const first = (await api('GET', `requests?key=${key.id}&status=2xx&limit=2`)).json<{
    data: { id: string }[]
    next_cursor: string
  }>()
  const second = (
    await api('GET', `requests?key=${key.id}&status=200&limit=2&cursor=${first.next_cursor}`)
  ).json<{ data: { id: string }[]; next_cursor: null }>()
  assert.deepEqual([first.data.length, second.data.length, second.next_cursor], [2, 1, null])
  assert.equal(new Set([...first.data, ...second.data].map(({ id }) => id)).size, 3)
  const one = (await api('GET', `requests/${first.data[0]!.id}`)).json<{
    id: string
    key_name: string
  }>()
  assert.deepEqual([one.id, one.key_name], [first.data[0]!.id, 'k'])
  assert.equal((await api('GET', 'requests?format=csv&model=gpt-5')).text.split('\r\n').length, 5)
  assert.equal(
    (await api('GET', 'requests?from=2001-01-01&to=2002-01-01')).json<{ data: [] }>().data.length,
    0,
  )
  assert.equal((await api('GET', 'requests?from=2001-01-01')).json<{ data: [] }>().data.length, 3)
})

test('a stored credential is used, weighted and paused, and never shown', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), { OPENAI_API_KEY: '' })
  const { api } = await manager(served)
  const key = (await api('POST', 'keys', { name: 'k' })).json<NewKey>()
  assert.equal(await use(served, key.secret), 502)
  const made = await api('POST', 'credentials', {
    provider: 'openai',
    name: 'main',
    secret: 'sk-stored-123',
  })
  assert.equal(made.status, 201)
  assert.equal(await use(served, key.secret), 200)
  assert.ok(served.fake.requests[0]!.rawHeaders.includes('Bearer sk-stored-123'))
  const { id } = made.json<{ id: string }>()
  for (const path of ['credentials', `credentials/${id}`])
    assert.ok(!(await api('GET', path)).text.includes('sk-stored'))
  const rows = await served.running.store.db.selectFrom('credentials').selectAll().execute()
  assert.ok(!JSON.stringify(rows).includes('sk-stored'))
  await api('PATCH', `credentials/${id}`, { status: 'paused' })
  assert.equal(await use(served, key.secret), 502)
  await api('PATCH', `credentials/${id}`, { status: 'active', weight: 5 })
  assert.equal(await use(served, key.secret), 200)
  assert.equal((await api('DELETE', `credentials/${id}`)).status, 204)
  assert.equal(await use(served, key.secret), 502)
  assertProblem(
    await api('POST', 'credentials', { provider: 'nobody', secret: 'x' }),
    400,
    'invalid_field',
  )
  assertProblem(
    await api('POST', 'credentials', { provider: 'azure', secret: 'x' }),
    400,
    'invalid_field',
  )
})
