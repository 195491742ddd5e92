// What the operator has stored with a provider, beside what keys make: fine-tuned models and
// deployments, presets, connectors, conversations whose maker cannot be known. Keys with objects of
// their own are refused there, wherever a request can name it; what is everybody's passes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { listPlaces } from '../../../server/proxy/providers/lists.ts'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { COHERE, MISTRAL, more, OPENROUTER, V1 } from './object-places.ts'
import { startServed, type Served } from '../support/served.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const CLOSED = '403 endpoint_not_allowed'
const FIREWORKS = 'https://api.fireworks.ai/inference/v1'
const TOGETHER = 'https://api.together.xyz/v1'
const UUID = '7d1c0e44-0f5b-4b7e-9f5e-6f1f0c3a2b19'

const AZURE = 'https://acme.openai.azure.com'
const everywhere = (origin: string) => ({
  ...more(origin),
  AZURE_RESOURCE_NAME: 'acme',
  AWS_REGION: 'us-east-1',
  AWS_BEARER_TOKEN_BEDROCK: 'upstream',
  ...Object.fromEntries(
    ['TOGETHER', 'FIREWORKS', 'AZURE'].map((id) => [`${id}_API_KEY`, 'upstream']),
  ),
  ...Object.fromEntries(
    ['TOGETHER', 'FIREWORKS', 'AZURE', 'BEDROCK'].map((id) => [`TOLLMARK_UPSTREAM_${id}`, origin]),
  ),
})

async function ending(
  { send }: Served,
  { secret }: { secret: string },
  line: string,
  body?: object | string,
  type: Record<string, string> = JSON_TYPE,
) {
  const [method = '', address = ''] = line.split(' ')
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const got = await send(secret, address, {
    method,
    ...(body === undefined ? {} : { body: text, headers: type }),
  })
  return `${got.status} ${headerOf(got.rawHeaders, 'x-proxy-error') ?? ''}`.trim()
}

const chat = (model: string) => ({ model, messages: [] })
const OURS = 'accounts/fireworks/models/llama-v3p1-8b-instruct'
const TUNED = 'acme/Meta-Llama-3.1-8B-Instruct-Reference-1a2b3c4d'
const DEPLOYED = 'gpt-4o-mini-2024-07-18.ft-0e208cf33a6a466994aff31a08aba678'
const FOUNDRY_RESPONSE = `POST ${AZURE}/api/projects/p1/openai/v1/responses`
const BEDROCK = 'https://bedrock-agent-runtime.us-east-1.amazonaws.com'

const VERTEX = 'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash'
const STORES = 'projects/p/locations/global/collections/default_collection'
const gemini = (more: object, text = 'x') => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  ...more,
})
const file = (fileUri: string) => ({
  contents: [{ role: 'user', parts: [{ fileData: { fileUri, mimeType: 'application/pdf' } }] }],
})
const foundry = (tool: object) => ({ model: 'gpt-5', input: 'x', tools: [tool] })
const index = (parameters: object) => ({
  messages: [],
  data_sources: [
    { type: 'azure_search', parameters: { endpoint: 'https://s.test', ...parameters } },
  ],
})
const CONVERSE = 'POST https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova/converse'
const DEPLOYMENT = `POST ${AZURE}/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21`
const search = (vertexAiSearch: object) => gemini({ tools: [{ retrieval: { vertexAiSearch } }] })
const external = (apiAuth: object) =>
  gemini({
    tools: [{ retrieval: { externalApi: { endpoint: 'https://attacker.test', apiAuth } } }],
  })

