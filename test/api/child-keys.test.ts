// Child keys: what they may be, what they count under, and when they end.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createToken } from '../../server/accounts/tokens.ts'
import { createChild, deleteEndedChildren, MAX_CHILDREN } from '../../server/keys/children.ts'
import type { Key, NewKey } from '../../server/keys/key-record.ts'
import { updateKey } from '../../server/keys/keys.ts'
import { createSecret } from '../../server/common/issued-secrets.ts'
import { flushJournal } from '../../server/ledger/settlement/journal.ts'
import { respond, headerOf } from '../support/providers/fake.ts'
import { OPENAI, startServed, type Served } from '../proxy/support/served.ts'
import { assertProblem, call } from '../support/harness.ts'
import { manager, type Manager } from '../support/manager.ts'

const FILE = '{"id":"file-abc","object":"file"}'
const USAGE = '{"usage":{"prompt_tokens":3,"completion_tokens":4}}'

let served: Served & Manager
const ends: (() => unknown)[] = []

after(async () => {
  for (const end of ends.reverse()) await end()
})

before(async () => {
  const json = { 'content-type': 'application/json' }
  const [chat, file] = [respond(200, json, USAGE), respond(200, json, FILE)]
  const one = await startServed({ after: (end) => ends.push(end) }, (call) =>
    call.received.target.includes('/files') ? file(call) : chat(call),
  )
  served = { ...one, ...(await manager(one)) }
})

/** The status of a request for a model. */
async function use(
  { secret }: Pick<NewKey, 'secret'>,
  model = 'gpt-5',
  headers: Record<string, string> = {},
): Promise<number> {
  const { status } = await served.send(secret, `${OPENAI}/v1/chat/completions`, {
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ model }),
  })
  return status
}

async function makeKey(fields: object = {}): Promise<NewKey> {
  const made = await served.api('POST', 'keys', { name: 'parent', ...fields })
  assert.equal(made.status, 201, made.text)
  return made.json<NewKey>()
}

async function mint(parent: Pick<Key, 'id'>, fields: object = {}): Promise<NewKey> {
  const made = await served.api('POST', `keys/${parent.id}/children`, { ttl: 600, ...fields })
  assert.equal(made.status, 201, made.text)
  return made.json<NewKey>()
}

test('a child key works immediately, shows its own limits, and its requests count under its parent', async () => {
  const parent = await makeKey({ models: ['gpt-*'], rpm: 10, read_only: true })
  const from = Date.now()
  const child = await mint(parent, { ttl: '10m', models: ['gpt-5'], end_user: ' user 7 ' })
  const { secret, expires_at, usage, ...record } = child
  assert.match(secret, /^tmk_/)
  assert.ok(Math.abs(Date.parse(expires_at!) - from - 600_000) < 60_000)
  assert.deepEqual(record, {
    id: child.id,
    object: 'key',
    account_id: parent.account_id,
    account_name: parent.account_name,
    name: 'user 7',
    prefix: secret.split('_').slice(0, 2).join('_'),
    models: ['gpt-5'],
    rpm: 10,
    allowed_origins: null,
    objects: 'own',
    providers: null,
    read_only: true,
    parent_id: parent.id,
    end_user: 'user 7',
    status: 'active',
    created_at: child.created_at,
    last_used_at: null,
    previous_secret_expires_at: null,
  })
  assert.equal(usage.requests, 0)
  assert.deepEqual([await use(child), await use(child, 'gpt-4')], [200, 403])
  await served.running.store.run(flushJournal, null)
  const rows = await served.api('GET', `requests?key=${parent.id}`)
  const [row] = rows.json<{ data: { child_id: string; end_user: string; key_id: string }[] }>().data
  assert.deepEqual([row?.key_id, row?.child_id, row?.end_user], [parent.id, child.id, 'user 7'])
  // TABLE of filters, and how many of the requests they find.
  for (const [filter, count] of [
    [`child=${child.id}`, 1],
    [`child=${child.id}&key=${parent.id}`, 1],
    [`child=${child.id}&key=key_other`, 0],
    ['child=key_other', 0],
    [`key=${parent.id}&end_user=user%207`, 1],
    [`key=${parent.id}&end_user=user`, 0],
    [`child=${child.id}&end_user=user%207&status=2xx`, 1],
  ] as const) {
    const found = await served.api('GET', `requests?${filter}`)
    assert.equal(found.json<{ data: unknown[] }>().data.length, count, filter)
  }
  const used = (await served.api('GET', `keys/${child.id}`)).json<Key>()
  assert.equal(used.usage.requests, 1)
  assert.ok(used.last_used_at !== null)
})

