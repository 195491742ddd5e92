import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { PROVIDER_CREDENTIALS } from '../../../server/config/provider-credentials.ts'
import { refuseEndpoint } from '../../../server/proxy/providers/authorize-endpoint.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import { readTarget } from '../../../server/proxy/parse-target.ts'

const table = createProviderTable({
  custom: [{ id: 'acme', origin: 'https://api.acme.test' }],
  instances: [
    { provider: 'azure', values: { resource: 'acme' } },
    { provider: 'bedrock', values: { region: 'us-east-1' } },
  ],
})
const match = (id: string, method: string, path: string) => {
  const provider = table.byId(id)
  assert.ok(provider)
  return classify(provider, method, path)
}

/** provider, method, path → class, and what the path names */
const known: [
  id: string,
  method: string,
  path: string,
  kind: string,
  model?: string | null,
  objects?: string,
][] = [
  ['google', 'POST', '/v1beta/models/gemini-x:generateContent', 'model', 'gemini-x'],
  ['google', 'POST', '/v1beta/models/gemini-x:streamGenerateContent?alt=sse', 'model', 'gemini-x'],
  ['google', 'POST', '/v1/models/gemini-2.5-flash:countTokens', 'model', 'gemini-2.5-flash'],
  ['google', 'POST', '/v1alpha/models/gemini-x:generateContent', 'model', 'gemini-x'],
  ['google', 'POST', '/v1beta/models/embedding:embedContent', 'model', 'embedding'],
  ['google', 'POST', '/v1beta/models/embedding:batchEmbedContents', 'model', 'embedding'],
  ['google', 'POST', '/v1beta/models/imagen:predict', 'model', 'imagen'],
  ['google', 'POST', '/v1beta/models/veo:predictLongRunning', 'model', 'veo'],
  ['google', 'POST', '/v1beta/models/gemini-x:batchGenerateContent', 'model', 'gemini-x'],
  [
    'google',
    'POST',
    '/v1beta/tunedModels/mine:generateContent',
    'model',
    'tunedModels/mine',
    'tuned_model:mine',
  ],
  ['google', 'GET', '/v1beta/models', 'neutral'],
  ['google', 'HEAD', '/v1beta/models', 'neutral'],
  ['google', 'GET', '/v1beta/models?pageSize=1', 'neutral'],
  ['google', 'GET', '/v1beta/models/veo/operations/abc', 'neutral', 'veo', 'operation:abc'],
  ['google', 'POST', '/v1beta/cachedContents', 'model', null],
  ['google', 'GET', '/v1beta/cachedContents/abc', 'neutral', null, 'cached_content:abc'],
  ['google', 'POST', '/v1beta/interactions', 'model', null],
  ['google', 'GET', '/v1beta/interactions/i1?stream=true', 'neutral', null, 'interaction:i1'],
  ['google', 'POST', '/upload/v1beta/files', 'neutral'],
  [
    'google',
    'GET',
    '/v1beta/environments/env_1/files/src/main.ts',
    'neutral',
    null,
    'environment:env_1',
  ],
  ['google', 'DELETE', '/v1beta/agents/a', 'neutral', null, 'agent:a'],
  [
    'google',
    'POST',
    '/upload/v1beta/files?upload_id=x&upload_protocol=resumable',
    'neutral',
    null,
    'upload:x',
  ],
  ['google', 'GET', '/v1beta/files/f1', 'neutral', null, 'file:f1'],
  ['google', 'DELETE', '/v1beta/files/f1', 'neutral', null, 'file:f1'],
  ['google', 'GET', '/v1beta/files/f1:download?alt=media', 'neutral', null, 'file:f1'],
  ['google', 'GET', '/download/v1beta/files/f1:download?alt=media', 'neutral', null, 'file:f1'],
  ['google', 'GET', '/v1beta/batches/b1', 'neutral', null, 'batch:b1'],
  ['google', 'POST', '/v1beta/batches/b1:cancel', 'neutral', null, 'batch:b1'],
  ['google', 'POST', '/v1beta/openai/chat/completions', 'model', null],
  [
    'vertex',
    'POST',
    '/v1/publishers/google/models/gemini-x:generateContent',
    'model',
    'publishers/google/models/gemini-x',
  ],
  [
    'vertex',
    'POST',
    '/v1beta1/publishers/google/models/gemini-x:streamGenerateContent?alt=sse',
    'model',
    'publishers/google/models/gemini-x',
  ],
  [
    'vertex',
    'POST',
    '/v1/publishers/anthropic/models/claude:rawPredict',
    'model',
    'publishers/anthropic/models/claude',
  ],
  [
    'vertex',
    'POST',
    '/v1/projects/p/locations/global/publishers/google/models/gemini-x:generateContent',
    'model',
    'publishers/google/models/gemini-x',
  ],
  [
    'vertex',
    'POST',
    '/v1/projects/p/locations/l/batchPredictionJobs/2:cancel',
    'neutral',
    null,
    'batch:2',
  ],
  ['openai', 'POST', '/v1/chat/completions', 'model'],
  ['openai', 'POST', '/v1/responses', 'model'],
  ['openai', 'POST', '/v1/embeddings', 'model'],
  ['openai', 'POST', '/v1/agents', 'model'],
  ['openai', 'GET', '/v1/agents/agent_1', 'neutral', null, 'agent:agent_1'],
  ['openai', 'GET', '/v1/agents/sessions?agent_id=agent_1', 'neutral', null, 'agent:agent_1'],
  ['openai', 'POST', '/v1/agents/sessions', 'model'],
  ['openai', 'POST', '/v1/agents/sessions/s1/events', 'model', null, 'agent_session:s1'],
  [
    'openai',
    'GET',
    '/v1/agents/sessions/s1/subagents/a/turns/t/items',
    'neutral',
    null,
    'agent_session:s1',
  ],
  ['openai', 'POST', '/v1/agents/automations/au1/resume', 'model', null, 'automation:au1'],
  ['openai', 'POST', '/v1/agents/environments/e1/files', 'neutral', null, 'environment:e1'],
  [
    'openai',
    'DELETE',
    '/v1/agents/environments/templates/t1',
    'neutral',
    null,
    'environment_template:t1',
  ],
  ['cartesia', 'POST', '/voice-changer/bytes', 'model', 'cartesia/voice-changer'],
  ['cartesia', 'POST', '/infill/bytes', 'model'],
  ['elevenlabs', 'POST', '/v1/music/detailed/stream', 'model'],
  ['elevenlabs', 'POST', '/v1/music/stem-separation', 'model', 'elevenlabs/stem-separation'],
  ['elevenlabs', 'POST', '/v1/audio-isolation/stream', 'model', 'elevenlabs/audio-isolation'],
  ['elevenlabs', 'POST', '/v1/text-to-voice', 'neutral'],
  ['hume', 'POST', '/v0/tts/voice_conversion/file', 'model', 'hume/voice-conversion'],
  ['deepgram', 'POST', '/v2/speak', 'model'],
  ['cartesia', 'GET', '/datasets/d1/files', 'neutral', null, 'dataset:d1'],
  ['cartesia', 'POST', '/fine-tunes/', 'model'],
  [
    'google',
    'GET',
    '/ws/google.ai.generativelanguage.v1.GenerativeService.BidiGenerateMusic',
    'model',
  ],
  ['openai', 'POST', '/v1/images/generations', 'model'],
  ['openai', 'POST', '/v1/images/edits', 'model'],
  ['openai', 'POST', '/v1/audio/speech', 'model'],
  ['openai', 'POST', '/v1/audio/transcriptions', 'model'],
  ['openai', 'POST', '/v1/audio/translations', 'model'],
  ['openai', 'POST', '/v1/moderations', 'model'],
  ['openai', 'POST', '/v1/batches', 'model'],
  ['openai', 'POST', '/v1/videos', 'model'],
  ['openai', 'GET', '/v1/videos/video_1/content', 'neutral', null, 'video:video_1'],
  ['openai', 'GET', '/v1/models', 'neutral'],
  ['openai', 'GET', '/v1/models/ft:gpt-x:org::id', 'neutral', null, 'tuned_model:ft:gpt-x:org::id'],
  ['openai', 'GET', '/v1/files/file-1/content', 'neutral', null, 'file:file-1'],
  ['openai', 'GET', '/v1/responses/resp_1', 'neutral', null, 'response:resp_1'],
  ['openai', 'POST', '/v1/uploads/upload_1/parts', 'neutral', null, 'upload:upload_1'],
  ['openai', 'POST', '/v1/vector_stores/vs_1/search', 'neutral', null, 'vector_store:vs_1'],
  [
    'openai',
    'GET',
    '/v1/threads/thread_1/runs/run_1/steps/step_1',
    'neutral',
    null,
    'thread:thread_1',
  ],
  [
    'openai',
    'GET',
    '/v1/evals/eval_1/runs/run_1/output_items/item_1',
    'neutral',
    null,
    'eval:eval_1',
  ],
  ['openai', 'POST', '/v1/evals/eval_1/runs/run_1', 'neutral', null, 'eval:eval_1'],
  ['openai', 'GET', '/v1/realtime?model=gpt-realtime', 'model'],
  ['azure', 'POST', '/openai/v1/chat/completions?api-version=v1', 'model'],
  ['azure', 'POST', '/openai/v1/responses', 'model'],
  [
    'azure',
    'POST',
    '/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21',
    'model',
    'my-gpt',
  ],
  [
    'azure',
    'POST',
    '/openai/deployments/whisper/audio/transcriptions?api-version=x',
    'model',
    'whisper',
  ],
  ['azure', 'POST', '/api/projects/p/openai/v1/responses', 'model'],
  [
    'azure',
    'GET',
    '/api/projects/p/openai/v1/responses/resp_1',
    'neutral',
    null,
    'response:resp_1',
  ],
  ['azure', 'POST', '/anthropic/v1/messages', 'model'],
  ['azure', 'POST', '/mai/v1/images/generations', 'model'],
  ['azure', 'POST', '/mai/v1/images/edits', 'model'],
  ['azure', 'POST', '/tts/cognitiveservices/v1', 'model'],
  ['anthropic', 'POST', '/v1/messages', 'model'],
  ['anthropic', 'POST', '/v1/messages?beta=true', 'model'],
  ['anthropic', 'POST', '/v1/messages/count_tokens', 'model'],
  ['anthropic', 'POST', '/v1/messages/batches', 'model'],
  [
    'anthropic',
    'GET',
    '/v1/messages/batches/msgbatch_1/results',
    'neutral',
    null,
    'batch:msgbatch_1',
  ],
  ['anthropic', 'GET', '/v1/models/claude-x', 'neutral'],
  ['anthropic', 'POST', '/v1/sessions', 'model'],
  ['anthropic', 'POST', '/v1/vaults', 'neutral'],
  ['anthropic', 'POST', '/v1/sessions/sesn_1/archive', 'neutral', null, 'session:sesn_1'],
  ['anthropic', 'GET', '/v1/sessions/sesn_1/threads/t/events', 'neutral', null, 'session:sesn_1'],
  ['anthropic', 'DELETE', '/v1/sessions/sesn_1/resources/r', 'neutral', null, 'session:sesn_1'],
  ['anthropic', 'POST', '/v1/deployments/depl_1/unpause', 'model', null, 'deployment:depl_1'],
  ['anthropic', 'GET', '/v1/deployment_runs?deployment_id=d', 'neutral', null, 'deployment:d'],
  ['anthropic', 'POST', '/v1/dreams/drm_1/cancel', 'neutral', null, 'dream:drm_1'],
  ['anthropic', 'GET', '/v1/files?scope_id=sesn_1', 'neutral', null, 'session:sesn_1'],
  ['anthropic', 'POST', '/v1/environments/env_1/archive', 'neutral', null, 'environment:env_1'],
  [
    'anthropic',
    'DELETE',
    '/v1/memory_stores/memstore_1/memories/mem_1',
    'neutral',
    null,
    'memory_store:memstore_1',
  ],
  ['mistral', 'POST', '/v1/chat/completions', 'model'],
  ['mistral', 'POST', '/v1/fim/completions', 'model'],
  ['mistral', 'POST', '/v1/ocr', 'model'],
  ['mistral', 'POST', '/v1/conversations', 'model'],
  ['groq', 'POST', '/openai/v1/chat/completions', 'model'],
  ['groq', 'POST', '/openai/v1/audio/transcriptions', 'model'],
  ['xai', 'POST', '/v1/chat/completions', 'model'],
  ['xai', 'POST', '/v1/videos/generations', 'model'],
  ['xai', 'POST', '/v1/tts', 'model'],
  ['xai', 'GET', '/v1/videos/req-1', 'neutral', null, 'video:req-1'],
  ['xai', 'POST', '/v1/batches/b1:cancel', 'neutral', null, 'batch:b1'],
  ['deepseek', 'POST', '/chat/completions', 'model'],
  ['deepseek', 'POST', '/v1/chat/completions', 'model'],
  ['deepseek', 'POST', '/files', 'neutral'],
  ['cohere', 'POST', '/v2/chat', 'model'],
  ['cohere', 'POST', '/v2/embed', 'model'],
  ['cohere', 'POST', '/v2/rerank', 'model'],
  ['cohere', 'POST', '/v2/parse', 'model'],
  ['cohere', 'POST', '/v2/batches/b1:cancel', 'neutral', null, 'batch:b1'],
  ['together', 'POST', '/v1/chat/completions', 'model'],
  ['together', 'POST', '/v1/rerank', 'model'],
  ['together', 'GET', '/v1/fine-tunes/ft_1/checkpoints', 'neutral', null, 'fine_tuning_job:ft_1'],
  [
    'together',
    'GET',
    '/v1/finetune/download?ft_id=ft_1&checkpoint_step=2',
    'neutral',
    null,
    'fine_tuning_job:ft_1',
  ],
  ['together', 'GET', '/v1/queue/status?model=m&request_id=req_1', 'neutral', null, 'queued:req_1'],
  ['together', 'POST', '/v1/images/generations', 'model'],
  ['fireworks', 'POST', '/inference/v1/chat/completions', 'model'],
  [
    'fireworks',
    'POST',
    '/inference/v1/workflows/accounts/fireworks/models/flux-1/text_to_image',
    'model',
    'accounts/fireworks/models/flux-1',
  ],
  [
    'fireworks',
    'POST',
    '/inference/v1/workflows/accounts/fireworks/models/flux-kontext',
    'model',
    'accounts/fireworks/models/flux-kontext',
  ],
  [
    'fireworks',
    'POST',
    '/inference/v1/workflows/accounts/fireworks/models/flux-kontext/get_result',
    'model',
    'accounts/fireworks/models/flux-kontext',
  ],
  [
    'fireworks',
    'POST',
    '/inference/v1/image_generation/accounts/fireworks/models/sdxl',
    'model',
    'accounts/fireworks/models/sdxl',
  ],
  ['perplexity', 'POST', '/chat/completions', 'model'],
  ['perplexity', 'POST', '/v1/embeddings', 'model'],
  ['perplexity', 'POST', '/decisions', 'model'],
  ['perplexity', 'POST', '/v1/responses/resp_1/cancel', 'neutral', null, 'response:resp_1'],
  [
    'perplexity',
    'GET',
    '/v1/responses/resp_1/files/file_1/content',
    'neutral',
    null,
    'response:resp_1,file:file_1',
  ],
  ['openrouter', 'POST', '/api/v1/chat/completions', 'model'],
  ['openrouter', 'POST', '/api/v1/images', 'model'],
  ['openrouter', 'POST', '/api/v1/decisions', 'model'],
  ['openrouter', 'GET', '/api/v1/videos/job_1/content?index=0', 'neutral', null, 'video:job_1'],
  ['openrouter', 'GET', '/api/v1/models', 'neutral'],
  ['openrouter', 'GET', '/api/v1/videos/models', 'neutral'],
  ['openrouter', 'GET', '/api/v1/images/models/a/b/endpoints', 'neutral'],
  [
    'openrouter',
    'GET',
    '/api/v1/containers/cntr_1/files/f_1/content',
    'neutral',
    null,
    'container:cntr_1',
  ],
  ['cerebras', 'POST', '/v1/chat/completions', 'model'],
  ['cerebras', 'GET', '/v1/tcp_warming', 'neutral'],
  [
    'bedrock',
    'POST',
    '/model/anthropic.claude-x-v1%3A0/converse',
    'model',
    'anthropic.claude-x-v1:0',
  ],
  [
    'bedrock',
    'POST',
    '/model/anthropic.claude-x-v1:0/converse-stream',
    'model',
    'anthropic.claude-x-v1:0',
  ],
  [
    'bedrock',
    'POST',
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Famazon.nova/invoke',
    'model',
    'arn:aws:bedrock:us-east-1::foundation-model/amazon.nova',
  ],
  [
    'bedrock',
    'GET',
    '/async-invoke/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aasync-invoke%2Fabc',
    'neutral',
    null,
    'invocation:abc',
  ],
  ['bedrock', 'POST', '/v1/chat/completions', 'model'],
  ['bedrock', 'POST', '/rerank', 'model'],
  ['acme', 'POST', '/v1/chat/completions', 'model'],
  ['acme', 'POST', '/chat/completions', 'model'],
  ['acme', 'POST', '/some/where/v1/embeddings', 'model'],
  ['acme', 'GET', '/v1/models', 'neutral'],
]