/** TABLE of requests that use what a cloud keeps for the operator. */
const CLOUDS: [line: string, body: object][] = [
  ...[
    search({ datastore: `${STORES}/dataStores/private` }),
    search({ engine: `${STORES}/engines/private` }),
    search({ dataStoreSpecs: [{ dataStore: `/v1/${STORES}/dataStores/private` }] }),
    search({ engine: `//discoveryengine.googleapis.com/${STORES}/engines/private` }),
    external({ apiKeyConfig: { apiKeySecretVersion: 'projects/p/secrets/s/versions/1' } }),
    external({ apiKeyConfig: { api_key_secret: 's' } }),
    external({ googleServiceAccountConfig: {} }),
    external({ authType: 'GOOGLE_SERVICE_ACCOUNT_AUTH' }),
    external({ oauthConfig: { serviceAccount: 'x@p.iam.gserviceaccount.com' } }),
    gemini({ modelArmorConfig: { promptTemplateName: 'projects/p/locations/l/templates/t' } }),
    gemini({ x: 'PROJECTS/p/Locations/l/ragCorpora/1' }),
    gemini({ x: ['projects%2Fp%2Flocations%2Fl%2Fendpoints%2F12'] }),
    file('gs://operators-private/salaries.pdf'),
    file('GS://operators-private/salaries.pdf'),
    gemini({ functionCall: { args: { uri: 'gs://operators-private/x' } } }),
  ].map((body): [string, object] => [`POST ${VERTEX}:generateContent`, body]),
  ...[
    { type: 'mcp', server_url: 'https://attacker.test', project_connection_id: 'operators-github' },
    { type: 'openapi', openapi: { auth: { security_scheme: { projectConnectionId: 'c' } } } },
    { type: 'openapi', openapi: { auth: { type: 'managed_identity' } } },
    { type: 'azure_ai_search', azure_ai_search: { indexes: [{ index_name: 'private' }] } },
    { type: 'sharepoint_grounding_preview', x: { project_connections: [{ connection_id: 'c' }] } },
    { type: 'a2a_preview', base_url: 'https://attacker.test', project_connection_id: 'c' },
    { type: 'x', x: '/subscriptions/s/resourceGroups/r/providers/Microsoft.Search/y' },
  ].map((tool): [string, object] => [FOUNDRY_RESPONSE, foundry(tool)]),
  [DEPLOYMENT, index({ authentication: { type: 'system_assigned_managed_identity' } })],
  [DEPLOYMENT, index({ index_name: 'private' })],
  [
    CONVERSE,
    {
      messages: [
        { content: [{ document: { source: { s3Location: { uri: 's3://private/x' } } } }] },
      ],
    },
  ],
  [CONVERSE, { promptVariables: { x: 'arn:aws:secretsmanager:us-east-1:1:secret:x' } }],
]

/** TABLE of what ordinary requests have that looks like it. */
const BESIDE_CLOUDS: [line: string, body: object][] = [
  [`POST ${VERTEX}:generateContent`, gemini({}, 'gs://some-bucket/of-the-callers')],
  [`POST ${VERTEX}:generateContent`, file('gs://cloud-samples-data/generative-ai/pdf/2312.pdf')],
  [`POST ${VERTEX}:generateContent`, file('https://storage.googleapis.com/public/x.pdf')],
  [`POST ${VERTEX}:generateContent`, gemini({ x: 'projects/web/src/index.ts' })],
  [
    `POST ${VERTEX}:generateContent`,
    gemini({ contents: [{ parts: [{ functionCall: { args: { a: [{ b: 's3://x/y' }] } } }] }] }),
  ],
  [`POST ${VERTEX}:generateContent`, external({ apiKeyConfig: { apiKeyString: 'callers-own' } })],
  [
    FOUNDRY_RESPONSE,
    foundry({
      type: 'function',
      name: 'f',
      parameters: {
        type: 'object',
        properties: { connection_id: { type: 'string' }, index_name: { type: 'string' } },
        required: ['connection_id'],
      },
    }),
  ],
  [CONVERSE, { messages: [{ content: [{ toolUse: { input: { at: ['s3://bucket/x'] } } }] }] }],
  [CONVERSE, { messages: [{ content: [{ text: 'arn:aws:s3:::bucket' }] }] }],
]