test('lists of keys leave child keys out unless they are asked for', async () => {
  const [parent, other] = [await makeKey(), await makeKey()]
  const child = await mint(parent, { end_user: 'nobody else' })
  const idsOf = async (query: string): Promise<string[]> => {
    const { data } = (await served.api('GET', `keys?${query}`)).json<{ data: Key[] }>()
    return data.map(({ id }) => id)
  }
  assert.deepEqual(await idsOf('limit=2'), [other.id, parent.id])
  assert.deepEqual(await idsOf('search=nobody'), [])
  assert.deepEqual(await idsOf(`search=${child.prefix}`), [child.id])
  assert.deepEqual(await idsOf('search=tmk_'), [])
  assert.deepEqual(await idsOf(`parent_id=${parent.id}`), [child.id])
  assert.deepEqual(await idsOf(`parent_id=${parent.id}&status=expired`), [])
  assert.deepEqual(await idsOf(`parent_id=${other.id}`), [])
})

/** TABLE of children that are refused: the parent, what is asked for, and the field at fault. */
const WIDER: [parent: object, child: object, param: string][] = [
  [{ models: ['gpt-5'] }, { models: ['gpt-*'] }, 'models.0'],
  [{ models: ['gpt-5'] }, { models: ['GPT-5'] }, 'models.0'],
  [{ models: ['gpt-*'] }, { models: ['gpt-5', '*'] }, 'models.1'],
  [{}, { models: [] }, 'models'],
  [{}, { models: [''] }, 'models.0'],
  [{}, { models: 'gpt-5' }, 'models'],
  [{ rpm: 5 }, { rpm: 6 }, 'rpm'],
  [{}, { rpm: 0 }, 'rpm'],
  [
    { allowed_origins: ['https://a.test'] },
    { allowed_origins: ['https://b.test'] },
    'allowed_origins.0',
  ],
  [{ allowed_origins: ['https://a.test'] }, { allowed_origins: ['*'] }, 'allowed_origins.0'],
  [
    { allowed_origins: ['https://a.test'] },
    { allowed_origins: ['https://*.a.test'] },
    'allowed_origins.0',
  ],
  [{ allowed_origins: ['https://a.test'] }, { allowed_origins: [] }, 'allowed_origins'],
  [{}, { ttl: 0 }, 'ttl'],
  [{}, { ttl: 86_401 }, 'ttl'],
  [{}, { ttl: '25h' }, 'ttl'],
  [{}, { ttl: '200ms' }, 'ttl'],
  [{}, { ttl: 'soon' }, 'ttl'],
  [{}, { ttl: null }, 'ttl'],
  [{}, { ttl: 1.5 }, 'ttl'],
  [{}, { end_user: 'a\u0000b' }, 'end_user'],
  [{}, { end_user: '' }, 'end_user'],
  [{}, { end_user: `of ${createSecret('tmk').secret}` }, 'end_user'],
  [{}, { objects: 'upstream' }, 'objects'],
  [{}, { providers: ['openai'] }, 'providers'],
  [{}, { model: 'gpt-5' }, 'model'],
  [{}, { expires_at: null }, 'expires_at'],
]

test("a field that is wider than the parent's, or misspelt, is refused by name", async () => {
  for (const [parent, child, param] of WIDER) {
    const { id } = await makeKey(parent)
    const refused = await served.api('POST', `keys/${id}/children`, { ttl: 600, ...child })
    assertProblem(refused, 400, 'invalid_field')
    const { errors } = refused.json<{ errors: { param: string }[] }>()
    assert.deepEqual(
      errors.map((one) => one.param),
      [param],
      JSON.stringify(child),
    )
  }
})

test('a ttl that is missing, or not a length of time, is refused with that reason', async () => {
  const { id } = await makeKey()
  for (const [body, code, detail] of [
    [{}, 'missing', /^This field is required\.$/],
    [{ ttl: 1.5 }, 'invalid_value', /^Must be seconds, or a length of time/],
    [{ ttl: 'soon' }, 'invalid_value', /^Must be seconds, or a length of time/],
    [{ ttl: null }, 'invalid_value', /^Must be seconds, or a length of time/],
  ] as const) {
    const refused = await served.api('POST', `keys/${id}/children`, body)
    assertProblem(refused, 400, 'invalid_field')
    const [error] = refused.json<{ errors: { code: string; detail: string }[] }>().errors
    assert.equal(error?.code, code)
    assert.match(error?.detail ?? '', detail)
  }
})