for (const [id, method, path, kind, model, objects] of known) {
  test(`${id}: ${method} ${path} is ${kind}`, () => {
    const found = match(id, method, path)
    assert.equal(found.class, kind)
    assert.equal(found.spelling, 'plain')
    if (model !== undefined) assert.equal(found.model, model)
    assert.equal(found.objects.map((object) => `${object.kind}:${object.id}`).join(), objects ?? '')
    assert.equal(refuseEndpoint(found, true), null)
  })
}

/** Never for any key, however it is spelled. */
const never: [id: string, method: string, path: string][] = [
  ['google', 'POST', '/v1alpha/auth_tokens'],
  ['google', 'POST', '/v1beta/auth_tokens'],
  ['google', 'POST', '/v1alpha/auth%5Ftokens'],
  ['google', 'POST', '/v1alpha/AUTH_TOKENS'],
  ['google', 'POST', '/v1alpha//auth_tokens/'],
  ['google', 'POST', '/v1alpha;x=1/auth_tokens;y=2'],
  ['google', 'POST', '/v1alpha/models/../auth_tokens'],
  ['google', 'POST', '/v1alpha/auth_tokens:create'],
  ['google', 'GET', '/v1alpha/auth_tokens/t1'],
  ['google', 'POST', '/batch'],
  ['google', 'POST', '/batch/v1beta'],
  ['google', 'POST', '/$rpc/google.ai.generativelanguage.v1alpha.AuthTokenService/CreateToken'],
  ['google', 'POST', '/v1beta/tunedModels/mine/permissions'],
  ['google', 'POST', '/v1beta/tunedModels/mine:transferOwnership'],
  ['openai', 'POST', '/v1/realtime/client_secrets'],
  ['openai', 'POST', '/v1/realtime/sessions'],
  ['openai', 'POST', '/v1/realtime/transcription_sessions'],
  ['openai', 'POST', '/v1/realtime/translations/client_secrets'],
  ['openai', 'POST', '/v1/realtime/calls'],
  ['openai', 'POST', '/v1/live/sessions'],
  ['openai', 'POST', '/v1/chatkit/sessions'],
  ['openai', 'PUT', '/v1/chatkit/sessions'],
  ['openai', 'POST', '/v1/chatkit/sessions/s1/cancel'],
  ['openai', 'POST', '/v1/realtime/client%5Fsecrets'],
  ['openai', 'POST', '/v1/realtime%2Fclient_secrets'],
  ['openai', 'POST', '/v1//realtime///client_secrets'],
  ['openai', 'POST', '/v1/realtime/client_secrets/'],
  ['openai', 'POST', '/v1/realtime/client_secrets;a'],
  ['openai', 'POST', '/V1/Realtime/Client_Secrets'],
  ['openai', 'POST', '/v1/files/../realtime/./sessions'],
  ['openai', 'GET', '/v1/organization/usage/completions'],
  ['openai', 'POST', '/v1/organization/admin_api_keys'],
  ['openai', 'GET', '/v1/projects/p/roles'],
  ['openai', 'GET', '/dashboard/billing/credit_grants'],
  ['openai', 'POST', '/v1/fine_tuning/checkpoints/ft:x/permissions'],
  ['azure', 'POST', '/openai/v1/realtime/client_secrets'],
  ['azure', 'POST', '/openai/realtimeapi/sessions'],
  ['azure', 'POST', '/sts/v1.0/issueToken'],
  ['azure', 'POST', '/api/projects/p/openai/v1/realtime/client_secrets'],
  ['azure', 'POST', '/api/projects/p/connections/c/getConnectionWithCredentials'],
  ['azure', 'POST', '/api/projects/p/datasets/d/versions/1/credentials'],
  ['anthropic', 'POST', '/v1/tunnels/t1/reveal_token'],
  ['anthropic', 'POST', '/v1/tunnels/t1/rotate_token'],
  ['anthropic', 'GET', '/v1/vaults/v1/credentials'],
  ['anthropic', 'POST', '/v1/tunnels/t1/certificates'],
  ['google', 'POST', '/v1/auth_tokens'],
  ['anthropic', 'POST', '/v1/vaults/v1/credentials'],
  ['anthropic', 'GET', '/v1/vaults/v1/credentials/c1'],
  ['anthropic', 'GET', '/v1/organizations/api_keys'],
  ['anthropic', 'GET', '/v1/compliance/activities'],
  ['anthropic', 'POST', '/v1/user_profiles/u1/enrollment_url'],
  ['anthropic', 'GET', '/v1/environments/env_1/work/poll'],
  ['mistral', 'POST', '/v1/audio/sessions'],
  ['mistral', 'POST', '/v1/connectors/c1/workspace/credentials'],
  ['mistral', 'GET', '/v1/connectors/c1/user/credentials'],
  ['mistral', 'GET', '/v1/connectors/c1/auth_url'],
  ['mistral', 'POST', '/v1/client/sessions'],
  ['mistral', 'GET', '/v1/service-accounts/sa_1/roles'],
  ['mistral', 'POST', '/v1/observability/traces/search'],
  ['xai', 'POST', '/v1/realtime/client_secrets'],
  ['xai', 'GET', '/v1/api-key'],
  ['perplexity', 'POST', '/generate_auth_token'],
  ['openrouter', 'POST', '/api/v1/keys'],
  ['openrouter', 'POST', '/api/v1/auth/keys'],
  ['openrouter', 'GET', '/api/v1/credits'],
  ['openrouter', 'GET', '/api/v1/key'],
  ['openrouter', 'POST', '/api/v1/oauth/token'],
  ['openrouter', 'GET', '/api/v1/scim/groups'],
  ['openrouter', 'PUT', '/api/v1/vault/secrets/s1'],
  ['openrouter', 'GET', '/api/v1/generation/content?id=gen-1'],
  ['cohere', 'POST', '/v1/check-api-key'],
  ['deepseek', 'GET', '/user/balance'],
  ['together', 'POST', '/v1/endpoints'],
  ['fireworks', 'POST', '/v1/accounts/a/users/u/apiKeys'],
  ['acme', 'POST', '/v1/realtime/client_secrets'],
]

