// Which stored objects a request names, and which a response makes: what each endpoint's row says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUsageMeter } from '../../../server/proxy/usage/meter.ts'
import { CreatedIds } from '../../../server/proxy/usage/created-ids.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { readHeld } from '../inspect/inspected.ts'

const table = createProviderTable({
  instances: [
    { provider: 'azure', values: { resource: 'acme' } },
    { provider: 'bedrock', values: { region: 'us-east-1' } },
  ],
})
const find = (id: string, on: string) => {
  const [method = '', path = ''] = on.split(' ')
  return classify(table.byId(id)!, method, path)
}

/** TABLE: what a response makes. */
const MADE: [id: string, on: string, response: object, ...objects: string[]][] = [
  [
    'openai',
    'POST /v1/responses',
    {
      output: [
        {
          type: 'shell_call',
          environment: { type: 'container_reference', container_id: 'cntr_1' },
        },
      ],
    },
    'container:cntr_1',
  ],
  [
    'openai',
    'GET /v1/responses/resp_1',
    { output: [{ type: 'shell_call', environment: { container_id: 'cntr_1' } }] },
    'container:cntr_1',
  ],
  ['openai', 'POST /v1/audio/voices', { id: 'voice_1' }, 'voice:voice_1'],
  ['openai', 'POST /v1/audio/voice_consents', { id: 'cons_1' }, 'voice_consent:cons_1'],
  ['azure', 'POST /openai/threads', { id: 'thread_1' }, 'thread:thread_1'],
  ['azure', 'POST /openai/vector_stores', { id: 'vs_1' }, 'vector_store:vs_1'],
  ['azure', 'POST /api/projects/p/threads', { id: 'thread_1' }, 'thread:thread_1'],
  ['openai', 'POST /v1/videos/characters', { id: 'char_1' }, 'character:char_1'],
  ['anthropic', 'POST /v1/memory_stores', { id: 'memstore_1' }, 'memory_store:memstore_1'],
  ['anthropic', 'POST /v1/environments', { id: 'env_1' }, 'environment:env_1'],
  ['anthropic', 'POST /v1/vaults', { id: 'vlt_1' }, 'vault:vlt_1'],
  ['anthropic', 'POST /v1/user_profiles', { id: 'uprof_1' }, 'user_profile:uprof_1'],
  ['anthropic', 'POST /v1/tunnels', { id: 'tnl_1' }, 'tunnel:tnl_1'],
  [
    'anthropic',
    'POST /v1/deployments/dep_1/run',
    { id: 'run_1', session_id: 'sesn_1' },
    'deployment_run:run_1',
    'session:sesn_1',
  ],
  ['anthropic', 'POST /v1/dreams', { id: 'drm_1', session_id: null, outputs: [] }, 'dream:drm_1'],
  [
    'anthropic',
    'GET /v1/dreams/drm_1',
    {
      id: 'drm_1',
      session_id: 'sesn_2',
      outputs: [{ type: 'memory_store', memory_store_id: 'memstore_2' }],
    },
    'session:sesn_2',
    'memory_store:memstore_2',
  ],
  [
    'anthropic',
    'GET /v1/messages/batches/msgbatch_1/results',
    {
      custom_id: 'x',
      result: {
        type: 'succeeded',
        message: {
          id: 'msg_1',
          container: { id: 'cntr_1' },
          content: [{ content: { content: [{ file_id: 'file_1' }] } }],
        },
      },
    },
    'container:cntr_1',
    'file:file_1',
  ],
  ['bedrock', 'POST /retrieveAndGenerate', { sessionId: 'ses_1', output: {} }, 'session:ses_1'],
  [
    'vertex',
    'POST /v1/projects/p/locations/l/batchPredictionJobs',
    { name: 'projects/1/locations/l/batchPredictionJobs/2' },
    'batch:2',
  ],
  [
    'vertex',
    'POST /v1beta1/projects/p/locations/l/tuningJobs',
    { name: 'projects/1/locations/l/tuningJobs/3' },
    'tuning_job:3',
  ],
  ['mistral', 'POST /v1/libraries', { id: 'lib_1' }, 'library:lib_1'],
  ['mistral', 'POST /v1/audio/voices', { id: 'voice_1' }, 'voice:voice_1'],
  ['mistral', 'POST /v2/prompts', { id: 'prompt_1' }, 'prompt:prompt_1'],
  ['mistral', 'POST /v2/skills', { id: 'skill_1' }, 'skill:skill_1'],
  ['mistral', 'POST /v1/connectors', { id: 'con_1' }, 'connector:con_1'],
  [
    'mistral',
    'POST /v1/conversations/conv_1/restart',
    { conversation_id: 'conv_2', outputs: [{ content: 'x' }] },
    'conversation:conv_2',
  ],
  [
    'mistral',
    'POST /v1/conversations',
    {
      conversation_id: 'conv_1',
      outputs: [{ content: [{ type: 'text' }, { type: 'tool_file', file_id: 'file_1' }] }],
    },
    'conversation:conv_1',
    'file:file_1',
  ],
  ['mistral', 'POST /v1/conversations/conv_1', { conversation_id: 'conv_1', outputs: [] }],
  [
    'mistral',
    'POST /v1/conversations/conv_1',
    { type: 'message.output.delta', content: { type: 'tool_file', file_id: 'file_1' } },
    'file:file_1',
  ],
  [
    'mistral',
    'GET /v1/batch/jobs/batch_1',
    { id: 'batch_1', output_file: 'file_1', error_file: 'file_2' },
    'file:file_1',
    'file:file_2',
  ],
  [
    'mistral',
    'POST /v1/workflows/mine/execute',
    { execution_id: 'exec_1', run_id: 'run_1' },
    'execution:exec_1',
    'run:run_1',
  ],
  ['mistral', 'POST /v1/workflows/schedules', { schedule_id: 'sched_1' }, 'schedule:sched_1'],
  [
    'cohere',
    'POST /v1/finetuning/finetuned-models',
    { finetuned_model: { id: 'ft_1' } },
    'finetuned_model:ft_1',
  ],
  [
    'together',
    'POST /v1/evaluation',
    { status: 'pending', workflow_id: 'eval_1' },
    'evaluation:eval_1',
  ],
  [
    'together',
    'GET /v1/evaluation/eval_1',
    { workflow_id: 'eval_1', results: { result_file_id: 'file_1' } },
    'file:file_1',
  ],
  [
    'together',
    'POST /v1/tci/execute',
    { data: { session_id: 'ses_1', outputs: [] } },
    'code_session:ses_1',
  ],
  ['together', 'POST /v1/queue/submit', { requestId: 'req_1' }, 'queued:req_1'],
  ['together', 'POST /v1/models', { data: { job_id: 'job_1' } }, 'job:job_1'],
  ['google', 'POST /v1beta/corpora', { name: 'corpora/c' }, 'corpus:c'],
  [
    'google',
    'POST /v1beta/files:register',
    { files: [{ name: 'files/a' }, { name: 'files/b' }] },
    'file:a',
    'file:b',
  ],
  [
    'fireworks',
    'POST /inference/v1/workflows/accounts/fireworks/models/flux-kontext',
    { request_id: 'req_1' },
    'result:req_1',
  ],
  [
    'azure',
    'POST /openai/v1/video/generations/jobs',
    { id: 'job_1', generations: [] },
    'video_job:job_1',
  ],
  [
    'azure',
    'GET /openai/v1/video/generations/jobs/job_1',
    { id: 'job_1', generations: [{ id: 'gen_1' }] },
    'generation:gen_1',
  ],
  ['google', 'POST /v1beta/environments', { id: 'env_1' }, 'environment:env_1'],
  ['google', 'POST /v1beta/credentials', { id: 'cred_1' }, 'credential:cred_1'],
  ['google', 'POST /v1beta/voices', { id: 'voices/voice_1' }, 'voice:voice_1'],
  ['google', 'POST /v1beta/triggers', { id: 'trig_1' }, 'trigger:trig_1'],
  [
    'google',
    'POST /v1beta/triggers/trig_1/executions',
    { id: 'exec_1', interaction_id: 'int_1' },
    'interaction:int_1',
  ],
  [
    'google',
    'POST /v1beta/interactions',
    { id: 'int_1', environment_id: 'env_1' },
    'interaction:int_1',
    'environment:env_1',
  ],
  ['xai', 'POST /v1/custom-voices', { voice_id: 'abcd1234' }, 'voice:abcd1234'],
  [
    'perplexity',
    'POST /v1/browser/sessions',
    { session_id: 'ses_1', status: 'running' },
    'browser_session:ses_1',
  ],
  [
    'openrouter',
    'POST /api/v1/containers/cntr_1/files/f_1/promote',
    { id: 'file_1' },
    'file:file_1',
  ],
  ['openrouter', 'POST /api/v1/interns', { id: 'intern_1' }, 'intern:intern_1'],
]

