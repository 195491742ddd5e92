// What comes into being at an endpoint that no row knows is its maker's, and what nobody here has
// made is not named there.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { shareObject } from '../../../server/keys/shared-objects.ts'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { more, MISTRAL, OPENROUTER, V1, XAI } from './object-places.ts'
import { ANTHROPIC, GOOGLE, startServed } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const VOICE = '21m00Tcm4TlvDq8ikWAM'

/** TABLE of responses of an unknown endpoint, and requests that name it. */
const MADE: [
  makes: string,
  response: object | string,
  names: [address: string, body: object | string][],
][] = [
  [
    `${XAI}/collections`,
    { id: `collection_${UUID}` },
    [
      [`${XAI}/collections/collection_${UUID}/documents`, {}],
      [`${XAI}/documents/search`, { source: { collection_ids: [`collection_${UUID}`] } }],
      [`${XAI}/responses`, { model: 'm', x: `collection_${UUID}` }],
    ],
  ],
  [
    `${V1}/things`,
    { data: { id: 'thing_68a1b2c3d4e5f607' } },
    [
      [`${V1}/things/thing_68a1b2c3d4e5f607/run`, {}],
      [`${V1}/other`, { thing: 'thing_68a1b2c3d4e5f607' }],
    ],
  ],
  [
    `${MISTRAL}/things`,
    { id: UUID },
    [
      [`${MISTRAL}/things/${UUID}`, {}],
      [`${MISTRAL}/things/{${UUID.toUpperCase()}}`, {}],
      [`${MISTRAL}/chat/completions`, { model: 'm', x: UUID.replaceAll('-', '') }],
    ],
  ],
  [
    `${V1}/voices/add`,
    { id: VOICE },
    [
      [`${V1}/text-to-sound/${VOICE}`, { text: 'x' }],
      [`${V1}/sound`, { voice_id: VOICE }],
    ],
  ],
  // Ids that are numbers count as their decimal text, exactly.
  [
    `${V1}/numbered`,
    { id: 93_847_163 },
    [
      [`${V1}/numbered/93847163/convert`, {}],
      [`${V1}/convert?project=93847163`, {}],
      [`${V1}/convert`, { project_id: 93_847_163 }],
      [`${V1}/convert`, { project: '93847163' }],
      [`${V1}/convert`, { projects: { 0: 93_847_163 } }],
      [`${V1}/convert`, { project_ids: [1, 93_847_163] }],
      [`${V1}/convert`, '{"project":9.3847163e7}'],
    ],
  ],
  [
    `${V1}/numbered`,
    '{"id":9007199254740993}',
    [
      [`${V1}/numbered/9007199254740993/convert`, {}],
      [`${V1}/convert`, '{"project":9007199254740993}'],
    ],
  ],
  [
    `${V1}/of/tomorrow`,
    { id: 'vs_68a1b2c3d4e5f607' },
    [
      [
        `${V1}/responses`,
        { model: 'm', tools: [{ type: 'file_search', vector_store_ids: ['vs_68a1b2c3d4e5f607'] }] },
      ],
    ],
  ],
]

