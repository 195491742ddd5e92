// Which endpoints are closed to every key at an added provider, and that no ordinary endpoint is
// among them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { refuseEndpoint } from '../../../server/proxy/providers/authorize-endpoint.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'

/**
 * The class of an endpoint at a host, which is a provider of its own unless it is a built-in one's.
 * `endpoint`: `POST host/path`.
 */
function classOf(endpoint: string): string {
  const [method = '', address = ''] = endpoint.split(' ')
  const cut = address.indexOf('/')
  const host = address.slice(0, cut)
  const builtIn = createProviderTable().find(host, 443)
  const table = builtIn
    ? createProviderTable()
    : createProviderTable({ custom: [{ id: 'added', origin: `https://${host}` }] })
  const match = classify(table.find(host, 443)!.provider, method, address.slice(cut))
  if (match.class === 'minting' || match.class === 'admin') {
    for (const scoped of [true, false])
      assert.equal(refuseEndpoint(match, scoped)?.code, 'endpoint_not_allowed', endpoint)
  }
  return match.class
}

test('every endpoint that gives a child key is closed otherwise', () => {
  for (const { provider, origin, hostParts } of createProviderTable().upstreams)
    for (const endpoint of Object.keys(provider.mints ?? {})) {
      const [method = '', path = ''] = endpoint.split(' ')
      for (const query of ['', '?', '?a=b']) {
        const match = classify(provider, method, path + query, hostParts)
        assert.equal(match.class, 'minting', `${origin}${path}${query}`)
      }
    }
})

/**
 * TABLE of endpoints that return access to the provider, each with where its provider describes it.
 */