for (const [id, method, path] of never) {
  test(`never: ${id} ${method} ${path}`, () => {
    const found = match(id, method, path)
    assert.ok(found.class === 'minting' || found.class === 'admin', found.class)
    for (const scoped of [true, false])
      assert.equal(refuseEndpoint(found, scoped)?.code, 'endpoint_not_allowed')
  })
}

/**
 * Spellings that could reach a known endpoint: a scoped key's model cannot be known; an
 * unrestricted key passes but for dots.
 */
const odd: [id: string, path: string, unrestricted?: string][] = [
  ['google', '/v1beta/models/gemini-x%3AgenerateContent'],
  ['google', '/v1beta/models%2Fgemini-x:generateContent'],
  ['google', '/v1beta//models/gemini-x:generateContent'],
  ['google', '//v1beta/models/gemini-x:generateContent'],
  ['google', '/v1beta/models/gemini-x:generateContent/'],
  ['google', '/v1beta/models/gemini-x;v=1:generateContent'],
  ['google', '/v1beta/models/gemini-x:generateContent;v=1'],
  ['google', '/v1beta/Models/gemini-x:generateContent'],
  ['google', '/v1beta/models/gemini-x:GenerateContent'],
  ['google', '/v1beta/models/gemini-x:generatecontent'],
  ['google', '/v1beta/cachedcontents'],
  ['google', '/V1BETA/models/gemini-x:generateContent'],
  ['google', '/v1beta/models/allowed/../gemini-x:generateContent', 'invalid_upstream_url'],
  ['google', '/v1beta/./models/gemini-x:generateContent', 'invalid_upstream_url'],
  ['google', '/v1beta/models/a%2Fb:generateContent'],
  ['openai', '/v1/chat/completions/'],
  ['openai', '/v1//chat/completions'],
  ['openai', '/v1/Chat/Completions'],
  ['openai', '/v1/chat%2Fcompletions'],
  ['openai', '/v1/chat/completions;'],
  ['openai', '/v1/x/../chat/completions', 'invalid_upstream_url'],
  ['openai', '/v1/videos/../remix', 'invalid_upstream_url'],
  ['openai', '/v1/files/..', 'invalid_upstream_url'],
  ['bedrock', '/model/a/../b/converse', 'invalid_upstream_url'],
  ['bedrock', '/model//converse'],
]

