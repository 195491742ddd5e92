// A batch is started only from a file whose lines were read as they were uploaded, and name nothing
// of anybody else's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { shareObject } from '../../../server/keys/shared-objects.ts'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { COHERE, GEMINI, MISTRAL, more, V1 } from './object-places.ts'
import { GOOGLE, startServed } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM = { 'Content-Type': 'multipart/form-data; boundary=b' }
const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'

const line = (body: object): string =>
  `${JSON.stringify({ custom_id: 'r', method: 'POST', url: '/v1/responses', body })}\n`
const GOOD =
  line({ model: 'gpt-5', input: 'Summarise file-theirs, please.' }) +
  line({ model: 'gpt-5', input: 'x' })
const COHERES = GOOD.replaceAll('/v1/responses', '/v2/chat')
const MISTRALS = GOOD.replaceAll('"/v1/responses"', 'null')
const FOREIGN =
  GOOD +
  line({
    model: 'gpt-5',
    input: [{ role: 'user', content: { type: 'input_file', file_id: 'file-theirs' } }],
  })

/** Lines that name so many objects, of which nobody knows any. */
const naming = (count: number): string =>
  Array.from({ length: count }, (_, i) => `{"custom_id":"${i}","body":{"a":"resp_${i}"}}\n`).join(
    '',
  )