for (const [id, on, response, ...objects] of MADE) {
  test(`${id}: ${on} makes ${objects.join(', ') || 'nothing'}`, () => {
    const created = new CreatedIds(find(id, on).endpoint?.creates ?? {})
    created.search(response)
    assert.deepEqual(
      created.objects.map((object) => `${object.kind}:${object.id}`),
      objects,
    )
  })
}

/** TABLE: what a request names, beside what stands in its path. */
const NAMED: [id: string, on: string, body: object, ...objects: string[]][] = [
  [
    'openai',
    'POST /v1/responses',
    { input: [{ type: 'code_interpreter_call', container_id: 'cntr_1' }] },
    'container:cntr_1',
  ],
  [
    'openai',
    'POST /v1/responses',
    {
      prompt: {
        id: 'pmpt_1',
        variables: { city: 'x'.repeat(5_000), page: { type: 'input_file', file_id: 'file_1' } },
      },
    },
    'prompt:pmpt_1',
    'file:file_1',
  ],
  [
    'openai',
    'POST /v1/responses',
    {
      conversation: { id: 'conv_1' },
      tools: [
        {
          type: 'code_interpreter',
          container: {
            type: 'auto',
            network_policy: { allowed_domains: Array(300).fill('example.com') },
            file_ids: ['file_1'],
            skills: [{ skill_id: 'skill_1' }],
          },
        },
      ],
    },
    'conversation:conv_1',
    'file:file_1',
    'skill:skill_1',
  ],
  [
    'openai',
    'POST /v1/responses',
    { input: [{ type: 'shell_call', environment: { container_id: 'cntr_1' } }] },
    'container:cntr_1',
  ],
  [
    'openai',
    'POST /v1/conversations',
    { items: [{ container_id: 'cntr_1' }, { environment: { container_id: 'cntr_2' } }] },
    'container:cntr_1',
    'container:cntr_2',
  ],
  ['openai', 'POST /v1/audio/speech', { voice: { id: 'voice_1' } }, 'voice:voice_1'],
  [
    'openai',
    'POST /v1/chat/completions',
    { audio: { voice: { id: 'voice_1' }, format: 'mp3' } },
    'voice:voice_1',
  ],
  ['openai', 'POST /v1/audio/voices', { consent: 'cons_1' }, 'voice_consent:cons_1'],
  [
    'azure',
    'POST /openai/threads/thread_1/runs',
    { assistant_id: 'asst_1' },
    'thread:thread_1',
    'assistant:asst_1',
  ],
  ['openai', 'POST /v1/videos', { characters: [{ id: 'char_1' }] }, 'character:char_1'],
  [
    'anthropic',
    'POST /v1/sessions',
    { agent: 'agent_1', environment_id: 'env_1', vault_ids: ['vlt_1', 'vlt_2'] },
    'agent:agent_1',
    'environment:env_1',
    'vault:vlt_1',
    'vault:vlt_2',
  ],
  [
    'anthropic',
    'POST /v1/sessions',
    {
      agent: { type: 'agent', id: 'agent_1', version: 1 },
      resources: [{ file_id: 'file_1' }, { memory_store_id: 'memstore_1' }],
    },
    'agent:agent_1',
    'file:file_1',
    'memory_store:memstore_1',
  ],
  [
    'anthropic',
    'POST /v1/sessions',
    {
      agent: {
        type: 'agent_with_overrides',
        id: 'agent_1',
        system: 'x'.repeat(100_000),
        skills: [{ skill_id: 'skill_1' }],
      },
    },
    'agent:agent_1',
    'skill:skill_1',
  ],
  [
    'anthropic',
    'POST /v1/sessions',
    {
      initial_events: [
        { content: [{ source: { file_id: 'file_1' } }] },
        { rubric: { file_id: 'file_2' } },
      ],
    },
    'file:file_1',
    'file:file_2',
  ],
  [
    'anthropic',
    'POST /v1/sessions/sesn_1',
    { vault_ids: ['vlt_1'] },
    'session:sesn_1',
    'vault:vlt_1',
  ],
  [
    'anthropic',
    'POST /v1/sessions/sesn_1/events',
    { events: [{ rubric: { type: 'file', file_id: 'file_1' } }] },
    'session:sesn_1',
    'file:file_1',
  ],
  [
    'anthropic',
    'POST /v1/sessions/sesn_1/resources',
    { type: 'memory_store', memory_store_id: 'memstore_1' },
    'session:sesn_1',
    'memory_store:memstore_1',
  ],
  ...['', '/dep_1'].map((one): (typeof NAMED)[number] => [
    'anthropic',
    `POST /v1/deployments${one}`,
    {
      agent: 'agent_1',
      environment_id: 'env_1',
      vault_ids: ['vlt_1'],
      resources: [{ memory_store_id: 'memstore_1' }],
    },
    ...(one === '' ? [] : ['deployment:dep_1']),
    'agent:agent_1',
    'environment:env_1',
    'vault:vlt_1',
    'memory_store:memstore_1',
  ]),
  [
    'anthropic',
    'POST /v1/dreams',
    {
      inputs: [{ memory_store_id: 'memstore_1' }, { session_ids: ['sesn_1'] }],
      output_behavior: { memory_store_id: 'memstore_2' },
    },
    'memory_store:memstore_1',
    'session:sesn_1',
    'memory_store:memstore_2',
  ],
  ...['', '/agent_9'].map((one): (typeof NAMED)[number] => [
    'anthropic',
    `POST /v1/agents${one}`,
    {
      model: 'm',
      multiagent: {
        type: 'coordinator',
        agents: ['agent_1', { type: 'agent', id: 'agent_2' }, { type: 'self' }],
      },
    },
    ...(one === '' ? [] : ['agent:agent_9']),
    'agent:agent_1',
    'agent:agent_2',
  ]),
  [
    'anthropic',
    'POST /v1/agents',
    {
      multiagent: {
        subagents: { predefined_agents: [{ id: 'agent_1' }] },
        workflows: { predefined_agents: [{ id: 'agent_2' }] },
      },
    },
    'agent:agent_1',
    'agent:agent_2',
  ],
  ...['chat/completions', 'conversations', 'agents'].map((path): (typeof NAMED)[number] => [
    'mistral',
    `POST /v1/${path}`,
    {
      tools: [
        { type: 'document_library', library_ids: ['lib_1'] },
        { type: 'connector', connector_id: 'con_1' },
      ],
    },
    'library:lib_1',
    'connector:con_1',
  ]),
  [
    'mistral',
    'PATCH /v1/agents/ag_1',
    { handoffs: ['ag_2'], tools: [{ library_ids: ['lib_1'] }] },
    'agent:ag_1',
    'agent:ag_2',
    'library:lib_1',
  ],
  [
    'mistral',
    'POST /v1/agents/completions',
    { agent_id: 'ag_1', tools: [{ library_ids: ['lib_1'] }] },
    'agent:ag_1',
    'library:lib_1',
  ],
  [
    'mistral',
    'POST /v1/batch/jobs',
    { requests: [{ body: { tools: [{ library_ids: ['lib_1'] }] } }] },
    'library:lib_1',
  ],
  ['mistral', 'POST /v1/audio/speech', { input: 'x', voice_id: 'voice_1' }, 'voice:voice_1'],
  [
    'mistral',
    'POST /v1/workflows/executions/terminate',
    { execution_ids: ['exec_1', 'exec_2'] },
    'execution:exec_1',
    'execution:exec_2',
  ],
  [
    'cohere',
    'POST /v1/finetuning/finetuned-models',
    { settings: { dataset_id: 'set_1' } },
    'dataset:set_1',
  ],
  [
    'together',
    'POST /v1/fine-tunes',
    { training_file: 'file_1', from_checkpoint: 'ft_1:10' },
    'file:file_1',
    'fine_tuning_job:ft_1:10',
    'fine_tuning_job:ft_1',
  ],
  ['together', 'POST /v1/fine-tunes/preview', { training_file: 'file_1' }, 'file:file_1'],
  [
    'together',
    'POST /v1/evaluation',
    { parameters: { input_data_file_path: 'file_1' } },
    'file:file_1',
  ],
  ['together', 'POST /v1/tci/execute', { session_id: 'ses_1' }, 'code_session:ses_1'],
  ['together', 'POST /v1/queue/cancel', { request_id: 'req_1' }, 'queued:req_1'],
  [
    'google',
    'POST /v1beta/interactions',
    { agent: 'my-agent', environment: 'env_1' },
    'agent:my-agent',
    'environment:env_1',
  ],
  [
    'google',
    'POST /v1beta/interactions',
    {
      agent: 'agents/a',
      environment: {
        type: 'remote',
        environment_id: 'env_1',
        env: { KEY: { credential: 'cred_1' }, X: 'y' },
        network: { allowlist: [{ domain: 'x', credential: 'cred_2' }] },
      },
    },
    'agent:a',
    'environment:env_1',
    'credential:cred_1',
    'credential:cred_2',
  ],
  ...[{ voice: 'voice_1' }, [{ voice: 'voice_1' }]].map((speech_config): (typeof NAMED)[number] => [
    'google',
    'POST /v1beta/interactions',
    { model: 'm', generation_config: { speech_config } },
    'voice:voice_1',
  ]),
  ...['semanticRetriever', 'semantic_retriever'].map((retriever): (typeof NAMED)[number] => [
    'google',
    'POST /v1beta/models/aqa:generateAnswer',
    { [retriever]: { source: 'corpora/c' } },
    'corpus:c',
  ]),
  [
    'google',
    'POST /v1beta/agents',
    { base_agent: 'a', base_environment: 'environments/env_1' },
    'agent:a',
    'environment:env_1',
  ],
  [
    'google',
    'POST /v1beta/environments',
    { from_environment: 'env_1', network: { allowlist: [{ credential: 'cred_1' }] } },
    'environment:env_1',
    'credential:cred_1',
  ],
  [
    'google',
    'POST /v1beta/triggers',
    { environment_id: 'env_1', interaction: { agent: 'a', previous_interaction_id: 'int_1' } },
    'environment:env_1',
    'agent:a',
    'interaction:int_1',
  ],
  [
    'fireworks',
    'POST /inference/v1/workflows/accounts/fireworks/models/flux-kontext/get_result',
    { id: 'req_1' },
    'result:req_1',
  ],
  [
    'mistral',
    'POST /v1/batch/jobs',
    {
      requests: [
        { body: { document: { file_id: 'file_1' } } },
        { body: { agent_id: 'ag_1', inputs: [{ content: [{ file_id: 'file_2' }] }] } },
      ],
    },
    'file:file_1',
    'agent:ag_1',
    'file:file_2',
  ],
  [
    'bedrock',
    'POST /retrieveAndGenerate',
    { input: { text: 'x' }, sessionId: 'ses_1' },
    'session:ses_1',
  ],
  [
    'bedrock',
    'POST /async-invoke',
    { modelId: 'arn:aws:bedrock:us-east-1:123456789012:custom-model/x' },
    'tuned_model:x',
  ],
  ['bedrock', 'POST /async-invoke', { modelId: 'arn:aws:bedrock:us-east-1::foundation-model/x' }],
  ['xai', 'POST /v1/tts', { text: 'x', voice_id: 'abcd1234' }, 'voice:abcd1234'],
]