for (const [id, path, unrestricted] of odd) {
  test(`unusual spelling: ${id} ${path}`, () => {
    const found = match(id, 'POST', path)
    assert.equal(found.class, 'unknown')
    assert.equal(refuseEndpoint(found, true)?.code, 'model_not_allowed')
    assert.equal(refuseEndpoint(found, false)?.code, unrestricted)
  })
}

test("minting, organisation and key endpoints of OpenAI's dialect are closed at every provider", () => {
  for (const id of [...PROVIDERS.map((row) => row.id), 'acme']) {
    assert.equal(match(id, 'POST', '/v1/realtime/client_secrets').class, 'minting', id)
    for (const path of [
      '/v1/organization/users',
      '/v1/api_keys',
      '/v1/api-keys/k1',
      '/v1/projects/p/apiKeys',
      '/api-key',
    ]) {
      assert.ok(['minting', 'admin'].includes(match(id, 'GET', path).class), `${id} ${path}`)
    }
  }
})

test("no provider's row is also one of its closed endpoints", () => {
  for (const row of PROVIDERS) {
    for (const { on } of row.endpoints) {
      const path = (on.split(' ').at(-1) ?? '').replaceAll(/\{\w+[:*]?\}/g, 'x').toLowerCase()
      for (const pattern of [...table.byId(row.id)!.minting, ...table.byId(row.id)!.admin])
        assert.doesNotMatch(path, pattern, `${row.id} ${on}`)
    }
  }
})

