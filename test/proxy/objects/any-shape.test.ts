// Another key's object is refused whatever the body's shape: as a list or an object where the other
// is expected, under another name, escaped.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { GEMINI, MISTRAL, more, V1 } from './object-places.ts'
import { ANTHROPIC, GOOGLE, startServed } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const CALL = `${GEMINI}/models/gemini-x:generateContent`
const MESSAGES = `${ANTHROPIC}/v1/messages`
const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const HEX = '68a1b2c3d4e5f60718293a4b5c6d7e8f'

/** TABLE of objects that a key has made: where, and the response. */
const MADE: [address: string, response: object][] = [
  [`${GOOGLE}/upload/v1beta/files`, { file: { name: 'files/theirs' } }],
  [`${GEMINI}/fileSearchStores`, { name: 'fileSearchStores/theirs' }],
  [`${GEMINI}/cachedContents`, { name: 'cachedContents/theirs' }],
  [`${ANTHROPIC}/v1/files`, { id: 'file_theirs' }],
  [`${V1}/files`, { id: 'file-theirs' }],
  [`${V1}/responses`, { id: `resp_${HEX}`, output: [{ type: 'message', id: 'msg_theirs' }] }],
  [`${V1}/vector_stores`, { id: 'vs_theirs' }],
  [`${MISTRAL}/files`, { id: UUID }],
]

const file = `${GEMINI}/files/theirs`
/** TABLE of other shapes and spellings. */
const SHAPES: [address: string, body: object | string][] = [
  [CALL, { contents: { parts: { fileData: { fileUri: file } } } }],
  [CALL, { contents: [{ parts: [[{ file_data: [{ file_uri: file }] }]] }] }],
  [CALL, { contents: [{ parts: [{ fileData: { fileUri: `${file}/` } }] }] }],
  [CALL, { contents: [{ parts: [{ fileData: { fileUri: `${GEMINI}/files/the%69rs` } }] }] }],
  [CALL, { contents: [{ parts: [{ fileData: { fileUri: `${GEMINI}/files/the%2569rs` } }] }] }],
  [CALL, `{"contents":{"parts":{"fileData":{"fileUri":"files\\/the\\u0069rs"}}}}`],
  [CALL, { tools: { fileSearch: { fileSearchStoreNames: 'fileSearchStores/theirs' } } }],
  [CALL, { tools: [{ file_search: { file_search_store_names: ['fileSearchStores/theirs'] } }] }],
  [CALL, { cached_content: ['cachedContents/theirs'] }],
  [CALL, { anything: { of: [{ tomorrow: 'v1beta/cachedContents/theirs' }] } }],
  [
    MESSAGES,
    {
      model: 'c',
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: {
                type: 'content',
                content: [{ type: 'image', source: { type: 'file', file_id: 'file_theirs' } }],
              },
            },
          ],
        },
      ],
    },
  ],
  [
    MESSAGES,
    {
      model: 'c',
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              content: [
                { type: 'search_result', content: [{ source: { file_id: 'file_theirs' } }] },
              ],
            },
          ],
        },
      ],
    },
  ],
  [MESSAGES, { model: 'c', messages: { content: { source: { file_id: 'file_theirs' } } } }],
  [`${V1}/responses`, { model: 'gpt-5', input: [{ type: 'item_reference', id: 'msg_theirs' }] }],
  [`${V1}/responses`, { model: 'gpt-5', input: { id: 'msg_theirs' } }],
  [
    `${V1}/responses`,
    {
      model: 'gpt-5',
      input: [{ role: 'user', content: { type: 'input_file', file_id: 'file-theirs' } }],
    },
  ],
  [`${V1}/responses`, { model: 'gpt-5', previous_response_id: [`resp_${HEX}`] }],
  [
    `${V1}/responses`,
    { model: 'gpt-5', tools: { type: 'file_search', vector_store_ids: { 0: 'vs_theirs' } } },
  ],
  [`${V1}/evals`, { data_source_config: { files: ['file-theirs'] } }],
  [`${V1}/of/tomorrow`, { file: 'file-theirs' }],
  [`${V1}/chat/completions`, { model: 'gpt-5', messages: [], metadata: { [`resp_${HEX}`]: 'x' } }],
  [`${MISTRAL}/chat/completions`, { model: 'm', messages: { content: { file: UUID } } }],
  [`${MISTRAL}/chat/completions?x=${UUID}`, { model: 'm', messages: [] }],
]

