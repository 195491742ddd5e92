// What a provider stores for a key is that key's: an id that another key made is refused wherever a
// request can name it. Of what nobody has made here these keys may name everything ("objects":
// "upstream"), because it may be older than the proxy; other keys: own-objects.test.ts.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { insertObject } from '../../../server/proxy/objects/object-writer.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { manager } from '../../support/manager.ts'
import { respond, chunk, head, headerOf } from '../../support/providers/fake.ts'
import { until } from '../../support/until.ts'
import { COHERE, GEMINI, MADE, MISTRAL, more, NAMED, OPENROUTER, V1, XAI } from './object-places.ts'
import {
  ANTHROPIC,
  GOOGLE,
  SECRETS,
  startServed as startOwn,
  type Served,
} from '../support/served.ts'

/** Served with keys that may name what nobody has made here. */
async function startServed(...args: Parameters<typeof startOwn>): Promise<Served> {
  const served = await startOwn(...args)
  return { ...served, key: (wishes = {}) => served.key({ objects: 'upstream', ...wishes }) }
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
test("another key's id is refused in every place; its owner's, and ids from before, pass", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [mine, theirs] = [await key(), await key()]
  const post = (secret: string, address: string, body: object | Buffer, headers = {}) =>
    send(secret, address, {
      body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
      headers: { ...JSON_TYPE, ...headers },
    })
  const named = (value: object, id: string): object =>
    JSON.parse(JSON.stringify(value).replaceAll('ID', id)) as object
  for (const [i, [made, at, body, headers = {}]] of NAMED.entries()) {
    const id = `made-${i}`
    const address = at.replace('ID', id)
    const { address: makes, response } = MADE[made]!
    fake.play(respond(200, JSON_TYPE, JSON.stringify(named(response, id))))
    assert.equal(
      (
        await post(mine.secret, makes, {
          model: 'gpt-5',
          embeddingModel: 'm',
          thread: { type: 'create' },
        })
      ).status,
      200,
    )
    fake.play(respond(200, JSON_TYPE, '{}'))
    const reached = fake.requests.length
    const what = `${address} ${JSON.stringify(body)}`
    const refused = await post(theirs.secret, address, named(body, id), named(headers, id))
    assert.deepEqual(
      [refused.status, headerOf(refused.rawHeaders, 'x-proxy-error')],
      [403, 'endpoint_not_allowed'],
      what,
    )
    const packed = await post(theirs.secret, address, gzipSync(JSON.stringify(named(body, id))), {
      ...named(headers, id),
      'Content-Encoding': 'gzip',
    })
    assert.equal(packed.status, 403, `compressed: ${what}`)
    assert.equal(fake.requests.length, reached, what)
    assert.equal(
      (await post(mine.secret, address, named(body, id), named(headers, id))).status,
      200,
      what,
    )
    assert.equal(
      (
        await post(
          theirs.secret,
          at.replace('ID', `of-before-${i}`),
          named(body, `of-before-${i}`),
          named(headers, `of-before-${i}`),
        )
      ).status,
      200,
      what,
    )
  }
})

