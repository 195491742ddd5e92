// What a provider stores for a key is that key's: an id that another key made is refused wherever a request can name it, and one that nobody has
// made here passes, because it may be older than the proxy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { answer, headerOf } from '../../providers/fake.ts'
import { ANTHROPIC, GOOGLE, OPENAI, startServed } from './served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const [V1, GEMINI] = [`${OPENAI}/v1`, `${GOOGLE}/v1beta`]

/** TABLE of what is made: the request, and the answer, in which ID stands for its id. */
const MADE: Record<string, { address: string; answered: object }> = {
  file: { address: `${V1}/files`, answered: { id: 'ID', object: 'file' } },
  response: { address: `${V1}/responses`, answered: { id: 'ID', object: 'response' } },
  conversation: { address: `${V1}/conversations`, answered: { id: 'ID', object: 'conversation' } },
  vector_store: { address: `${V1}/vector_stores`, answered: { id: 'ID' } },
  container: { address: `${V1}/containers`, answered: { id: 'ID' } },
  assistant: { address: `${V1}/assistants`, answered: { id: 'ID' } },
  video: { address: `${V1}/videos`, answered: { id: 'ID' } },
  anthropicFile: { address: `${ANTHROPIC}/v1/files`, answered: { id: 'ID' } },
  googleFile: { address: `${GOOGLE}/upload/v1beta/files`, answered: { file: { name: 'files/ID' } } },
  cache: { address: `${GEMINI}/cachedContents`, answered: { name: 'cachedContents/ID' } },
  store: { address: `${GEMINI}/fileSearchStores`, answered: { name: 'fileSearchStores/ID' } },
}

/** TABLE of places that name it. */
const NAMED: [made: keyof typeof MADE, address: string, body: object][] = [
  ['response', `${V1}/responses`, { model: 'gpt-5', previous_response_id: 'ID' }],
  ['conversation', `${V1}/responses`, { model: 'gpt-5', conversation: 'ID' }],
  ['conversation', `${V1}/responses`, { model: 'gpt-5', conversation: { id: 'ID' } }],
  ['file', `${V1}/responses`, { model: 'gpt-5', input: [{ role: 'user', content: [{ type: 'input_text', text: 'x' }, { type: 'input_file', file_id: 'ID' }] }] }],
  ['file', `${V1}/chat/completions`, { model: 'gpt-5', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'ID' } }] }] }],
  ['file', `${V1}/responses`, { model: 'gpt-5', tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-of-before', 'ID'] } }] }],
  ['container', `${V1}/responses`, { model: 'gpt-5', tools: [{ type: 'code_interpreter', container: 'ID' }] }],
  ['vector_store', `${V1}/responses`, { model: 'gpt-5', tools: [{ type: 'file_search', vector_store_ids: ['ID'] }] }],
  ['file', `${V1}/batches`, { input_file_id: 'ID', endpoint: '/v1/responses', completion_window: '24h' }],
  ['file', `${V1}/vector_stores`, { name: 'x', file_ids: ['ID'] }],
  ['file', `${V1}/vector_stores/vs_of_before/files`, { file_id: 'ID' }],
  ['file', `${V1}/fine_tuning/jobs`, { model: 'gpt-5', training_file: 'ID' }],
  ['file', `${V1}/threads`, { messages: [{ role: 'user', content: 'x', attachments: [{ file_id: 'ID' }] }] }],
  ['assistant', `${V1}/threads/thread_of_before/runs`, { assistant_id: 'ID' }],
  ['video', `${V1}/videos/extensions`, { video: { id: 'ID' }, prompt: 'x' }],
  ['anthropicFile', `${ANTHROPIC}/v1/messages`, { model: 'claude', messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'ID' } }] }] }],
  ['anthropicFile', `${ANTHROPIC}/v1/messages`, { model: 'claude', messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'ID' }] }] }],
  ['anthropicFile', `${ANTHROPIC}/v1/messages/batches`, { requests: [{ params: { model: 'claude', messages: [{ role: 'user', content: [{ type: 'image', source: { file_id: 'ID' } }] }] } }] }],
  ['googleFile', `${GEMINI}/models/gemini-x:generateContent`, { contents: [{ parts: [{ fileData: { fileUri: `${GEMINI}/files/ID` } }] }] }],
  ['cache', `${GEMINI}/models/gemini-x:generateContent`, { cachedContent: 'cachedContents/ID', contents: [] }],
  ['store', `${GEMINI}/models/gemini-x:generateContent`, { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/ID'] } }] }],
  ['googleFile', `${GEMINI}/fileSearchStores/store-of-before:importFile`, { fileName: 'files/ID' }],
]

test('an id that another key made is refused in every place that names it; its maker and ids from before pass', async (t) => {
  const { fake, key, send } = await startServed(t, answer(200, JSON_TYPE, '{}'))
  const [mine, theirs] = [await key(), await key()]
  const post = (secret: string, address: string, body: object | Buffer, headers = {}) =>
    send(secret, address, { body: Buffer.isBuffer(body) ? body : JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } })
  const named = (value: object, id: string): object => JSON.parse(JSON.stringify(value).replaceAll('ID', id)) as object
  for (const [i, [made, address, body]] of NAMED.entries()) {
    const id = `made-${i}`
    const { address: makes, answered } = MADE[made]!
    fake.play(answer(200, JSON_TYPE, JSON.stringify(named(answered, id))))
    assert.equal((await post(mine.secret, makes, { model: 'gpt-5', embeddingModel: 'm' })).status, 200)
    fake.play(answer(200, JSON_TYPE, '{}'))
    const reached = fake.requests.length
    const what = `${address} ${JSON.stringify(body)}`
    const refused = await post(theirs.secret, address, named(body, id))
    assert.deepEqual([refused.status, headerOf(refused.rawHeaders, 'x-proxy-error')], [403, 'endpoint_not_allowed'], what)
    const packed = await post(theirs.secret, address, gzipSync(JSON.stringify(named(body, id))), { 'Content-Encoding': 'gzip' })
    assert.equal(packed.status, 403, `compressed: ${what}`)
    assert.equal(fake.requests.length, reached, what)
    assert.equal((await post(mine.secret, address, named(body, id))).status, 200, what)
    assert.equal((await post(theirs.secret, address, named(body, `of-before-${i}`))).status, 200, what)
  }
})

