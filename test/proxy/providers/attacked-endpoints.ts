// TABLE of requests by which a key tried to get past its scope or to another key's objects, found
// by reading the providers' documentation and SDKs. Each must be refused before the provider sees
// it.
import type { SdkEndpoint } from './sdk-endpoints.ts'

/** What the key has that tries. */
export type AttackingKey =
  /** One model, `model-1`, and objects of the whole account. */
  | 'scoped'
  /** All models, and objects of its own. */
  | 'own'
  /** Everything that a key can have. */
  | 'open'

/** One attempt. */
export type Attack = Pick<SdkEndpoint, 'on' | 'body' | 'headers'> & { readonly by: AttackingKey }

const scoped = (on: string, body?: unknown, headers?: Record<string, string>): Attack => ({
  by: 'scoped',
  on,
  ...(body === undefined ? {} : { body }),
  ...(headers === undefined ? {} : { headers }),
})
const own = (on: string, body?: unknown, headers?: Record<string, string>): Attack => ({
  ...scoped(on, body, headers),
  by: 'own',
})

const GATEWAY = 'ai-gateway.vercel.sh'
const LANGUAGE = `POST ${GATEWAY}/v4/ai/language-model`
const NAMED = { 'ai-language-model-id': 'model-1' }
const BATCH = { 'ai-model-id': 'model-1' }
const FALLBACK = { providerOptions: { gateway: { models: ['model-2'] } } }
const DRAWS = { type: 'provider', id: 'openai.image_generation', name: 'draw', args: {} }
const ELEVENLABS = 'api.elevenlabs.io/v1'
const HUME = 'api.hume.ai/v0'
const UUID = '0c7a7d5e-2a43-4e19-9a0c-6f2f6f0c8b11'
/** As ElevenLabs makes its ids: without a prefix. */
const MADE = 'VW7YKqPnjY4h39yTbx2L'

/** A form whose field names one model, and whose part another one. */
const FORM = { 'Content-Type': 'multipart/form-data; boundary=b' }
const prodiaForm = (...parts: string[]): string =>
  `${parts.map((part) => `--b\r\nContent-Disposition: form-data; ${part}\r\n`).join('')}--b--\r\n`
const prodiaJob = (model: string, head = 'Content-Type: application/json'): string =>
  `name="job"; filename="job.json"\r\n${head}\r\n\r\n{"type":"${model}"}`
/** Forms from which two servers could read different models, or one that the key may not use. */
const PRODIA_FORMS: readonly string[] = [
  prodiaForm('name="type"\r\n\r\nmodel-1', prodiaJob('model-2')),
  prodiaForm('name="type"\r\n\r\nmodel-2', prodiaJob('model-1')),
  prodiaForm(prodiaJob('model-1'), prodiaJob('model-2')),
  prodiaForm(prodiaJob('model-1'), prodiaJob('model-2').replace('"job"', '"Job"')),
  prodiaForm(prodiaJob('model-1'), prodiaJob('model-2').replace('"job"', '"job[]"')),
  prodiaForm(prodiaJob('model-1'), 'name="job"; filename="job.json"\r\n\r\n'),
  prodiaForm(prodiaJob('model-1', 'Content-Type: text/plain')),
  prodiaForm(prodiaJob('model-1', 'Content-Type: application/json; charset=utf-16')),
  prodiaForm(
    prodiaJob('model-1', 'Content-Type: application/json\r\nContent-Transfer-Encoding: base64'),
  ),
  prodiaForm('name="input"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nx'),
]