test('a form names an object in any field; one too long to read passes if no other key has objects', async (t) => {
  const { fake, key, send } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"id":"file-1"}'),
    (origin) => ({ ...more(origin), TOLLMARK_MAX_BODY: '64KB' }),
  )
  const [mine, theirs, scoped] = [await key(), await key(), await key({ models: ['voxtral'] })]
  await send(mine.secret, `${MISTRAL}/files`, { body: '{}', headers: JSON_TYPE })
  await send(mine.secret, `${V1}/files`, { body: '{}', headers: JSON_TYPE })
  const form = (fields: Record<string, string>) =>
    [
      '',
      ...Object.entries(fields).map(
        ([name, value]) => `\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      ),
      '--\r\n',
    ].join('--b')
  const post = async ({ secret }: { secret: string }, address: string, body: string) => {
    const got = await send(secret, address, {
      body,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    })
    return [got.status, headerOf(got.rawHeaders, 'x-proxy-error')]
  }
  const transcribe = (key: { secret: string }, fields: Record<string, string>) =>
    post(key, `${MISTRAL}/audio/transcriptions`, form({ model: 'voxtral', ...fields }))
  for (const other of [theirs, scoped]) {
    assert.deepEqual(await transcribe(other, { file_id: 'file-1' }), [403, 'endpoint_not_allowed'])
    assert.deepEqual(await transcribe(other, { FILE_ID: 'file-1' }), [400, 'ambiguous_body'])
    assert.deepEqual(await transcribe(other, { file_id: 'file-of-before' }), [200, null])
    assert.deepEqual(await transcribe(other, { file: 'sound' }), [200, null])
  }
  assert.deepEqual(await transcribe(mine, { file_id: 'file-1' }), [200, null])
  const video = (key: { secret: string }, field: string) =>
    post(key, `${V1}/videos`, form({ model: 'sora-2', prompt: 'x', [field]: 'file-1' }))
  assert.deepEqual(await video(theirs, 'input_reference[file_id]'), [403, 'endpoint_not_allowed'])
  assert.deepEqual(await video(theirs, 'input_reference.file_id'), [400, 'ambiguous_body'])
  // No row knows this field, but it spells the object in full.
  assert.deepEqual(await video(theirs, 'input_reference'), [403, 'endpoint_not_allowed'])
  assert.deepEqual(await video(mine, 'input_reference'), [200, null])
  assert.deepEqual(await video(mine, 'input_reference[file_id]'), [200, null])
  const large = form({ model: 'gpt-image-1', image: 'x'.repeat(100_000) })
  assert.deepEqual(await post(theirs, `${V1}/images/edits`, large), [413, 'body_too_large'])
  assert.deepEqual(await post(mine, `${V1}/images/edits`, large), [200, null])
  assert.equal(fake.requests.at(-1)!.body.length > 100_000, true)
  // A file that is stored is never held.
  assert.deepEqual(
    await post(theirs, `${V1}/files`, form({ purpose: 'user_data', file: 'x'.repeat(100_000) })),
    [200, null],
  )
})

test("an object's place that cannot be inspected is refused", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { secret } = await key()
  const long = JSON.stringify({ model: 'gpt-5', conversation: { id: 'x'.repeat(100_000) } })
  for (const [body, headers] of [
    [long, {}],
    [Buffer.from('not gzip'), { 'Content-Encoding': 'gzip' }],
  ] as const) {
    const got = await send(secret, `${V1}/responses`, {
      body,
      headers: { ...JSON_TYPE, ...headers },
    })
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
      [400, 'ambiguous_body'],
    )
  }
  assert.equal(fake.requests.length, 0)
})

/** TABLE of bodies that some servers read as JSON: what, and how one is made of another. */
const ODD: [what: string, body: (json: string) => Buffer][] = [
  ['a byte order mark', (json) => Buffer.from(`\ufeff${json}`)],
  ['UTF-16', (json) => Buffer.from(json, 'utf16le')],
  ['UTF-16 with a mark', (json) => Buffer.from(`\ufeff${json}`, 'utf16le')],
  ['a comment', (json) => Buffer.from(`/* */${json}`)],
  ['a comma too many', (json) => Buffer.from(json.replace('{', '{"x":[1,],'))],
  ['single quotes', (json) => Buffer.from(json.replace('{', "{'x':1,"))],
  [
    'deep nesting',
    (json) => Buffer.from(json.replace('{', `{"x":${'['.repeat(600)}${']'.repeat(600)},`)),
  ],
  [
    'a key in capitals',
    (json) => Buffer.from(json.replace('previous_response_id', 'Previous_Response_ID')),
  ],
  ['something behind it', (json) => Buffer.from(`${json}{}`)],
]

test("another key's id is refused in a non-JSON body, which otherwise passes unchanged", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{"id":"resp_1"}'))
  const [mine, theirs] = [await key(), await key()]
  const post = async ({ secret }: { secret: string }, body: Buffer | string) => {
    const got = await send(secret, `${V1}/responses`, { body, headers: JSON_TYPE })
    return [got.status, headerOf(got.rawHeaders, 'x-proxy-error')]
  }
  const named = (id: string) => `{"model":"gpt-5","previous_response_id":"${id}"}`
  // What a request names itself is not made by its response.
  assert.deepEqual(await post(mine, '{"model":"gpt-5"}'), [200, null])
  for (const [what, odd] of ODD)
    assert.deepEqual(await post(mine, odd(named('resp_1'))), [200, null], what)
  for (const [what, odd] of ODD)
    assert.deepEqual(await post(theirs, odd(named('resp_of_before'))), [200, null], what)
  const reached = fake.requests.length
  for (const id of ['resp_1', 'resp\\u005f1'])
    for (const [what, odd] of ODD)
      assert.deepEqual(await post(theirs, odd(named(id))), [403, 'endpoint_not_allowed'], what)
  assert.equal(fake.requests.length, reached)
  const words = Array.from({ length: 10_001 }, (_, i) => `word-${i}`).join(' ')
  assert.deepEqual(await post(theirs, words), [400, 'ambiguous_body'])
  for (const body of ['', 'no JSON at all', words.slice(0, 95_000), randomBytes(4_000_000)])
    assert.deepEqual(await post(theirs, body), [200, null])
})

/**
 * TABLE of other ways to spell a path that names an object; a provider may read them as the plain
 * one.
 */
const SPELLED: [made: keyof typeof MADE, ...addresses: string[]][] = [
  // Some frameworks take what stands behind a dot for a format, and some servers do not tell small
  // letters.
  [
    'response',
    `${V1}/responses/ID.json`,
    `${V1}/responses/ID.`,
    `${V1}/responses/ID.json.`,
    `${V1}/unknown/ID.json`,
    `${V1}/responses/ID%2ejson/input_items`,
  ],
  [
    'file',
    `${V1}/files/ID/`,
    `${V1}/Files/ID`,
    `${V1}/files/ID;x=1`,
    `${V1}/files/ID/content/`,
    `${V1}/files/ID/of-tomorrow`,
  ],
  ['response', `${V1}/responses/ID/`, `${V1}/RESPONSES/ID`],
  [
    'googleFile',
    `${GEMINI}/files/ID/`,
    `${GEMINI}/Files/ID`,
    `${GEMINI}/files/ID:download`,
    `${GOOGLE}/v9/files/ID`,
  ],
  ['anthropicFile', `${ANTHROPIC}/v1/files/ID/`],
  ['anthropicAgent', `${ANTHROPIC}/v1/agents/ID`, `${ANTHROPIC}/v1/agents/ID/archive`],
]

test("another key's id is refused in any spelling of the path", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const [mine, theirs] = [await key(), await key()]
  for (const [made, ...addresses] of SPELLED) {
    const { address, response } = MADE[made]!
    fake.play(respond(200, JSON_TYPE, JSON.stringify(response)))
    assert.equal(
      (await send(mine.secret, address, { body: '{"model":"gpt-5"}', headers: JSON_TYPE })).status,
      200,
    )
    fake.play(respond(200, JSON_TYPE, '{}'))
    for (const spelled of addresses) {
      for (const method of ['GET', 'DELETE']) {
        assert.equal(
          (await send(theirs.secret, spelled, { method })).status,
          403,
          `${method} ${spelled}`,
        )
        assert.equal(
          (await send(mine.secret, spelled, { method })).status,
          200,
          `${method} ${spelled}`,
        )
        assert.equal(
          (await send(theirs.secret, spelled.replace('ID', 'of-before'), { method })).status,
          200,
          `${method} ${spelled}`,
        )
      }
    }
  }
  fake.play(respond(200, JSON_TYPE, '{"id":"file-68a1b2c3d4e5f607"}'))
  assert.equal(
    (await send(mine.secret, `${V1}/files`, { body: '{}', headers: JSON_TYPE })).status,
    200,
  )
  fake.play(respond(200, JSON_TYPE, '{}'))
  for (const id of ['file-68A1B2C3D4E5F607', 'file-68A1B2C3D4E5F607.JSON']) {
    const named = { body: JSON.stringify({ model: 'm', x: id }), headers: JSON_TYPE }
    assert.deepEqual(
      [
        (await send(theirs.secret, `${V1}/files/${id}`, { method: 'GET' })).status,
        (await send(mine.secret, `${V1}/files/${id}`, { method: 'GET' })).status,
      ],
      [403, 200],
      id,
    )
    assert.deepEqual(
      [
        (await send(theirs.secret, `${V1}/responses`, named)).status,
        (await send(mine.secret, `${V1}/responses`, named)).status,
      ],
      [403, 200],
      id,
    )
  }
  const body = JSON.stringify({
    model: 'gpt-5',
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'ID' }] }],
  })
  const file = JSON.stringify({ contents: [{ parts: [{ fileData: { fileUri: 'files/ID' } }] }] })
  assert.equal(
    (
      await send(theirs.secret, `${GEMINI}/models/gemini-x:generatecontent`, {
        body: file,
        headers: JSON_TYPE,
      })
    ).status,
    403,
  )
  for (const address of [`${V1}/responses/`, `${V1}/Responses`]) {
    assert.equal(
      (await send(theirs.secret, address, { body, headers: JSON_TYPE })).status,
      403,
      address,
    )
    assert.equal(
      (await send(mine.secret, address, { body, headers: JSON_TYPE })).status,
      200,
      address,
    )
  }
  const reached = fake.requests.length
  assert.equal(
    (
      await send(
        mine.secret,
        `${V1}${'/x'.repeat(3)}${Array.from({ length: 30 }, (_, i) => `/${i}`).join('')}`,
        { method: 'GET' },
      )
    ).status,
    403,
  )
  assert.equal(fake.requests.length, reached)
})

test("a body too large to read passes for an unlimited key, unless it could name another key's object", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{"id":"file-1"}'), {
    TOLLMARK_MAX_BODY: '64KB',
  })
  const [mine, scoped, theirs] = [await key(), await key({ models: ['gpt-*'] }), await key()]
  const body = JSON.stringify({
    model: 'gpt-5',
    messages: [{ role: 'user', content: 'x'.repeat(100_000) }],
  })
  const pieces = body.match(/.{1,9999}/gs)!.map((piece) => Buffer.from(piece))
  const chat = async ({ secret }: { secret: string }) => {
    const counted = await send(secret, `${V1}/chat/completions`, { body, headers: JSON_TYPE })
    const inPieces = await send(secret, `${V1}/chat/completions`, {
      body: pieces,
      headers: JSON_TYPE,
    })
    assert.equal(inPieces.status, counted.status)
    return [counted.status, headerOf(counted.rawHeaders, 'x-proxy-error')]
  }
  assert.deepEqual(await chat(mine), [200, null])
  for (const received of fake.requests.slice(-2)) assert.equal(received.body.toString(), body)
  assert.deepEqual(await chat(scoped), [413, 'body_too_large'])
  await send(mine.secret, `${V1}/files`, { body: '{}', headers: JSON_TYPE })
  assert.deepEqual(await chat(mine), [200, null])
  assert.deepEqual(await chat(theirs), [413, 'body_too_large'])
})

test('a stored chat completion belongs to its creator; others are not recorded', async (t) => {
  const { fake, key, send, running } = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const [mine, scoped, theirs] = [await key(), await key({ models: ['gpt-*'] }), await key()]
  assert.equal((await send(theirs.secret, `${V1}/chat/completions`, { method: 'GET' })).status, 200)
  const kept = (id: string, stream: boolean) =>
    stream
      ? respond(
          200,
          { 'Content-Type': 'text/event-stream' },
          `data: {"id":"${id}","choices":[]}\n\ndata: [DONE]\n\n`,
        )
      : respond(200, JSON_TYPE, `{"id":"${id}","choices":[]}`)
  for (const [i, { secret }] of [mine, scoped].entries()) {
    for (const stream of [false, true]) {
      const id = `chatcmpl-${i}-${stream}`
      fake.play(kept(id, stream))
      await send(secret, `${V1}/chat/completions`, {
        body: JSON.stringify({ model: 'gpt-5', store: true, stream, messages: [] }),
        headers: JSON_TYPE,
      })
      fake.play(respond(200, JSON_TYPE, '{}'))
      for (const path of [id, `${id}/messages`]) {
        assert.equal(
          (await send(theirs.secret, `${V1}/chat/completions/${path}`, { method: 'GET' })).status,
          403,
          path,
        )
        assert.equal(
          (await send(secret, `${V1}/chat/completions/${path}`, { method: 'GET' })).status,
          200,
          path,
        )
      }
    }
  }
  // The list of all of them holds what is in them.
  for (const list of [
    `${V1}/chat/completions`,
    `${V1}/chat/completions?limit=1`,
    `${V1}/chat/completions/`,
  ]) {
    for (const { secret } of [mine, theirs])
      assert.equal((await send(secret, list, { method: 'GET' })).status, 403, list)
  }
  assert.equal((await send(theirs.secret, `${V1}/files`, { method: 'GET' })).status, 200)
  const before = await running.store.db.selectFrom('objects').select('object_id').execute()
  for (const store of [false, null, 'true', undefined]) {
    fake.play(kept('chatcmpl-not', false))
    assert.equal(
      (
        await send(scoped.secret, `${V1}/chat/completions`, {
          body: JSON.stringify({ model: 'gpt-5', store, messages: [] }),
          headers: JSON_TYPE,
        })
      ).status,
      200,
    )
  }
  assert.deepEqual(
    await running.store.db.selectFrom('objects').select('object_id').execute(),
    before,
  )
})

test("a response's items are sent on its credential, by its owner", async (t) => {
  const { fake, key, send, running } = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { api } = await manager({ running })
  for (const secret of ['sk-2', 'sk-3', 'sk-4'])
    await api('POST', 'credentials', { provider: 'openai', name: secret, secret })
  const [mine, theirs] = [await key(), await key()]
  const post = async ({ secret }: { secret: string }, body: object) => {
    assert.equal(
      (
        await send(secret, `${V1}/responses`, {
          body: JSON.stringify({ model: 'gpt-5', ...body }),
          headers: JSON_TYPE,
        })
      ).status,
      200,
    )
    return headerOf(fake.requests.at(-1)!.rawHeaders, 'authorization')
  }
  for (let i = 0; i < 8; i++) {
    const made = {
      id: `resp_${i}`,
      output: [
        { type: 'reasoning', id: `rs_${i}` },
        { type: 'function_call', id: `fc_${i}` },
      ],
    }
    const stream = i % 2 === 1
    fake.play(
      stream
        ? respond(
            200,
            { 'Content-Type': 'text/event-stream' },
            `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: made })}\n\n`,
          )
        : respond(200, JSON_TYPE, JSON.stringify(made)),
    )
    const credential = await post(mine, { stream, input: 'x' })
    fake.play(respond(200, JSON_TYPE, '{}'))
    const named = {
      input: [
        { role: 'user', content: 'x' },
        { type: 'item_reference', id: `fc_${i}` },
        { type: 'function_call_output', call_id: 'c', output: 'y' },
      ],
    }
    for (let again = 0; again < 3; again++) assert.equal(await post(mine, named), credential)
    assert.equal(
      (
        await send(theirs.secret, `${V1}/responses`, {
          body: JSON.stringify({ model: 'gpt-5', ...named }),
          headers: JSON_TYPE,
        })
      ).status,
      403,
    )
  }
})

test('an object is reached with the credential that created it, in any process, or with any other once that is gone', async (t) => {
  const { fake, key, send, running } = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { api } = await manager({ running })
  const secrets: Record<string, string | null> = {
    env_openai: SECRETS.OPENAI_API_KEY,
    cred_gone: null,
  }
  for (const secret of ['sk-2', 'sk-3', 'sk-4']) {
    const made = await api('POST', 'credentials', { provider: 'openai', name: secret, secret })
    secrets[made.json<{ id: string }>().id] = secret
  }
  const [mine, theirs] = [await key(), await key()]
  const get = async ({ secret }: { secret: string }, id: string) => {
    const { status } = await send(secret, `${V1}/files/${id}`, { method: 'GET' })
    return status === 200 ? headerOf(fake.requests.at(-1)!.rawHeaders, 'authorization') : status
  }
  for (const [credential_id, secret] of Object.entries(secrets)) {
    const id = `file-${credential_id}`
    await running.store.db
      .insertInto('objects')
      .values({
        provider: 'openai',
        kind: 'file',
        object_id: id,
        key_id: mine.id,
        credential_id,
        created_at: 0,
      })
      .execute()
    assert.equal(await get(theirs, id), 403, id)
    for (let again = 0; again < 3; again++)
      assert.match(
        String(await get(mine, id)),
        secret === null ? /^Bearer sk-/ : new RegExp(`^Bearer ${secret}$`),
        id,
      )
  }
  for (let i = 0; i < 4; i++) {
    fake.play(respond(200, JSON_TYPE, `{"id":"file-${i}"}`))
    assert.equal(
      (await send(mine.secret, `${V1}/files`, { body: '{}', headers: JSON_TYPE })).status,
      200,
    )
    const credential = headerOf(fake.requests.at(-1)!.rawHeaders, 'authorization')
    for (let again = 0; again < 3; again++) assert.equal(await get(mine, `file-${i}`), credential)
  }
})

/**
 * TABLE of responses in which files stand that came into being by themselves, and the addresses at
 * which they are read.
 */
const COME: [from: string, method: string, response: object, ...files: string[]][] = [
  [
    `${V1}/batches/JOB`,
    'GET',
    { output_file_id: 'file-1', error_file_id: 'file-2' },
    `${V1}/files/file-1/content`,
    `${V1}/files/file-2/content`,
  ],
  [
    `${V1}/batches/JOB/cancel`,
    'POST',
    { output_file_id: 'file-3', error_file_id: null },
    `${V1}/files/file-3/content`,
  ],
  [
    `${V1}/fine_tuning/jobs/JOB`,
    'GET',
    { result_files: ['file-4', 'file-5'] },
    `${V1}/files/file-4/content`,
    `${V1}/files/file-5/content`,
  ],
  [
    `${GEMINI}/models/veo/operations/JOB`,
    'GET',
    {
      done: true,
      response: {
        generateVideoResponse: {
          generatedSamples: [{ video: { uri: `${GEMINI}/files/g1:download?alt=media` } }],
        },
      },
    },
    `${GEMINI}/files/g1:download?alt=media`,
    `${GEMINI}/files/g1`,
  ],
  [
    `${GEMINI}/batches/JOB`,
    'GET',
    { metadata: { output: { responsesFile: 'files/batch-g2' } } },
    `${GOOGLE}/download/v1beta/files/batch-g2:download?alt=media`,
  ],
  [
    `${GEMINI}/batches/JOB`,
    'GET',
    { response: { responsesFile: 'files/batch-g3' } },
    `${GOOGLE}/download/v1beta/files/batch-g3:download?alt=media`,
  ],
  [
    `${XAI}/videos/JOB`,
    'GET',
    { status: 'done', video: { url: 'https://x.test/1', file_output: { file_id: 'file-6' } } },
    `${XAI}/files/file-6/content`,
  ],
  [
    `${ANTHROPIC}/v1/messages`,
    'POST',
    {
      id: 'msg_1',
      content: [
        { type: 'text' },
        {
          type: 'bash_code_execution_tool_result',
          content: { content: [{ type: 'bash_code_execution_output', file_id: 'file-7' }] },
        },
      ],
    },
    `${ANTHROPIC}/v1/files/file-7/content`,
  ],
  [
    `${V1}/responses`,
    'POST',
    { id: 'resp_1', output: [{ type: 'code_interpreter_call', container_id: 'cntr_1' }] },
    `${V1}/containers/cntr_1/files/cfile_1/content`,
  ],
  [
    `${V1}/responses`,
    'POST',
    {
      id: 'resp_2',
      output: [
        {
          type: 'message',
          id: 'msg_2',
          content: [
            {
              type: 'output_text',
              annotations: [
                { type: 'container_file_citation', container_id: 'cntr_3', file_id: 'cfile_3' },
              ],
            },
          ],
        },
      ],
    },
    `${V1}/containers/cntr_3/files/cfile_3/content`,
    `${V1}/files/cfile_3/content`,
  ],
  [
    `${OPENROUTER}/chat/completions`,
    'POST',
    { id: 'gen-1', choices: [] },
    `${OPENROUTER}/generation?id=gen-1`,
  ],
  [
    `${OPENROUTER}/messages`,
    'POST',
    { id: 'gen-2', content: [] },
    `${OPENROUTER}/generation?id=gen-2`,
  ],
  [
    `${OPENROUTER}/responses`,
    'POST',
    { id: 'gen-3', output: [] },
    `${OPENROUTER}/generation?id=gen-3`,
  ],
  [
    `${V1}/responses/JOB`,
    'GET',
    {
      id: 'JOB',
      status: 'completed',
      output: [{ type: 'code_interpreter_call', container_id: 'cntr_2' }],
    },
    `${V1}/containers/cntr_2`,
  ],
  [
    `${COHERE}/v1/embed-jobs/JOB`,
    'GET',
    { job_id: 'JOB', output_dataset_id: 'dataset-2' },
    `${COHERE}/v1/datasets/dataset-2`,
  ],
  [
    `${COHERE}/v2/batches/JOB`,
    'GET',
    { batch: { id: 'JOB', output_dataset_id: 'dataset-3' } },
    `${COHERE}/v1/datasets/dataset-3`,
  ],
  [
    `${XAI}/chat/completions`,
    'POST',
    { request_id: 'deferred-1' },
    `${XAI}/chat/deferred-completion/deferred-1`,
  ],
]

test('files created by the provider belong to the owner of the object that produced them', async (t) => {
  const { fake, key, send, running } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [mine, theirs] = [await key(), await key()]
  const table = createProviderTable()
  for (const [from, method, response, ...files] of COME) {
    const { hostname, pathname } = new URL(from)
    const { provider } = table.find(hostname, 443)!
    for (const { kind, id } of classify(provider, method, pathname).objects) {
      await running.store.run(insertObject, {
        provider: provider.id,
        kind,
        object_id: id,
        key_id: mine.id,
        credential_id: 'c',
        created_at: 0,
      })
    }
    fake.play(respond(200, JSON_TYPE, JSON.stringify(response)))
    assert.equal(
      (
        await send(mine.secret, from, {
          method,
          ...(method === 'POST' && { body: '{"model":"m"}', headers: JSON_TYPE }),
        })
      ).status,
      200,
    )
    fake.play(respond(200, JSON_TYPE, '{}'))
    for (const file of files) {
      assert.equal((await send(theirs.secret, file, { method: 'GET' })).status, 403, file)
      assert.equal((await send(mine.secret, file, { method: 'GET' })).status, 200, file)
    }
  }
})

test('an object created in a stream is recorded by the time the caller sees its id', async (t) => {
  const { fake, key, send, port } = await startServed(t, async (call) => {
    call.write(head(200, { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked' }))
    call.write(chunk('data: {"type":"response.created","response":{"id":"resp_1"}}\n\n'))
    await call.gone()
  })
  const [mine, theirs] = [await key(), await key()]
  const stream = await fetch(`http://127.0.0.1:${port}/proxy?url=${V1}/responses`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${mine.secret}`, ...JSON_TYPE },
    body: '{"model":"gpt-5","stream":true}',
  })
  const reader = stream.body!.getReader()
  await reader.read()
  fake.play(respond(200, JSON_TYPE, '{}'))
  assert.equal((await send(theirs.secret, `${V1}/responses/resp_1/cancel`)).status, 403)
  assert.equal((await send(mine.secret, `${V1}/responses/resp_1/cancel`)).status, 200)
  await reader.cancel()
})

