// A list of what a provider has stored passes for a key with objects of its own only if all that it
// names is its own; its bytes are never changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { respond, chunk, head, headerOf, type Script } from '../../support/providers/fake.ts'
import { COHERE, GEMINI, MISTRAL, more, V1, XAI } from './object-places.ts'
import { ANTHROPIC, GOOGLE, startServed } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }

/**
 * TABLE of lists: where an object is made and the response; the list, and how it writes some
 * ids.
 */
const LISTS: [
  makes: string,
  response: (id: string) => object,
  lists: string,
  listed: (ids: string[]) => unknown,
][] = [
  [
    `${V1}/files`,
    (id) => ({ id }),
    `${V1}/files`,
    (ids) => ({
      object: 'list',
      data: ids.map((id) => ({ id, object: 'file', filename: 'a.txt' })),
      has_more: false,
    }),
  ],
  [
    `${V1}/batches`,
    (id) => ({ id }),
    `${V1}/batches?limit=2`,
    (ids) => ({ data: ids.map((id) => ({ id })) }),
  ],
  [
    `${V1}/vector_stores`,
    (id) => ({ id }),
    `${V1}/vector_stores`,
    (ids) => ({ data: ids.map((id) => ({ id })), first_id: ids[0] }),
  ],
  [
    `${ANTHROPIC}/v1/files`,
    (id) => ({ id }),
    `${ANTHROPIC}/v1/files`,
    (ids) => ({ data: ids.map((id) => ({ id })) }),
  ],
  [
    `${ANTHROPIC}/v1/messages/batches`,
    (id) => ({ id }),
    `${ANTHROPIC}/v1/messages/batches`,
    (ids) => ({ data: ids.map((id) => ({ id })) }),
  ],
  [
    `${GOOGLE}/upload/v1beta/files`,
    (id) => ({ file: { name: `files/${id}` } }),
    `${GEMINI}/files`,
    (ids) => ({ files: ids.map((id) => ({ name: `files/${id}`, uri: `${GEMINI}/files/${id}` })) }),
  ],
  [
    `${GEMINI}/cachedContents`,
    (id) => ({ name: `cachedContents/${id}` }),
    `${GEMINI}/cachedContents`,
    (ids) => ({ cachedContents: ids.map((id) => ({ name: `cachedContents/${id}` })) }),
  ],
  [
    `${GEMINI}/models/g:batchGenerateContent`,
    (id) => ({ name: `batches/${id}` }),
    `${GEMINI}/batches`,
    (ids) => ({ operations: ids.map((id) => ({ name: `batches/${id}` })) }),
  ],
  [
    `${MISTRAL}/batch/jobs`,
    (id) => ({ id }),
    `${MISTRAL}/batch/jobs`,
    (ids) => ({ data: ids.map((id) => ({ id })) }),
  ],
  [
    `${MISTRAL}/agents`,
    (id) => ({ id }),
    `${MISTRAL}/agents`,
    (ids) => ids.map((id) => ({ id, name: 'x' })),
  ],
  [
    `${MISTRAL}/conversations`,
    (id) => ({ conversation_id: id }),
    `${MISTRAL}/conversations`,
    (ids) => ids.map((id) => ({ id })),
  ],
  [
    `${COHERE}/v1/datasets`,
    (id) => ({ id }),
    `${COHERE}/v1/datasets`,
    (ids) => ({ datasets: ids.map((id) => ({ id, name: 'x' })) }),
  ],
  [
    `${COHERE}/v1/embed-jobs`,
    (id) => ({ job_id: id }),
    `${COHERE}/v1/embed-jobs`,
    (ids) => ({ embed_jobs: ids.map((id) => ({ job_id: id })) }),
  ],
  [
    `${XAI}/custom-voices`,
    (id) => ({ voice_id: id }),
    `${XAI}/custom-voices`,
    (ids) => ({ voices: ids.map((id) => ({ voice_id: id })) }),
  ],
]

test("a list passes unchanged if it names only the key's objects, and is refused otherwise", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [mine, theirs, upstream] = [await key(), await key(), await key({ objects: 'upstream' })]
  for (const [i, [makes, response, lists, listed]] of LISTS.entries()) {
    const [id, foreign, nobodys] = [`minemin${i % 10}`, `theirst${i % 10}`, `nobodys${i % 10}`]
    for (const [{ secret }, made] of [
      [mine, id],
      [theirs, foreign],
    ] as const) {
      fake.play(respond(200, JSON_TYPE, JSON.stringify(response(made))))
      assert.equal(
        (await send(secret, makes, { body: '{"model":"m"}', headers: JSON_TYPE })).status,
        200,
        makes,
      )
    }
    const list = async ({ secret }: { secret: string }, ids: string[]) => {
      const text = `${JSON.stringify(listed(ids), null, 1)}\n`
      fake.play(respond(200, JSON_TYPE, text))
      const got = await send(secret, lists, {
        method: 'GET',
        headers: { 'Accept-Encoding': 'gzip' },
      })
      if (got.status === 200) assert.equal(got.body.toString(), text)
      else assert.equal(headerOf(got.rawHeaders, 'x-proxy-error'), 'endpoint_not_allowed')
      return got.status
    }
    const seen = [
      await list(mine, [id]),
      await list(mine, [id, foreign]),
      await list(mine, [nobodys]),
      await list(mine, []),
      await list(upstream, [id, nobodys]),
    ]
    assert.deepEqual(seen, [200, 403, 403, 200, 200], lists)
  }
})