test("an unknown endpoint's object belongs to its creator; an unowned id is refused in its path but passes elsewhere", async (t) => {
  const { fake, key, send, running } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [mine, own, upstream] = [await key(), await key(), await key({ objects: 'upstream' })]
  const json = (value: object | string): string =>
    typeof value === 'string' ? value : JSON.stringify(value)
  const post = async ({ secret }: { secret: string }, address: string, body: object | string) => {
    const got = await send(secret, encodeURI(address), { body: json(body), headers: JSON_TYPE })
    return `${got.status} ${headerOf(got.rawHeaders, 'x-proxy-error') ?? ''}`.trim()
  }
  for (const [makes, response, names] of MADE) {
    fake.play(respond(200, JSON_TYPE, json(response)))
    assert.equal(await post(mine, makes, { name: 'x' }), '200')
    fake.play(respond(200, JSON_TYPE, '{}'))
    for (const [address, body] of names) {
      for (const other of [own, upstream])
        assert.equal(
          await post(other, address, body),
          '403 endpoint_not_allowed',
          `${address} ${JSON.stringify(body)}`,
        )
      assert.equal(await post(mine, address, body), '200', `${address} ${JSON.stringify(body)}`)
    }
  }
  /** TABLE of paths that name what nobody here has made. */
  const nobodys = [
    `${XAI}/collections/collection_1f8fad5b-d9cb-469f-a165-70867728950e/documents`,
    `${V1}/things/thing_78a1b2c3d4e5f607/run`,
    `${MISTRAL}/things/1f8fad5b-d9cb-469f-a165-70867728950e`,
    `${V1}/x/file-68a1b2c3d4e5f607`,
  ]
  for (const address of nobodys) {
    assert.equal(await post(own, address, {}), '403 endpoint_not_allowed', address)
    assert.equal(await post(upstream, address, {}), '200', address)
  }
  await shareObject(
    running.store,
    own.id,
    { provider: 'openai', kind: 'object', object_id: 'thing_78a1b2c3d4e5f607' },
    0,
  )
  await running.keys?.refresh()
  assert.equal(
    await post(own, nobodys[1]!, {}),
    '403 endpoint_not_allowed',
    'it may be changed there',
  )
  assert.equal(await post(own, `${V1}/other`, { thing: 'thing_78a1b2c3d4e5f607' }), '200')
  /** TABLE of what anybody may send to an endpoint that is not known. */
  const ordinary: [address: string, body: object | string][] = [
    [`${V1}/convert`, { width: 1024, seed: 93_847_164, project_id: 7, sizes: [93_847_165] }],
    [`${V1}/convert`, '{"seed":9007199254740992,"project_id":"93847164"}'],
    [`${V1}/text-to-sound/98m00Tcm4TlvDq8ikWAM`, { text: 'x' }],
    [`${V1}/listen`, { url: 'https://example.com/a.wav' }],
    [
      `${V1}/accounts/68a1b2c3d4e5f60718293a4b5c6d7e8f/ai/run/@cf/meta/llama-3.1-8b`,
      { prompt: 'x' },
    ],
    [`${V1}/models/gpt-4o-2024-08-06/run`, {}],
    [`${V1}/models/meta-llama3instruct8bchat/run`, {}],
    [
      `${V1}/of/tomorrow`,
      {
        trace: UUID,
        user: 'user_2NNEqL2nrIRdJ194ndJqAHwEfxC',
        tools: [{ name: 'file_reader' }],
        session: 'sess_68a1b2c3d4e5f607',
      },
    ],
    [`${MISTRAL}/of/tomorrow`, { request_id: '2f8fad5b-d9cb-469f-a165-70867728950e' }],
    [`${V1}/add`, { voice: 'x' }],
  ]
  for (const [address, body] of ordinary)
    assert.equal(await post(own, address, body), '200', `${address} ${JSON.stringify(body)}`)
  // Names are nobody's, even where a response gives one back as an id.
  fake.play(respond(200, JSON_TYPE, '{"id":"chat"}'))
  assert.equal(await post(mine, `${V1}/of/tomorrow`, {}), '200')
  assert.equal(await post(own, `${V1}/chat/of/tomorrow`, { x: 'chat' }), '200')
})