test('a place of objects that cannot be looked at is refused', async (t) => {
  const { fake, key, send } = await startServed(t, answer(200, JSON_TYPE, '{}'))
  const { secret } = await key()
  const long = JSON.stringify({ model: 'gpt-5', conversation: { pad: 'x'.repeat(100_000), id: 'conv_1' } })
  for (const [body, headers] of [[long, {}], [Buffer.from('not gzip'), { 'Content-Encoding': 'gzip' }]] as const) {
    const got = await send(secret, `${V1}/responses`, { body, headers: { ...JSON_TYPE, ...headers } })
    assert.deepEqual([got.status, headerOf(got.rawHeaders, 'x-proxy-error')], [400, 'ambiguous_body'])
  }
  assert.equal(fake.requests.length, 0)
})

/** TABLE of other ways to spell a path that names an object; a provider may read them as the plain one. */
const SPELLED: [made: keyof typeof MADE, ...addresses: string[]][] = [
  ['file', `${V1}/files/ID/`, `${V1}//files/ID`, `${V1}/files//ID`, `${V1}/Files/ID`, `${V1}/files/ID;x=1`, `${V1}/files/ID/content/`, `${V1}/files/ID/of-tomorrow`],
  ['response', `${V1}/responses/ID/`, `${V1}/responses//ID/input_items`, `${V1}/RESPONSES/ID`],
  ['googleFile', `${GEMINI}/files/ID/`, `${GOOGLE}/v1beta//files/ID`, `${GEMINI}/Files/ID`, `${GEMINI}/files/ID:download`, `${GOOGLE}/v9/files/ID`],
  ['anthropicFile', `${ANTHROPIC}/v1/files/ID/`, `${ANTHROPIC}/v1//files/ID/content`],
]

test('an id that another key made is refused however the path that names it is spelled', async (t) => {
  const { fake, key, send } = await startServed(t, answer(200, JSON_TYPE, '{}'))
  const [mine, theirs] = [await key(), await key()]
  for (const [made, ...addresses] of SPELLED) {
    const { address, answered } = MADE[made]!
    fake.play(answer(200, JSON_TYPE, JSON.stringify(answered)))
    assert.equal((await send(mine.secret, address, { body: '{"model":"gpt-5"}', headers: JSON_TYPE })).status, 200)
    fake.play(answer(200, JSON_TYPE, '{}'))
    for (const spelled of addresses) {
      for (const method of ['GET', 'DELETE']) {
        assert.equal((await send(theirs.secret, spelled, { method })).status, 403, `${method} ${spelled}`)
        assert.equal((await send(mine.secret, spelled, { method })).status, 200, `${method} ${spelled}`)
        assert.equal((await send(theirs.secret, spelled.replace('ID', 'of-before'), { method })).status, 200, `${method} ${spelled}`)
      }
    }
  }
  const body = JSON.stringify({ model: 'gpt-5', input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'ID' }] }] })
  for (const address of [`${V1}/responses/`, `${OPENAI}//v1/responses`, `${V1}/Responses`]) {
    assert.equal((await send(theirs.secret, address, { body, headers: JSON_TYPE })).status, 403, address)
    assert.equal((await send(mine.secret, address, { body, headers: JSON_TYPE })).status, 200, address)
  }
  const reached = fake.requests.length
  assert.equal((await send(mine.secret, `${V1}${'/x'.repeat(3)}${Array.from({ length: 30 }, (_, i) => `/${i}`).join('')}`, { method: 'GET' })).status, 403)
  assert.equal(fake.requests.length, reached)
})

