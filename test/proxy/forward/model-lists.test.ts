// The list of models that a key with a scope gets is the provider's, less what it may not use;
// nobody else's changes by a byte.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { respond, headerOf, type Script } from '../../support/providers/fake.ts'
import { openCounter } from '../../support/turn-counter.ts'
import { ORIGINS, startScoped, type Id } from '../support/scoped.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }

/**
 * TABLE of lists: where, the provider's response, the key's models, and what is left. Spaces and
 * numbers are odd on purpose.
 */
const LISTS: [id: Id, path: string, response: string, models: string[], left: string][] = [
  [
    'openai',
    '/v1/models',
    '{\n  "object": "list",\n  "data": [\n    { "id": "gpt-5", "created": 1.0e3 },\n    { "id": "o3" },\n    { "id": "gpt-5-mini" }\n  ]\n}\n',
    ['gpt-5*'],
    '{\n  "object": "list",\n  "data": [\n    { "id": "gpt-5", "created": 1.0e3 },\n    { "id": "gpt-5-mini" }\n  ]\n}\n',
  ],
  [
    'openai',
    '/v1/models',
    '{"data":[{"id":"o3"},{"id":"gpt-5"}]}',
    ['gpt-5'],
    '{"data":[{"id":"gpt-5"}]}',
  ],
  [
    'openai',
    '/v1/models',
    '{"data":[{"id":"o3"},{"id":"o4"}],"x":12345678901234567890}',
    ['gpt-5'],
    '{"data":[],"x":12345678901234567890}',
  ],
  ['openai', '/v1/models', '{"data":[ ]}', ['gpt-5'], '{"data":[ ]}'],
  [
    'openai',
    '/v1/models',
    '{"data":[{"id":"o3","\\u0069d":"gpt-5"},{"x":"]}\\"[{","id":"o3"},{"id":"gpt-5\\u002d1"},{}]}',
    ['gpt-5*'],
    '{"data":[{"id":"o3","\\u0069d":"gpt-5"},{"id":"gpt-5\\u002d1"}]}',
  ],
  [
    'anthropic',
    '/v1/models?limit=3',
    '{"data":[{"type":"model","id":"claude-a"},{"type":"model","id":"claude-b"}],"has_more":true,"first_id":"claude-a","last_id":"claude-b"}',
    ['claude-b'],
    '{"data":[{"type":"model","id":"claude-b"}],"has_more":true,"first_id":"claude-b","last_id":"claude-b"}',
  ],
  [
    'anthropic',
    '/v1/models',
    '{"first_id":"claude-a", "last_id" :\n"claude-d","data":[{"id":"claude-a"}, {"id":"claude-b"}, {"id":"claude-c"},{"id":"claude-d"}],"has_more":false}',
    ['claude-b', 'claude-c'],
    '{"first_id":"claude-b", "last_id" :\n"claude-c","data":[{"id":"claude-b"}, {"id":"claude-c"}],"has_more":false}',
  ],
  [
    'anthropic',
    '/v1/models',
    '{"data":[{"id":"claude-a"},{"id":"claude-b"},{"id":"claude-c"}],"has_more":false,"first_id":"claude-a","last_id":"claude-c"}',
    ['claude-a', 'claude-c'],
    '{"data":[{"id":"claude-a"},{"id":"claude-c"}],"has_more":false,"first_id":"claude-a","last_id":"claude-c"}',
  ],
  [
    'google',
    '/v1beta/models',
    '{"models":[{"name":"models/gemini-a"},{"name":"models/gemini-b"}],"nextPageToken":"x"}',
    ['gemini-b'],
    '{"models":[{"name":"models/gemini-b"}],"nextPageToken":"x"}',
  ],
  ['google', '/v1beta/models', '{}', ['gemini-b'], '{}'],
  [
    'google',
    '/v1beta/openai/models',
    '{"object":"list","data":[{"id":"models/gemini-a"},{"id":"models/gemini-b"}]}',
    ['models/gemini-a'],
    '{"object":"list","data":[{"id":"models/gemini-a"}]}',
  ],
  [
    'vertex',
    '/v1beta1/publishers/google/models',
    '{"publisherModels":[{"name":"publishers/google/models/gemini-a"},{"name":"publishers/google/models/b"}]}',
    ['gemini-*'],
    '{"publisherModels":[{"name":"publishers/google/models/gemini-a"}]}',
  ],
  [
    'mistral',
    '/v1/models',
    '{"object":"list","data":[{"id":"mistral-large-2411","name":"x","aliases":["mistral-large-latest"]},{"id":"codestral","aliases":[]}]}',
    ['mistral-large-latest'],
    '{"object":"list","data":[{"id":"mistral-large-2411","name":"x","aliases":["mistral-large-latest"]}]}',
  ],
  [
    'cohere',
    '/v1/models?page_size=2',
    '{"models":[{"name":"command-r"},{"name":"embed-v4"}],"next_page_token":"soup"}',
    ['embed-*'],
    '{"models":[{"name":"embed-v4"}],"next_page_token":"soup"}',
  ],
  [
    'groq',
    '/openai/v1/models',
    '{"object":"list","data":[{"id":"llama"},{"id":"whisper"}]}',
    ['llama'],
    '{"object":"list","data":[{"id":"llama"}]}',
  ],
  [
    'xai',
    '/v1/language-models',
    '{"models":[{"id":"grok-4","aliases":["grok-latest"]},{"id":"grok-3","aliases":[]}]}',
    ['grok-latest'],
    '{"models":[{"id":"grok-4","aliases":["grok-latest"]}]}',
  ],
  [
    'deepseek',
    '/models',
    '{"object":"list","data":[{"id":"deepseek-chat"},{"id":"deepseek-reasoner"}]}',
    ['deepseek-chat'],
    '{"object":"list","data":[{"id":"deepseek-chat"}]}',
  ],
  [
    'together',
    '/v1/models',
    '[{"id":"a/b","type":"chat"},\n {"id":"a/c"},\n {"id":"d/e"}]',
    ['a/*'],
    '[{"id":"a/b","type":"chat"},\n {"id":"a/c"}]',
  ],
  [
    'openrouter',
    '/api/v1/models',
    '{"data":[{"id":"openai/gpt-5","name":"anthropic/x"},{"id":"anthropic/x"}]}',
    ['anthropic/*'],
    '{"data":[{"id":"anthropic/x"}]}',
  ],
  [
    'openrouter',
    '/api/v1/models/user',
    '{"data":[{"id":"openai/gpt-5"},{"id":"anthropic/x"}]}',
    ['anthropic/*'],
    '{"data":[{"id":"anthropic/x"}]}',
  ],
  [
    'gateway',
    '/v4/ai/config',
    '{"models":[{"id":"openai/gpt-5","name":"GPT-5"},{"id":"anthropic/x","name":"X"}]}',
    ['anthropic/*'],
    '{"models":[{"id":"anthropic/x","name":"X"}]}',
  ],
  [
    'fireworks',
    '/inference/v1/models',
    '{"data":[{"id":"accounts/fireworks/models/a"},{"id":"accounts/fireworks/models/b"}]}',
    ['*/b'],
    '{"data":[{"id":"accounts/fireworks/models/b"}]}',
  ],
  ['cerebras', '/v1/models', '{"data":[{"id":"a"},{"id":"b"}]}', ['a'], '{"data":[{"id":"a"}]}'],
  [
    'azure',
    '/openai/v1/models',
    '{"data":[{"id":"a"},{"id":"b"}]}',
    ['a'],
    '{"data":[{"id":"a"}]}',
  ],
  [
    'azure',
    '/openai/deployments?api-version=1',
    '{"data":[{"id":"a","model":"gpt-5"},{"id":"b","model":"a"}]}',
    ['a'],
    '{"data":[{"id":"a","model":"gpt-5"}]}',
  ],
  [
    'added',
    '/v1/models',
    '{"models":["a","b"],"warnings":[]}',
    ['b'],
    '{"models":["b"],"warnings":[]}',
  ],
]