const part = (disposition: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`
const form = (file: string, purpose = 'batch'): string =>
  `${part('name="purpose"', purpose)}${part('name="file"; filename="a.jsonl"', file)}--b--\r\n`

/** TABLE of uploads to OpenAI's dialect, and whether a batch can be started from the file. */
const UPLOADS: [
  what: string,
  body: string | Buffer | Buffer[],
  headers: Record<string, string>,
  starts: boolean,
][] = [
  ['lines that name nothing', form(GOOD), FORM, true],
  ['in chunks', [...form(GOOD)].map((letter) => Buffer.from(letter)), FORM, true],
  [
    'the file before the purpose',
    `${part('name="file"; filename="a"', GOOD)}${part('name="purpose"', 'batch')}--b--\r\n`,
    FORM,
    true,
  ],
  // xAI's has no purpose: https://docs.x.ai/developers/advanced-api-usage/batch-api
  ['without a purpose', `${part('name="file"; filename="a"', GOOD)}--b--\r\n`, FORM, true],
  [
    'of another key, without a purpose',
    `${part('name="file"; filename="a"', FOREIGN)}--b--\r\n`,
    FORM,
    false,
  ],
  ['its own file', form(line({ file: 'file-mine' })), FORM, true],
  ['a file of another key', form(FOREIGN), FORM, false],
  ['with an escape', form(FOREIGN.replace('file-theirs"', 'file\\u002dtheirs"')), FORM, false],
  ['a file that nobody made', form(line({ file: 'file-68a1b2c3d4e5f60718293a4b' })), FORM, false],
  ['as many ids as are looked at', form(naming(10_000)), FORM, true],
  ['more ids than are looked at', form(naming(10_001)), FORM, false],
  ['many more ids than are looked at', form(naming(100_000)), FORM, false],
  ['one id in many lines', form(naming(2).repeat(10_000)), FORM, true],
  ['another purpose', form(GOOD, 'user_data'), FORM, false],
  ['no lines of JSON', form('{"a":1}\n{'), FORM, false],
  ['nothing', form(''), FORM, false],
  ...(
    [
      [{ url: '/v1/chat/completions' }, true],
      [{ url: '/v1/embeddings', method: 'POST' }, true],
      [{ body: {} }, true],
      [{ url: null }, true],
      [{ url: '/v1/chat/completions', method: 'DELETE' }, false],
      [{ url: '/v1/chat/completions', method: 'post ' }, false],
      ...[
        '/v1/realtime/client_secrets',
        '/v1/realtime/sessions',
        '/v1/organization/admin_api_keys',
        '/v1/files',
        '/v1/files/file-mine/content',
        '/v1/batches/batch_x/cancel',
        '/v1/of/tomorrow',
        '/v1/chat/../realtime/client_secrets',
        '/v1/chat/completions/',
        '/v1//chat/completions',
        '/V1/Chat/Completions',
        '/v1/chat%2fcompletions',
        '/v1/chat/completions?x=1',
        'https://api.openai.com/v1/chat/completions',
        '//evil.example/v1/chat/completions',
        '',
        7,
        ['/v1/chat/completions'],
        { a: '/v1/chat/completions' },
        `/v1/threads/thread_theirs/runs`,
      ].map((url): [object, boolean] => [{ url }, false]),
    ] as [object, boolean][]
  ).map(([request, starts]): (typeof UPLOADS)[number] => [
    `a line that calls ${JSON.stringify(request)}`,
    form(`${GOOD}${JSON.stringify({ custom_id: 'r', body: { model: 'gpt-5' }, ...request })}\n`),
    FORM,
    starts,
  ]),
  ...[
    '{"url":"/v1/chat/completions","url":"/v1/files","body":{}}',
    '{"url":"/v1/chat/completions","u\\u0072l":"/v1/files","body":{}}',
    '{"URL":"/v1/files","body":{}}',
    '[{"url":"/v1/files"}]',
  ].map((one): (typeof UPLOADS)[number] => [
    `an odd line: ${one}`,
    form(`${GOOD}${one}\n`),
    FORM,
    false,
  ]),
  [
    'two files',
    `${part('name="purpose"', 'batch')}${part('name="file"; filename="a"', GOOD)}${part('name="file"; filename="b"', FOREIGN)}--b--\r\n`,
    FORM,
    false,
  ],
  [
    'a part in base64',
    form(GOOD).replace(
      'filename="a.jsonl"\r\n',
      'filename="a.jsonl"\r\nContent-Transfer-Encoding: base64\r\n',
    ),
    FORM,
    false,
  ],
  ['encoded', gzipSync(form(GOOD)), { ...FORM, 'Content-Encoding': 'gzip' }, false],
]

test("a batch starts only from a file whose lines were read and name no other key's objects", async (t) => {
  const { fake, key, send, running } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"id":"file-mine"}'),
    more,
  )
  const [mine, theirs, upstream] = [await key(), await key(), await key({ objects: 'upstream' })]
  await send(mine.secret, `${V1}/files`, { body: form('x'), headers: FORM })
  fake.play(respond(200, JSON_TYPE, '{"id":"file-theirs"}'))
  await send(theirs.secret, `${V1}/files`, { body: form(GOOD), headers: FORM })
  const start = async ({ secret }: { secret: string }, id: string) => {
    fake.play(respond(200, JSON_TYPE, '{"id":"batch_1"}'))
    const got = await send(secret, `${V1}/batches`, {
      body: JSON.stringify({ input_file_id: id, endpoint: '/v1/responses' }),
      headers: JSON_TYPE,
    })
    return got.status === 200
      ? true
      : `${headerOf(got.rawHeaders, 'x-proxy-error')}: ${/The file was not read|created with another key|not created with this key/.exec(got.body.toString())?.[0]}`
  }
  for (const [i, [what, body, headers, starts]] of UPLOADS.entries()) {
    fake.play(respond(200, JSON_TYPE, `{"id":"file-${i}"}`))
    assert.equal((await send(mine.secret, `${V1}/files`, { body, headers })).status, 200, what)
    assert.equal(
      fake.requests.at(-1)!.body.length,
      Buffer.isBuffer(body)
        ? body.length
        : Array.isArray(body)
          ? body.length
          : Buffer.byteLength(body),
      what,
    )
    assert.equal(
      await start(mine, `file-${i}`),
      starts || 'endpoint_not_allowed: The file was not read',
      what,
    )
  }
  assert.equal(await start(theirs, 'file-0'), 'endpoint_not_allowed: created with another key')
  assert.equal(await start(mine, 'file-nobodys'), 'endpoint_not_allowed: not created with this key')
  assert.equal(await start(upstream, 'file-nobodys'), true)
  // An administrator who shares a file answers for what is in it.
  await shareObject(
    running.store,
    mine.id,
    { provider: 'openai', kind: 'file', object_id: 'file-shared' },
    0,
  )
  await running.keys?.refresh()
  assert.equal(await start(mine, 'file-shared'), true)
})

test('a file or dataset with unread lines starts no batch', async (t) => {
  const { fake, key, send, running } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"id":"upload_1"}'),
    more,
  )
  const mine = await key()
  const made = async (address: string, response: object, body = '{}') => {
    fake.play(respond(200, JSON_TYPE, JSON.stringify(response)))
    assert.equal(
      (await send(mine.secret, address, { body, headers: JSON_TYPE })).status,
      200,
      address,
    )
    fake.play(respond(200, JSON_TYPE, '{}'))
  }
  const start = async (address: string, body: object) =>
    (await send(mine.secret, address, { body: JSON.stringify(body), headers: JSON_TYPE })).status
  // An upload in parts: what completes it is no line of the file.
  await made(
    `${V1}/uploads`,
    { id: 'upload_1' },
    '{"filename":"a.jsonl","purpose":"batch","bytes":1,"mime_type":"text/jsonl"}',
  )
  await made(`${V1}/uploads/upload_1/parts`, { id: 'part_1', object: 'upload.part' })
  await made(
    `${V1}/uploads/upload_1/complete`,
    { id: 'upload_1', file: { id: 'file-parts' } },
    '{"part_ids":["part_1"]}',
  )
  await made(
    `${GEMINI}/files:register`,
    { files: [{ name: 'files/registered' }] },
    '{"uris":["gs://b/a.jsonl"]}',
  )
  await made(`${COHERE}/v1/datasets`, { id: 'lines-of-mine' })
  const batches: [string, object][] = [
    [`${V1}/batches`, { input_file_id: 'file-parts', endpoint: '/v1/responses' }],
    [
      `${GEMINI}/models/g:batchGenerateContent`,
      { batch: { input_config: { file_name: 'files/registered' } } },
    ],
    [`${COHERE}/v2/batches`, { model: 'c', input_dataset_id: 'lines-of-mine' }],
  ]
  for (const [address, body] of batches) assert.equal(await start(address, body), 403, address)
  // They are read and used otherwise, and an administrator may answer for what is in one.
  assert.equal(
    await start(`${COHERE}/v1/embed-jobs`, { model: 'e', dataset_id: 'lines-of-mine' }),
    200,
  )
  await shareObject(
    running.store,
    mine.id,
    { provider: 'cohere', kind: 'dataset', object_id: 'lines-of-mine' },
    0,
  )
  await running.keys?.refresh()
  assert.equal(await start(...batches[2]!), 200)
})

test('a Cohere batch starts from a dataset whose lines were read, and its owner cancels it', async (t) => {
  const { fake, key, send } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"id":"ds-theirs"}'),
    more,
  )
  const [mine, theirs] = [await key(), await key()]
  const datasets = `${COHERE}/v1/datasets?name=x&type=batch-chat-v2-input`
  const data = (...parts: [name: string, content: string][]) =>
    `${parts.map(([name, content]) => part(`name="${name}"; filename="a.jsonl"`, content)).join('')}--b--\r\n`
  await send(theirs.secret, datasets, { body: data(['data', COHERES]), headers: FORM })
  const naming = (id: string) =>
    line({
      messages: [{ role: 'user', content: [{ type: 'document', document: { dataset_id: id } }] }],
    }).replace('/v1/responses', '/v2/chat')
  const THEIRS = UUID
  fake.play(respond(200, JSON_TYPE, JSON.stringify({ id: THEIRS })))
  await send(theirs.secret, datasets, { body: data(['data', COHERES]), headers: FORM })
  /** TABLE of datasets, and whether a batch starts from one. */
  const cases: [what: string, body: string, starts: boolean][] = [
    ['lines that name nothing', data(['data', COHERES]), true],
    ["lines that name another key's", data(['data', naming(THEIRS)]), false],
    ['no lines', data(['data', 'a,b\n1,2\n']), false],
    ['two files', data(['data', COHERES], ['eval_data', naming(THEIRS)]), false],
    ['the field of a file', data(['file', COHERES]), false],
  ]
  for (const [i, [what, body, starts]] of cases.entries()) {
    fake.play(respond(200, JSON_TYPE, `{"id":"ds-${i}"}`))
    assert.equal((await send(mine.secret, datasets, { body, headers: FORM })).status, 200, what)
    fake.play(respond(200, JSON_TYPE, `{"batch":{"id":"b-${i}"}}`))
    const start = async ({ secret }: { secret: string }) =>
      (
        await send(secret, `${COHERE}/v2/batches`, {
          body: JSON.stringify({ name: 'x', model: 'command', input_dataset_id: `ds-${i}` }),
          headers: JSON_TYPE,
        })
      ).status
    assert.deepEqual([await start(theirs), await start(mine)], [403, starts ? 200 : 403], what)
  }
  for (const before of [':', '/']) {
    const cancel = async ({ secret }: { secret: string }, id: string) =>
      (
        await send(secret, `${COHERE}/v2/batches/${id}${before}cancel`, {
          body: '{}',
          headers: JSON_TYPE,
        })
      ).status
    assert.deepEqual(
      [await cancel(mine, 'b-0'), await cancel(theirs, 'b-0'), await cancel(mine, 'b-nobodys')],
      [200, 403, 403],
      before,
    )
  }
})

test('concurrent uploads keep their lines apart, however they are split and answered', async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{"id":"file-theirs"}'))
  const [mine, theirs] = [await key(), await key()]
  await send(theirs.secret, `${V1}/files`, { body: form(GOOD), headers: FORM })
  // Each is answered by the purpose of its own lines, the one that came first last.
  const { promise: second, resolve: responded } = Promise.withResolvers<void>()
  fake.play(async (call) => {
    const id = (await call.body()).includes('file_id') ? 'file-foreign' : 'file-good'
    if (id === 'file-foreign') await second
    const text = JSON.stringify({ id })
    call.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    )
    if (id === 'file-good') responded()
  })
  const upload = (lines: string) =>
    send(mine.secret, `${V1}/files`, {
      body: [...form(lines)].map((letter) => Buffer.from(letter)),
      headers: FORM,
    })
  const [one, other] = await Promise.all([upload(FOREIGN), upload(GOOD)])
  assert.deepEqual([one.status, other.status], [200, 200])
  fake.play(respond(200, JSON_TYPE, '{"id":"batch_1"}'))
  const start = async (id: string) =>
    (
      await send(mine.secret, `${V1}/batches`, {
        body: JSON.stringify({ input_file_id: id, endpoint: '/v1/responses' }),
        headers: JSON_TYPE,
      })
    ).status
  assert.deepEqual([await start('file-foreign'), await start('file-good')], [403, 200])
})

test('a Gemini batch starts from a completely read upload, and a Mistral batch from its file', async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [mine, theirs] = [await key(), await key()]
  const upload = async (
    { secret }: { secret: string },
    id: string,
    body: string,
    headers: Record<string, string> = {},
  ) => {
    fake.play(respond(200, JSON_TYPE, `{"file":{"name":"files/${id}"}}`))
    assert.equal(
      (
        await send(secret, `${GOOGLE}/upload/v1beta/files`, {
          body,
          headers: {
            'X-Goog-Upload-Command': 'upload, finalize',
            'X-Goog-Upload-Offset': '0',
            ...headers,
          },
        })
      ).status,
      200,
    )
    fake.play(respond(200, JSON_TYPE, '{"name":"batches/b1"}'))
  }
  const start = async (id: string) =>
    (
      await send(mine.secret, `${GEMINI}/models/g:batchGenerateContent`, {
        body: JSON.stringify({ batch: { input_config: { file_name: `files/${id}` } } }),
        headers: JSON_TYPE,
      })
    ).status
  await upload(theirs, 'theirs', 'x')
  const names = (uri: string) =>
    `${JSON.stringify({ key: 'a', request: { contents: [{ parts: [{ file_data: { file_uri: uri } }] }] } })}\n`
  await upload(mine, 'good', names('https://www.youtube.com/watch?v=theirs'))
  await upload(mine, 'foreign', names(`${GEMINI}/files/theirs`))
  await upload(mine, 'rest', names('x'), { 'X-Goog-Upload-Offset': '10' })
  await upload(mine, 'begun', names('x'), { 'X-Goog-Upload-Command': 'upload' })
  assert.deepEqual(
    [await start('good'), await start('foreign'), await start('rest'), await start('begun')],
    [200, 403, 403, 403],
  )

  const batch = async (file: string) =>
    (
      await send(mine.secret, `${MISTRAL}/batch/jobs`, {
        body: JSON.stringify({ model: 'm', endpoint: '/v1/chat/completions', input_files: [file] }),
        headers: JSON_TYPE,
      })
    ).status
  for (const [id, content, status] of [
    [UUID, MISTRALS, 200],
    [UUID.replace('0f', '1f'), 'not lines', 403],
  ] as const) {
    fake.play(respond(200, JSON_TYPE, JSON.stringify({ id })))
    await send(mine.secret, `${MISTRAL}/files`, { body: form(content), headers: FORM })
    fake.play(respond(200, JSON_TYPE, '{"id":"b"}'))
    assert.equal(await batch(id), status, id)
  }
})