test('an unknown endpoint is for unrestricted keys only', () => {
  for (const [method, path] of [
    ['POST', '/v2/brand/new'],
    ['GET', '/v1/chat/completions/x/y/z'],
    ['PATCH', '/v1/chat/completions'],
    ['DELETE', '/v1/embeddings'],
  ] as const) {
    const found = match('openai', method, path)
    assert.equal(found.class, 'unknown')
    assert.equal(refuseEndpoint(found, false), null)
    assert.equal(refuseEndpoint(found, true)?.code, 'endpoint_not_allowed')
  }
})

test("in an unknown path, a literal segment of the table is not an object's name", () => {
  const { objects } = match('mistral', 'GET', '/v1/workflows/mine/executions/of-tomorrow')
  assert.deepEqual([...new Set(objects.map(({ id }) => id))], ['mine', 'of-tomorrow'])
})

/**
 * TABLE of paths that name what an account keeps under a name or a number, which shows nobody whose
 * it is.
 */
const NAMED: [provider: string, path: string][] = [
  ...[
    'connectors/alicegh/tools/x/call',
    'connectors/alicegh/activate',
    'workflows/alice-wf/execute',
    'workflows/alice-wf/schedules',
    'workflows/registrations/x/execute',
    'workflows/executions/my-exec/signals',
  ].map((path): [string, string] => ['mistral', `/v1/${path}`]),
  ...[
    'corpora/opcorp:query',
    'corpora/opcorp/documents/d1:query',
    'corpora/opcorp/documents',
    'corpora/opcorp/documents/d1/chunks:batchCreate',
    'operations/abc:wait',
  ].map((path): [string, string] => ['google', `/v1beta/${path}`]),
  ...[
    'reasoningEngines/66:query',
    'reasoningEngines/66/sessions/88:appendEvent',
    'reasoningEngines/66/memories:retrieve',
    'reasoningEngines/66/sandboxEnvironments/1:execute',
    'ragCorpora/44/ragFiles:import',
    'endpoints/41:generateContent',
    'endpoints/41:predict',
    'extensions/x:execute',
  ].map((path): [string, string] => ['vertex', `/v1/projects/p/locations/us/${path}`]),
  ...[
    'memory_stores/alice-mem:search_memories',
    'memory_stores/alice-mem:update_memories',
    'agents/alice-agent',
    'agents/alice-agent/versions',
    'datasets/d1/versions/1',
  ].map((path): [string, string] => ['azure', `/api/projects/p1/${path}`]),
  ...[
    'agents/A/agentAliases/B/sessions/s/text',
    'knowledgebases/K/retrieve',
    'flows/F/aliases/A',
    'guardrail/G/version/1/apply',
    'model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aprovisioned-model%2Fx/converse',
    'model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aprompt%2Fx/converse',
  ].map((path): [string, string] => ['bedrock', `/${path}`]),
]