/** TABLE of requests that name what is the operator's. */
const OPERATORS: [line: string, body?: object][] = [
  ...CLOUDS,
  [`GET ${MISTRAL}/workflows/events/stream`],
  [`GET ${MISTRAL}/workflows/events/list`],
  [`POST ${COHERE}/v1/chat`, { model: 'command-r', message: 'x', conversation_id: 'alice' }],
  [`POST ${COHERE}/v1/chat`, { model: 'command-r', message: 'x', conversation_id: UUID }],
  [
    `POST ${COHERE}/v1/chat`,
    {
      model: 'command-r',
      message: 'x',
      connectors: [{ id: 'web-search' }, { id: 'drive-of-acme' }],
    },
  ],
  [`POST ${COHERE}/v2/chat`, chat(`${UUID}-ft`)],
  [`POST ${COHERE}/compatibility/v1/chat/completions`, chat(`${UUID.toUpperCase()}-ft `)],
  [`POST ${TOGETHER}/chat/completions`, chat('acme/Meta-Llama-3.1-8B-Instruct-Reference-1a2b3c4d')],
  [`POST ${TOGETHER}/chat/completions`, chat('acme/Meta-Llama-3.1-8B-mine-32162631:4')],
  [`POST ${FIREWORKS}/chat/completions`, chat('accounts/acme/models/support-bot')],
  [`POST ${FIREWORKS}/chat/completions`, chat('accounts/acme/deployedModels/support-bot-1')],
  [`POST ${FIREWORKS}/chat/completions`, chat('accounts/acme/deployments/a1b2')],
  [`POST ${FIREWORKS}/chat/completions`, chat(`${OURS}#accounts/acme/deployments/a1b2`)],
  [`POST ${FIREWORKS}/chat/completions`, chat(`${OURS}#acme/a1b2`)],
  [`POST ${FIREWORKS}/workflows/accounts/acme/models/flux/text_to_image`, { prompt: 'x' }],
  [`POST ${OPENROUTER}/chat/completions`, chat('@preset/sales')],
  [`POST ${OPENROUTER}/chat/completions`, chat('openai/gpt-4o@preset/sales')],
  [`POST ${OPENROUTER}/chat/completions`, { ...chat('openai/gpt-4o'), preset: 'sales' }],
  [
    `POST ${OPENROUTER}/responses`,
    { model: 'openai/gpt-4o', models: ['a', '@preset/sales'], input: 'x' },
  ],
  // Wherever a model can be named: in a query, at endpoints that run what is stored or that no row
  // knows, at any depth.
  [`POST ${TOGETHER}/chat/completions?model=${TUNED}`, chat('m')],
  [`POST ${TOGETHER}/of/tomorrow?Model=${encodeURIComponent(encodeURIComponent(TUNED))}`, {}],
  [`POST ${TOGETHER}/of/tomorrow`, { a: [{ model: TUNED }] }],
  [`POST ${TOGETHER}/of/tomorrow`, { judge: { model_name: ['m', TUNED] } }],
  [`POST ${TOGETHER}/queue/submit`, { model: TUNED, payload: {} }],
  [`POST ${TOGETHER}/evaluation`, { type: 'score', parameters: { judge: { model: TUNED } } }],
  [`POST ${FIREWORKS}/of/tomorrow`, chat('accounts/acme/models/support-bot')],
  [
    `POST ${BEDROCK}/retrieveAndGenerate`,
    {
      input: { text: 'x' },
      retrieveAndGenerateConfiguration: {
        externalSourcesConfiguration: {
          modelArn: 'arn:aws:bedrock:us-east-1:123456789012:imported-model/abc',
        },
      },
    },
  ],
  // A number of eight digits that is no date.
  [`POST ${TOGETHER}/chat/completions`, chat('acme/Meta-Llama-3.1-8B-20241399')],
  [`POST ${TOGETHER}/chat/completions`, chat('acme/Meta-Llama-3.1-8B-2024023a')],
  // A deployment that has its model's name; an agent of Foundry's.
  [`POST ${AZURE}/openai/v1/chat/completions`, chat(DEPLOYED)],
  [`POST ${AZURE}/openai/deployments/${DEPLOYED}/chat/completions`, { messages: [] }],
  [
    FOUNDRY_RESPONSE,
    { model: 'gpt-5', input: 'x', agent: { type: 'agent_reference', name: 'alice-agent' } },
  ],
  [
    FOUNDRY_RESPONSE,
    { input: 'x', agent: { type: 'agent_reference', name: 'alice-agent', version: '2' } },
  ],
  [
    FOUNDRY_RESPONSE,
    { input: 'x', agent_reference: { type: 'agent_reference', name: 'alice-agent' } },
  ],
  [FOUNDRY_RESPONSE, { input: 'x', agent: { id: 'alice-agent:3' } }],
  [FOUNDRY_RESPONSE, { input: 'x', agent: 'alice-agent' }],
  [
    `POST ${V1}/workflows/run`,
    { workflow: { id: 'wf_68df4b13b3588190a09d19288d4610ec0df388c3983f58d1' } },
  ],
]