test('a generated id in a field for ids is one in any form: unowned ones are refused, other strings pass', async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [mine, upstream] = [await key(), await key({ objects: 'upstream' })]
  const [hex, bare] = ['68a1b2c3d4e5f607', UUID.replaceAll('-', '')]
  const json = (body: unknown) => ({ body: JSON.stringify(body), headers: JSON_TYPE })
  const formOf = (...parts: string[]) => ({
    body: `${parts.map((part) => `--b\r\nContent-Disposition: form-data; name=${part}\r\n`).join('')}--b--\r\n`,
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  })
  const urlencoded = (body: string) => ({
    body,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  const at = `${MISTRAL}/of/tomorrow`
  /** TABLE of requests that give the id of what nobody here has made. */
  const nobodys: [address: string, sent: { body: string; headers: Record<string, string> }][] = [
    [at, json({ file_id: UUID })],
    [at, json({ file_id: bare })],
    [at, json({ a: [{ b: { fileId: UUID.toUpperCase() } }] })],
    [at, json({ file_ids: ['x', [UUID]] })],
    [at, json({ 'File-IDs': [UUID, 'x'] })],
    [at, json([{ library_id: `{${UUID}}` }])],
    [at, json({ agent_id: UUID })],
    [at, json({ x: UUID, agent_id: UUID })],
    [
      at,
      {
        body: `{"x":"${UUID}", "agent\\u005fid" : "${UUID.replace('0', '\\u0030')}"}`,
        headers: JSON_TYPE,
      },
    ],
    [at, json({ library_ids: { a: 1, library_id: hex } })],
    // As the key of a map, in an operator, and as one member of an object.
    [at, json({ document_ids: { [UUID]: true } })],
    [at, json({ document_ids: [{ [UUID]: {} }] })],
    [at, { body: `{"document_ids":{"\\u0030${UUID.slice(1)}":{}}}`, headers: JSON_TYPE }],
    [at, json({ file_ids: { $in: [UUID] } })],
    [at, json({ file_ids: { 0: UUID, 1: 'x' } })],
    [at, json({ library_id: { id: hex } })],
    [`${V1}/of/tomorrow`, json({ training_file: `x_${hex}` })],
    [`${V1}/of/tomorrow`, json({ skill_id: `skill_${hex}` })],
    [`${XAI}/of/tomorrow`, json({ file_id: `file-${hex}` })],
    [`${V1}/of/tomorrow`, json({ voice_id: `voice_${hex}` })],
    [`${at}?file_id=${UUID}`, json({})],
    [`${at}?file_ids=report,${UUID}`, json({})],
    [`${at}?file_ids=report%2C${UUID}`, json({})],
    [`${at}?file_ids[]=${UUID}`, json({})],
    [`${MISTRAL}/chat/completions?file_ids=report,${UUID}`, json({ model: 'm' })],
    [`${MISTRAL}/chat/completions?file_id=${UUID}`, json({ model: 'm' })],
    [`${V1}/responses?file_ids=x,file-68a1b2c3d4e5f60718293a4b`, json({ model: 'm' })],
    [`${at}?x=1;file%255fid=${bare}`, json({})],
    [at, formOf(`"file_id"\r\n\r\n${UUID}`)],
    [at, formOf(`"x"\r\n\r\n{"file_id":"${UUID}"}`)],
    [at, urlencoded(`file_id=${UUID}`)],
    [at, urlencoded(`file_ids[]=${bare}`)],
    [at, urlencoded(`x=${encodeURIComponent(`{"file_id":"${UUID}"}`)}`)],
  ]
  for (const [address, sent] of nobodys) {
    const what = `${address} ${sent.body}`
    const got = await send(mine.secret, address, sent)
    assert.deepEqual(
      [got.status, headerOf(got.rawHeaders, 'x-proxy-error')],
      [403, 'endpoint_not_allowed'],
      what,
    )
    assert.equal((await send(upstream.secret, address, sent)).status, 200, what)
  }
  /**
   * TABLE of what anybody may send: names, stock voices, ids of the caller's own, text that is a
   * key or stands under another one.
   */
  const ordinary: [address: string, sent: { body: string; headers: Record<string, string> }][] = [
    [at, json({ file_id: 'report', agent_id: 'planner-2', library_ids: ['docs'] })],
    [
      at,
      json({
        request_id: UUID,
        trace: { id: UUID },
        user_id: UUID,
        session_id: UUID,
        conversation: { file_id: 7 },
        name: bare,
      }),
    ],
    [at, json({ [UUID]: 'file_id' })],
    [at, json({ file_id: { created: UUID } })],
    [at, json({ file_id: { type: 'string', description: 'x', examples: [UUID] } })],
    [at, json({ trace: { [UUID]: 1 }, file_ids: { report: 1 } })],
    [`${MISTRAL}/chat/completions?trace=${UUID}&file_ids=a,b`, json({ model: 'm' })],
    [at, json({ text: `{"file_id":"${UUID}"}` })],
    [at, json(['file_id', UUID])],
    [at, json({ a: 'file_id', b: UUID })],
    [at, json({ file_id: [], b: [UUID] })],
    [at, json({ messages: [{ content: `file_id: ${UUID}` }] })],
    [`${at}?file_id=report&trace=${UUID}`, json({})],
    [`${XAI}/of/tomorrow?voice_id=${VOICE}`, json({ voice_id: VOICE })],
    [`${V1}/of/tomorrow`, json({ voice: 'alloy', message_id: `msg_${hex}`, model_id: `m_${hex}` })],
    [at, formOf(`"trace"\r\n\r\n${UUID}`)],
    [at, formOf(`"file_id"; filename="a.txt"\r\n\r\n${UUID}`)],
    [at, urlencoded(`trace=${UUID}&file_id=x`)],
  ]
  for (const [address, sent] of ordinary)
    assert.equal((await send(mine.secret, address, sent)).status, 200, `${address} ${sent.body}`)
  // What was made, at a known endpoint or an unknown one, is its maker's under any of these names.
  for (const [makes, id] of [
    [`${MISTRAL}/files`, '1f8fad5b-d9cb-469f-a165-70867728950e'],
    [`${MISTRAL}/things`, '2f8fad5b-d9cb-469f-a165-70867728950e'],
  ]) {
    fake.play(respond(200, JSON_TYPE, JSON.stringify({ id })))
    assert.equal((await send(mine.secret, makes!, json({}))).status, 200)
    fake.play(respond(200, JSON_TYPE, '{}'))
    assert.equal(
      (
        await send(
          mine.secret,
          at,
          json({ file_id: id, a: [{ library_ids: [id!.replaceAll('-', '')] }] }),
        )
      ).status,
      200,
      makes,
    )
  }
})

test('an id that the request named is not treated as created by the response', async (t) => {
  const THING = 'thing_68a1b2c3d4e5f607'
  const { fake, key, send } = await startServed(
    t,
    respond(200, JSON_TYPE, JSON.stringify({ id: THING })),
    more,
  )
  const [thief, other] = [await key({ objects: 'upstream' }), await key({ objects: 'upstream' })]
  const FORM = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const URLENCODED = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const json = (body: object) => ({ body: JSON.stringify(body), headers: JSON_TYPE })
  /** TABLE of requests that name what nobody here has made, and have it repeated. */
  const echoed: [address: string, sent: { body: string; headers: Record<string, string> }][] = [
    [`${V1}/things`, json({ id: THING })],
    [`${V1}/things`, json({ a: [{ b: [THING] }] })],
    [`${V1}/things`, json({ [THING]: 1 })],
    [`${V1}/things`, json({ name: `things/${THING}` })],
    [`${V1}/things`, json({ name: `https://api.openai.com/v1/things/${THING}?x=1` })],
    [`${V1}/things`, json({ id: THING.toUpperCase() })],
    [`${V1}/things`, json({ id: ` ${THING}\n` })],
    [`${V1}/things`, { body: `{"id":"${THING.replace('t', '\\u0074')}"}`, headers: JSON_TYPE }],
    [`${V1}/things/${THING}`, json({})],
    [`${V1}/things?id=${THING}`, json({})],
    [`${V1}/things?${THING}`, json({})],
    [`${V1}/things?id=%74${THING.slice(1)}`, json({})],
    [`${V1}/things`, { body: '{}', headers: { ...JSON_TYPE, 'X-Thing': THING } }],
    [`${V1}/things`, { body: '{}', headers: { ...JSON_TYPE, 'X-Things': `a, ${THING}` } }],
    [
      `${V1}/things`,
      {
        body: `--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n${THING}\r\n--b--\r\n`,
        headers: FORM,
      },
    ],
    [`${V1}/things`, { body: `x=${THING}`, headers: URLENCODED }],
  ]
  for (const [address, sent] of echoed) {
    const what = `${address} ${sent.body} ${JSON.stringify(sent.headers)}`
    assert.equal((await send(thief.secret, address, sent)).status, 200, what)
    assert.equal(
      (await send(other.secret, `${V1}/things/${THING}`, json({}))).status,
      200,
      `${what}: it is nobody's`,
    )
  }
  // Made by a response that names it first.
  assert.equal((await send(thief.secret, `${V1}/things`, json({ name: 'x' }))).status, 200)
  assert.equal((await send(other.secret, `${V1}/things/${THING}`, json({}))).status, 403)

  /**
   * TABLE of known endpoints: the request names what the response repeats where it names what it
   * made.
   */
  const known: [address: string, body: object, response: object, status?: number][] = [
    [
      `${V1}/responses`,
      { model: 'm', tools: [{ type: 'code_interpreter', container: 'cntr_68a1b2c3d4e5f607' }] },
      {
        id: 'resp_1',
        output: [{ type: 'code_interpreter_call', container_id: 'cntr_68a1b2c3d4e5f607' }],
      },
    ],
    [
      `${ANTHROPIC}/v1/messages`,
      { model: 'm', container: 'container_011CNha8iCJcU1wX' },
      { id: 'msg_1', container: { id: 'container_011CNha8iCJcU1wX' } },
    ],
    // An error makes nothing.
    [`${V1}/files`, {}, { id: 'file-68a1b2c3d4e5f607' }, 409],
    [`${V1}/things`, {}, { id: 'thing_78a1b2c3d4e5f607' }, 404],
  ]
  for (const [address, body, response, status = 200] of known) {
    fake.play(respond(status, JSON_TYPE, JSON.stringify(response)))
    assert.equal((await send(thief.secret, address, json(body))).status, status)
    fake.play(respond(200, JSON_TYPE, '{}'))
    const [id] =
      JSON.stringify([body, response]).match(/(?:cntr|container|file|thing)[-_]\w{16,}/) ?? []
    assert.equal(
      (
        await send(
          other.secret,
          address.replace(/(?:responses|messages|files|things)$/, 'messages'),
          json({ model: 'm', container: id }),
        )
      ).status,
      200,
      `${address} ${id}`,
    )
  }
  // Names that callers choose for what they make are theirs: the provider refuses one that is
  // taken.
  fake.play(respond(200, JSON_TYPE, '{"file":{"name":"files/my-report"}}'))
  assert.equal(
    (
      await send(
        thief.secret,
        `${GOOGLE}/v1beta/files`,
        json({ file: { name: 'files/my-report' } }),
      )
    ).status,
    200,
  )
  assert.equal(
    (await send(other.secret, `${GOOGLE}/v1beta/files/my-report`, { method: 'GET' })).status,
    403,
  )
})

test('what an unowned object produces is unowned, whoever polls for it first', async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const [mine, other, own] = [
    await key({ objects: 'upstream' }),
    await key({ objects: 'upstream' }),
    await key(),
  ]
  const ask = async ({ secret }: { secret: string }, line: string, response: object) => {
    const [method = '', address = ''] = line.split(' ')
    fake.play(respond(200, JSON_TYPE, JSON.stringify(response)))
    return (
      await send(secret, address, {
        method,
        ...(method === 'POST' ? { body: '{}', headers: JSON_TYPE } : {}),
      })
    ).status
  }
  /** TABLE of polls that name what came into being, and the address of that. */
  const polls: [poll: string, response: object, made: string][] = [
    [
      `GET ${V1}/batches/batch_operators`,
      { id: 'batch_operators', output_file_id: 'file-out' },
      `GET ${V1}/files/file-out`,
    ],
    [
      `POST ${V1}/batches/batch_operators/cancel`,
      { id: 'batch_operators', error_file_id: 'file-errors' },
      `GET ${V1}/files/file-errors`,
    ],
    [
      `GET ${V1}/fine_tuning/jobs/ftjob-operators`,
      { result_files: ['file-result'] },
      `GET ${V1}/files/file-result`,
    ],
    [
      `GET ${XAI}/videos/vid-operators`,
      { video: { url: 'https://api.x.ai/v1/files/vid-operators/content' } },
      `GET ${XAI}/files/vid-operators`,
    ],
  ]
  for (const [poll, response, made] of polls) {
    assert.equal(await ask(mine, poll, response), 200, poll)
    assert.deepEqual(
      [await ask(other, made, {}), await ask(mine, made, {}), await ask(own, made, {})],
      [200, 200, 403],
      made,
    )
  }
  // With an object of its own a key owns what comes of it.
  assert.equal(await ask(own, `POST ${V1}/fine_tuning/jobs`, { id: 'ftjob-own' }), 200)
  assert.equal(
    await ask(own, `GET ${V1}/fine_tuning/jobs/ftjob-own`, { result_files: ['file-own'] }),
    200,
  )
  assert.deepEqual(
    [
      await ask(own, `GET ${V1}/files/file-own`, {}),
      await ask(other, `GET ${V1}/files/file-own`, {}),
    ],
    [200, 403],
  )
})