test("a cited file without a container was there before, and does not become its reader's", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const mine = await key({ objects: 'own' })
  const annotations = [
    { type: 'file_citation', file_id: 'file-8', filename: 'a.pdf' },
    { type: 'container_file_citation', container_id: 'cntr_8', file_id: 'cfile_8' },
  ]
  const output = [{ type: 'message', content: [{ type: 'output_text', annotations }] }]
  fake.play(respond(200, JSON_TYPE, JSON.stringify({ id: 'resp_8', output })))
  await send(mine.secret, `${V1}/responses`, { body: '{"model":"m"}', headers: JSON_TYPE })
  fake.play(respond(200, JSON_TYPE, '{}'))
  const naming = async (file_id: string) => {
    const content = [{ type: 'input_file', file_id }]
    const body = JSON.stringify({ model: 'm', input: [{ role: 'user', content }] })
    return (await send(mine.secret, `${V1}/responses`, { body, headers: JSON_TYPE })).status
  }
  assert.equal(await naming('cfile_8'), 200)
  assert.equal(await naming('file-8'), 403)
})

test('containers and generations in a stream are recorded, too', async (t) => {
  const events = (...data: object[]) =>
    respond(
      200,
      { 'Content-Type': 'text/event-stream' },
      data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''),
    )
  const { fake, key, send } = await startServed(t, events(), more)
  const [mine, theirs] = [await key(), await key()]
  const cited = { type: 'container_file_citation', container_id: 'cntr_9', file_id: 'cfile_9' }
  const text = Array.from({ length: 20 }, () => ({
    type: 'response.output_text.delta',
    delta: 'x',
  }))
  /** TABLE of streams, and what is read by what they show. */
  const streams: [address: string, events: object[], ...read: string[]][] = [
    [
      `${V1}/responses`,
      [
        { type: 'response.created', response: { id: 'resp_9' } },
        ...text,
        { type: 'response.output_text.annotation.added', annotation: cited },
        ...text,
      ],
      `${V1}/containers/cntr_9/files`,
      `${V1}/files/cfile_9`,
    ],
    [
      `${OPENROUTER}/chat/completions`,
      [
        { id: 'gen-9', choices: [] },
        { id: 'gen-9', choices: [] },
      ],
      `${OPENROUTER}/generation?id=gen-9`,
    ],
    [
      `${OPENROUTER}/messages`,
      [{ type: 'message_start', message: { id: 'gen-10' } }],
      `${OPENROUTER}/generation?id=gen-10`,
    ],
  ]
  for (const [address, data, ...reads] of streams) {
    fake.play(events(...data))
    assert.equal(
      (
        await send(mine.secret, address, {
          body: '{"model":"m","stream":true}',
          headers: JSON_TYPE,
        })
      ).status,
      200,
    )
    fake.play(respond(200, JSON_TYPE, '{}'))
    for (const read of reads) {
      assert.equal((await send(theirs.secret, read, { method: 'GET' })).status, 403, read)
      assert.equal((await send(mine.secret, read, { method: 'GET' })).status, 200, read)
    }
  }
})