/** TABLE of requests of the same form that name what is everybody's. */
const EVERYBODYS: [line: string, body?: object][] = [
  ...BESIDE_CLOUDS,
  [
    `POST ${COHERE}/v1/chat`,
    { model: 'command-r', message: 'x', chat_history: [], connectors: [{ id: 'web-search' }] },
  ],
  [`POST ${COHERE}/v2/chat`, chat('command-r-08-2024')],
  [`POST ${TOGETHER}/chat/completions`, chat('meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo')],
  [`POST ${TOGETHER}/chat/completions`, chat('deepseek-ai/DeepSeek-V3-20250324')],
  [
    `POST ${TOGETHER}/of/tomorrow`,
    { model: 'deepseek-ai/DeepSeek-V3-20250324', judge_model: 'meta-llama/Meta-Llama-3.1-8B' },
  ],
  [`POST ${TOGETHER}/chat/completions?model=m`, chat('m')],
  [
    FOUNDRY_RESPONSE,
    { model: 'gpt-5', input: 'x', agent: null, metadata: { agent: 'alice-agent' } },
  ],
  [`POST ${AZURE}/openai/v1/chat/completions`, chat('gpt-4o-mini.ft-us')],
  [`POST ${FIREWORKS}/chat/completions`, chat(OURS)],
  [`POST ${FIREWORKS}/workflows/${OURS}/text_to_image`, { prompt: 'x' }],
  [`POST ${OPENROUTER}/chat/completions`, chat('openai/gpt-4o:online')],
  [
    `POST ${OPENROUTER}/chat/completions`,
    { ...chat('openai/gpt-4o'), messages: [{ role: 'user', content: '@preset/sales' }] },
  ],
  [`POST ${MISTRAL}/audio/speech`, { model: 'voxtral', voice_id: 'gb_jane_neutral', input: 'x' }],
  [`POST ${MISTRAL}/audio/speech`, { model: 'voxtral', voice_id: 'voice_478', input: 'x' }],
]

test("the operator's objects are closed to `objects: own` and open to one with objects: upstream", async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), everywhere)
  const [own, scoped, upstream] = [
    await served.key(),
    await served.key({ models: ['*', '*#*'] }),
    await served.key({ objects: 'upstream' }),
  ]
  for (const [line, body] of OPERATORS) {
    const reached = served.fake.requests.length
    const name = `${line} ${JSON.stringify(body)}`
    assert.equal(await ending(served, own, line, body), CLOSED, name)
    assert.match(await ending(served, scoped, line, body), /^403 /, name)
    assert.equal(served.fake.requests.length, reached, name)
    assert.equal(await ending(served, upstream, line, body), '200', name)
  }
  for (const [line, body] of EVERYBODYS)
    assert.equal(await ending(served, own, line, body), '200', `${line} ${JSON.stringify(body)}`)
  const { body } = await served.send(own.secret, `${COHERE}/v1/chat`, {
    method: 'POST',
    body: '{"model":"m","message":"x","conversation_id":"a"}',
    headers: JSON_TYPE,
  })
  assert.match(body.toString(), /chat_history/)
  const reading = await served.key({ objects: 'upstream', read_only: true })
  assert.equal(
    await ending(served, reading, `POST ${COHERE}/v1/chat`, {
      model: 'm',
      message: 'x',
      conversation_id: 'a',
    }),
    CLOSED,
  )
  assert.equal(
    await ending(served, reading, `POST ${COHERE}/v1/chat`, { model: 'm', message: 'x' }),
    '200',
  )
})

