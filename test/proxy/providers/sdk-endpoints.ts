// TABLE of the endpoints of real services that the AI SDK's provider packages call in their own
// public test suites (vercel/ai, 2026-08), each with its class.

/** What an endpoint is held to. */
export type SdkClass =
  /** Names a model: in its path, body, query, header or host; or has a name of its own. */
  | 'model'
  | 'name'
  /** Reaches what is stored, by the path or by a parameter. */
  | 'object'
  /** Names nothing of anybody's: files of a CDN, lists of models. */
  | 'public'
  /** Makes something that runs no model. */
  | 'upload'
  /** Runs a model that the request does not name: no key with models passes. */
  | 'stored'
  | 'minting'
  | 'admin'

export interface SdkEndpoint {
  /** Of the AI SDK, without `@ai-sdk/`. */
  readonly package: string
  /** Method, host and path. */
  readonly on: string
  readonly class: SdkClass
  /** What a key must allow. */
  readonly model?: string
  readonly body?: unknown
  /** Fields of a form; a file follows. */
  readonly form?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

const MODEL = 'model-1'
type More = Partial<Omit<SdkEndpoint, 'package' | 'on' | 'class'>>
const row =
  (kind: SdkClass) =>
  (name: string, on: string, more: More = {}): SdkEndpoint => ({
    package: name,
    on,
    class: kind,
    ...more,
  })

/** The body names the model. */
const inBody = (name: string, on: string, body: object = {}, member = 'model'): SdkEndpoint =>
  row('model')(name, `POST ${on}`, { model: MODEL, body: { [member]: MODEL, ...body } })
const inForm = (name: string, on: string, member = 'model'): SdkEndpoint =>
  row('model')(name, `POST ${on}`, { model: MODEL, form: { [member]: MODEL } })
/** The path, host or query names it. */
const inPath = (name: string, on: string, model: string, body: object = {}): SdkEndpoint =>
  row('model')(name, `POST ${on}`, { model, body })
const inHeader = (name: string, on: string, header: string, body: object = {}): SdkEndpoint =>
  row('model')(name, `POST ${on}`, { model: MODEL, body, headers: { [header]: MODEL } })
const named = (name: string, on: string, model: string, more: More = { body: {} }): SdkEndpoint =>
  row('name')(name, `POST ${on}`, { model, ...more })
const object = row('object')
const open = row('public')
const upload = row('upload')
const stored = row('stored')
const minting = row('minting')
const admin = row('admin')

const GATEWAY = 'ai-gateway.vercel.sh'
const VERTEX = 'us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1'
const GEMINI = 'generativelanguage.googleapis.com'
const EXPRESS = 'aiplatform.googleapis.com/v1/publishers/google/models'
const BEDROCK = 'bedrock-runtime.us-east-1.amazonaws.com'

/** What the packages of providers call that came later. */
const LATER: readonly SdkEndpoint[] = [
  inBody(
    'alibaba',
    'dashscope-intl.aliyuncs.com/api/v1/services/aigc/video-generation/video-synthesis',
    { input: { prompt: 'x' } },
  ),
  inBody(
    'alibaba',
    'dashscope-intl.aliyuncs.com/api/v1/services/embeddings/text-embedding/text-embedding',
    { input: { texts: ['x'] } },
  ),
  object('alibaba', 'GET dashscope-intl.aliyuncs.com/api/v1/tasks/task-1'),
  inBody('alibaba', 'dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions', {
    messages: [],
  }),
  inBody('anthropic-aws', 'aws-external-anthropic.us-east-1.api.aws/v1/messages', { messages: [] }),
  inBody(
    'assemblyai',
    'api.assemblyai.com/v2/transcript',
    { audio_url: 'https://a.test/x', speech_models: [MODEL] },
    'speech_model',
  ),
  object('assemblyai', 'GET api.assemblyai.com/v2/transcript/transcript-1'),
  upload('assemblyai', 'POST api.assemblyai.com/v2/upload', { body: 'bytes' }),
  inPath(
    'baseten',
    'model-123.api.baseten.co/environments/production/sync/v1/embeddings',
    'model-123',
    { model: 'placeholder', input: 'x' },
  ),
  inPath('black-forest-labs', 'api.bfl.ai/v1/flux-3-video', 'flux-3-video', { prompt: 'x' }),
  inPath('black-forest-labs', 'api.bfl.ai/v1/flux-pro-1.0-fill', 'flux-pro-1.0-fill', {
    prompt: 'x',
  }),
  inPath('black-forest-labs', 'api.bfl.ai/v1/flux-pro-1.1', 'flux-pro-1.1', { prompt: 'x' }),
  inPath('black-forest-labs', 'api.bfl.ai/v1/test-model', 'test-model', { prompt: 'x' }),
  object('black-forest-labs', 'GET api.us1.bfl.ai/v1/get_result?id=task-1'),
  object('black-forest-labs', 'GET api.us1.bfl.ai/v1/poll?id=task-1'),
  object('black-forest-labs', 'GET api.us1.bfl.ai/v1/video-poll?id=task-1'),
  open('black-forest-labs', 'GET delivery-us1.bfl.ai/image.png'),
  inBody('bytedance', 'ark.ap-southeast.bytepluses.com/api/v3/contents/generations/tasks', {
    content: [],
  }),
  object(
    'bytedance',
    'GET ark.ap-southeast.bytepluses.com/api/v3/contents/generations/tasks/test-task-id-123',
  ),
  inBody('bytedance', 'ark.ap-southeast.bytepluses.com/api/v3/images/generations', { prompt: 'x' }),
  minting('cartesia', 'POST api.cartesia.ai/access-token', { body: { grants: { stt: true } } }),
  inForm('cartesia', 'api.cartesia.ai/stt'),
  inBody(
    'cartesia',
    'api.cartesia.ai/tts/bytes',
    { transcript: 'x', voice: { mode: 'id', id: '694f9389-aac1-45b6-b726-9d9369183238' } },
    'model_id',
  ),
  row('model')('deepgram', `POST api.deepgram.com/v1/listen?model=${MODEL}`, {
    model: MODEL,
    body: 'bytes',
  }),
  inPath('deepgram', `api.deepgram.com/v1/speak?model=${MODEL}`, MODEL, { text: 'x' }),
  inPath('deepinfra', 'api.deepinfra.com/v1/inference/stability-ai/sdxl', 'stability-ai/sdxl', {
    prompt: 'x',
  }),
  inBody('deepinfra', 'api.deepinfra.com/v1/openai/chat/completions', { messages: [] }),
  inForm('deepinfra', 'api.deepinfra.com/v1/openai/images/edits'),
  inForm('elevenlabs', 'api.elevenlabs.io/v1/speech-to-text', 'model_id'),
  inBody(
    'elevenlabs',
    'api.elevenlabs.io/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM',
    { text: 'x' },
    'model_id',
  ),
  open('fal', 'GET fal.media/files/lion/abc.png'),
  inPath('fal', 'fal.run/fal-ai/minimax/speech-02-hd', 'fal-ai/minimax/speech-02-hd', {
    text: 'x',
  }),
  // As the package names it, without the namespace.
  inPath('fal', 'queue.fal.run/fal-ai/wizper', 'wizper', { audio_url: 'https://a.test/x' }),
  inPath('fal', 'fal.run/fal-ai/qwen-image', 'fal-ai/qwen-image', { prompt: 'x' }),
  inPath('fal', 'queue.fal.run/fal-ai/luma-dream-machine', 'fal-ai/luma-dream-machine', {
    prompt: 'x',
  }),
  object('fal', 'GET queue.fal.run/fal-ai/luma-dream-machine/requests/request-1'),
  inPath('fal', 'queue.fal.run/fal-ai/luma-ray-2', 'fal-ai/luma-ray-2', { prompt: 'x' }),
  inPath('fal', 'queue.fal.run/fal-ai/wizper', 'fal-ai/wizper', { audio_url: 'https://a.test/x' }),
  object('fal', 'GET queue.fal.run/fal-ai/wizper/requests/request-1'),
  named('fish-audio', 'api.fish.audio/v1/asr', 'fish-audio/asr', { form: { language: 'en' } }),
  inHeader('fish-audio', 'api.fish.audio/v1/tts', 'model', { text: 'x' }),
  open('gateway', `GET ${GATEWAY}/config`),
  open('gateway', `GET ${GATEWAY}/v4/ai/config`),
  admin('gateway', `GET ${GATEWAY}/v1/credits`),
  admin('gateway', `GET ${GATEWAY}/v1/generation?id=gen_1`),
  minting('gateway', `POST ${GATEWAY}/v1/realtime/client-secrets`, { body: {} }),
  admin('gateway', `GET ${GATEWAY}/v1/report`),
  object('gateway', `POST ${GATEWAY}/v4/ai/batch/results`, { body: { batchId: 'batch-1' } }),
  inHeader('gateway', `${GATEWAY}/v4/ai/batch/start`, 'ai-model-id', { requests: [] }),
  object('gateway', `POST ${GATEWAY}/v4/ai/batch/cancel`, { body: { batchId: 'batch-1' } }),
  object('gateway', `POST ${GATEWAY}/v4/ai/batch/status`, { body: { batchId: 'batch-1' } }),
  ...['decision', 'embedding', 'image', 'reranking', 'speech', 'transcription', 'video'].map(
    (kind) => inHeader('gateway', `${GATEWAY}/v4/ai/${kind}-model`, 'ai-model-id'),
  ),
  inHeader('gateway', `${GATEWAY}/v4/ai/language-model`, 'ai-language-model-id', { prompt: [] }),
  inHeader('gateway', `${GATEWAY}/v4/ai/video-model/start`, 'ai-model-id', { prompt: 'x' }),
  inHeader('gateway', `${GATEWAY}/v4/ai/video-model/status`, 'ai-model-id', {}),
  named('gladia', 'api.gladia.io/v2/pre-recorded', 'gladia/pre-recorded', {
    body: { audio_url: 'https://a.test/x' },
  }),
  object('gladia', 'GET api.gladia.io/v2/pre-recorded/transcription-1'),
  upload('gladia', 'POST api.gladia.io/v2/upload', { form: {} }),
  inBody('gmicloud', 'api.gmi-serving.com/v1/chat/completions', { messages: [] }),
  row('model')(
    'google-vertex',
    'POST speech.googleapis.com/v2/projects/p/locations/global/recognizers/_:recognize',
    { model: MODEL, body: { config: { model: MODEL }, content: 'x' } },
  ),
  row('model')('google-vertex', 'POST texttospeech.googleapis.com/v1/text:synthesize', {
    model: MODEL,
    body: { input: { text: 'x' }, voice: { modelName: MODEL } },
  }),
  row('model')('google-vertex', 'POST texttospeech.googleapis.com/v1/text:synthesize', {
    model: 'chirp-3-hd',
    body: { input: { text: 'x' }, voice: { languageCode: 'en-US', name: 'en-US-Chirp3-HD-Kore' } },
  }),
  ...[VERTEX, 'aiplatform.eu.rep.googleapis.com/v1beta1/projects/p/locations/eu'].flatMap((at) => [
    inBody('google-vertex', `${at}/interactions`, { input: 'x' }),
    object('google-vertex', `GET ${at}/interactions/abc`),
    object('google-vertex', `POST ${at}/interactions/abc/cancel`),
  ]),
  inPath('google-vertex', `${VERTEX}/publishers/google/models/gemini-e:embedContent`, 'gemini-e'),
  inPath('google-vertex', `${VERTEX}/publishers/google/models/imagen-4:predict`, 'imagen-4'),
  row('model')(
    'google-vertex',
    'POST us-central1-speech.googleapis.com/v2/projects/p/locations/us-central1/recognizers/_:recognize',
    { model: MODEL, body: { config: { model: MODEL } } },
  ),
  row('model')(
    'google-vertex',
    'POST us-speech.googleapis.com/v2/projects/p/locations/us/recognizers/_:recognize',
    { model: MODEL, body: { config: { model: MODEL } } },
  ),
  minting('google', `POST ${GEMINI}/v1alpha/auth_tokens`, { body: {} }),
  inBody('huggingface', 'router.huggingface.co/v1/responses', { input: 'x' }),
  named('hume', 'api.hume.ai/v0/tts/file', 'hume/tts', {
    body: {
      utterances: [
        { text: 'x', voice: { id: 'd8ab67c6-953d-4bd8-9370-8fa53a0f1453', provider: 'HUME_AI' } },
      ],
    },
  }),
  ...['image2video', 'motion-control', 'text2video'].map((way) =>
    inBody('klingai', `api-singapore.klingai.com/v1/videos/${way}`, { prompt: 'x' }, 'model_name'),
  ),
  // The package's own name of the model.
  row('model')('klingai', 'POST api-singapore.klingai.com/v1/videos/text2video', {
    model: 'kling-v2.6-t2v',
    body: { model_name: 'kling-v2-6', prompt: 'x' },
  }),
  ...['image2video', 'text2video'].map((way) =>
    object('klingai', `GET api-singapore.klingai.com/v1/videos/${way}/task-abc-123`),
  ),
  inBody('lmnt', 'api.lmnt.com/v1/ai/speech/bytes', { text: 'x', voice: 'ava' }),
  inBody('luma', 'api.lumalabs.ai/dream-machine/v1/generations/image', { prompt: 'x' }),
  object('luma', 'GET api.lumalabs.ai/dream-machine/v1/generations/generation-1'),
  open('luma', 'GET api.lumalabs.ai/image.png'),
  inBody('minimax', 'api.minimax.io/anthropic/v1/messages', { messages: [] }),
  object('minimax', 'GET api.minimax.io/v2/query/video_generation/task-1'),
  inBody('minimax', 'api.minimax.io/v2/video_generation', { content: [] }),
  inBody('moonshotai', 'api.moonshot.ai/v1/chat/completions', { messages: [] }),
  inBody('openai-compatible', 'external.api.recraft.ai/v1/images/generations', { prompt: 'x' }),
  stored('openai', 'POST api.openai.com/v1/batches', { body: {} }),
  inBody('openai', 'api.openai.com/v1/images/generations', { prompt: 'x' }),
  minting('openai', 'POST api.openai.com/v1/realtime/client_secrets', { body: {} }),
  inBody('prodia', 'inference.prodia.com/v2/job', { config: { prompt: 'x' } }, 'type'),
  ...['', 'Content-Disposition: form-data; name="input"; filename="input.png"'].map((input) =>
    row('model')('prodia', 'POST inference.prodia.com/v2/job?price=true', {
      model: MODEL,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: `--b\r\nContent-Disposition: form-data; name="job"; filename="job.json"\r\nContent-Type: application/json\r\n\r\n{"type":"${MODEL}","config":{"prompt":"x"}}\r\n${input && `--b\r\n${input}\r\nContent-Type: image/png\r\n\r\nx\r\n`}--b--\r\n`,
    }),
  ),
  ...['generations', 'vectorizations'].map((what) =>
    inBody('quiverai', `api.quiver.ai/v1/svgs/${what}`, { prompt: 'x' }),
  ),
  ...[
    'models/black-forest-labs/flux-schnell',
    'v1/models/black-forest-labs/flux-2-pro',
    'v1/models/black-forest-labs/flux-schnell',
    'v1/models/minimax/video-01',
  ].map((path) =>
    inPath('replicate', `api.replicate.com/${path}/predictions`, path.replace(/^.*models\//, ''), {
      input: { prompt: 'x' },
    }),
  ),
  inBody('replicate', 'api.replicate.com/v1/predictions', { input: { prompt: 'x' } }, 'version'),
  row('model')('replicate', 'POST api.replicate.com/v1/predictions', {
    model: `acme/sdxl:${'5599ed30'.repeat(8)}`,
    body: { input: { prompt: 'x' }, version: '5599ed30'.repeat(8) },
  }),
  object('replicate', 'GET api.replicate.com/v1/predictions/prediction1'),
  open('replicate', 'GET replicate.delivery/xezq/abc/out-0.webp'),
  named('revai', 'api.rev.ai/speechtotext/v1/jobs', 'revai/jobs', {
    form: { config: '{"transcriber":"machine"}' },
  }),
  object('revai', 'GET api.rev.ai/speechtotext/v1/jobs/job1'),
  object('revai', 'GET api.rev.ai/speechtotext/v1/jobs/job1/transcript'),
  inBody('voyage', 'api.voyageai.com/v1/embeddings', { input: ['x'] }),
  inBody('voyage', 'api.voyageai.com/v1/rerank', { query: 'x', documents: ['x'] }),
  open('xai', 'GET imgen.x.ai/xai-imgen/image.jpeg'),
  minting('xai', 'POST api.x.ai/v1/realtime/client_secrets', { body: {} }),
  named('xai', 'api.x.ai/v1/stt', 'xai/stt', { form: {} }),
  named('xai', 'api.x.ai/v1/tts', 'xai/tts', { body: { text: 'x' } }),
]

/** Sockets: test/proxy/socket/providers.test.ts opens each. */
export const SDK_SOCKETS: readonly string[] = [
  'api.cartesia.ai/stt/turns/websocket',
  'api.cartesia.ai/stt/websocket',
  'api.elevenlabs.io/v1/speech-to-text/realtime',
  `${GATEWAY}/v4/ai/transcription-model`,
  `${GEMINI}/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`,
  'api.openai.com/v1/realtime',
  'api.openai.com/v1/realtime/translations',
  'api.x.ai/v1/stt',
]

/** What the packages of the first sixteen providers call besides, by their sources. */
const FIRST: readonly SdkEndpoint[] = [
  ...['chat/completions', 'completions', 'embeddings', 'responses', 'audio/speech'].map((path) =>
    inBody('openai', `api.openai.com/v1/${path}`, { input: 'x' }),
  ),
  ...['audio/transcriptions', 'images/edits', 'videos'].map((path) =>
    inForm('openai', `api.openai.com/v1/${path}`),
  ),
  upload('openai', 'POST api.openai.com/v1/files', { form: { purpose: 'assistants' } }),
  object('openai', 'GET api.openai.com/v1/batches/batch_1'),
  object('openai', 'GET api.openai.com/v1/files/file-1/content'),
  object('openai', 'GET api.openai.com/v1/videos/video_1'),
  object('openai', 'GET api.openai.com/v1/videos/video_1/content'),
  ...['chat/completions', 'embeddings', 'responses', 'images/generations'].map((path) =>
    inBody('azure', `acme.openai.azure.com/openai/v1/${path}`, { input: 'x' }),
  ),
  inForm('azure', 'acme.openai.azure.com/openai/v1/audio/transcriptions'),
  inPath('azure', 'acme.openai.azure.com/openai/deployments/gpt/chat/completions', 'gpt', {
    messages: [],
  }),
  inBody('anthropic', 'api.anthropic.com/v1/messages', { messages: [] }),
  row('model')('anthropic', 'POST api.anthropic.com/v1/messages/batches', {
    model: MODEL,
    body: { requests: [{ custom_id: 'a', params: { model: MODEL, messages: [] } }] },
  }),
  object('anthropic', 'GET api.anthropic.com/v1/messages/batches/msgbatch_1'),
  object('anthropic', 'GET api.anthropic.com/v1/messages/batches/msgbatch_1/results'),
  upload('anthropic', 'POST api.anthropic.com/v1/files', { form: {} }),
  upload('anthropic', 'POST api.anthropic.com/v1/skills', { form: {} }),
  object('anthropic', 'GET api.anthropic.com/v1/skills/skill_1/versions/1'),
  ...[
    'generateContent',
    'streamGenerateContent',
    'embedContent',
    'batchEmbedContents',
    'predict',
    'predictLongRunning',
    'batchGenerateContent',
  ].map((verb) => inPath('google', `${GEMINI}/v1beta/models/gemini-x:${verb}`, 'gemini-x')),
  upload('google', `POST ${GEMINI}/upload/v1beta/files`, { body: {} }),
  object('google', `GET ${GEMINI}/v1beta/files/abc`),
  object('google', `GET ${GEMINI}/v1beta/batches/abc`),
  object('google', `GET ${GEMINI}/v1beta/models/veo/operations/abc`),
  inBody('google', `${GEMINI}/v1beta/interactions`, { input: 'x' }),
  object('google', `GET ${GEMINI}/v1beta/interactions/abc`),
  ...['generateContent', 'streamGenerateContent'].map((verb) =>
    inPath('google-vertex', `${EXPRESS}/gemini-x:${verb}`, 'gemini-x'),
  ),
  inBody('google-vertex', `${VERTEX}/endpoints/openapi/chat/completions`, { messages: [] }),
  inPath(
    'google-vertex',
    `${VERTEX}/publishers/anthropic/models/claude:rawPredict`,
    'anthropic/claude',
    { messages: [] },
  ),
  inPath('google-vertex', `${VERTEX}/publishers/google/models/veo:predictLongRunning`, 'veo'),
  object('google-vertex', `POST ${VERTEX}/publishers/google/models/veo:fetchPredictOperation`, {
    model: 'veo',
    body: {
      operationName: 'projects/p/locations/us-central1/publishers/google/models/veo/operations/abc',
    },
  }),
  ...['chat/completions', 'embeddings', 'audio/speech'].map((path) =>
    inBody('mistral', `api.mistral.ai/v1/${path}`, { input: 'x' }),
  ),
  inForm('mistral', 'api.mistral.ai/v1/audio/transcriptions'),
  inBody('groq', 'api.groq.com/openai/v1/chat/completions', { messages: [] }),
  inForm('groq', 'api.groq.com/openai/v1/audio/transcriptions'),
  ...['chat/completions', 'images/generations', 'videos/generations'].map((path) =>
    inBody('xai', `api.x.ai/v1/${path}`, { prompt: 'x' }),
  ),
  inBody('xai', 'api.x.ai/v1/responses', { input: 'x' }),
  object('xai', 'GET api.x.ai/v1/videos/video1'),
  inBody('deepseek', 'api.deepseek.com/chat/completions', { messages: [] }),
  ...['chat', 'embed', 'rerank'].map((path) => inBody('cohere', `api.cohere.com/v2/${path}`, {})),
  ...['chat/completions', 'embeddings', 'images/generations', 'rerank'].map((path) =>
    inBody('togetherai', `api.together.xyz/v1/${path}`, { prompt: 'x' }),
  ),
  ...['chat/completions', 'embeddings'].map((path) =>
    inBody('fireworks', `api.fireworks.ai/inference/v1/${path}`, { input: 'x' }),
  ),
  inPath(
    'fireworks',
    'api.fireworks.ai/inference/v1/image_generation/accounts/fireworks/models/m',
    'accounts/fireworks/models/m',
    { prompt: 'x' },
  ),
  inPath(
    'fireworks',
    'api.fireworks.ai/inference/v1/workflows/accounts/fireworks/models/m/text_to_image',
    'accounts/fireworks/models/m',
    { prompt: 'x' },
  ),
  inBody('perplexity', 'api.perplexity.ai/chat/completions', { messages: [] }),
  inBody('cerebras', 'api.cerebras.ai/v1/chat/completions', { messages: [] }),
  ...['converse', 'converse-stream', 'invoke'].map((verb) =>
    inPath('amazon-bedrock', `${BEDROCK}/model/m/${verb}`, 'm'),
  ),
  inBody('vercel', 'api.v0.dev/v1/chat/completions', { messages: [] }),
]

export const SDK_ENDPOINTS: readonly SdkEndpoint[] = [...LATER, ...FIRST]