test('an object created by a compressed response is known to the next request', async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const [mine, theirs] = [await key(), await key()]
  for (let i = 0; i < 30; i++) {
    fake.play(
      respond(
        200,
        { ...JSON_TYPE, 'Content-Encoding': 'zstd' },
        zstdCompressSync(JSON.stringify({ id: `resp_${i}`, output: 'x'.repeat(200_000) })),
      ),
    )
    assert.equal(
      (
        await send(mine.secret, `${V1}/responses`, {
          body: '{"model":"gpt-5"}',
          headers: JSON_TYPE,
        })
      ).status,
      200,
    )
    assert.equal(
      (await send(theirs.secret, `${V1}/responses/resp_${i}`, { method: 'GET' })).status,
      403,
      `resp_${i}`,
    )
  }
})

test("an upload's parts go to the credential that began it and belong to its creator", async (t) => {
  const begun = `${GOOGLE}/upload/v1beta/files?upload_id=up-1&upload_protocol=resumable`
  const { fake, key, send, running } = await startServed(
    t,
    respond(200, { 'X-Goog-Upload-URL': begun, 'Content-Type': 'text/plain' }, ''),
  )
  const [mine, theirs] = [await key(), await key()]
  assert.equal(
    (
      await send(mine.secret, `${GOOGLE}/upload/v1beta/files`, {
        body: '{}',
        headers: { ...JSON_TYPE, 'X-Goog-Upload-Command': 'start' },
      })
    ).status,
    200,
  )
  fake.play(respond(200, JSON_TYPE, '{"file":{"name":"files/f1"}}'))
  assert.equal((await send(theirs.secret, begun, { body: 'x' })).status, 403)
  assert.equal((await send(mine.secret, begun, { body: 'x' })).status, 200)
  assert.equal(
    (await send(theirs.secret, begun.replace('up-1', 'of-before'), { body: 'x' })).status,
    200,
  )
  const written = async () =>
    (
      await running.store.db
        .selectFrom('objects')
        .select(['kind', 'object_id'])
        .orderBy('kind')
        .execute()
    ).map(({ kind, object_id }) => `${kind} ${object_id}`)
  await until(async () => (await written()).length === 2)
  assert.deepEqual(await written(), ['file f1', 'upload up-1'])
})