test('a scoped key gets the list filtered to its models, and all others get it unchanged', async (t) => {
  const { served, ask } = await startScoped(t)
  for (const [id, path, response, models, left] of LISTS) {
    served.fake.play(respond(200, { ...JSON_TYPE, ETag: '"1"', 'Content-MD5': 'x' }, response))
    const got = await ask(id, path, models, {
      method: 'GET',
      headers: { 'If-None-Match': '"1"', Range: 'bytes=0-9', 'Accept-Encoding': 'br' },
    })
    assert.deepEqual([got.status, got.body], [200, left], `${id} ${path}`)
    const [up] = served.fake.requests.slice(-1)
    assert.deepEqual(
      [
        headerOf(up!.rawHeaders, 'if-none-match'),
        headerOf(up!.rawHeaders, 'range'),
        headerOf(up!.rawHeaders, 'accept-encoding'),
      ],
      [null, null, 'identity'],
    )
    assert.equal((await ask(id, path, null, { method: 'GET' })).body, response)
  }
})

test('a key with `objects: own` gets every list of models, too', async (t) => {
  const { served } = await startScoped(t)
  const { secret } = await served.key({ objects: 'own' })
  for (const [id, path, response] of LISTS) {
    served.fake.play(respond(200, JSON_TYPE, response))
    const got = await served.send(secret, `${ORIGINS[id]}${path}`, { method: 'GET' })
    assert.deepEqual([got.status, String(got.body)], [200, response], `${id} ${path}`)
  }
})