test('a child key ends, and narrows, with its parent', async () => {
  const parent = await makeKey({ expires_at: null })
  const path = `keys/${parent.id}`
  const child = await mint(parent)
  const patch = (change: object) => served.api('PATCH', path, change)
  const shown = async () => (await served.api('GET', `keys/${child.id}`)).json<Key>()

  assert.equal(await use(child), 200)
  await patch({ models: ['o3'] })
  assert.deepEqual([await use(child), await use(child, 'o3')], [403, 200])
  assert.deepEqual((await shown()).models, ['o3'])
  await patch({ models: null, providers: ['google'] })
  assert.equal(await use(child), 403)
  await patch({ providers: null, allowed_origins: ['https://a.test'] })
  assert.equal(await use(child), 403)
  assert.equal(await use(child, 'gpt-5', { Origin: 'https://a.test' }), 200)
  await patch({ allowed_origins: null, status: 'disabled' })
  assert.equal(await use(child), 401)
  assert.equal((await shown()).status, 'disabled')
  await patch({ status: 'active' })
  assert.equal(await use(child), 200)
  const soon = new Date(Date.now() + 60_000).toISOString()
  await patch({ expires_at: soon })
  assert.equal((await shown()).expires_at, soon)
  assert.equal((await mint(parent)).expires_at, soon)
  await patch({ expires_at: null })
  await served.api('DELETE', path)
  assert.equal(await use(child), 401)
  assert.equal((await shown()).status, 'revoked')
})

test("a child key ends with the parent's secret that was newest when it was created", async () => {
  const parent = await makeKey()
  const path = `keys/${parent.id}`
  const before = await mint(parent)
  await served.api('POST', `${path}/rotate`, { grace_seconds: 100 })
  const after = await mint(parent)
  assert.deepEqual([await use(before), await use(after)], [200, 200])
  await served.api('POST', `${path}/rotate/end`)
  assert.deepEqual([await use(before), await use(after)], [401, 200])
  await served.api('POST', `${path}/rotate`, { grace_seconds: 0 })
  assert.deepEqual([await use(before), await use(after)], [401, 401])
})

test('a child key can only be revoked', async () => {
  const parent = await makeKey()
  const [child, sibling] = [await mint(parent), await mint(parent)]
  const path = `keys/${child.id}`
  for (const [method, at, body] of [
    ['PATCH', path, { rpm: null }],
    ['PATCH', path, { models: null }],
    ['PATCH', path, { expires_at: null }],
    ['POST', `${path}/rotate`, {}],
    ['POST', `${path}/rotate/end`, undefined],
    ['POST', `${path}/children`, { ttl: 60 }],
    ['POST', `${path}/objects`, { provider: 'openai', kind: 'file', object_id: 'file-1' }],
  ] as const)
    assertProblem(await served.api(method, at, body), 409, 'key_is_child')
  assert.equal((await served.api('DELETE', path)).status, 204)
  assert.deepEqual([await use(child), await use(sibling)], [401, 200])
})

test('a disabled, expired or revoked key cannot have children', async () => {
  const parent = await makeKey()
  const { store } = served.running
  const path = `keys/${parent.id}`
  const refused = async (code: string) =>
    assertProblem(await served.api('POST', `${path}/children`, { ttl: 60 }), 409, code)
  await served.api('PATCH', path, { status: 'disabled' })
  await refused('key_inactive')
  await served.api('PATCH', path, { status: 'active' })
  await store.run(updateKey, { id: parent.id, change: { expires_at: Date.now() - 1 } })
  await refused('key_inactive')
  await served.api('DELETE', path)
  await refused('key_revoked')
  assertProblem(
    await served.api('POST', 'keys/key_nothing/children', { ttl: 60 }),
    404,
    'key_not_found',
  )
})