test('a fine-tuned model, and a voice by its slug, belongs to its creator in requests and batch lines', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), everywhere)
  const { fake, key } = served
  const [mine, theirs] = [await key(), await key()]
  const tuned = 'acme/Meta-Llama-3.1-8B-Instruct-Reference-9f8e7d6c'
  const DATED = 'acme/Meta-Llama-3.1-8B-Instruct-Reference-20240315'
  const cohere = '0f5b7d1c-0e44-4b7e-9f5e-6f1f0c3a2b19'
  const made = async (line: string, response: object, body?: object) => {
    fake.play(respond(200, JSON_TYPE, JSON.stringify(response)))
    assert.equal(await ending(served, mine, line, body), '200', line)
    fake.play(respond(200, JSON_TYPE, '{}'))
  }
  await made(`POST ${TOGETHER}/fine-tunes`, { id: 'ft-1', status: 'pending' }, { model: 'm' })
  await made(`GET ${TOGETHER}/fine-tunes/ft-1`, {
    id: 'ft-1',
    model: 'm',
    model_output_name: tuned,
  })
  await made(
    `POST ${COHERE}/v1/finetuning/finetuned-models`,
    { finetuned_model: { id: cohere } },
    { name: 'x' },
  )
  await made(`POST ${MISTRAL}/audio/voices`, { id: UUID, slug: 'alice-voice' }, { name: 'alice' })
  await made(
    `PATCH ${MISTRAL}/audio/voices/${UUID}`,
    { id: UUID, slug: 'alice-renamed' },
    { name: 'alice renamed' },
  )
  await made(
    `POST ${TOGETHER}/fine-tunes`,
    { id: 'ft-2', status: 'completed', model_output_name: DATED },
    { model: 'm' },
  )
  const uses: [line: string, body?: object][] = [
    [`POST ${TOGETHER}/chat/completions`, chat(tuned)],
    [`POST ${COHERE}/v2/chat`, chat(`${cohere}-ft`)],
    [`POST ${MISTRAL}/audio/speech`, { model: 'v', voice_id: 'alice-voice', input: 'x' }],
    [`POST ${MISTRAL}/audio/speech`, { model: 'v', voice_id: UUID, input: 'x' }],
    [`GET ${MISTRAL}/audio/voices/alice-voice`],
    [`POST ${MISTRAL}/audio/speech`, { model: 'v', voice_id: 'alice-renamed', input: 'x' }],
    // A step of a job.
    [`POST ${TOGETHER}/fine-tunes`, { model: 'm', from_checkpoint: 'ft-1:10' }],
    // A hash that happens to be a date.
    [`POST ${TOGETHER}/chat/completions`, chat(DATED)],
  ]
  for (const [line, body] of uses)
    assert.deepEqual(
      [await ending(served, mine, line, body), await ending(served, theirs, line, body)],
      ['200', CLOSED],
      line,
    )

  const form = { 'Content-Type': 'multipart/form-data; boundary=B' }
  const upload = async (who: { secret: string }, id: string) => {
    const line = JSON.stringify({ custom_id: '1', url: '/v1/chat/completions', body: chat(tuned) })
    fake.play(respond(200, JSON_TYPE, JSON.stringify({ id })))
    const text = `--B\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${`${line}\n`.repeat(3)}\r\n--B--\r\n`
    assert.equal(await ending(served, who, `POST ${TOGETHER}/files`, text, form), '200')
    fake.play(respond(200, JSON_TYPE, '{}'))
    return ending(served, who, `POST ${TOGETHER}/batches`, {
      input_file_id: id,
      endpoint: '/v1/chat/completions',
    })
  }
  assert.deepEqual(
    [await upload(mine, 'file-mine'), await upload(theirs, 'file-theirs')],
    ['200', CLOSED],
  )
})

