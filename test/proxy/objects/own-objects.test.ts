// A key names stored objects that it made, or that were shared with it: what nobody made here is
// refused, wherever a request can name it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { shareObject } from '../../../server/keys/shared-objects.ts'
import { manager } from '../../support/manager.ts'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { usedFolder } from '../../support/templates.ts'
import { GEMINI, MADE, MISTRAL, more, NAMED, V1, XAI } from './object-places.ts'
import { ANTHROPIC, GOOGLE, startServed, type Served } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const named = (value: object, id: string): object =>
  JSON.parse(JSON.stringify(value).replaceAll('ID', id)) as object

/** How a request with a JSON body, or without one, ends: status and code. */
async function ending(
  { send }: Served,
  { secret }: { secret: string },
  line: string,
  body?: object,
  headers = {},
) {
  const [method = '', address = ''] = line.split(' ')
  const got = await send(secret, address, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } }),
  })
  return `${got.status} ${headerOf(got.rawHeaders, 'x-proxy-error') ?? ''}`.trim()
}

const CLOSED = '403 endpoint_not_allowed'

test("an id without an owner is refused in every place; its owner's ids pass", async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const { fake, key } = served
  const mine = await key()
  for (const [i, [made, at, body, headers = {}]] of NAMED.entries()) {
    const post = (id: string) =>
      ending(served, mine, `POST ${at.replace('ID', id)}`, named(body, id), named(headers, id))
    const reached = fake.requests.length
    assert.equal(
      await post(/skill/i.test(made) ? `skill_nobodys-${i}` : `nobodys-${i}`),
      CLOSED,
      `${at} ${JSON.stringify(body)}`,
    )
    assert.equal(fake.requests.length, reached)
    // Others of these name something else besides, which nobody has made.
    if (/of[-_]before|env_1/.test(at + JSON.stringify(body))) continue
    // Or start a batch: batch-inputs.test.ts.
    if (
      /input_file_id|input_dataset_id|file_?name":"files/i.test(JSON.stringify(body)) &&
      !at.includes('importFile')
    )
      continue
    const { address, response } = MADE[made]!
    fake.play(respond(200, JSON_TYPE, JSON.stringify(named(response, `mine-${i}`))))
    assert.equal(
      await ending(served, mine, `POST ${address}`, {
        model: 'gpt-5',
        embeddingModel: 'm',
        thread: { type: 'create' },
      }),
      '200',
    )
    fake.play(respond(200, JSON_TYPE, '{}'))
    assert.equal(await post(`mine-${i}`), '200', `${at} ${JSON.stringify(body)}`)
  }
})