/** Served with a key that has made all of these, and with keys that have made nothing. */
async function startMade(t: TestContext) {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [mine, own, upstream] = [await key(), await key(), await key({ objects: 'upstream' })]
  for (const [address, response] of MADE) {
    fake.play(respond(200, JSON_TYPE, JSON.stringify(response)))
    assert.equal(
      (
        await send(mine.secret, address, {
          body: '{"model":"m","embeddingModel":"m"}',
          headers: JSON_TYPE,
        })
      ).status,
      200,
    )
  }
  fake.play(respond(200, JSON_TYPE, '{}'))
  return { mine, own, upstream, send }
}

test('an id that another key created is refused in any shape, and passes for its owner', async (t) => {
  const { mine, own, upstream, send } = await startMade(t)
  for (const [address, body] of SHAPES) {
    const sent = {
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: JSON_TYPE,
    }
    assert.equal((await send(mine.secret, address, sent)).status, 200, `${address} ${sent.body}`)
    for (const { secret } of [own, upstream]) {
      const got = await send(secret, address, sent)
      assert.deepEqual(
        [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
        [403, 'endpoint_not_allowed'],
        `${address} ${sent.body}`,
      )
    }
  }
})

const FORM = 'application/x-www-form-urlencoded'
/** TABLE of bodies of other kinds. */
const KINDS: [address: string, type: string, body: string][] = [
  [`${V1}/responses`, FORM, `model=m&previous_response_id=resp_${HEX}`],
  [`${V1}/unknown_xyz`, `${FORM}; charset=utf-8`, `a=1&x=resp%5F${HEX}&b=2`],
  [`${V1}/chat/completions`, FORM, `a[]=1;x=resp_${HEX}`],
  [`${V1}/embeddings`, FORM, `x=${encodeURIComponent(`{"a":["\\u0072esp_${HEX}"]}`)}`],
  [`${V1}/responses`, FORM, `{"x":"\\u0072esp_${HEX}"}`],
  [`${V1}/vector_stores`, FORM, 'file_ids[]=file-theirs'],
  [`${V1}/responses`, 'text/plain', `{"x":"\\u0072esp_${HEX}"}`],
  [`${V1}/unknown_xyz`, 'application/json', `\ufeff{"x":"\\u0072esp_${HEX}"}`],
  [`${GEMINI}/unknown_xyz`, 'application/json', `\ufeff{"x":"files/theirs"}`],
  [`${MISTRAL}/audio/speech`, FORM, `model=m&voice=${UUID}`],
]

test('an id that another key created is refused in a body of any kind', async (t) => {
  const { mine, own, send } = await startMade(t)
  const status = async (secret: string, address: string, type: string, body: string) =>
    (await send(secret, address, { body, headers: { 'Content-Type': type } })).status
  for (const [address, type, body] of KINDS) {
    assert.equal(await status(mine.secret, address, type, body), 200, `${address} ${type} ${body}`)
    assert.equal(await status(own.secret, address, type, body), 403, `${address} ${type} ${body}`)
  }
  assert.equal(
    await status(
      own.secret,
      `${V1}/responses`,
      'application/json',
      `\ufeff{"model":"ft:gpt-4o:acme::${HEX}"}`,
    ),
    403,
  )
  for (const type of [
    'application/xml',
    'application/msgpack',
    'application/x-protobuf',
    'text/plain',
  ]) {
    assert.equal(await status(own.secret, `${V1}/responses`, type, '<a>&#114;esp</a>'), 400, type)
    assert.equal(await status(own.secret, `${V1}/unknown_xyz`, type, '<a>&#114;esp</a>'), 400, type)
  }
  for (const [type, body] of [
    [FORM, 'model=m&input=x'],
    [FORM, '{"model":"m","input":"a=b&c"}'],
    ['text/plain', '{"model":"m","input":"x"}'],
  ]) {
    assert.equal(await status(own.secret, `${V1}/responses`, type!, body!), 200, `${type} ${body}`)
  }
})

test('an id inside a longer text is text', async (t) => {
  const { own, send } = await startMade(t)
  for (const text of [
    'What is in file-theirs?',
    '{"file_id":"file_theirs"}',
    `Error: ${file} was not found`,
    `resp_${HEX}, msg_theirs`,
    'theirs',
    `id=${UUID}`,
  ]) {
    const bodies: [string, object][] = [
      [
        CALL,
        {
          contents: [
            { parts: [{ text }, { functionCall: { name: 'read', args: { file: text } } }] },
          ],
        },
      ],
      [
        MESSAGES,
        {
          model: 'c',
          messages: [
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: text }],
            },
          ],
        },
      ],
      [
        `${V1}/responses`,
        {
          model: 'gpt-5',
          input: [
            { role: 'user', content: text },
            { type: 'function_call_output', call_id: 'call_1', output: text },
          ],
        },
      ],
    ]
    for (const [address, body] of bodies)
      assert.equal(
        (await send(own.secret, address, { body: JSON.stringify(body), headers: JSON_TYPE }))
          .status,
        200,
        `${address} ${text}`,
      )
  }
})