test('an object with a chosen name belongs to its creator if the response shows that it is new', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), everywhere)
  const { fake, key } = served
  const [mine, theirs, upstream] = [await key(), await key(), await key({ objects: 'upstream' })]
  const AGENTS = `${AZURE}/api/projects/p1/agents`
  const make = async (who: { secret: string }, name: string, version: unknown, status = 200) => {
    const latest = { object: 'agent.version', id: `${name}:${version}`, name, version }
    fake.play(
      respond(
        status,
        JSON_TYPE,
        JSON.stringify({ object: 'agent', id: name, name, versions: { latest } }),
      ),
    )
    const ended = await ending(served, who, `POST ${AGENTS}`, {
      name,
      definition: { kind: 'prompt', model: 'gpt-5' },
    })
    fake.play(respond(200, JSON_TYPE, '{}'))
    return ended
  }
  const uses = (name: string): [line: string, body?: object][] => [
    [FOUNDRY_RESPONSE, { input: 'x', agent: { type: 'agent_reference', name } }],
    [FOUNDRY_RESPONSE, { input: 'x', agent: { name: `${name}:1` } }],
    [`GET ${AGENTS}/${name}`],
    [`POST ${AGENTS}/${name}/versions`, { definition: {} }],
    [`GET ${AGENTS}/${name}/versions/1`],
    [`DELETE ${AGENTS}/${name}`],
  ]
  const used = async (who: { secret: string }, name: string) => {
    const ends = new Set<string>()
    for (const [line, body] of uses(name)) ends.add(await ending(served, who, line, body))
    return [...ends]
  }
  assert.deepEqual(await used(mine, 'planner'), [CLOSED])
  assert.equal(await make(mine, 'planner', '1'), '200')
  assert.deepEqual(
    [await used(mine, 'planner'), await used(theirs, 'planner'), await used(upstream, 'planner')],
    [['200'], [CLOSED], [CLOSED]],
  )
  // Two keys choose the same name: the second one is refused before the provider sees it.
  const reached = fake.requests.length
  for (const other of [theirs, upstream]) assert.equal(await make(other, 'planner', '1'), CLOSED)
  assert.equal(fake.requests.length, reached)
  assert.deepEqual(
    [await used(mine, 'planner'), await used(theirs, 'planner')],
    [['200'], [CLOSED]],
  )
  // It was there, or is not there now.
  for (const [name, version, status] of [
    ['was-there', '2', 200],
    ['was-there-too', 3, 200],
    ['unsaid', undefined, 200],
    ['conflict', '1', 409],
  ] as const) {
    assert.equal(await make(theirs, name, version, status), String(status))
    assert.deepEqual(await used(theirs, name), [CLOSED], name)
  }
  // A list passes where all agents in it are the key's.
  for (const [names, ended] of [
    [['planner'], '200'],
    [['planner', 'was-there'], CLOSED],
  ] as const) {
    fake.play(
      respond(
        200,
        JSON_TYPE,
        JSON.stringify({
          data: names.map((name) => ({
            id: name,
            name,
            versions: { latest: { id: `${name}:1`, version: '1' } },
          })),
        }),
      ),
    )
    assert.equal(await ending(served, mine, `GET ${AGENTS}`), ended)
  }
})