test('a key with `objects: own` sees no model stored by another key or outside this server', async (t) => {
  const { served } = await startScoped(t)
  const [mine, own, scoped, upstream] = [
    await served.key(),
    await served.key(),
    await served.key({ models: ['ft:*'] }),
    await served.key({ objects: 'upstream' }),
  ]
  const [tuned, operators] = ['ft:gpt-4o:acme::aaa111', 'ft:gpt-4o:acme::bbb222']
  const V1 = `${ORIGINS.openai}/v1`
  served.fake.play(respond(200, JSON_TYPE, '{"id":"ftjob-1"}'))
  await served.send(mine.secret, `${V1}/fine_tuning/jobs`, {
    body: '{"model":"gpt-4o"}',
    headers: JSON_TYPE,
  })
  served.fake.play(
    respond(200, JSON_TYPE, JSON.stringify({ id: 'ftjob-1', fine_tuned_model: tuned })),
  )
  await served.send(mine.secret, `${V1}/fine_tuning/jobs/ftjob-1`, { method: 'GET' })
  const data = ['gpt-4o', operators, tuned].map((id) => ({ id }))
  served.fake.play(respond(200, JSON_TYPE, JSON.stringify({ object: 'list', data })))
  const seen = async ({ secret }: { secret: string }) => {
    const got = await served.send(secret, `${V1}/models`, { method: 'GET' })
    assert.equal(got.status, 200)
    return (JSON.parse(got.body.toString()) as { data: { id: string }[] }).data.map(({ id }) => id)
  }
  assert.deepEqual(await seen(mine), ['gpt-4o', tuned])
  assert.deepEqual(await seen(own), ['gpt-4o'])
  assert.deepEqual(await seen(scoped), [])
  assert.deepEqual(await seen(upstream), ['gpt-4o', operators, tuned])
  // What is no list passes where it names none of somebody's.
  for (const [body, status] of [
    ['ok', 200],
    ['<p class="x">gpt-4o</p>', 200],
    ['{"of_tomorrow":[{"id":"gpt-4o"}]}', 200],
    [`{"of_tomorrow":[{"id":"${operators}"}]}`, 403],
    [`{"of_tomorrow":["ft\\u003a${operators.slice(3)}"]}`, 403],
  ] as const) {
    served.fake.play(respond(200, {}, body))
    const got = await served.send(own.secret, `${V1}/models`, { method: 'GET' })
    assert.equal(got.status, status, body)
    if (status === 200) assert.equal(got.body.toString(), body)
  }
  /** TABLE of lists that name a model of somebody's in other forms. */
  const others: [id: Id, path: string, response: string, left: string][] = [
    [
      'together',
      '/v1/models',
      '[{"id":"meta-llama/Meta-Llama-3.1-8B"},{"id":"acme/Meta-Llama-3.1-8B-mine-32162631"}]',
      '[{"id":"meta-llama/Meta-Llama-3.1-8B"}]',
    ],
    [
      'fireworks',
      '/inference/v1/models',
      '{"data":[{"id":"accounts/acme/models/bot"},{"id":"accounts/fireworks/models/b"}]}',
      '{"data":[{"id":"accounts/fireworks/models/b"}]}',
    ],
  ]
  for (const [id, path, response, left] of others) {
    served.fake.play(respond(200, JSON_TYPE, response))
    const get = async ({ secret }: { secret: string }) =>
      (await served.send(secret, `${ORIGINS[id]}${path}`, { method: 'GET' })).body.toString()
    assert.deepEqual([await get(own), await get(upstream)], [left, response], id)
  }
})