test('an unambiguous id without an owner is refused in any shape; inline repetitions pass', async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const { secret } = await key()
  const status = async (address: string, body: object) =>
    (await send(secret, address, { body: JSON.stringify(body), headers: JSON_TYPE })).status
  const refused: [string, object][] = [
    [CALL, { contents: { parts: { fileData: { fileUri: file } } } }],
    [CALL, { tools: { fileSearch: { fileSearchStoreNames: 'fileSearchStores/operators' } } }],
    [
      MESSAGES,
      {
        model: 'c',
        messages: { content: { source: { file_id: 'file_011CNha8iCJcU1wXNR6q4V8w' } } },
      },
    ],
    [`${V1}/responses`, { model: 'gpt-5', input: { content: { file_id: `file-${HEX}` } } }],
    [`${V1}/responses`, { model: 'gpt-5', prompt: { id: `pmpt_${HEX}` } }],
    [`${V1}/responses`, { model: 'gpt-5', input: [{ type: 'item_reference', id: `msg_${HEX}` }] }],
    [`${V1}/responses`, { model: `ft:gpt-4o:acme::${HEX}`, input: 'x' }],
  ]
  for (const [address, body] of refused)
    assert.equal(await status(address, body), 403, JSON.stringify(body))
  assert.equal(fake.requests.length, 0)
  const passes: [string, object][] = [
    // As the AI SDK repeats a turn with store: false.
    [
      `${V1}/responses`,
      {
        model: 'gpt-5',
        store: false,
        input: [
          { type: 'reasoning', id: `rs_${HEX}`, encrypted_content: 'x', summary: [] },
          { role: 'assistant', id: `msg_${HEX}`, content: [] },
        ],
      },
    ],
    [
      `${V1}/responses`,
      {
        model: 'gpt-5',
        tools: [{ type: 'function', name: 'file_reader' }, { type: 'web_search' }],
        metadata: { trace: UUID },
      },
    ],
    [
      CALL,
      {
        contents: [
          {
            parts: [
              {
                functionCall: {
                  name: 'read',
                  args: { path: 'files/readme', other: 'src/files/x' },
                },
              },
            ],
          },
        ],
      },
    ],
    [
      `${MISTRAL}/chat/completions`,
      { model: 'm', messages: [{ role: 'tool', tool_call_id: UUID, content: 'x' }] },
    ],
  ]
  for (const [address, body] of passes)
    assert.equal(await status(address, body), 200, JSON.stringify(body))
})