/** TABLE of paths that name nothing of the kind: models, places, and what is there to be run. */
const OPEN: [provider: string, path: string][] = [
  ['mistral', '/v1/brand/new'],
  ['mistral', '/v1/connectors'],
  ['mistral', '/v1/models/x/run'],
  ['google', '/v1beta/models/gemini-x:newMethod'],
  ['google', '/v1beta/corpora'],
  ['google', '/v1beta/brandNew'],
  ['vertex', '/v1/projects/p/locations/us/publishers/google/models/g:newMethod'],
  ['vertex', '/v1/projects/p/locations/us/ragCorpora'],
  ['azure', '/openai/v1/brand/new'],
  ['azure', '/openai/deployments/gpt/brand/new'],
  ['azure', '/api/projects/p1/memory_stores'],
  [
    'bedrock',
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude/converse',
  ],
  ['bedrock', '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Fx/converse'],
]

test('if objects have chosen names, a segment after a collection is one', () => {
  const named = (id: string, path: string) =>
    match(id, 'POST', path).objects.filter(({ mayBeUnknown }) => mayBeUnknown !== true)
  for (const [id, path] of NAMED) assert.ok(named(id, path).length > 0, `${id} ${path}`)
  for (const [id, path] of OPEN) assert.deepEqual(named(id, path), [], `${id} ${path}`)
})