test('an unchanged list keeps its headers, and a changed one loses those about its bytes', async (t) => {
  const { served } = await startScoped(t)
  const [{ secret: scoped }, { secret: all }] = [
    await served.key({ models: ['b', 'c'], objects: 'upstream' }),
    await served.key({ objects: 'upstream' }),
  ]
  const text = '{"data":[{"id":"a"},{"id":"b"}]}'
  const validators = { ETag: '"1"', 'Last-Modified': 'x', 'Accept-Ranges': 'bytes', 'X-Other': '1' }
  const list = async (secret: string, headers: Record<string, string>, body: Buffer | string) => {
    served.fake.play(respond(200, { ...JSON_TYPE, ...validators, ...headers }, body))
    const got = await served.send(secret, `${ORIGINS.openai}/v1/models`, {
      method: 'GET',
      headers: { 'Accept-Encoding': 'gzip', 'If-None-Match': '"1"' },
    })
    const names = [
      'etag',
      'last-modified',
      'accept-ranges',
      'x-other',
      'content-encoding',
      'content-length',
    ]
    return { got, said: names.map((name) => headerOf(got.rawHeaders, name)) }
  }
  const short = '{"data":[{"id":"b"}]}'
  for (const [coding, encode] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const) {
    const encoded = encode(text)
    const everything = await list(all, { 'Content-Encoding': coding }, encoded)
    assert.deepEqual(
      [everything.got.body, everything.said],
      [encoded, ['"1"', 'x', 'bytes', '1', coding, String(encoded.length)]],
    )
    assert.equal(headerOf(served.fake.requests.at(-1)!.rawHeaders, 'if-none-match'), '"1"')
    // A provider may compress although it was asked not to.
    const some = await list(scoped, { 'Content-Encoding': coding }, encoded)
    assert.deepEqual(
      [some.got.body.toString(), some.said],
      [short, [null, null, null, '1', null, String(short.length)]],
    )
    const untouched = encode(short)
    const same = await list(scoped, { 'Content-Encoding': coding }, untouched)
    assert.deepEqual(
      [same.got.body, same.said],
      [untouched, ['"1"', 'x', 'bytes', '1', coding, String(untouched.length)]],
    )
  }
})