test("a text in another provider's id format passes; in its own provider's it is an id", async (t) => {
  const { key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), more)
  const { secret } = await key()
  const hex = '68a1b2c3d4e5f60718293a4b5c6d7e8f68a1b2c3d4e5f607'
  const text = (address: string, content: string): [string, object] => [
    address,
    { model: 'm', user: content, messages: [{ role: 'user', name: content, content }] },
  ]
  const gemini = (content: string): [string, object] => [
    `${GOOGLE}/v1beta/models/g:generateContent`,
    { contents: [{ parts: [{ text: content }] }] },
  ]
  const calling = (file: string): [string, object] => [
    `${GOOGLE}/v1beta/models/g:generateContent`,
    { contents: [{ parts: [{ functionCall: { name: 'read', args: { file } } }] }] },
  ]
  const passes: [string, object][] = [
    ...[
      `file-${hex}`,
      `resp_${hex}`,
      'asst_68a1b2c3d4e5f607abcdefgh',
      'cachedContents/k3j9x0a2b1c4',
      UUID,
    ].map((content) => text(`${ANTHROPIC}/v1/messages`, content)),
    ...[`file-${hex}`, `resp_${hex}`, 'file_011CNha8iCJcU1wXNR6q4V8w'].flatMap((content) => [
      gemini(content),
      calling(content),
    ]),
    // What is said is text.
    gemini('cachedContents/k3j9x0a2b1c4'),
    ...[`vs_${hex}`, `asst_${hex}`, 'files/k3j9x0a2b1c4'].map((content) =>
      text(`${MISTRAL}/chat/completions`, content),
    ),
    ...[`vs_${hex}`, `resp_${hex}`].map((content) =>
      text(`${OPENROUTER}/chat/completions`, content),
    ),
    ...[
      'file_011CNha8iCJcU1wXNR6q4V8w_',
      'skill_check',
      'files/k3j9x0a2b1c4',
      'user_2NNEqL2nrIRdJ194ndJqAHwEfxC',
    ].map((content) => text(`${V1}/chat/completions`, content)),
  ]
  for (const [address, body] of passes)
    assert.equal(
      (await send(secret, address, { body: JSON.stringify(body), headers: JSON_TYPE })).status,
      200,
      `${address} ${JSON.stringify(body)}`,
    )
  const refused = [
    text(`${V1}/chat/completions`, `file-${hex}`),
    text(`${ANTHROPIC}/v1/messages`, 'file_011CNha8iCJcU1wXNR6q4V8w'),
    calling('cachedContents/k3j9x0a2b1c4'),
  ]
  for (const [address, body] of refused)
    assert.equal(
      (await send(secret, address, { body: JSON.stringify(body), headers: JSON_TYPE })).status,
      403,
      `${address} ${JSON.stringify(body)}`,
    )
})