/** TABLE of requests to what nobody made here, or to endpoints that no row knows. */
const NOBODYS = [
  `GET ${V1}/files/file-1`,
  `DELETE ${V1}/files/file-1`,
  `GET ${V1}/files/file-1/content`,
  `GET ${V1}/responses/resp_1`,
  `DELETE ${V1}/responses/resp_1`,
  `POST ${V1}/responses/resp_1/cancel`,
  `GET ${V1}/conversations/conv_1`,
  `GET ${V1}/threads/thread_1/messages`,
  `DELETE ${V1}/threads/thread_1`,
  `DELETE ${V1}/vector_stores/vs_1`,
  `POST ${V1}/vector_stores/vs_1/search`,
  `GET ${V1}/batches/batch_1`,
  `POST ${V1}/batches/batch_1/cancel`,
  `DELETE ${V1}/assistants/asst_1`,
  `GET ${V1}/unknown`,
  `HEAD ${V1}/unknown`,
  `PUT ${V1}/unknown/x`,
  `PATCH ${V1}/x`,
  `DELETE ${V1}/unknown`,
  `GET ${V1}/files/`,
  `GET ${V1}/Files`,
  `GET ${GEMINI}/files/f1`,
  `DELETE ${GEMINI}/files/f1`,
  `GET ${GEMINI}/files/f1:download?alt=media`,
  `GET ${GOOGLE}/v9/files`,
  `DELETE ${GEMINI}/cachedContents/c1`,
  `PATCH ${GEMINI}/cachedContents/c1`,
  `GET ${ANTHROPIC}/v1/files/file_1`,
  `DELETE ${ANTHROPIC}/v1/agents/x`,
  `GET ${ANTHROPIC}/v1/messages/batches/msgbatch_1`,
  // Methods that are called by their names.
  `POST ${XAI}/xai_api.Files/ListFiles`,
  `POST ${V1}/files.list`,
  `POST ${V1}/files:batchGet`,
  `POST ${V1}/unknown/list`,
  `POST ${V1}/unknown/deleteAll`,
  `POST ${V1}/GetFile`,
  `GET https://openrouter.ai/api/v1/generation?id=gen-1`,
  `DELETE ${XAI}/custom-voices/eve`,
  `DELETE ${V1}/audio/voices/alloy`,
]
/** TABLE of requests that name nothing stored, or what is everybody's. */
const EVERYBODYS: [line: string, body?: object][] = [
  [`GET ${V1}/models`],
  [`GET ${V1}/models/gpt-5`],
  [`GET ${GEMINI}/models`],
  [`POST ${V1}/unknown`, { file: 'x' }],
  [`POST ${V1}/unknown/listen`, {}],
  [`POST ${V1}/getty`, {}],
  [`POST ${V1}/v1.5/edit`, {}],
  [`GET ${XAI}/tts/voices`],
  [`GET ${XAI}/models`],
  [`POST ${V1}/audio/speech`, { model: 'tts', voice: 'alloy', input: 'x' }],
  [
    `POST ${V1}/chat/completions`,
    { model: 'gpt-5-audio', audio: { voice: 'coral', format: 'mp3' }, messages: [] },
  ],
  [
    `POST ${ANTHROPIC}/v1/messages`,
    {
      model: 'claude',
      container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] },
      messages: [],
    },
  ],
  [
    `POST ${GEMINI}/interactions`,
    { agent: 'deep-research-pro-preview-12-2025', input: 'x', environment: 'remote' },
  ],
  [
    `POST ${GEMINI}/interactions`,
    { model: 'g', input: 'x', generation_config: { speech_config: { voice: 'Kore' } } },
  ],
  [
    `POST ${GEMINI}/models/g:generateContent`,
    {
      contents: [
        {
          parts: [
            { fileData: { fileUri: 'https://www.youtube.com/watch?v=dQw4w9WgXcQ' } },
            { file_data: { file_uri: 'gs://bucket/files/a.mp4' } },
          ],
        },
      ],
    },
  ],
  [
    `POST ${GEMINI}/interactions`,
    {
      model: 'g',
      input: [
        { type: 'image', uri: 'https://example.com/files/a' },
        { type: 'image', uri: 'data:image/png;base64,AAAA' },
      ],
    },
  ],
  [`POST ${XAI}/tts`, { text: 'x', voice_id: 'eve' }],
  [
    `POST ${V1}/responses`,
    { model: 'gpt-5', input: [{ id: 'msg_of_another_time', role: 'assistant', content: [] }] },
  ],
]

for (const models of [null, ['*']]) {
  test(`unowned objects are closed to a key ${models === null ? 'for every model' : 'that is limited to models'} and open to one with objects: upstream`, async (t) => {
    const served = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
    const [own, upstream] = [
      await served.key({ models }),
      await served.key({ models: null, objects: 'upstream' }),
    ]
    for (const line of NOBODYS) {
      const body = line.startsWith('POST') ? {} : undefined
      assert.match(
        await ending(served, own, line, body),
        models === null ? /^403 endpoint_not_allowed$/ : /^403 (?:endpoint|model)_not_allowed$/,
        line,
      )
      assert.equal(await ending(served, upstream, line, body), '200', line)
    }
    for (const [line, body] of EVERYBODYS)
      if (models === null)
        assert.equal(
          await ending(served, own, line, body),
          '200',
          `${line} ${JSON.stringify(body)}`,
        )
  })
}

