// What a list of keys holds, how long all of it is, and what becomes of keys and secrets that have
// ended.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Key, NewKey } from '../../server/keys/key-record.ts'
import { assertProblem } from '../support/harness.ts'
import { respond, headerOf } from '../support/providers/fake.ts'
import { startServed } from '../proxy/support/served.ts'
import { manager } from '../support/manager.ts'

interface Keys {
  data: Key[]
  next_cursor: string | null
  total: number
}
const CHAT = 'https://api.openai.com/v1/chat/completions'
const DAY = 86_400_000

test('a list of keys has their number, and finds them by name, prefix, id and several statuses', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const made = new Map<string, NewKey>()
  for (const name of ['one', 'two', 'three', 'Four'])
    made.set(
      name,
      (
        await api('POST', 'keys', { name, ...(name === 'Four' && { models: ['o3'] }) })
      ).json<NewKey>(),
    )
  const of = (name: string) => made.get(name)!
  await api('PATCH', `keys/${of('one').id}`, { status: 'disabled' })
  await api('DELETE', `keys/${of('two').id}`)
  const list = async (query: string) => {
    const { data, total } = (await api('GET', `keys?sort=created_at&${query}`)).json<Keys>()
    return [data.map(({ name }) => name), total]
  }
  /** TABLE: a query, the keys on its page, and how many it finds. */
  const cases: [query: string, names: string[], total: number][] = [
    ['', ['one', 'two', 'three', 'Four'], 4],
    ['limit=1', ['one'], 4],
    ['status=active,disabled', ['one', 'three', 'Four'], 3],
    ['status=revoked', ['two'], 1],
    ['search=o&limit=1', ['one'], 3],
    ['search=o&status=active', ['Four'], 1],
    [`search=${of('three').prefix}`, ['three'], 1],
    [`search=${of('three').prefix.slice(0, -1)}`, ['three'], 1],
    [`search=${of('three').id}`, ['three'], 1],
    ['search=tmk_', [], 0],
    ['model=gpt-5', ['one', 'two', 'three'], 3],
  ]
  for (const [query, names, total] of cases)
    assert.deepEqual(await list(query), [names, total], query)
  assertProblem(await api('GET', 'keys?status=active,late'), 400, 'invalid_field')

  assert.equal((await api('DELETE', `keys/${of('two').id}?purge=true`)).status, 204)
  assert.equal((await api('DELETE', `keys/${of('three').id}?purge=true`)).status, 204)
  assert.deepEqual(await list(''), [['one', 'Four'], 2])
  assertProblem(await api('GET', `keys/${of('two').id}`), 404, 'key_not_found')
  assertProblem(await api('DELETE', `keys/${of('two').id}?purge=true`), 404, 'key_not_found')
  const sent = await served.send(of('three').secret, CHAT, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"model":"gpt-5"}',
  })
  assert.equal(
    headerOf(sent.rawHeaders, 'x-proxy-error'),
    'invalid_api_key',
    'a purged key is revoked',
  )
  assert.equal((await api('POST', 'keys', { name: 'next' })).status, 201)
})

test('purging removes all ended keys and no others', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const made: string[] = []
  for (let i = 0; i < 105; i++)
    made.push((await api('POST', 'keys', { name: `key ${i}` })).json<NewKey>().id)
  const set = (
    change: { revoked_at?: number; expires_at?: number; disabled?: number },
    ids: string[],
  ) => served.running.store.db.updateTable('keys').set(change).where('id', 'in', ids).execute()
  await set({ revoked_at: 5 }, made.slice(0, 102))
  await set({ expires_at: 5 }, made.slice(102, 103))
  await set({ disabled: 1 }, made.slice(103, 104))
  assertProblem(await api('POST', 'keys/purge', { status: ['active'] }), 400, 'invalid_field')
  assertProblem(await api('POST', 'keys/purge', {}), 400, 'invalid_field')
  assert.deepEqual((await api('POST', 'keys/purge', { status: ['revoked'] })).json(), {
    object: 'purge',
    purged: 102,
  })
  const left = async () =>
    (await api('GET', 'keys?sort=created_at')).json<Keys>().data.map(({ status }) => status)
  assert.deepEqual(await left(), ['expired', 'disabled', 'active'])
  assert.deepEqual((await api('POST', 'keys/purge', { status: ['expired', 'revoked'] })).json(), {
    object: 'purge',
    purged: 1,
  })
  assert.deepEqual(await left(), ['disabled', 'active'])
})