for (const [id, on, body, ...objects] of NAMED) {
  const text = JSON.stringify(body)
  test(`${id}: ${on} ${text.slice(0, 200)} names ${objects.join(', ')}`, async () => {
    const match = find(id, on)
    const found = await readHeld(
      table.byId(id)!,
      match,
      ['Content-Type', 'application/json'],
      Buffer.from(text),
      1e6,
    )
    assert.deepEqual(
      found?.objects.map((object) => `${object.kind}:${object.id}`),
      objects,
    )
  })
}

test('a form names the video to edit or extend', async () => {
  const form = Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="video[id]"\r\n\r\nvideo_1\r\n--b--\r\n',
  )
  for (const path of ['/v1/videos/edits', '/v1/videos/extensions']) {
    const found = await readHeld(
      table.byId('openai')!,
      find('openai', `POST ${path}`),
      ['Content-Type', 'multipart/form-data; boundary=b'],
      form,
      1e6,
    )
    assert.deepEqual(found?.objects, [{ kind: 'video', id: 'video_1' }], path)
  }
})

test('a continued upload is the one that was begun, whatever its name', () => {
  for (const name of ['up-1', 'ab/c', 'https://x:1/y']) {
    const address = `/upload/v1beta/files?upload_id=${encodeURIComponent(name)}`
    const { created } = createUsageMeter(
      table.byId('google')!,
      find('google', 'POST /upload/v1beta/files'),
      ['X-Goog-Upload-URL', `https://generativelanguage.googleapis.com${address}`],
      { account_id: 'a', key_id: 'k' },
    )
    assert.deepEqual(created, [{ kind: 'upload', id: name }])
    assert.deepEqual(find('google', `PUT ${address}`).objects, created)
  }
})

test('an agent that ran is recorded', async () => {
  const found = await readHeld(
    table.byId('google')!,
    find('google', 'POST /v1beta/interactions'),
    ['Content-Type', 'application/json'],
    Buffer.from('{"agent":"my-agent"}'),
    1e6,
  )
  assert.equal(found?.model, 'my-agent')
})

test('a list of complete objects gives their kind', () => {
  for (const [id, on, kind] of [
    ['openai', 'GET /v1/chat/completions', 'completion'],
    ['mistral', 'GET /v1/workflows/events/list', 'execution'],
    ['mistral', 'GET /v1/workflows/events/stream', 'execution'],
  ] as const) {
    assert.equal(find(id, on).endpoint?.lists, kind, on)
  }
})