const FILE = 'file-68a1b2c3d4e5f60718293a4b'
/** TABLE of requests in which ID is what somebody says. */
const SAID: [address: string, body: object, id?: string][] = [
  [`${V1}/chat/completions`, { model: 'm', messages: [{ role: 'user', content: 'ID' }] }],
  [
    `${V1}/chat/completions`,
    {
      model: 'm',
      messages: [
        { role: 'user', content: [{ type: 'text', text: ' ID\n' }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'ID' },
      ],
    },
  ],
  [`${V1}/responses`, { model: 'm', input: 'ID' }],
  [
    `${V1}/responses`,
    {
      model: 'm',
      instructions: 'ID',
      input: [
        { role: 'user', content: 'ID' },
        { type: 'function_call_output', call_id: 'c', output: 'ID' },
      ],
    },
  ],
  [`${V1}/embeddings`, { model: 'm', input: ['x', 'ID'] }],
  [`${V1}/moderations`, { input: 'ID' }],
  [`${V1}/audio/speech`, { model: 'm', voice: 'alloy', input: 'ID' }],
  [`${V1}/images/generations`, { model: 'm', prompt: 'ID' }],
  [
    `${ANTHROPIC}/v1/messages`,
    {
      model: 'm',
      system: 'ID',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'ID' }] },
          ],
        },
      ],
    },
    'file_011CNha8iCJcU1wXNR6q4V8w',
  ],
  [
    `${GEMINI}/models/g:generateContent`,
    {
      systemInstruction: { parts: [{ text: 'ID' }] },
      contents: [
        {
          parts: [{ text: 'ID' }, { functionResponse: { name: 'f', response: { output: 'ID' } } }],
        },
      ],
    },
    'files/k3j9x0a2b1c4',
  ],
  [`${GEMINI}/interactions`, { model: 'g', input: 'ID' }, 'cachedContents/abc'],
  [`${MISTRAL}/conversations`, { model: 'm', inputs: 'ID' }, 'ag_068ff2d5a2b47b6a80003a5f1b2c3d4e'],
  [
    `${XAI}/responses`,
    { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: 'ID' }] }] },
    'collection_7d1c0e44-0f5b-4b7e-9f5e-6f1f0c3a2b19',
  ],
]

test('an id that is a whole message is text, unless another key created it', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const { fake, key, send } = served
  const [mine, theirs, scoped] = [
    await key(),
    await key(),
    await key({ models: ['m', 'g', '*moderation*'] }),
  ]
  for (const [address, body, id = FILE] of SAID) {
    const text = JSON.stringify(body).replaceAll('ID', id)
    const post = (who: { secret: string }, sent: string) =>
      ending(served, who, `POST ${address}`, JSON.parse(sent) as object)
    assert.equal(await post(mine, text), '200', text)
    if (!address.endsWith('/moderations')) assert.equal(await post(scoped, text), '200', text)
    // It says it, and names it as well.
    assert.equal(await post(mine, text.replace('{', `{"x":"${id}",`)), CLOSED, text)
    assert.match(await post(scoped, text.replace('{', `{"x":"${id}",`)), /^403 /, text)
  }
  fake.play(respond(200, JSON_TYPE, JSON.stringify({ id: FILE })))
  await ending(served, theirs, `POST ${V1}/files`, {})
  fake.play(respond(200, JSON_TYPE, '{}'))
  for (const [address, body, id = FILE] of SAID) {
    if (id !== FILE || !address.startsWith(V1)) continue
    const text = JSON.stringify(body).replaceAll('ID', id)
    assert.deepEqual(
      [
        await ending(served, mine, `POST ${address}`, JSON.parse(text) as object),
        await ending(served, theirs, `POST ${address}`, JSON.parse(text) as object),
      ],
      [CLOSED, '200'],
      text,
    )
  }
  // Where what is sent is no plain JSON, nothing in it is known to be text.
  const plain = JSON.stringify(SAID[0]![1]).replaceAll('ID', 'file-78a1b2c3d4e5f60718293a4b')
  for (const [sent, headers] of [
    [`\ufeff${plain}`, JSON_TYPE],
    [plain, {}],
    [plain, { 'Content-Type': 'text/plain' }],
    [gzipSync(plain), { ...JSON_TYPE, 'Content-Encoding': 'gzip' }],
  ] as const) {
    assert.equal((await send(mine.secret, SAID[0]![0], { body: sent, headers })).status, 403)
  }
})