test('every provider has its own credential variable, exact hosts and base address', () => {
  assert.deepEqual(
    PROVIDERS.map(({ id }) => id).toSorted(),
    Object.keys(PROVIDER_CREDENTIALS).toSorted(),
  )
  for (const row of PROVIDERS) {
    const base = new URL(row.base.replace('{resource}', 'acme').replace('{region}', 'us-east-1'))
    assert.equal(table.find(base.hostname, 443)?.provider.id, row.id)
    assert.equal(table.find(base.hostname, 444), null)
    assert.equal(table.find(`${base.hostname}.`, 443), null)
    assert.equal(table.find(`x.${base.hostname}`, 443), null)
    if (!row.hosts.some((host) => host.startsWith('*')))
      assert.equal(table.find(`x${base.hostname}`, 443), null)
    assert.equal(table.find(`${base.hostname}.evil.test`, 443), null)
  }
  for (const host of [
    'other.openai.azure.com',
    'bedrock-runtime.eu-west-1.amazonaws.com',
    'openai.com',
    'localhost',
    '127.0.0.1',
    '169.254.169.254',
    'us-central1.evil.test-aiplatform.googleapis.com',
    '-aiplatform.googleapis.com',
    'fal.media.evil.test',
    'a.b.fal.media',
    'evil.test.api.baseten.co',
  ]) {
    assert.equal(table.find(host, 443), null, host)
  }
})

test('a host pattern takes one DNS label, so no setting can name another host', () => {
  for (const resource of [
    '',
    'a.b',
    'evil.test/',
    'x@evil.test',
    'evil.test#',
    '-a',
    'a-',
    'a b',
    'a'.repeat(64),
    '*',
  ]) {
    const hosts = createProviderTable({ instances: [{ provider: 'azure', values: { resource } }] })
    assert.equal(hosts.find(`${resource}.openai.azure.com`, 443), null, resource)
  }
})