const MINTING: readonly (readonly [endpoint: string, source: string])[] = [
  [
    'POST api.openai.com/v1/realtime/client_secrets',
    'platform.openai.com/docs/api-reference/realtime-sessions',
  ],
  ['POST api.x.ai/v1/realtime/client_secrets', 'docs.x.ai/docs/api-reference'],
  ['POST api.x.ai/v1/realtime/client_%C5%BFecrets', 'unicode.org/reports/tr15: it is an s'],
  ['POST api.x.ai/v1/realtime/%EF%BD%83lient_secrets', 'unicode.org/reports/tr15: it is a c'],
  [
    'POST generativelanguage.googleapis.com/v1alpha/auth_tokens',
    'ai.google.dev/gemini-api/docs/ephemeral-tokens',
  ],
  ['POST ai-gateway.vercel.sh/v1/realtime/client-secrets', 'vercel.com/docs/ai-gateway'],
  ['POST llm.acme.test/v1/realtime/clientSecrets', 'OpenAI dialect'],
  ['POST llm.acme.test/v1/realtime/client_secret', 'OpenAI dialect'],
  ['POST llm.acme.test/v1/realtime/sessions', 'OpenAI dialect'],
  ['POST llm.acme.test/v1/realtime/transcription-sessions', 'OpenAI dialect'],
  [
    'POST acme.services.ai.azure.com/api/projects/p/datasets/d/versions/1/startPendingUpload?api-version=2025-05-01',
    'learn.microsoft.com/rest/api/aifoundry',
  ],
  [
    'POST llm.acme.test/openai/realtimeapi/sessions',
    'learn.microsoft.com/azure/ai-foundry/openai/realtime-audio-quickstart',
  ],
  [
    'POST llm.acme.test/v1/realtimertc',
    'learn.microsoft.com/azure/ai-foundry/openai/how-to/realtime-audio-webrtc',
  ],
  ['POST llm.acme.test/v1/realtime/calls', 'OpenAI dialect'],
  ['POST llm.acme.test/v1/chatkit/sessions', 'OpenAI dialect'],
  ['POST llm.acme.test/v1/live/sessions', 'OpenAI dialect'],
  [
    'POST llm.acme.test/v1/realtime/client_secrets/chat/completions',
    'a path that ends like a model endpoint',
  ],
  [
    'POST acme.openai.azure.com/openai/deployments/gpt/realtime/client_secrets',
    'a path that begins like a deployment',
  ],
  ['POST api.cartesia.ai/access-token', 'docs.cartesia.ai/api-reference/auth/access-token'],
  ['POST api.deepgram.com/v1/auth/grant', 'developers.deepgram.com/reference/auth/tokens/grant'],
  ['POST api.deepgram.com/v1/projects/p1/keys', 'developers.deepgram.com/reference/manage/keys'],
  [
    'GET streaming.assemblyai.com/v3/token?expires_in_seconds=60',
    'assemblyai.com/docs/streaming/authenticate-with-a-temporary-token',
  ],
  ['POST api.assemblyai.com/v2/realtime/token', 'assemblyai.com/docs'],
  ['POST api.soniox.com/v1/auth/temporary-api-key', 'soniox.com/docs/guides/temporary-api-keys'],
  [
    'POST mp.speechmatics.com/v1/api_keys?type=rt',
    'docs.speechmatics.com/introduction/authentication',
  ],
  [
    'GET api.elevenlabs.io/v1/convai/conversation/get-signed-url?agent_id=a',
    'elevenlabs.io/docs/api-reference',
  ],
  [
    'GET api.elevenlabs.io/v1/convai/conversation/get_signed_url?agent_id=a',
    'elevenlabs.io/docs/api-reference',
  ],
  ['GET api.elevenlabs.io/v1/convai/conversation/token', 'elevenlabs.io/docs/api-reference'],
  ['GET api.elevenlabs.io/v1/convai/agents/a/link', 'elevenlabs.io/docs/api-reference/agents/link'],
  [
    'POST api.elevenlabs.io/v1/single-use-token/realtime_scribe',
    'elevenlabs.io/docs/api-reference/tokens',
  ],
  ['POST api.elevenlabs.io/v1/service-accounts/s/api-keys', 'elevenlabs.io/docs/api-reference'],
  ['POST api.hume.ai/oauth2-cc/token', 'dev.hume.ai/docs/introduction/api-key'],
  ['POST api.gladia.io/v2/live', 'docs.gladia.io/api-reference/v2/live'],
  ['POST rest.alpha.fal.ai/tokens/', 'docs.fal.ai'],
  ['POST api.retellai.com/v2/create-web-call', 'docs.retellai.com'],
  ['POST api.heygen.com/v1/streaming.create_token', 'docs.heygen.com'],
  ['POST api.d-id.com/agents/client-key', 'docs.d-id.com'],
  ['POST api.cloudflare.com/client/v4/user/tokens', 'developers.cloudflare.com/api'],
  ['PUT api.cloudflare.com/client/v4/user/tokens/t/value', 'developers.cloudflare.com/api'],
  ['POST api.cloudflare.com/client/v4/accounts/a/tokens', 'developers.cloudflare.com/api'],
  ['POST dbc.cloud.databricks.com/api/2.0/token/create', 'docs.databricks.com/api'],
  [
    'POST dbc.cloud.databricks.com/api/2.0/token-management/on-behalf-of/tokens',
    'docs.databricks.com/api',
  ],
  ['POST dbc.cloud.databricks.com/oidc/v1/token', 'docs.databricks.com/dev-tools/auth'],
  ['POST acme.snowflakecomputing.com/oauth/token-request', 'docs.snowflake.com'],
  [
    'POST iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken',
    'cloud.google.com/iam/docs/reference/credentials',
  ],
  [
    'POST iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:signJwt',
    'cloud.google.com/iam/docs/reference/credentials',
  ],
  ['POST sts.googleapis.com/v1/token', 'cloud.google.com/iam/docs/reference/sts'],
  [
    'POST region.api.cognitive.microsoft.com/sts/v1.0/issueToken',
    'learn.microsoft.com/azure/ai-services/speech-service',
  ],
  ['POST litellm.acme.test/key/generate', 'docs.litellm.ai/docs/proxy/configuration/api'],
  ['POST litellm.acme.test/key/abc/regenerate', 'docs.litellm.ai/docs/proxy/virtual_keys'],
  ['GET openrouter.acme.test/api/v1/keys', 'openrouter.ai/docs'],
  ['POST openrouter.acme.test/api/v1/auth/keys', 'openrouter.ai/docs'],
  ['POST llm.acme.test/v1/auth_tokens', 'Gemini dialect'],
  ['POST llm.acme.test/v1/ephemeralTokens', 'a guess'],
  ['POST llm.acme.test/v1/ephemeral-keys', 'a guess'],
  ['POST llm.acme.test/v1/livekit/room', 'a guess'],
  ['POST llm.acme.test/v1/models/m:generateToken', 'a guess'],
  ['POST llm.acme.test/v1/token.json', 'an extension'],
  ['GET api.replicate.com/v1/webhooks/default/secret', 'replicate.com/docs/reference/http'],
]