test('an address names a Gemini file only at a host of its API', async (t) => {
  const { fake, key, send } = await startServed(
    t,
    respond(200, JSON_TYPE, '{"file":{"name":"files/theirs"}}'),
  )
  const [theirs, own] = [await key(), await key()]
  await send(theirs.secret, `${GOOGLE}/upload/v1beta/files`, { body: '{}', headers: JSON_TYPE })
  fake.play(respond(200, JSON_TYPE, '{}'))
  const status = async ({ secret }: { secret: string }, fileUri: string) =>
    (
      await send(secret, `${GOOGLE}/v1beta/models/g:generateContent`, {
        body: JSON.stringify({ contents: [{ parts: [{ fileData: { fileUri } }] }] }),
        headers: JSON_TYPE,
      })
    ).status
  const names = [
    'https://generativelanguage.googleapis.com/v1beta/files/theirs',
    'https://generativelanguage.mtls.googleapis.com/v1beta/files/theirs',
    'https://www.generativelanguage.googleapis.com/v1/files/theirs',
    'https://content-generativelanguage.googleapis.com/v1beta/files/theirs',
    'https://autopush-generativelanguage.sandbox.googleapis.com/v1beta/files/theirs',
    'https://u@generativelanguage.googleapis.com:443/v1beta/files/theirs',
    'https://generativelanguage.googleapis.com./v1beta/files/theirs',
    'https:\\\\generativelanguage.googleapis.com\\v1beta\\files\\theirs',
    'https:///generativelanguage.googleapis.com/v1beta/files/theirs',
    'https://generativelanguage。googleapis。com/v1beta/files/theirs',
    'https://generative\tlanguage.googleapis.com/v1beta/files/theirs',
    'https://generativelanguage%2Egoogleapis.com/v1beta/files/theirs',
  ]
  for (const uri of names)
    assert.deepEqual([await status(own, uri), await status(theirs, uri)], [403, 200], uri)
  const others = [
    'https://www.youtube.com/watch?v=theirs',
    'https://youtu.be/theirs',
    'gs://bucket/files/theirs',
    'https://storage.googleapis.com/bucket/files/theirs',
    'https://example.com/v1beta/files/theirs',
    'https://example.com/theirs',
    'https://generativelanguage.googleapis.com.example/v1beta/files/theirs',
    'https://example.com/?next=https://generativelanguage.googleapis.com/v1beta/files/theirs',
    's3://bucket/theirs',
    'data:text/plain,theirs',
  ]
  for (const uri of others) assert.equal(await status(own, uri), 200, uri)
})