test('the dialled address: override, added provider, changed provider', () => {
  const changed = createProviderTable({
    overrides: { google: 'http://127.0.0.1:9000', acme: 'http://127.0.0.1:9001/base/' },
    custom: [
      {
        id: 'acme',
        origin: 'https://api.acme.test',
        dial: 'http://127.0.0.1:1',
        auth: { header: 'X-Token' },
      },
      { id: 'port', origin: 'https://models.test:8443' },
      {
        id: 'openai',
        origin: 'https://eu.api.openai.com',
        dial: 'http://127.0.0.1:9911/u/https/eu.api.openai.com',
      },
    ],
  })
  assert.deepEqual(changed.find('generativelanguage.googleapis.com', 443)?.dial, {
    origin: 'http://127.0.0.1:9000',
    basePath: '',
  })
  assert.deepEqual(changed.find('api.acme.test', 443)?.dial, {
    origin: 'http://127.0.0.1:9001',
    basePath: '/base',
  })
  assert.deepEqual(changed.byId('acme')?.auth, { header: 'X-Token' })
  assert.equal(changed.find('models.test', 8443)?.origin, 'https://models.test:8443')
  assert.equal(changed.find('models.test', 443), null)
  assert.equal(changed.find('api.openai.com', 443), null)
  assert.equal(changed.findByDomain('other.acme.test')?.id, 'acme')
  assert.equal(changed.findByDomain('acme.evil.test'), null)
  const eu = changed.find('eu.api.openai.com', 443)
  assert.deepEqual(eu?.dial, {
    origin: 'http://127.0.0.1:9911',
    basePath: '/u/https/eu.api.openai.com',
  })
})

test('invalid provider settings are refused with a sentence', () => {
  const bad: [settings: Parameters<typeof createProviderTable>[0], word: RegExp][] = [
    [{ custom: [{ id: 'a', origin: 'http://a.test' }] }, /origin/],
    [{ custom: [{ id: 'a', origin: 'https://a.test/v1' }] }, /dial/],
    [{ custom: [{ id: 'a', origin: 'https://u:p@a.test' }] }, /origin/],
    [{ custom: [{ id: 'a', origin: 'not an address' }] }, /origin/],
    [
      {
        custom: [
          { id: 'a', origin: 'https://a.test' },
          { id: 'b', origin: 'https://a.test' },
        ],
      },
      /"b", origin: Names the host a\.test, and so does "a"/,
    ],
    [{ custom: [{ id: 'a', origin: 'https://a.test', dial: 'ftp://a.test' }] }, /http/],
    [{ custom: [{ id: 'a', origin: 'https://a.test', auth: { header: 'X Y' } }] }, /header/],
    [
      { custom: [{ id: 'a', origin: 'https://a.test', auth: { header: 'X', scheme: 'a b' } }] },
      /scheme/,
    ],
    [{ overrides: { google: 'http://a.test/?x' } }, /query/],
    ...['https://a.test/?x', 'https://a.test/#x', 'https://u@a.test', 'https://:p@a.test'].map(
      (origin): (typeof bad)[number] => [
        { custom: [{ id: 'a', origin }] },
        /origin: Must be the address that callers use/,
      ],
    ),
    ...['http://a.test/#x', 'http://u@a.test', 'http://:p@a.test', 'nowhere'].map(
      (dial): (typeof bad)[number] => [
        { custom: [{ id: 'a', origin: 'https://a.test', dial }] },
        /dial: Must be an address/,
      ],
    ),
    ...[
      'Host',
      'Content-Length',
      'TRANSFER-ENCODING',
      'connection',
      'Upgrade',
      'TE',
      'Trailer',
      'Expect',
      'Keep-Alive',
    ].map((header): (typeof bad)[number] => [
      { custom: [{ id: 'a', origin: 'https://a.test', auth: { header } }] },
      /how the request is sent/,
    ]),
  ]
  for (const [settings, word] of bad) assert.throws(() => createProviderTable(settings), word)
})

/**
 * All the ways to write a word: capitals, percent-encoding once and twice; the last is refused at
 * once, and so is rare.
 */
const letters = (text: string) =>
  fc
    .tuple(
      ...Array.from(text, (letter) => {
        const code = letter.charCodeAt(0).toString(16)
        return fc.oneof(
          { weight: 60, arbitrary: fc.constantFrom(letter, letter.toUpperCase(), `%${code}`) },
          { weight: 1, arbitrary: fc.constant(`%25${code}`) },
        )
      }),
    )
    .map((all) => all.join(''))

test('no spelling of a minting endpoint passes', () => {
  let taken = 0
  const spell = fc.array(fc.constantFrom('/', '//', '/./', '/x/../', '/;a=b/', '/%2e/', '/%2F'), {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(
      letters('realtime'),
      letters('client_secrets'),
      spell,
      spell,
      fc.constantFrom('', '/', ';x', '?a=b'),
      (first, second, before, between, after) => {
        const target = readTarget(
          `/proxy?url=${encodeURIComponent(`https://api.openai.com/v1${before.join('')}${first}${between.join('')}${second}${after}`)}`,
        )
        if (!target.ok) return
        taken++
        const found = match('openai', 'POST', target.upstream.pathAndQuery)
        assert.notEqual(refuseEndpoint(found, false), null, target.upstream.pathAndQuery)
      },
    ),
    { numRuns: 1_000 },
  )
  assert.ok(taken > 50, `${taken} spellings were taken for addresses: too few to mean anything`)
})