test('an error passes, and an unreadable list is refused', async (t) => {
  const { served, ask } = await startScoped(t)
  const cases: [script: Script, status: number, code: string | null][] = [
    [respond(429, JSON_TYPE, '{"error":{"message":"a"}}'), 429, null],
    [respond(404, { 'Content-Type': 'text/html' }, '<p>'), 404, null],
    [respond(200, { 'Content-Type': 'text/html' }, '<p>'), 403, 'endpoint_not_allowed'],
    [respond(206, JSON_TYPE, '{"data":[{"id":"a"}'), 403, 'endpoint_not_allowed'],
    [respond(200, JSON_TYPE, '{"data":[{"id":"a"}'), 403, 'endpoint_not_allowed'],
    [respond(200, JSON_TYPE, '{"data":[{"id":"a"}]} x'), 403, 'endpoint_not_allowed'],
    [respond(200, JSON_TYPE, '{"data":{"a":{}}}'), 403, 'endpoint_not_allowed'],
    [respond(200, JSON_TYPE, '{"of_tomorrow":[{"id":"a"}]}'), 403, 'endpoint_not_allowed'],
    [
      respond(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, 'no gzip'),
      403,
      'endpoint_not_allowed',
    ],
    [
      respond(200, { ...JSON_TYPE, 'Content-Encoding': 'x-of-tomorrow' }, '{"data":[]}'),
      403,
      'endpoint_not_allowed',
    ],
    [
      respond(200, JSON_TYPE, JSON.stringify({ data: [], padding: 'x'.repeat(4_200_000) })),
      403,
      'endpoint_not_allowed',
    ],
  ]
  for (const [index, [script, status, code]] of cases.entries()) {
    served.fake.play(script)
    const got = await ask('openai', '/v1/models', ['b'], { method: 'GET' })
    assert.deepEqual([got.status, got.code], [status, code], `${index}: ${got.body.slice(0, 200)}`)
    assert.ok(code === null || !got.body.includes('"id"'))
  }
})

test('a page that filtering empties is skipped, because clients would take it for the end', async (t) => {
  const { served, ask } = await startScoped(t)
  /**
   * TABLE: the provider, what is asked, its pages by what they are asked with, and what has been
   * asked for and is left.
   */
  const cases: [
    id: Id,
    path: string,
    pages: Record<string, object>,
    models: string[],
    asked: string[],
    left: object,
  ][] = [
    [
      'google',
      '/v1beta/models?pageSize=1',
      {
        '/v1beta/models?pageSize=1': { models: [{ name: 'models/a' }], nextPageToken: 'p/2' },
        '/v1beta/models?pageSize=1&pageToken=p%2F2': {
          models: [{ name: 'models/b' }],
          nextPageToken: '3',
        },
      },
      ['b'],
      ['/v1beta/models?pageSize=1', '/v1beta/models?pageSize=1&pageToken=p%2F2'],
      { models: [{ name: 'models/b' }], nextPageToken: '3' },
    ],
    [
      'anthropic',
      '/v1/models',
      {
        '/v1/models': { data: [{ id: 'a' }], has_more: true, first_id: 'a', last_id: 'a' },
        '/v1/models?after_id=a': {
          data: [{ id: 'b' }],
          has_more: false,
          first_id: 'b',
          last_id: 'b',
        },
      },
      ['c'],
      ['/v1/models', '/v1/models?after_id=a'],
      { data: [], has_more: false, first_id: null, last_id: null },
    ],
    [
      'anthropic',
      '/v1/models?before_id=z',
      {
        '/v1/models?before_id=z': {
          data: [{ id: 'y' }],
          has_more: true,
          first_id: 'y',
          last_id: 'y',
        },
        '/v1/models?before_id=y': {
          data: [{ id: 'x' }],
          has_more: true,
          first_id: 'x',
          last_id: 'x',
        },
      },
      ['x'],
      ['/v1/models?before_id=z', '/v1/models?before_id=y'],
      { data: [{ id: 'x' }], has_more: true, first_id: 'x', last_id: 'x' },
    ],
    [
      'cohere',
      '/v1/models',
      {
        '/v1/models': { models: [{ name: 'a' }], next_page_token: '2' },
        '/v1/models?page_token=2': { models: [{ name: 'b' }] },
      },
      ['b'],
      ['/v1/models', '/v1/models?page_token=2'],
      { models: [{ name: 'b' }] },
    ],
  ]
  for (const [id, path, pages, models, asked, left] of cases) {
    served.fake.play((call) =>
      respond(200, JSON_TYPE, JSON.stringify(pages[call.received.target] ?? {}))(call),
    )
    const before = served.fake.requests.length
    const got = await ask(id, path, models, { method: 'GET' })
    assert.deepEqual([got.status, JSON.parse(got.body)], [200, left], `${id} ${path}`)
    assert.deepEqual(
      served.fake.requests.slice(before).map(({ target }) => target),
      asked,
    )
  }
  // One that never ends is shown at last.
  served.fake.play(
    respond(200, JSON_TYPE, '{"models":[{"name":"models/a"}],"nextPageToken":"again"}'),
  )
  const endless = await ask('google', '/v1beta/models', ['b'], { method: 'GET' })
  assert.deepEqual(
    [endless.status, endless.body, endless.sent],
    [200, '{"models":[],"nextPageToken":"again"}', 20],
  )
})

