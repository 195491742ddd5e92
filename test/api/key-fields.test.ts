// What an administrator decides about a key besides its models: providers, objects, and whether it
// changes anything.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Key, NewKey } from '../../server/keys/key-record.ts'
import { MAX_SHARED_OBJECTS, type SharedObject } from '../../server/keys/shared-objects.ts'
import { assertProblem } from '../support/harness.ts'
import { respond, headerOf } from '../support/providers/fake.ts'
import { ANTHROPIC, OPENAI, startServed } from '../proxy/support/served.ts'
import { manager } from '../support/manager.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

test('a key has its own objects unless an administrator says otherwise', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const [admin, member] = [await manager(served), await manager(served, 'member')]
  const made = (await member.api('POST', 'keys', { name: 'k' })).json<NewKey>()
  assert.deepEqual([made.objects, made.providers, made.read_only], ['own', null, false])
  assertProblem(
    await member.api('POST', 'keys', { name: 'k', objects: 'upstream' }),
    403,
    'insufficient_scope',
  )
  assertProblem(
    await member.api('PATCH', `keys/${made.id}`, { objects: 'upstream' }),
    403,
    'insufficient_scope',
  )
  const path = `keys/${made.id}?account=all`
  assert.equal(
    (await admin.api('PATCH', path, { objects: 'upstream' })).json<Key>().objects,
    'upstream',
  )
  // The record as it was may be sent back; narrowing is anybody's.
  assert.equal(
    (
      await member.api('PATCH', `keys/${made.id}`, { objects: 'upstream', name: 'renamed' })
    ).json<Key>().name,
    'renamed',
  )
  assert.equal(
    (await member.api('PATCH', `keys/${made.id}`, { objects: 'own' })).json<Key>().objects,
    'own',
  )
  assert.equal(
    (await admin.api('POST', 'keys', { name: 'k', objects: 'upstream' })).json<Key>().objects,
    'upstream',
  )
  assertProblem(
    await admin.api('POST', 'keys', { name: 'k', objects: 'all' }),
    400,
    'invalid_field',
  )
})

test('a key is limited to known providers and reaches no other', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { api } = await manager(served)
  for (const providers of [['opnai'], [], 'openai', ['openai', 1]])
    assertProblem(await api('POST', 'keys', { name: 'k', providers }), 400, 'invalid_field')
  const key = (await api('POST', 'keys', { name: 'k', providers: ['openai'] })).json<NewKey>()
  assertProblem(
    await api('PATCH', `keys/${key.id}`, { providers: ['opnai'] }),
    400,
    'invalid_field',
  )
  const status = async () => {
    const sent = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"model":"m","messages":[]}',
    }
    const responses = [
      await served.send(key.secret, `${OPENAI}/v1/chat/completions`, sent),
      await served.send(key.secret, `${ANTHROPIC}/v1/messages`, sent),
    ]
    return responses.map(
      ({ status, rawHeaders }) => `${status} ${headerOf(rawHeaders, 'x-proxy-error') ?? ''}`,
    )
  }
  assert.deepEqual(await status(), ['200 ', '403 upstream_not_allowed'])
  assert.deepEqual(
    (await api('PATCH', `keys/${key.id}`, { providers: null })).json<Key>().providers,
    null,
  )
  assert.deepEqual(await status(), ['200 ', '200 '])
})

test('a read-only key may only generate and read', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { api } = await manager(served)
  const key = (
    await api('POST', 'keys', { name: 'k', read_only: true, objects: 'upstream' })
  ).json<NewKey>()
  const send = async (method: string, path: string) => {
    const body =
      method === 'POST'
        ? { headers: { 'Content-Type': 'application/json' }, body: '{"model":"m"}' }
        : {}
    return (await served.send(key.secret, `${OPENAI}/v1/${path}`, { method, ...body })).status
  }
  assert.deepEqual(
    [
      await send('POST', 'responses'),
      await send('GET', 'files'),
      await send('POST', 'batches'),
      await send('DELETE', 'files/file-1'),
    ],
    [200, 200, 403, 403],
  )
  await api('PATCH', `keys/${key.id}`, { read_only: false })
  assert.equal(await send('DELETE', 'files/file-1'), 200)
})

test('an administrator shares objects with a key, lists them and unshares them', async (t) => {
  const served = await startServed(t, respond(200, {}))
  const [admin, member] = [await manager(served), await manager(served, 'member')]
  const key = (await member.api('POST', 'keys', { name: 'k' })).json<NewKey>()
  const path = `keys/${key.id}/objects`
  const vectors = { provider: 'openai', kind: 'vector_store', object_id: 'vs_1' }
  const shared = await admin.api('POST', path, vectors)
  assert.equal(shared.status, 201)
  const record = shared.json<SharedObject>()
  assert.deepEqual(record, {
    id: record.id,
    object: 'shared_object',
    key_id: key.id,
    ...vectors,
    created_at: record.created_at,
  })
  assert.equal(
    (await admin.api('POST', path, vectors)).json<SharedObject>().id,
    record.id,
    'a second time changes nothing',
  )
  // Written as the proxy compares it.
  const file = (
    await admin.api('POST', path, {
      provider: 'google',
      kind: 'file',
      object_id: 'https://generativelanguage.googleapis.com/v1beta/files/abc',
    })
  ).json<SharedObject>()
  assert.equal(file.object_id, 'abc')
  assert.deepEqual((await admin.api('GET', path)).json<{ data: SharedObject[] }>().data, [
    record,
    file,
  ])
  for (const wrong of [
    { ...vectors, provider: 'opnai' },
    { ...vectors, kind: 'vectorstore' },
    { ...vectors, object_id: '' },
    { ...vectors, object_id: '//' },
    { ...vectors, id: 'vs_1' },
  ]) {
    assertProblem(await admin.api('POST', path, wrong), 400, 'invalid_field')
  }
  assertProblem(await admin.api('POST', 'keys/key_nothing/objects', vectors), 404, 'key_not_found')
  assertProblem(await admin.api('GET', 'keys/key_nothing/objects'), 404, 'key_not_found')
  assert.equal((await admin.api('DELETE', `${path}/${record.id}`)).status, 204)
  assertProblem(await admin.api('DELETE', `${path}/${record.id}`), 404, 'object_not_found')
  assert.deepEqual((await admin.api('GET', path)).json<{ data: SharedObject[] }>().data, [file])
  await served.running.store.db
    .insertInto('shared_objects')
    .values(
      Array.from({ length: MAX_SHARED_OBJECTS - 1 }, (_, i) => ({
        id: `share_${i}`,
        key_id: key.id,
        provider: 'openai',
        kind: 'file',
        object_id: `file-${i}`,
        created_at: 0,
      })),
    )
    .execute()
  assertProblem(await admin.api('POST', path, vectors), 400, 'invalid_field')
})