test('a key shows when its old secret ends, which can be now', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const { secret, ...key } = (await api('POST', 'keys', { name: 'rotated' })).json<NewKey>()
  const path = `keys/${key.id}`
  const send = async (value: string) => {
    const { status, rawHeaders } = await served.send(value, CHAT, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"gpt-5"}',
    })
    return status === 200 ? 200 : headerOf(rawHeaders, 'x-proxy-error')
  }
  assert.equal(key.previous_secret_expires_at, null)
  const first = (await api('POST', `${path}/rotate`, { grace_seconds: 100 })).json<NewKey>()
  const ends = Date.parse(first.previous_secret_expires_at!) - Date.now()
  assert.ok(ends > 90_000 && ends <= 100_000, `${ends} ms`)
  const second = (await api('POST', `${path}/rotate`, { grace_seconds: 10_000 })).json<NewKey>()
  assert.ok(
    Date.parse(second.previous_secret_expires_at!) - Date.now() > 9_000_000,
    'the last of several',
  )
  assert.deepEqual(
    [await send(secret), await send(first.secret), await send(second.secret)],
    [200, 200, 200],
  )
  const ended = await api('POST', `${path}/rotate/end`)
  assert.deepEqual([ended.status, ended.json<Key>().previous_secret_expires_at], [200, null])
  assert.deepEqual(
    [await send(secret), await send(first.secret), await send(second.secret)],
    ['api_key_expired', 'api_key_expired', 200],
  )
  assert.equal(
    (await api('POST', `${path}/rotate/end`)).status,
    200,
    'there is nothing more to end',
  )
  await api('DELETE', path)
  assertProblem(await api('POST', `${path}/rotate/end`), 409, 'key_revoked')
})

test('editing a key does not expire it', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const { id } = (await api('POST', 'keys', { name: 'dated' })).json<NewKey>()
  const refused = await api('PATCH', `keys/${id}`, {
    expires_at: new Date(Date.now() - DAY).toISOString(),
  })
  assertProblem(refused, 400, 'invalid_field')
  const { errors } = refused.json<{ errors: { param: string; detail: string }[] }>()
  assert.deepEqual(
    [errors[0]?.param, /past.*revoke/.test(errors[0]?.detail ?? '')],
    ['expires_at', true],
  )
  assert.equal((await api('GET', `keys/${id}`)).json<Key>().status, 'active')
  // One that has expired keeps its date when something else is edited.
  await served.running.store.db
    .updateTable('keys')
    .set({ expires_at: 1_000 })
    .where('id', '=', id)
    .execute()
  const { expires_at } = (await api('GET', `keys/${id}`)).json<Key>()
  assert.equal((await api('PATCH', `keys/${id}`, { name: 'renamed', expires_at })).status, 200)
  assert.equal(
    (await api('PATCH', `keys/${id}`, { expires_at: null })).json<Key>().status,
    'active',
  )
})

test('tokens and invitations are counted, filtered by status and name, and purged', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const { api } = await manager(served)
  const ids: string[] = []
  for (const name of ['deploy', 'Deploy two', 'other'])
    ids.push((await api('POST', 'tokens', { name })).json<{ id: string }>().id)
  await api('DELETE', `tokens/${ids[1]}`)
  const list = async (query: string) => {
    const { data, total } = (await api('GET', `tokens?${query}`)).json<{
      data: { name: string }[]
      total: number
    }>()
    return [data.map(({ name }) => name), total]
  }
  assert.deepEqual(await list('search=DEPLOY'), [['Deploy two', 'deploy'], 2])
  assert.deepEqual(await list('search=deploy&status=active'), [['deploy'], 1])
  assert.deepEqual(await list('status=revoked,expired'), [['Deploy two'], 1])
  assert.deepEqual(await list('limit=1'), [['other'], 4])
  assert.equal((await api('DELETE', `tokens/${ids[1]}?purge=true`)).status, 204)
  assert.deepEqual(await list('status=revoked'), [[], 0])
  for (let i = 0; i < 3; i++) await api('POST', 'invitations', {})
  const invitations = (await api('GET', 'invitations?limit=2')).json<{
    data: object[]
    total: number
  }>()
  assert.deepEqual([invitations.data.length, invitations.total], [2, 3])
})