test('a shared object can be read and used but never changed', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { running, key } = served
  const [mine, other] = [await key(), await key()]
  const share = async (kind: string, object_id: string) => {
    await shareObject(running.store, mine.id, { provider: 'openai', kind, object_id }, 0)
    await running.keys?.refresh()
  }
  await share('vector_store', 'vs_1')
  await share('file', 'file-1')
  await share('conversation', 'conv_1')
  await share('prompt', 'pmpt_1')
  await share('tuned_model', 'ft:gpt-4o:acme::shared')
  const search = { model: 'gpt-5', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }
  const uses: [string, object?][] = [
    [`POST ${V1}/responses`, search],
    [`POST ${V1}/responses`, { prompt: { id: 'pmpt_1', version: '2' }, input: 'x' }],
    [`POST ${V1}/responses`, { model: 'ft:gpt-4o:acme::shared', input: 'x' }],
    [`GET ${V1}/vector_stores/vs_1`],
    [`POST ${V1}/vector_stores/vs_1/search`, { query: 'x' }],
    [`GET ${V1}/files/file-1/content`],
    [`GET ${V1}/conversations/conv_1/items`],
  ]
  const changes: [string, object?][] = [
    [`DELETE ${V1}/vector_stores/vs_1`],
    [`POST ${V1}/vector_stores/vs_1`, { name: 'x' }],
    [`POST ${V1}/vector_stores/vs_1/files`, { file_id: 'file-1' }],
    [`DELETE ${V1}/files/file-1`],
    [`DELETE ${V1}/models/ft:gpt-4o:acme::shared`],
    // A response would be added to it.
    [`POST ${V1}/responses`, { model: 'gpt-5', conversation: 'conv_1' }],
    [`POST ${V1}/conversations/conv_1/items`, { items: [] }],
  ]
  for (const [line, body] of uses)
    assert.deepEqual(
      [await ending(served, mine, line, body), await ending(served, other, line, body)],
      ['200', CLOSED],
      line,
    )
  for (const [line, body] of changes)
    assert.equal(await ending(served, mine, line, body), CLOSED, line)
  const { api } = await manager({ running })
  const { data } = (await api('GET', `keys/${mine.id}/objects`)).json<{ data: { id: string }[] }>()
  for (const { id } of data) await api('DELETE', `keys/${mine.id}/objects/${id}`)
  for (const [line, body] of uses)
    assert.equal(await ending(served, mine, line, body), CLOSED, line)
})

test('items of responses keep their owner after a restart, without a row each', async (t) => {
  const data = usedFolder(t)
  const [one, two] = ['0bb6a6b452d3795b', '087bb177ab789d5c']
  const item = (kind: string, time: string, end: string) =>
    `${kind}_${time}f17f0819081ff3bb2cf6508e6${end}`
  const made = (end: string) => ({
    id: item('resp', '67ccd2be', end),
    output: Array.from({ length: 40 }, (_, i) => ({
      type: 'message',
      id: item('msg', `67ccd2${i + 10}`, end),
    })),
  })
  const first = await startServed(t, respond(200, JSON_TYPE, JSON.stringify(made(one))), {}, data)
  const [mine, theirs] = [await first.key(), await first.key()]
  await ending(first, mine, `POST ${V1}/responses`, { model: 'gpt-5' })
  first.fake.play(
    respond(
      200,
      JSON_TYPE,
      JSON.stringify({
        ...made(two),
        output: [...made(two).output, { type: 'reasoning', id: 'rs_short' }],
      }),
    ),
  )
  await ending(first, mine, `POST ${V1}/responses`, { model: 'gpt-5' })
  // Whatever it responds to others: what lies in a range of somebody's gets a row of its own.
  first.fake.play(
    respond(
      200,
      JSON_TYPE,
      JSON.stringify({
        id: item('resp', '77777777', one),
        output: [{ type: 'message', id: item('msg', '77777777', one) }],
      }),
    ),
  )
  await ending(first, theirs, `POST ${V1}/responses`, { model: 'gpt-5' })
  await first.running[Symbol.asyncDispose]()

  const again = await startServed(t, respond(200, JSON_TYPE, '{}'), {}, data)
  const rows = await again.running.store.db
    .selectFrom('objects')
    .select(['kind', 'object_id'])
    .orderBy('kind')
    .orderBy('object_id')
    .execute()
  assert.deepEqual(
    rows.map(({ kind, object_id }) => `${kind} ${object_id}`),
    [
      `item ${item('msg', '77777777', one)}`,
      'item rs_short',
      `items *${two}`,
      `items *${one}`,
      ...[
        item('resp', '67ccd2be', two),
        item('resp', '67ccd2be', one),
        item('resp', '77777777', one),
      ].map((id) => `response ${id}`),
    ],
  )
  const turn = (key: { secret: string }, ...ids: string[]) =>
    ending(again, key, `POST ${V1}/responses`, {
      model: 'gpt-5',
      input: ids.map((id) => ({ type: 'item_reference', id })),
    })
  const [ofMine, ofTheirs] = [
    [item('msg', '67ccd210', one), item('msg', '67ccd249', two), 'rs_short'],
    item('msg', '77777777', one),
  ]
  assert.deepEqual([await turn(mine, ...ofMine), await turn(theirs, ofTheirs)], ['200', '200'])
  for (const id of ofMine) assert.equal(await turn(theirs, id), CLOSED, id)
  assert.equal(await turn(mine, ofTheirs), CLOSED)
})