/** TABLE of endpoints that manage an account or a server. */
const ADMIN: readonly (readonly [endpoint: string, source: string])[] = [
  ['POST api.openai.com/v1/webhook_endpoints', 'openai 7, webhooks'],
  ['GET llm.acme.test/v1/webhook-endpoints/we_1', 'openai 7, webhooks'],
  ['GET api.openai.com/v1/safety/alerts/a', 'openai 7, safety'],
  [
    'POST generativelanguage.googleapis.com/$rpc/google.ai.generativelanguage.v1beta.FileService/ListFiles',
    'google.aip.dev/127',
  ],
  [
    'POST generativelanguage.googleapis.com/google.ai.generativelanguage.v1beta.FileService/DeleteFile',
    'google.aip.dev/127',
  ],
  [
    'POST generativelanguage.googleapis.com/%24rpc/google.ai.generativelanguage.v1beta.ModelService/ListTunedModels',
    'google.aip.dev/127',
  ],
  [
    'POST aiplatform.googleapis.com/$rpc/google.cloud.aiplatform.v1.GenAiCacheService/ListCachedContents',
    'google.aip.dev/127',
  ],
  [
    'POST aiplatform.googleapis.com//google.cloud.aiplatform.v1.ModelService/ListModels',
    'google.aip.dev/127',
  ],
  ['GET ai-gateway.vercel.sh/v1/credits', 'vercel.com/docs/ai-gateway'],
  ['GET ai-gateway.vercel.sh/v1/generation', 'vercel.com/docs/ai-gateway'],
  ['GET ai-gateway.vercel.sh/v1/report', 'vercel.com/docs/ai-gateway'],
  [
    'GET llm.acme.test/v1/organization/users',
    'platform.openai.com/docs/api-reference/administration',
  ],
  [
    'GET llm.acme.test/v1/organizations/o/models',
    'platform.openai.com/docs/api-reference/administration',
  ],
  ['POST llm.acme.test/admin/reload', 'a guess'],
  ['GET llm.acme.test/v1/billing/usage', 'a guess'],
  [
    'GET api.elevenlabs.io/v1/user',
    'elevenlabs.io/docs/api-reference/user: the response holds the key',
  ],
  ['GET api.elevenlabs.io/v1/user/subscription', 'elevenlabs.io/docs/api-reference'],
  ['POST api.elevenlabs.io/v1/workspace/invites/add', 'elevenlabs.io/docs/api-reference'],
  ['PATCH api.elevenlabs.io/v1/convai/settings', 'elevenlabs.io/docs/api-reference/workspace'],
  [
    'GET api.elevenlabs.io/v1/convai/agents/a/triage-tickets/assignable-users',
    'elevenlabs-js 2.73',
  ],
  ['POST api.elevenlabs.io/v1/productions/orders', 'elevenlabs-js 2.73: work that is paid'],
  ['POST api.mistral.ai/v1/workflows/deployments', 'docs.mistral.ai/api/endpoint/workflows'],
  ['PUT api.mistral.ai/v1/libraries/l/share', 'docs.mistral.ai/api/endpoint/beta/libraries'],
  ['POST api.together.xyz/v1/queue/clear', 'together-ai 0.52: everybody has queued there'],
  ['GET api.cloudflare.com/client/v4/accounts/a/members', 'developers.cloudflare.com/api'],
  ['GET api.replicate.com/v1/account', 'replicate.com/docs/reference/http'],
  ['GET api.fish.audio/wallet/self/api-credit', 'docs.fish.audio'],
  ['POST litellm.acme.test/user/new', 'docs.litellm.ai'],
  ['POST litellm.acme.test/team/new', 'docs.litellm.ai'],
  ['POST litellm.acme.test/model/new', 'docs.litellm.ai'],
  ['PATCH litellm.acme.test/model/m1/update', 'docs.litellm.ai'],
  ['POST litellm.acme.test/config/update', 'docs.litellm.ai'],
  ['POST litellm.acme.test/cache/flushall', 'docs.litellm.ai'],
  ['POST ollama.acme.test/api/pull', 'github.com/ollama/ollama/blob/main/docs/api.md'],
  ['DELETE ollama.acme.test/api/delete', 'github.com/ollama/ollama/blob/main/docs/api.md'],
  ['POST vllm.acme.test/v1/load_lora_adapter', 'docs.vllm.ai/en/latest/features/lora'],
  ['POST vllm.acme.test/reset_prefix_cache', 'docs.vllm.ai'],
  ['POST vllm.acme.test/sleep?level=1', 'docs.vllm.ai/en/latest/features/sleep_mode'],
  ['POST sglang.acme.test/flush_cache', 'docs.sglang.ai'],
  ['POST sglang.acme.test/update_weights_from_disk', 'docs.sglang.ai'],
  ['POST llama.acme.test/models/unload', 'github.com/ggml-org/llama.cpp/tree/master/tools/server'],
  ['POST triton.acme.test/v2/repository/models/m/unload', 'github.com/triton-inference-server'],
  [
    'POST aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/e:setIamPolicy',
    'cloud.google.com/iam',
  ],
  [
    'POST aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/e:undeployModel',
    'cloud.google.com/vertex-ai/docs/reference/rest',
  ],
  [
    'POST aiplatform.googleapis.com/v1/projects/p/locations/l/models/1:copy',
    'cloud.google.com/vertex-ai/docs/reference/rest',
  ],
]