test("a batch's output file belongs to the batch's owner", async (t) => {
  const { fake, key, send } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"id":"batch_1","output_file_id":null}'),
  )
  const [mine, theirs] = [await key(), await key()]
  await send(mine.secret, `${V1}/batches`, {
    body: '{"input_file_id":"file-of-before"}',
    headers: JSON_TYPE,
  })
  fake.play(
    respond(200, JSON_TYPE, '{"id":"batch_1","status":"completed","output_file_id":"file-out"}'),
  )
  assert.equal((await send(theirs.secret, `${V1}/batches/batch_1`, { method: 'GET' })).status, 403)
  assert.equal((await send(mine.secret, `${V1}/batches/batch_1`, { method: 'GET' })).status, 200)
  assert.equal(
    (await send(theirs.secret, `${V1}/files/file-out/content`, { method: 'GET' })).status,
    403,
  )
  assert.equal(
    (await send(mine.secret, `${V1}/files/file-out/content`, { method: 'GET' })).status,
    200,
  )
})

test('the first recorded owner of an id stays its owner in every process', async (t) => {
  const { fake, key, send, running } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"id":"resp_1"}'),
  )
  const [mine, theirs] = [await key(), await key()]
  await running.store.db
    .insertInto('objects')
    .values({
      provider: 'openai',
      kind: 'response',
      object_id: 'resp_1',
      key_id: mine.id,
      credential_id: 'env_openai',
      created_at: 0,
    })
    .execute()
  assert.equal(
    (
      await send(theirs.secret, `${V1}/responses`, {
        body: '{"model":"gpt-5"}',
        headers: JSON_TYPE,
      })
    ).status,
    200,
  )
  fake.play(respond(200, JSON_TYPE, '{}'))
  await until(
    async () =>
      (await send(theirs.secret, `${V1}/responses/resp_1`, { method: 'GET' })).status === 403,
  )
  assert.equal((await send(mine.secret, `${V1}/responses/resp_1`, { method: 'GET' })).status, 200)
})
