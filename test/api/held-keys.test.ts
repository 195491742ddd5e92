// All keys are in the memory of every process, and lists of them are searched there: one account's
// keys must neither fill it nor hold up others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_HELD } from '../../server/keys/held-keys.ts'
import type { NewKey } from '../../server/keys/key-record.ts'
import { listKeys } from '../../server/keys/key-list.ts'
import { MAX_SECRETS } from '../../server/keys/rotation.ts'
import type { KeyRow } from '../../server/store/schema.ts'
import {
  assertProblem,
  call,
  startServer,
  type ReceivedResponse,
  type TestServer,
} from '../support/harness.ts'
import { openCounter } from '../support/turn-counter.ts'

const LONG = JSON.stringify(Array.from({ length: 450 }, (_, i) => `${i}-${'x'.repeat(240)}`))

/** Adds rows like one that the API made, with a long list of models. */
async function addKeys(
  { store }: TestServer,
  id: string,
  count: number,
  change: Partial<KeyRow> = {},
): Promise<void> {
  const row = await store.db
    .selectFrom('keys')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const { last } = await store.db
    .selectFrom('keys')
    .select((e) => e.fn.max('revision').as('last'))
    .executeTakeFirstOrThrow()
  const more = Array.from({ length: count }, (_, i) => ({
    ...row,
    ...change,
    id: `${id}${i}`,
    public_id: `long${i}`,
    models: LONG,
    revision: Number(last) + 1 + i,
  }))
  for (let from = 0; from < count; from += 20)
    await store.write(store.db.insertInto('keys').values(more.slice(from, from + 20)))
}

test('a page of keys with long lists ends early', async (t) => {
  const server = await startServer(t)
  const token = await server.token({ scopes: ['manage'] })
  const create = (path: string, body: object) =>
    call(server.url, `/api/v1/${path}`, {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { id } = (await create('keys', { name: 'one', models: ['other'] })).json<NewKey>()
  for (let i = 0; i < 4; i++)
    assert.equal((await create(`keys/${id}/children`, { ttl: 60 })).status, 201)
  await addKeys(server, id, 9)
  // Its children have the same list.
  const { db } = server.store
  await server.store.write(db.updateTable('keys').set({ models: LONG }).where('id', '=', id))
  for (const [filter, count] of [
    ['limit=100', 10],
    [`limit=100&parent_id=${id}`, 4],
  ] as const) {
    const seen: string[] = []
    for (let next: string | null = ''; next !== null;) {
      const page: ReceivedResponse = await call(
        server.url,
        `/api/v1/keys?${filter}${next === '' ? '' : `&cursor=${next}`}`,
        { token },
      )
      const list = page.json<{ data: NewKey[]; next_cursor: string | null }>()
      assert.ok(list.data.length > 0 && page.text.length < 300_000, `${page.text.length}`)
      seen.push(...list.data.map((one) => one.id))
      next = list.next_cursor
    }
    assert.equal(new Set(seen).size, count)
    assert.equal(seen.length, count)
  }
})

test('a member can have as many keys as fit into its share of the memory', async (t) => {
  const server = await startServer(t)
  const admin = await server.token({ scopes: ['manage'] })
  const bob = await server.newToken({ account: 'bob', scopes: ['manage'] })
  const alice = await server.token({ account: 'alice', scopes: ['manage'] })
  const send = (token: string, method: string, path: string, body: object) =>
    call(server.url, `/api/v1/${path}`, {
      method,
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { id, secret } = (await send(bob.secret, 'POST', 'keys', { name: 'one' })).json<NewKey>()
  await addKeys(server, id, Math.ceil(MAX_HELD / LONG.length), { expires_at: server.clock() - 1 })
  assert.equal((await send(alice, 'POST', 'keys', { name: 'two' })).status, 201)
  for (const [method, path, body] of [
    ['POST', 'keys', { name: 'more' }],
    ['POST', `keys/${id}/children`, { ttl: 60 }],
    ['PATCH', `keys/${id}`, { models: ['gpt-5'] }],
  ] as const)
    assertProblem(await send(bob.secret, method, path, body), 429, 'too_many_keys')
  const minted = await fetch(`${server.url}/proxy/api.openai.com/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
  })
  assert.equal(minted.status, 429)
  assert.match(await minted.text(), /too many models and origins in total/)
  assert.equal((await send(bob.secret, 'PATCH', `keys/${id}`, { rpm: 5 })).status, 200)
  const forBob = { name: 'given', account_id: bob.account_id }
  assert.equal((await send(admin, 'POST', 'keys', forBob)).status, 201)
  // Keys that are in no list any more take no memory.
  assert.equal((await send(bob.secret, 'POST', 'keys/purge', { status: ['expired'] })).status, 200)
  assert.equal((await send(bob.secret, 'POST', 'keys', { name: 'more' })).status, 201)
})

test('a key has a bounded number of secrets', async (t) => {
  const server = await startServer(t)
  const token = await server.token({ scopes: ['manage'] })
  const send = (path: string, body: object) =>
    call(server.url, `/api/v1/keys${path}`, {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { id } = (await send('', { name: 'one' })).json<NewKey>()
  const rotate = (grace_seconds: number) => send(`/${id}/rotate`, { grace_seconds })
  for (let i = 1; i < MAX_SECRETS; i++) assert.equal((await rotate(60)).status, 200)
  assertProblem(await rotate(60), 429, 'too_many_secrets')
  // Without a grace period, it is left with one.
  assert.equal((await rotate(0)).status, 200)
  assert.equal((await rotate(60)).status, 200)
})

test('a search for keys by model reads a few lists in each turn', async (t) => {
  const server = await startServer(t)
  const token = await server.token({ scopes: ['manage'] })
  const create = (name: string) =>
    call(server.url, '/api/v1/keys', {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, models: ['other'] }),
    })
  await addKeys(server, (await create('one')).json<NewKey>().id, 40)
  // After this, the server has read the keys for its requests.
  assert.equal((await create('two')).status, 201)
  const counter = openCounter(t)
  const parse = JSON.parse
  t.mock.method(JSON, 'parse', (text: string, ...rest: []) => {
    if (text === LONG) counter.count()
    return parse(text, ...rest) as unknown
  })
  const filter = { account: null, model: '7-x' }
  const { keys } = await listKeys(server.store, filter, 20, undefined, server.clock())
  assert.deepEqual(keys, [])
  assert.equal(counter.all(), 40)
  assert.ok(counter.most() <= 4, `${counter.most()} lists in one turn`)
})