test('a body larger than is read passes for a key without limits, unless it could name an object of another key', async (t) => {
  const { fake, key, send } = await startServed(t, answer(200, JSON_TYPE, '{"id":"file-1"}'), { TOLLMARK_MAX_BODY: '64KB' })
  const [mine, scoped, theirs] = [await key(), await key({ models: ['gpt-*'] }), await key()]
  const body = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'x'.repeat(100_000) }] })
  const chat = async ({ secret }: { secret: string }) => {
    const got = await send(secret, `${V1}/chat/completions`, { body, headers: JSON_TYPE })
    return [got.status, headerOf(got.rawHeaders, 'x-proxy-error')]
  }
  assert.deepEqual(await chat(mine), [200, null])
  assert.equal(fake.requests.at(-1)!.body.toString(), body)
  assert.deepEqual(await chat(scoped), [413, 'body_too_large'])
  await send(mine.secret, `${V1}/files`, { body: '{}', headers: JSON_TYPE })
  assert.deepEqual(await chat(mine), [200, null])
  assert.deepEqual(await chat(theirs), [413, 'body_too_large'])
})

test('a chat completion that the provider keeps is its maker\'s; of others nothing is written down', async (t) => {
  const { fake, key, send, running } = await startServed(t, answer(200, JSON_TYPE, '{}'))
  const [mine, scoped, theirs] = [await key(), await key({ models: ['gpt-*'] }), await key()]
  const kept = (id: string, stream: boolean) =>
    stream ? answer(200, { 'Content-Type': 'text/event-stream' }, `data: {"id":"${id}","choices":[]}\n\ndata: [DONE]\n\n`) : answer(200, JSON_TYPE, `{"id":"${id}","choices":[]}`)
  for (const [i, { secret }] of [mine, scoped].entries()) {
    for (const stream of [false, true]) {
      const id = `chatcmpl-${i}-${stream}`
      fake.play(kept(id, stream))
      await send(secret, `${V1}/chat/completions`, { body: JSON.stringify({ model: 'gpt-5', store: true, stream, messages: [] }), headers: JSON_TYPE })
      fake.play(answer(200, JSON_TYPE, '{}'))
      for (const path of [id, `${id}/messages`]) {
        assert.equal((await send(theirs.secret, `${V1}/chat/completions/${path}`, { method: 'GET' })).status, 403, path)
        assert.equal((await send(secret, `${V1}/chat/completions/${path}`, { method: 'GET' })).status, 200, path)
      }
    }
  }
  const before = await running.store.db.selectFrom('objects').select('object_id').execute()
  for (const store of [false, null, 'true', undefined]) {
    fake.play(kept('chatcmpl-not', false))
    assert.equal((await send(scoped.secret, `${V1}/chat/completions`, { body: JSON.stringify({ model: 'gpt-5', store, messages: [] }), headers: JSON_TYPE })).status, 200)
  }
  assert.deepEqual(await running.store.db.selectFrom('objects').select('object_id').execute(), before)
})

test('files that come into being by themselves are the maker\'s of what they come from', async (t) => {
  const { fake, key, send } = await startServed(t, answer(200, JSON_TYPE, '{"id":"job_1"}'))
  const [mine, theirs] = [await key(), await key()]
  const cases: [address: string, method: string, answered: object, files: string[]][] = [
    [`${V1}/batches/job_1`, 'GET', { output_file_id: 'file-1', error_file_id: 'file-2' }, ['file-1', 'file-2']],
    [`${V1}/batches/job_1/cancel`, 'POST', { output_file_id: 'file-3', error_file_id: null }, ['file-3']],
    [`${V1}/fine_tuning/jobs/job_1`, 'GET', { result_files: ['file-4', 'file-5'] }, ['file-4', 'file-5']],
  ]
  for (const [address, method, answered, files] of cases) {
    fake.play(answer(200, JSON_TYPE, JSON.stringify(answered)))
    assert.equal((await send(mine.secret, address, { method })).status, 200)
    fake.play(answer(200, JSON_TYPE, '{}'))
    for (const file of files) {
      assert.equal((await send(theirs.secret, `${V1}/files/${file}/content`, { method: 'GET' })).status, 403, file)
      assert.equal((await send(mine.secret, `${V1}/files/${file}/content`, { method: 'GET' })).status, 200, file)
    }
  }
})

test('the file that a batch has made is its maker\'s', async (t) => {
  const { fake, key, send } = await startServed(t, answer(200, JSON_TYPE, '{"id":"batch_1","output_file_id":null}'))
  const [mine, theirs] = [await key(), await key()]
  await send(mine.secret, `${V1}/batches`, { body: '{"input_file_id":"file-of-before"}', headers: JSON_TYPE })
  fake.play(answer(200, JSON_TYPE, '{"id":"batch_1","status":"completed","output_file_id":"file-out"}'))
  assert.equal((await send(theirs.secret, `${V1}/batches/batch_1`, { method: 'GET' })).status, 403)
  assert.equal((await send(mine.secret, `${V1}/batches/batch_1`, { method: 'GET' })).status, 200)
  assert.equal((await send(theirs.secret, `${V1}/files/file-out/content`, { method: 'GET' })).status, 403)
  assert.equal((await send(mine.secret, `${V1}/files/file-out/content`, { method: 'GET' })).status, 200)
})