test("an unreadable list is refused, and a provider's error passes", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'))
  const { secret } = await key()
  const long = JSON.stringify({
    files_of_tomorrow: Array.from({ length: 40 }, (_, i) => ({ identifier: `anybodys-${i}` })),
  })
  const huge = JSON.stringify({ data: [], padding: 'x'.repeat(4_200_000) })
  /** TABLE of responses and the status that the caller gets. */
  const responses: [what: string, script: Parameters<typeof fake.play>[0], status: number][] = [
    ['other places', respond(200, JSON_TYPE, long), 403],
    ['larger than is read', respond(200, JSON_TYPE, huge), 403],
    ['no JSON', respond(200, { 'Content-Type': 'text/html' }, '<html>'), 403],
    ['cut off', respond(200, JSON_TYPE, '{"data":['), 403],
    ['nothing', respond(200, JSON_TYPE, ''), 403],
    ['an id that is no text', respond(200, JSON_TYPE, '{"data":[{"id":1}]}'), 403],
    [
      'encoded although nobody asked for it',
      respond(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, gzipSync('{"data":[]}')),
      403,
    ],
    [
      'an id that is text elsewhere',
      respond(200, JSON_TYPE, '{"data":[],"first_id":"file-68a1b2c3d4e5f60718293a4b"}'),
      403,
    ],
    [
      'an error',
      respond(429, JSON_TYPE, '{"error":{"message":"file-68a1b2c3d4e5f60718293a4b"}}'),
      429,
    ],
    ['an empty list', respond(200, JSON_TYPE, '{"data":[]}'), 200],
  ]
  for (const [what, script, status] of responses) {
    fake.play(script)
    assert.equal((await send(secret, `${V1}/files`, { method: 'GET' })).status, status, what)
    assert.equal(headerOf(fake.requests.at(-1)!.rawHeaders, 'accept-encoding'), 'identity', what)
  }
})

test('an event stream is refused at its headers, whatever the endpoint was classified as', async (t) => {
  const feed =
    (type: string): Script =>
    async (call) => {
      call.write(head(200, { 'Content-Type': type, 'Transfer-Encoding': 'chunked' }))
      call.write(chunk('data: {"id":"file-of-somebody"}\n\n'))
      await call.gone()
    }
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [own, scoped, upstream] = [
    await key(),
    await key({ models: ['m'] }),
    await key({ objects: 'upstream' }),
  ]
  for (const address of [
    `${V1}/models`,
    `${V1}/files`,
    `${XAI}/tts/voices`,
    `${MISTRAL}/models/m`,
  ]) {
    for (const type of [
      'text/event-stream',
      'Text/Event-Stream; charset=utf-8',
      'multipart/x-mixed-replace; boundary=x',
      'application/x-ndjson',
    ]) {
      fake.play(feed(type))
      for (const { secret } of [own, scoped]) {
        const got = await send(secret, address, { method: 'GET' })
        assert.deepEqual(
          [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
          [403, 'endpoint_not_allowed'],
          `${address} ${type}`,
        )
        assert.doesNotMatch(got.body.toString(), /somebody/)
      }
    }
    fake.play(respond(200, { 'Content-Type': 'text/event-stream' }, 'data: {}\n\n'))
    assert.equal((await send(upstream.secret, address, { method: 'GET' })).status, 200)
    fake.play(respond(200, JSON_TYPE, '{"data":[]}'))
    assert.equal((await send(own.secret, address, { method: 'GET' })).status, 200)
  }
  // Of an object of the key's it tells of nothing else.
  fake.play(respond(200, JSON_TYPE, '{"id":"resp_1"}'))
  await send(own.secret, `${V1}/responses`, { body: '{"model":"m"}', headers: JSON_TYPE })
  fake.play(respond(200, { 'Content-Type': 'text/event-stream' }, 'data: {}\n\n'))
  assert.equal(
    (
      await send(own.secret, `${V1}/responses/resp_1?stream=true`, { method: 'GET' })
    ).body.toString(),
    'data: {}\n\n',
  )
})