test('a list is compared with hundreds of patterns in many turns', async (t) => {
  const { served, ask } = await startScoped(t)
  const [models, patterns] = [400, 500]
  const data = Array.from({ length: models }, (_, i) => ({ id: `model-with-a-long-name-${i}` }))
  served.fake.play(respond(200, JSON_TYPE, JSON.stringify({ data })))
  const counter = openCounter(t)
  const startsWith = String.prototype.startsWith
  t.mock.method(String.prototype, 'startsWith', function (this: string, text: string, at = 0) {
    counter.count()
    return startsWith.call(this, text, at)
  })
  const none = Array.from({ length: patterns }, (_, i) => `of-tomorrow-${i}*`)
  const got = await ask('openai', '/v1/models', none, { method: 'GET' })
  assert.deepEqual([got.status, got.body], [200, '{"data":[]}'])
  assert.ok(counter.all() >= models * patterns)
  assert.ok(counter.most() < (models * patterns) / 2, `${counter.most()} comparisons in one turn`)
})

test('a limited key reads only the records of its models', async (t) => {
  const { served } = await startScoped(t)
  const { key, send } = served
  served.fake.play(respond(200, JSON_TYPE, '{"object":"model"}'))
  const { secret } = await key({ models: ['gpt-4o', 'gemini-1', 'own/one'] })
  for (const [address, status] of [
    ['https://api.openai.com/v1/models/gpt-4o', 200],
    ['https://api.openai.com/v1/models/gpt-5', 403],
    ['https://api.openai.com/v1/models/gpt%2D5?x=1', 403],
    ['https://generativelanguage.googleapis.com/v1beta/models/gemini-1', 200],
    ['https://generativelanguage.googleapis.com/v1beta/models/gemini-2', 403],
    ['https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-1', 200],
    ['https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2', 403],
    ['https://openrouter.ai/api/v1/models/own/one/endpoints', 200],
    ['https://openrouter.ai/api/v1/models/own/two/endpoints', 403],
    ['https://api.anthropic.com/v1/models/claude-x', 403],
    ['https://api.mistral.ai/v1/models/m', 403],
    ['https://api.groq.com/openai/v1/models/m', 403],
    ['https://api.x.ai/v1/models/m', 403],
    ['https://api.x.ai/v1/language-models/m', 403],
    ['https://api.cohere.com/v1/models/m', 403],
  ] as const) {
    const got = await send(secret, address, { method: 'GET' })
    assert.equal(got.status, status, address)
    if (status === 403)
      assert.equal(headerOf(got.rawHeaders, 'x-proxy-error'), 'model_not_allowed', address)
  }
})