test('a fine-tuned model has an owner as soon as its job names it; no key may delete a base model', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { fake, key } = served
  const [mine, theirs, upstream] = [await key(), await key(), await key({ objects: 'upstream' })]
  const [tuned, other] = ['ft:gpt-4o-mini:acme::abc', 'ft:gpt-4o-mini:acme::operators']
  const made = async (line: string, response: object) => {
    fake.play(respond(200, JSON_TYPE, JSON.stringify(response)))
    assert.equal(
      await ending(
        served,
        mine,
        line,
        line.startsWith('POST') ? { model: 'gpt-4o-mini', baseModel: 'models/gemini' } : undefined,
      ),
      '200',
    )
    fake.play(respond(200, JSON_TYPE, '{}'))
  }
  await made(`POST ${V1}/fine_tuning/jobs`, { id: 'ftjob-1', fine_tuned_model: null })
  await made(`GET ${V1}/fine_tuning/jobs/ftjob-1`, {
    id: 'ftjob-1',
    fine_tuned_model: tuned,
    result_files: [],
  })
  await made(`POST ${GEMINI}/tunedModels`, {
    name: 'tunedModels/t1/operations/o1',
    metadata: { tunedModel: 'tunedModels/t1' },
  })
  const run = (model: string): [string, object] => [
    `POST ${V1}/chat/completions`,
    { model, messages: [] },
  ]
  /** TABLE of requests, and which keys may send them. */
  const cases: [line: string, body: object | undefined, ...who: boolean[]][] = [
    [...run('gpt-4o-mini'), true, true, true],
    [`GET ${V1}/models/${tuned}`, undefined, true, false, false],
    [`DELETE ${V1}/models/${tuned}`, undefined, true, false, false],
    [`DELETE ${V1}/models/${encodeURIComponent(tuned)}`, undefined, false, false, false],
    [`DELETE ${V1}/models/${other}`, undefined, false, false, true],
    [`DELETE ${V1}/models/gpt-4o-mini`, undefined, false, false, true],
    [`POST ${GEMINI}/tunedModels/t1:generateContent`, { contents: [] }, true, false, false],
    [`PATCH ${GEMINI}/tunedModels/t1`, {}, true, false, false],
    [`DELETE ${GEMINI}/tunedModels/t1`, undefined, true, false, false],
    [`DELETE ${GEMINI}/tunedModels/operators`, undefined, false, false, true],
    [`POST ${GEMINI}/models/gemini:generateContent`, { contents: [] }, true, true, true],
  ]
  for (const [line, body, ...who] of cases) {
    const endings = [
      await ending(served, mine, line, body),
      await ending(served, theirs, line, body),
      await ending(served, upstream, line, body),
    ]
    assert.deepEqual(
      endings,
      who.map((may) => (may ? '200' : CLOSED)),
      `${line} ${JSON.stringify(body)}`,
    )
  }
})