test('the scope mint allows creating child keys of its account and nothing else', async () => {
  const { url, store } = served.running
  const parent = await makeKey()
  const tokenFor = async (account: string | null) => {
    const wanted = { name: 'mint', scopes: ['mint'] as const, expiresAt: null }
    return (await createToken(store, { name: account, plan: 'free' }, wanted, Date.now())).token
      .secret
  }
  const [own, foreign] = [await tokenFor(null), await tokenFor('stranger')]
  const send = (token: string, method: string, path: string, body?: object) =>
    call(url, `/api/v1/${path}`, {
      method,
      token,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  const made = await send(own, 'POST', `keys/${parent.id}/children`, { ttl: 60 })
  assert.equal(made.status, 201)
  assert.equal(await use(made.json<NewKey>()), 200)
  for (const [method, path, body] of [
    ['GET', 'keys'],
    ['POST', 'keys', { name: 'x' }],
    ['GET', `keys/${parent.id}`],
    ['DELETE', `keys/${parent.id}`],
    ['POST', `keys/${parent.id}/rotate`, {}],
    ['GET', 'tokens'],
    ['POST', 'tokens', { name: 'x' }],
    ['GET', 'requests'],
    ['POST', 'convert'],
  ] as const)
    assertProblem(await send(own, method, path, body), 403, 'insufficient_scope')
  const session = await send(own, 'GET', 'session')
  assert.equal(session.json<{ account: unknown }>().account, null)
  assertProblem(
    await send(foreign, 'POST', `keys/${parent.id}/children`, { ttl: 60 }),
    404,
    'key_not_found',
  )
  assertProblem(
    await send(foreign, 'POST', `keys/${parent.id}/children?account=all`, { ttl: 60 }),
    403,
    'insufficient_scope',
  )
})

test("a child key's limits apply together with its parent’s, and every response shows the tighter one", async () => {
  const parent = await makeKey({ rpm: 5 })
  const [one, two] = [await mint(parent, { rpm: 2 }), await mint(parent)]
  const statuses = await Promise.all(Array.from({ length: 6 }, () => use(one)))
  assert.equal(statuses.filter((status) => status === 200).length, 2)
  const told = await served.send(one.secret, `${OPENAI}/v1/models`, { method: 'GET' })
  assert.equal(told.status, 429)
  assert.equal(headerOf(told.rawHeaders, 'ratelimit-policy'), '"rpm";q=2;w=60')
  assert.ok(Number(headerOf(told.rawHeaders, 'retry-after-ms')) > 50_000)
  const rest = await Promise.all(Array.from({ length: 6 }, () => use(two)))
  assert.equal(rest.filter((status) => status === 200).length, 3)
  assert.equal(await use(parent), 429)
})

test("a child key can use its parent's stored objects, and other keys cannot", async () => {
  const parent = await makeKey()
  const stranger = await makeKey()
  const child = await mint(parent)
  const upload = await served.send(child.secret, `${OPENAI}/v1/files`, {
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    body: '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nx\r\n--b--\r\n',
  })
  assert.equal(upload.status, 200)
  const read = async ({ secret }: NewKey) =>
    (await served.send(secret, `${OPENAI}/v1/files/file-abc`, { method: 'GET' })).status
  assert.deepEqual([await read(parent), await read(child), await read(stranger)], [200, 200, 403])
})

test('expired child keys are deleted, and the newest change stays known', async () => {
  const { store } = served.running
  const parent = await makeKey()
  const input = { ttl: 60, models: null, rpm: null, allowed_origins: null, end_user: null }
  const past = Date.now() - 2 * 3_600_000
  const ended = []
  for (let i = 0; i < 3; i++) ended.push(await createChild(store, parent.id, null, input, past))
  const alive = await mint(parent)
  await deleteEndedChildren(store, Date.now())
  const left = await store.db
    .selectFrom('keys')
    .select('id')
    .where('parent_id', '=', parent.id)
    .execute()
  assert.deepEqual(
    left.map(({ id }) => id),
    [alive.id],
  )
  assert.equal(await use(ended[0]!), 401)
  const next = await mint(parent)
  assert.deepEqual([await use(alive), await use(next)], [200, 200])
})

test('a key can have a limited number of child keys at a time', async () => {
  const { store } = served.running
  const parent = await makeKey()
  const first = await mint(parent)
  const row = await store.db
    .selectFrom('keys')
    .selectAll()
    .where('id', '=', first.id)
    .executeTakeFirstOrThrow()
  const more = Array.from({ length: MAX_CHILDREN - 1 }, (_, i) => ({
    ...row,
    id: `key_child${i}`,
    revision: row.revision + 1 + i,
  }))
  for (let from = 0; from < more.length; from += 50)
    await store.write(store.db.insertInto('keys').values(more.slice(from, from + 50)))
  const path = `keys/${parent.id}/children`
  const refused = async () =>
    assertProblem(await served.api('POST', path, { ttl: 60 }), 429, 'too_many_child_keys')
  await refused()
  // Short lives make no more.
  const expired = (ago: number) =>
    store.run(updateKey, { id: more[0]!.id, change: { expires_at: Date.now() - ago } })
  await expired(30_000)
  await refused()
  await expired(61_000)
  assert.equal((await served.api('POST', path, { ttl: 60 })).status, 201)
  await refused()
  await served.api('DELETE', `keys/${first.id}`)
  assert.equal((await served.api('POST', path, { ttl: 60 })).status, 201)
})