test("an unknown endpoint's object is recognised in a query, a header, a wrapper and at every endpoint of an added provider", async (t) => {
  const { fake, key, send } = await startServed(t, respond(200, JSON_TYPE, '{}'), (origin) => {
    const path = join(temporaryFolder(t), 'providers.json')
    const row = { id: 'acme', origin: 'https://api.acme.test', credential: { env: 'ACME_KEY' } }
    writeFileSync(path, JSON.stringify([{ ...row, dial: origin }]))
    return { TOLLMARK_PROVIDERS: path, ACME_KEY: 'upstream' }
  })
  const ACME = 'https://api.acme.test/v1'
  const [mine, theirs] = [await key(), await key()]
  for (const id of ['wid_68a1b2c3d4e5f60718293a4b', UUID]) {
    fake.play(respond(200, JSON_TYPE, JSON.stringify({ id })))
    const made = await send(mine.secret, `${ACME}/gadgets`, { body: '{}', headers: JSON_TYPE })
    assert.equal(made.status, 200)
    fake.play(respond(200, JSON_TYPE, '{}'))
    /** TABLE of requests that name it. */
    const names: [address: string, body?: object, headers?: Record<string, string>][] = [
      [`${ACME}/do?id=${id}`],
      [`${ACME}/do?widgets=a,${id}`],
      [`${ACME}/do`, {}, { 'X-Object': id }],
      [`${ACME}/do`, {}, { 'X-Object': `a, ('${id}')` }],
      [`${ACME}/chat/completions`, { model: 'm', messages: [], file_id: id }],
      ...[`do('${id}')`, `${id}@v1`, `~${id}`, `do/a,${id}`, `id=${id}`, `(${id})`].map(
        (path): [string] => [`${ACME}/${path}`],
      ),
    ]
    for (const [address, body = {}, headers = {}] of names) {
      const sent = { body: JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } }
      const what = `${address} ${sent.body} ${JSON.stringify(headers)}`
      assert.equal((await send(theirs.secret, address, sent)).status, 403, what)
      assert.equal((await send(mine.secret, address, sent)).status, 200, what)
    }
  }
  /** TABLE of bodies that give an id of nobody's. */
  const other = '3f8fad5b-d9cb-469f-a165-70867728950e'
  for (const body of [{ agentId: other }, { library_ids: [other] }, { fileIds: `a,${other}` }])
    for (const at of [ACME, V1])
      assert.equal(
        (await send(theirs.secret, `${at}/do`, { body: JSON.stringify(body), headers: JSON_TYPE }))
          .status,
        403,
        JSON.stringify(body),
      )
  const minting =
    'sessions session sessions/create jwt creds otp pat presign exchange grant vaults device/code publishable-keys bearer byok'
  for (const path of minting.split(' '))
    assert.equal(
      (await send(theirs.secret, `${ACME}/${path}`, { body: '{}', headers: JSON_TYPE })).status,
      403,
      path,
    )
})