/** TABLE of endpoints that the AI SDK's packages call, and of others like them: none is closed. */
const ORDINARY: readonly string[] = [
  'POST dashscope-intl.aliyuncs.com/api/v1/services/aigc/video-generation/video-synthesis',
  'POST dashscope-intl.aliyuncs.com/api/v1/services/embeddings/text-embedding/text-embedding',
  'GET dashscope-intl.aliyuncs.com/api/v1/tasks/id-1',
  'POST dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions',
  'POST aws-external-anthropic.us-east-1.api.aws/v1/messages',
  'POST api.assemblyai.com/v2/transcript',
  'GET api.assemblyai.com/v2/transcript/id-1',
  'POST api.assemblyai.com/v2/upload',
  'POST model-123.api.baseten.co/environments/production/sync/v1/embeddings',
  'POST api.bfl.ai/v1/flux-3-video',
  'POST api.bfl.ai/v1/flux-pro-1.0-fill',
  'POST api.bfl.ai/v1/flux-pro-1.1',
  'POST api.bfl.ai/v1/test-model',
  'GET api.us1.bfl.ai/v1/get_result',
  'GET api.us1.bfl.ai/v1/poll',
  'GET api.us1.bfl.ai/v1/video-poll',
  'GET delivery-us1.bfl.ai/image.png',
  'POST ark.ap-southeast.bytepluses.com/api/v3/contents/generations/tasks',
  'GET ark.ap-southeast.bytepluses.com/api/v3/contents/generations/tasks/test-task-id-123',
  'POST ark.ap-southeast.bytepluses.com/api/v3/images/generations',
  'POST api.cartesia.ai/stt',
  'GET api.cartesia.ai/stt/turns/websocket',
  'GET api.cartesia.ai/stt/websocket',
  'POST api.cartesia.ai/tts/bytes',
  'POST api.deepgram.com/v1/listen',
  'POST api.deepgram.com/v1/speak',
  'POST api.deepinfra.com/v1/inference/stability-ai/sdxl',
  'POST api.deepinfra.com/v1/openai/chat/completions',
  'POST api.deepinfra.com/v1/openai/images/edits',
  'POST api.elevenlabs.io/v1/speech-to-text',
  'GET api.elevenlabs.io/v1/speech-to-text/realtime',
  'POST api.elevenlabs.io/v1/text-to-speech/id-1',
  'GET fal.media/files/id-1',
  'POST fal.run/fal-ai/minimax/speech-02-hd',
  'POST fal.run/fal-ai/qwen-image',
  'POST queue.fal.run/fal-ai/luma-dream-machine',
  'GET queue.fal.run/fal-ai/luma-dream-machine/requests/id-1',
  'POST queue.fal.run/fal-ai/luma-ray-2',
  'POST queue.fal.run/fal-ai/wizper',
  'GET queue.fal.run/fal-ai/wizper/requests/id-1',
  'POST api.fish.audio/v1/asr',
  'POST api.fish.audio/v1/tts',
  'POST ai-gateway.vercel.sh/v4/ai/batch/results',
  'POST ai-gateway.vercel.sh/v4/ai/batch/start',
  'POST ai-gateway.vercel.sh/v4/ai/batch/status',
  'POST ai-gateway.vercel.sh/v4/ai/embedding-model',
  'POST ai-gateway.vercel.sh/v4/ai/image-model',
  'POST ai-gateway.vercel.sh/v4/ai/language-model',
  'POST ai-gateway.vercel.sh/v4/ai/reranking-model',
  'POST ai-gateway.vercel.sh/v4/ai/speech-model',
  'POST ai-gateway.vercel.sh/v4/ai/transcription-model',
  'GET ai-gateway.vercel.sh/v4/ai/transcription-model',
  'POST ai-gateway.vercel.sh/v4/ai/video-model',
  'POST ai-gateway.vercel.sh/v4/ai/video-model/start',
  'POST ai-gateway.vercel.sh/v4/ai/video-model/status',
  'POST api.gladia.io/v2/pre-recorded',
  'GET api.gladia.io/v2/pre-recorded/id-1',
  'POST api.gladia.io/v2/upload',
  'POST api.gmi-serving.com/v1/chat/completions',
  'POST speech.googleapis.com/v2/projects/test-project/locations/global/recognizers/_:recognize',
  'POST texttospeech.googleapis.com/v1/text:synthesize',
  'POST us-central1-aiplatform.googleapis.com/v1beta1/projects/test-project/locations/us-central1/publishers/google/models/model-1:embedContent',
  'POST us-central1-aiplatform.googleapis.com/v1beta1/projects/test-project/locations/us-central1/publishers/google/models/model-1:predict',
  'POST us-central1-speech.googleapis.com/v2/projects/test-project/locations/us-central1/recognizers/_:recognize',
  'POST us-speech.googleapis.com/v2/projects/test-project/locations/us/recognizers/_:recognize',
  'GET generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
  'POST router.huggingface.co/v1/responses',
  'POST api.hume.ai/v0/tts/file',
  'POST api-singapore.klingai.com/v1/videos/image2video',
  'GET api-singapore.klingai.com/v1/videos/image2video/task-abc-123',
  'POST api-singapore.klingai.com/v1/videos/motion-control',
  'POST api-singapore.klingai.com/v1/videos/text2video',
  'GET api-singapore.klingai.com/v1/videos/text2video/task-abc-123',
  'POST api.lmnt.com/v1/ai/speech/bytes',
  'POST api.lumalabs.ai/dream-machine/v1/generations/id-1',
  'GET api.lumalabs.ai/dream-machine/v1/generations/id-1',
  'GET api.lumalabs.ai/image.png',
  'POST api.minimax.io/anthropic/v1/messages',
  'GET api.minimax.io/v2/query/video_generation/id-1',
  'POST api.minimax.io/v2/video_generation',
  'POST api.moonshot.ai/v1/chat/completions',
  'POST external.api.recraft.ai/v1/images/generations',
  'POST api.openai.com/v1/batches',
  'POST api.openai.com/v1/images/generations',
  'GET api.openai.com/v1/realtime',
  'GET api.openai.com/v1/realtime/translations',
  'POST inference.prodia.com/v2/job',
  'POST api.quiver.ai/v1/svgs/generations',
  'POST api.quiver.ai/v1/svgs/vectorizations',
  'POST api.replicate.com/models/model-1/flux-schnell/predictions',
  'POST api.replicate.com/v1/models/model-1/flux-2-pro/predictions',
  'POST api.replicate.com/v1/models/model-1/flux-schnell/predictions',
  'POST api.replicate.com/v1/models/model-1/video-01/predictions',
  'POST api.replicate.com/v1/predictions',
  'GET api.replicate.com/v1/predictions/id-1',
  'GET replicate.delivery/xezq/abc/out-0.webp',
  'POST api.rev.ai/speechtotext/v1/jobs',
  'GET api.rev.ai/speechtotext/v1/jobs/id-1',
  'GET api.rev.ai/speechtotext/v1/jobs/id-1/transcript',
  'POST api.voyageai.com/v1/embeddings',
  'POST api.voyageai.com/v1/rerank',
  'POST api.x.ai/v1/stt',
  'GET api.x.ai/v1/stt',
  'POST api.x.ai/v1/tts',
  // Counting, which runs a model or none.
  'POST llm.acme.test/v1/messages/count_tokens',
  'POST llm.acme.test/v1beta/models/gemini-x:countTokens',
  'POST llm.acme.test/v1/models/gemini-x:computeTokens',
  'POST llm.acme.test/v1/responses/input_tokens',
  'POST llm.acme.test/tokenize',
  'POST llm.acme.test/v1/detokenize',
  'POST llm.acme.test/v1/tokenize-text',
  'POST llm.acme.test/v1/tokens/count',
  'POST api.moonshot.ai/v1/tokenizers/estimate-token-count',
  // Accounts and users that are part of a model's address.
  'POST api.cloudflare.com/client/v4/accounts/a/ai/run/@cf/meta/llama-3.1-8b-instruct',
  'POST api.cloudflare.com/client/v4/accounts/a/ai/v1/chat/completions',
  'GET api.cloudflare.com/client/v4/accounts/a/ai/models/search',
  'POST api.clarifai.com/v2/users/u/apps/a/models/m/versions/v/outputs',
  'POST gateway.acme.test/organizations/o/v1/chat/completions',
  'POST gateway.acme.test/accounts/a/chat/completions',
  'POST dbc.cloud.databricks.com/serving-endpoints/e/invocations',
  // Names that callers choose.
  'GET api.openai.com/v1/files/tokens',
  'GET llm.acme.test/v1/models/token',
  'GET generativelanguage.googleapis.com/v1beta/environments/env_1/files/src/auth/tokens/billing.ts',
  // Servers that operators run.
  'POST ollama.acme.test/api/generate',
  'POST ollama.acme.test/api/chat',
  'POST ollama.acme.test/api/embed',
  'POST ollama.acme.test/api/show',
  'POST vllm.acme.test/pooling',
  'POST vllm.acme.test/score',
  'POST llama.acme.test/infill',
  'POST llama.acme.test/completion',
  'POST triton.acme.test/v2/models/m/infer',
  'POST tgi.acme.test/generate_stream',
  'POST api.elevenlabs.io/v1/sound-generation',
  'POST api.elevenlabs.io/v1/convai/agents/create',
]