export const ATTACKS: readonly Attack[] = [
  // Tools of a provider behind the gateway that run another model: @ai-sdk/gateway sends `tools` as
  // the AI SDK has them.
  scoped(LANGUAGE, { prompt: [], tools: [DRAWS] }, NAMED),
  scoped(LANGUAGE, { prompt: [], tools: [{ ...DRAWS, type: 'provider-defined' }] }, NAMED),
  scoped(LANGUAGE, { prompt: [], tools: [{ ...DRAWS, args: { model: 'gpt-image-1' } }] }, NAMED),
  scoped(
    LANGUAGE,
    {
      prompt: [],
      tools: [
        {
          type: 'provider',
          id: 'anthropic.advisor_20260301',
          name: 'advisor',
          args: { model: 'claude-opus-4-8' },
        },
      ],
    },
    NAMED,
  ),
  // A batch's requests name their models, fallbacks and tools (@ai-sdk/gateway, gateway-batch.ts).
  ...[
    { modelId: 'model-2', options: { prompt: [] } },
    { modelId: 'model-1', options: { prompt: [], ...FALLBACK } },
    { modelId: 'model-1', options: { prompt: [], tools: [DRAWS] } },
  ].map((request) =>
    scoped(
      `POST ${GATEWAY}/v4/ai/batch/start`,
      { requests: [{ id: '1', type: 'text', ...request }] },
      BATCH,
    ),
  ),
  // A fallback under a condition (gateway-provider-options.ts).
  scoped(
    LANGUAGE,
    {
      prompt: [],
      providerOptions: {
        gateway: { models: [{ model: 'model-2', when: { confidenceBelow: 0.5 } }] },
      },
    },
    NAMED,
  ),
  ...['embeddings', 'images/generations', 'rerank', 'audio/speech', 'moderations'].map((what) =>
    scoped(`POST ${GATEWAY}/v1/${what}`, { model: 'model-1', input: 'x', ...FALLBACK }),
  ),
  scoped(`POST ${GATEWAY}/v1/messages`, { model: 'model-1', messages: [], ...FALLBACK }),
  own(`POST ${GATEWAY}/v4/ai/batch/cancel`, { batchId: 'batch-1' }),
  // https://docs.fish.audio/api-reference: a cloned voice has an id of 32 hex digits.
  own(
    'POST api.fish.audio/v1/tts',
    { text: 'x', reference_id: '802e3bc2b27e49c2995d23ef70e6ac89' },
    { model: 's1' },
  ),
  own('GET api.fish.audio/model/802e3bc2b27e49c2995d23ef70e6ac89'),
  // https://platform.minimax.io/docs/api-reference/file-management-delete: an id is a number.
  own('POST api.minimax.io/v1/files/delete', { file_id: 123_456_789, purpose: 'voice_clone' }),
  // https://elevenlabs.io/docs/api-reference
  own(`POST ${ELEVENLABS}/history/download`, { history_item_ids: [MADE] }),
  own(`POST ${ELEVENLABS}/voices/${MADE}/settings/edit`, {}),
  own(`POST ${ELEVENLABS}/pronunciation-dictionaries/${MADE}/add-rules`, { rules: [] }),
  own(`POST ${ELEVENLABS}/studio/projects/${MADE}/convert`, {}),
  // https://elevenlabs.io/docs/api-reference/agents/create: what an agent uses is somebody's, and a
  // secret of the workspace would be sent to a server of the caller's.
  ...[
    { conversation_config: { agent: { prompt: { tool_ids: [MADE] } } } },
    { conversation_config: { agent: { prompt: { knowledge_base: [{ type: 'url', id: MADE }] } } } },
    { conversation_config: { tts: { voice_id: MADE } } },
    { workflow: { nodes: { a: { type: 'standalone_agent', agent_id: MADE } } } },
    {
      conversation_config: {
        agent: {
          prompt: {
            llm: 'custom-llm',
            custom_llm: { url: 'https://a.test', api_key: { secret_id: 'secret-1' } },
          },
        },
      },
    },
  ].map((body) => own(`POST ${ELEVENLABS}/convai/agents/create`, body)),
  own(`POST ${ELEVENLABS}/convai/tools`, {
    tool_config: { api_schema: { request_headers: { a: { secret_id: 'secret-1' } } } },
  }),
  own(`POST ${ELEVENLABS}/convai/twilio/outbound-call`, {
    agent_id: MADE,
    agent_phone_number_id: 'phnum_01',
    to_number: '+1',
  }),
  own(`GET ${ELEVENLABS}/convai/conversations/${MADE}/audio`),
  own(`PATCH ${ELEVENLABS}/convai/agents/${MADE}/branches/main`, {}),
  own(`POST ${ELEVENLABS}/convai/knowledge-base/bulk-delete`, { document_ids: [MADE] }),
  ...['create', `${MADE}/simulate-conversation`].map((what) =>
    scoped(`POST ${ELEVENLABS}/convai/agents/${what}`, {
      conversation_config: { agent: { prompt: { llm: 'model-1' } }, tts: { model_id: 'model-1' } },
    }),
  ),
  scoped(`PATCH ${ELEVENLABS}/convai/agents/${MADE}`, { name: 'x' }),
  scoped(`POST ${ELEVENLABS}/dubbing`, { model_id: 'model-1' }),
  scoped(`POST ${ELEVENLABS}/flows/image`, { model_id: 'model-2', prompt: 'x' }),
  // https://dev.hume.ai/reference/speech-to-speech-evi
  own(`POST ${HUME}/evi/configs`, { evi_version: '3', prompt: { id: UUID } }),
  own(`DELETE ${HUME}/tts/voices?name=theirs`),
  own(`GET ${HUME}/evi/chats/${UUID}`),
  scoped(`POST ${HUME}/evi/configs`, { language_model: { model_resource: 'model-1' } }),
  // https://docs.mistral.ai/api/endpoint/workflows
  own('GET api.mistral.ai/v1/workflows/executions/execution-1/history'),
  own('PUT api.mistral.ai/v1/workflows/archive', { workflow_ids: ['theirs'] }),
  scoped('POST api.mistral.ai/v1/workflows/executions/execution-1/signals', { model: 'model-1' }),
  own('DELETE api.mistral.ai/v1/models/mistral-large-latest'),
  own('DELETE api.groq.com/openai/v1/models/llama-3.3-70b-versatile'),
  // https://docs.cartesia.ai/api-reference/agents
  own(`DELETE api.cartesia.ai/agents/${UUID}`),
  own(`GET api.cartesia.ai/agents/calls?agent_id=${UUID}`),
  // https://docs.together.ai/reference/queue: everybody's requests.
  { by: 'open', on: 'POST api.together.xyz/v1/queue/clear', body: { model: 'model-1' } },
  // A lenient server may read the name of an endpoint where its row has an id.
  ...['Runs', 'runs.json', 'runs%20'].map((word) =>
    scoped(`POST api.openai.com/v1/threads/${word}`, { model: 'model-2', assistant_id: 'a' }),
  ),
  scoped('POST acme.services.ai.azure.com/api/projects/p/threads/runs.json', {
    model: 'model-2',
    assistant_id: 'a',
  }),
  // https://replicate.com/docs/reference/http#files.get: an input may be a file by its address.
  own('POST api.replicate.com/v1/predictions', {
    version: 'acme/model:0123456789abcdef',
    input: { image: 'https://api.replicate.com/v1/files/abc123def456ghi789jkl012mn' },
  }),
  // https://replicate.com/docs/reference/http#deployments.create: hardware that is paid by the hour.
  { by: 'open', on: 'POST api.replicate.com/v1/deployments', body: { name: 'd' } },
  { by: 'open', on: 'PATCH api.replicate.com/v1/deployments/acme/d', body: { min_instances: 5 } },
  // https://deepinfra.com/docs/advanced/scoped_jwt
  {
    by: 'open',
    on: 'POST api.deepinfra.com/v1/scoped-jwt',
    body: { api_key_name: 'auto', expires_delta: 3600 },
  },
  // https://docs.fal.ai: apps that load any model take its name.
  scoped('POST queue.fal.run/model-1', { prompt: 'x', model_name: 'somebody/model' }),
  own('POST queue.fal.run/fal-ai/flux/requests/11111111-2222-4333-8444-555555555555/cancel', {}),
  // https://docs.prodia.com/reference: a form brings the job as a part, and a field may stand beside it.
  ...PRODIA_FORMS.map((body) => scoped('POST inference.prodia.com/v2/job?price=true', body, FORM)),
  ...PRODIA_FORMS.slice(0, 1).map((body) =>
    scoped('POST inference.prodia.com/v2/job/async', body, FORM),
  ),
  // https://www.alibabacloud.com/help/en/model-studio: apps and deployments are the operator's.
  own('POST dashscope-intl.aliyuncs.com/api/v1/apps/0123456789abcdef0123456789abcdef/completion', {
    input: { prompt: 'x' },
  }),
  scoped('POST dashscope-intl.aliyuncs.com/api/v1/apps/0123456789abcdef/completion', {
    model: 'model-1',
  }),
  { by: 'open', on: 'POST dashscope-intl.aliyuncs.com/api/v1/deployments', body: {} },
  // https://docs.byteplus.com/en/docs/ModelArk: a context that another key has filled.
  own('POST ark.ap-southeast.bytepluses.com/api/v3/context/chat/completions', {
    model: 'ep-20250122143520-abcde',
    context_id: 'ctx-20250122143520-abcde',
    messages: [],
  }),
  own('POST ark.ap-southeast.bytepluses.com/api/v3/bots/chat/completions', {
    model: 'bot-20250122143520-abcde',
    messages: [],
  }),
  // https://app.klingai.com/global/dev/document-api: a video of another key's goes on.
  own('POST api-singapore.klingai.com/v1/videos/video-extend', { video_id: '781234567890123456' }),
  own('POST api-singapore.klingai.com/v1/videos/lip-sync', {
    input: { video_id: '781234567890123456', mode: 'text2video', text: 'x' },
  }),
  // https://docs.together.ai/docs/mixture-of-agents: what other models said is merged.
  scoped('POST api.together.xyz/v1/chat/completions', {
    model: 'model-1',
    messages: [],
    reference_models: ['model-2'],
  }),
  // https://docs.ollama.com/api: before 0.1.33 a model was named by `name` alone.
  scoped('POST ollama.com/api/show', { model: 'model-1', name: 'model-2' }),
]