test('a form field and a deployment header name a stored model', async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{}'), everywhere)
  const { key, send } = served
  const [own, upstream] = [await key(), await key({ objects: 'upstream' })]
  const form = (model: string) => ({
    body: `--B\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--B--\r\n`,
    headers: { 'Content-Type': 'multipart/form-data; boundary=B' },
  })
  const urlencoded = (model: string) => ({
    body: `model=${encodeURIComponent(model)}`,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  const drawn = (deployment: string) => ({
    body: '{"model":"gpt-5","input":"x","tools":[{"type":"image_generation"}]}',
    headers: { ...JSON_TYPE, 'x-ms-oai-image-generation-deployment': deployment },
  })
  /**
   * TABLE of requests that name a model of the operator's, and the same with one of everybody's.
   */
  const cases: [
    address: string,
    theirs: { body: string; headers: Record<string, string> },
    everybodys: { body: string; headers: Record<string, string> },
  ][] = [
    [`${TOGETHER}/audio/transcriptions`, form(TUNED), form('whisper')],
    [`${TOGETHER}/of/tomorrow`, form(TUNED), form('whisper')],
    [`${TOGETHER}/chat/completions`, urlencoded(TUNED), urlencoded('m')],
    [`${AZURE}/openai/v1/responses`, drawn(DEPLOYED), drawn('gpt-image-1')],
  ]
  for (const [address, theirs, everybodys] of cases) {
    const ends = async ({ secret }: { secret: string }, sent: typeof theirs) =>
      (await send(secret, address, sent)).status
    assert.deepEqual(
      [await ends(own, theirs), await ends(upstream, theirs), await ends(own, everybodys)],
      [403, 200, 200],
      `${address} ${theirs.body}`,
    )
  }
})

test("another key's id is recognised before a NUL and after dots", async (t) => {
  const served = await startServed(t, respond(200, JSON_TYPE, '{"id":"file-QQQQ1111wwww2222"}'))
  const [mine, theirs] = [await served.key(), await served.key()]
  await ending(
    served,
    mine,
    `POST ${V1}/files`,
    '--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--B--\r\n',
    { 'Content-Type': 'multipart/form-data; boundary=B' },
  )
  for (const id of [
    'ID\u0000',
    '\u0000ID',
    'ID\u0000.txt',
    '../files/ID',
    './ID',
    '..//ID',
    '..%2ffiles%2fID',
  ]) {
    const body = {
      model: 'gpt-5',
      input: 'x',
      metadata: { a: id.replace('ID', 'file-QQQQ1111wwww2222') },
    }
    assert.deepEqual(
      [
        await ending(served, theirs, `POST ${V1}/responses`, body),
        await ending(served, mine, `POST ${V1}/responses`, body),
      ],
      [CLOSED, '200'],
      JSON.stringify(id),
    )
  }
})

/** What tells of no object of anybody's: models, stock voices and the like. */
const CATALOGUES =
  /\/(?:models(?:\/\{\w+[:*]?\}|\/limits)?|(?:language|(?:image|video)-generation|embedding)-models(?:\/\{any:\})?|config|voices|accents|providers|deployments|supported-models|zdr|parameters\/\{any\*\}|tcp_warming|models\/(?:search|schema)|tags|version|concepts\/list|\{any\}\.(?:png|jpg|mp4)|models\/list|templates|shared-voices|settings\/default|catalog|llm\/list|rag-index|collections(?:\/\{any\})?|hardware|benchmarks|classifications\/task|app-rankings|rankings-daily|session-cost|ping|inference-instance-types(?:\/\{any\})?|supported-models\/\{any\*\}|model\/\{any\*\})$/

test('every GET without an object is a checked list, a refused one, or a catalogue', () => {
  for (const provider of createProviderTable().providers) {
    for (const { on, asks, lists } of PROVIDERS.find(({ id }) => id === provider.id)!.endpoints) {
      const methods = on.split(' ')
      const pattern = methods.pop()!
      const match = classify(provider, 'GET', pattern.replaceAll(/\{\w+[:*]?\}/g, 'x1'))
      if (
        !methods.includes('GET') ||
        match.class !== 'neutral' ||
        match.objects.length > 0 ||
        asks !== undefined ||
        lists !== undefined
      )
        continue
      if (listPlaces(match, provider.endpoints) === null)
        assert.match(pattern, CATALOGUES, `${provider.id} ${on}`)
    }
  }
})