for (const [endpoint, source] of MINTING)
  test(`minting: ${endpoint} (${source})`, () => assert.equal(classOf(endpoint), 'minting'))
for (const [endpoint, source] of ADMIN)
  test(`admin: ${endpoint} (${source})`, () => assert.equal(classOf(endpoint), 'admin'))

test('no ordinary endpoint is closed', () => {
  for (const endpoint of ORDINARY)
    assert.ok(!['minting', 'admin'].includes(classOf(endpoint)), endpoint)
})

test("no endpoint in a built-in provider's rows is closed", () => {
  const table = createProviderTable({
    instances: [
      { provider: 'azure', values: { resource: 'acme' } },
      { provider: 'bedrock', values: { region: 'us-east-1' } },
    ],
  })
  for (const row of PROVIDERS) {
    for (const { on, class: kind } of row.endpoints) {
      const words = on.split(' ')
      const path = (words.pop() ?? '').replaceAll(/\{\w+[:*]?\}/g, 'x1')
      for (const method of words) {
        const match = classify(table.byId(row.id)!, method, path)
        assert.ok(
          match.class === 'model' || match.class === 'neutral',
          `${row.id} ${method} ${path} is ${match.class}, and its row says ${kind}`,
        )
      }
    }
  }
})

/** All ways to write words of a path: separators, capitals, plural, encoding, slashes. */
const written = (words: readonly string[]) =>
  fc
    .record({
      join: fc.constantFrom('-', '_', '', '%2D', '%5f'),
      capitals: fc.constantFrom('none', 'camel', 'all'),
      plural: fc.boolean(),
    })
    .map(({ join, capitals, plural }) => {
      const cased = words.map((word, i) =>
        capitals === 'all'
          ? word.toUpperCase()
          : capitals === 'camel' && i > 0
            ? word[0]!.toUpperCase() + word.slice(1)
            : word,
      )
      return cased.join(join) + (plural ? 's' : '')
    })

test('no spelling of a minting endpoint passes at an added provider', () => {
  const provider = createProviderTable({
    custom: [{ id: 'added', origin: 'https://llm.acme.test' }],
  }).byId('added')!
  const names = [
    ['client', 'secret'],
    ['access', 'token'],
    ['auth', 'token'],
    ['ephemeral', 'token'],
    ['api', 'key'],
    ['service', 'account'],
    ['temporary', 'api', 'key'],
    ['single', 'use', 'token'],
  ]
  const before = fc.constantFrom(
    '',
    '/v1',
    '/api/v2',
    '//v1',
    '/v1;a=b',
    '/v1/realtime',
    '/any/where',
  )
  const after = fc.constantFrom('', '/', ';x', '//', '/t1', ':create', '.json', '?a=b')
  fc.assert(
    fc.property(
      before,
      fc.constantFrom(...names).chain(written),
      after,
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
      (base, name, end, method) => {
        const match = classify(provider, method, `${base}/${name}${end}`)
        assert.equal(
          refuseEndpoint(match, false)?.code,
          'endpoint_not_allowed',
          `${base}/${name}${end}`,
        )
      },
    ),
    { numRuns: 1_000 },
  )
})
