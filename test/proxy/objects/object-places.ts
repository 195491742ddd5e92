// Where requests name what a provider has stored.
import { ANTHROPIC, GOOGLE, OPENAI } from '../support/served.ts'

export const [V1, GEMINI] = [`${OPENAI}/v1`, `${GOOGLE}/v1beta`]
export const VEO = 'https://aiplatform.googleapis.com/v1/publishers/google/models/veo'
export const MISTRAL = 'https://api.mistral.ai/v1'
export const XAI = 'https://api.x.ai/v1'
const DEEPSEEK = 'https://api.deepseek.com'
export const OPENROUTER = 'https://openrouter.ai/api/v1'
export const COHERE = 'https://api.cohere.com'
const PERPLEXITY = 'https://api.perplexity.ai'

/** Served with the providers of these addresses besides. */
export const more = (origin: string) =>
  Object.fromEntries(
    [
      ['VERTEX', 'GOOGLE_VERTEX'],
      ...['MISTRAL', 'XAI', 'DEEPSEEK', 'COHERE', 'PERPLEXITY', 'OPENROUTER'].map((id) => [id, id]),
    ].flatMap(([id, name]) => [
      [`TOLLMARK_UPSTREAM_${id}`, origin],
      [`${name}_API_KEY`, 'upstream'],
    ]),
  )

/** TABLE of what is made: the request, and the response, in which ID stands for its id. */
export const MADE: Record<string, { address: string; response: object }> = {
  file: { address: `${V1}/files`, response: { id: 'ID', object: 'file' } },
  response: { address: `${V1}/responses`, response: { id: 'ID', object: 'response' } },
  conversation: { address: `${V1}/conversations`, response: { id: 'ID', object: 'conversation' } },
  vector_store: { address: `${V1}/vector_stores`, response: { id: 'ID' } },
  container: { address: `${V1}/containers`, response: { id: 'ID' } },
  assistant: { address: `${V1}/assistants`, response: { id: 'ID' } },
  video: { address: `${V1}/videos`, response: { id: 'ID' } },
  anthropicFile: { address: `${ANTHROPIC}/v1/files`, response: { id: 'ID' } },
  googleFile: {
    address: `${GOOGLE}/upload/v1beta/files`,
    response: { file: { name: 'files/ID' } },
  },
  cache: { address: `${GEMINI}/cachedContents`, response: { name: 'cachedContents/ID' } },
  interaction: { address: `${GEMINI}/interactions`, response: { id: 'ID' } },
  vertexOperation: {
    address: `${VEO}:predictLongRunning`,
    response: { name: 'publishers/google/models/veo/operations/ID' },
  },
  deepseekFile: { address: `${DEEPSEEK}/files`, response: { id: 'ID' } },
  mistralFile: { address: `${MISTRAL}/files`, response: { id: 'ID' } },
  xaiFile: { address: `${XAI}/files`, response: { id: 'ID' } },
  skill: { address: `${V1}/skills`, response: { id: 'ID' } },
  anthropicSkill: { address: `${ANTHROPIC}/v1/skills`, response: { id: 'ID' } },
  anthropicContainer: {
    address: `${ANTHROPIC}/v1/messages`,
    response: { id: 'msg_1', container: { id: 'ID', expires_at: 'x' }, content: [] },
  },
  anthropicThread: { address: `${ANTHROPIC}/v1/messages`, response: { id: 'ID', content: [] } },
  usedContainer: {
    address: `${V1}/responses`,
    response: {
      id: 'resp_1',
      output: [{ type: 'reasoning' }, { type: 'code_interpreter_call', container_id: 'ID' }],
    },
  },
  userProfile: { address: `${ANTHROPIC}/v1/user_profiles`, response: { id: 'ID' } },
  memoryStore: {
    address: `${ANTHROPIC}/v1/memory_stores`,
    response: { id: 'ID', type: 'memory_store' },
  },
  anthropicAgent: { address: `${ANTHROPIC}/v1/agents`, response: { id: 'ID', type: 'agent' } },
  mistralAgent: { address: `${MISTRAL}/agents`, response: { id: 'ID' } },
  library: { address: `${MISTRAL}/libraries`, response: { id: 'ID' } },
  cohereDataset: { address: `${COHERE}/v1/datasets`, response: { id: 'ID' } },
  perplexityResponse: {
    address: `${PERPLEXITY}/v1/agent`,
    response: { id: 'ID', object: 'response' },
  },
  store: { address: `${GEMINI}/fileSearchStores`, response: { name: 'fileSearchStores/ID' } },
}

/** TABLE of places that name it. */
export const NAMED: [
  made: keyof typeof MADE,
  address: string,
  body: object,
  headers?: Record<string, string>,
][] = [
  ['response', `${V1}/responses`, { model: 'gpt-5', previous_response_id: 'ID' }],
  ['conversation', `${V1}/responses`, { model: 'gpt-5', conversation: 'ID' }],
  ['conversation', `${V1}/responses`, { model: 'gpt-5', conversation: { id: 'ID' } }],
  [
    'file',
    `${V1}/responses`,
    {
      model: 'gpt-5',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'x' },
            { type: 'input_file', file_id: 'ID' },
          ],
        },
      ],
    },
  ],
  [
    'file',
    `${V1}/chat/completions`,
    {
      model: 'gpt-5',
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'ID' } }] }],
    },
  ],
  [
    'file',
    `${V1}/responses`,
    {
      model: 'gpt-5',
      tools: [
        {
          type: 'code_interpreter',
          container: { type: 'auto', file_ids: ['file-of-before', 'ID'] },
        },
      ],
    },
  ],
  [
    'container',
    `${V1}/responses`,
    { model: 'gpt-5', tools: [{ type: 'code_interpreter', container: 'ID' }] },
  ],
  [
    'vector_store',
    `${V1}/responses`,
    { model: 'gpt-5', tools: [{ type: 'file_search', vector_store_ids: ['ID'] }] },
  ],
  [
    'file',
    `${V1}/batches`,
    { input_file_id: 'ID', endpoint: '/v1/responses', completion_window: '24h' },
  ],
  ['file', `${V1}/vector_stores`, { name: 'x', file_ids: ['ID'] }],
  ['file', `${V1}/vector_stores/vs_of_before/files`, { file_id: 'ID' }],
  ['file', `${V1}/fine_tuning/jobs`, { model: 'gpt-5', training_file: 'ID' }],
  [
    'file',
    `${V1}/threads`,
    { messages: [{ role: 'user', content: 'x', attachments: [{ file_id: 'ID' }] }] },
  ],
  ['assistant', `${V1}/threads/thread_of_before/runs`, { assistant_id: 'ID' }],
  ['video', `${V1}/videos/extensions`, { video: { id: 'ID' }, prompt: 'x' }],
  [
    'anthropicFile',
    `${ANTHROPIC}/v1/messages`,
    {
      model: 'claude',
      messages: [
        { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'ID' } }] },
      ],
    },
  ],
  [
    'anthropicFile',
    `${ANTHROPIC}/v1/messages`,
    {
      model: 'claude',
      messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'ID' }] }],
    },
  ],
  [
    'anthropicFile',
    `${ANTHROPIC}/v1/messages/batches`,
    {
      requests: [
        {
          params: {
            model: 'claude',
            messages: [{ role: 'user', content: [{ type: 'image', source: { file_id: 'ID' } }] }],
          },
        },
      ],
    },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:generateContent`,
    { contents: [{ parts: [{ fileData: { fileUri: `${GEMINI}/files/ID` } }] }] },
  ],
  [
    'cache',
    `${GEMINI}/models/gemini-x:generateContent`,
    { cachedContent: 'cachedContents/ID', contents: [] },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:generateContent`,
    {
      contents: [{ parts: [{ file_data: { file_uri: `${GEMINI}/files/ID:download?alt=media` } }] }],
    },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:generateContent`,
    {
      contents: [
        {
          parts: [
            { functionResponse: { parts: [{ fileData: { fileUri: `${GEMINI}/files/ID` } }] } },
          ],
        },
      ],
    },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:generateContent`,
    { system_instruction: { parts: [{ file_data: { file_uri: 'files/ID' } }] } },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:embedContent`,
    { content: { parts: [{ fileData: { fileUri: `${GEMINI}/files/ID` } }] } },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:batchEmbedContents`,
    { requests: [{ content: { parts: [{ fileData: { fileUri: `${GEMINI}/files/ID` } }] } }] },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:countTokens`,
    {
      generateContentRequest: {
        contents: [{ parts: [{ fileData: { fileUri: `${GEMINI}/files/ID` } }] }],
      },
    },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:batchGenerateContent`,
    { batch: { inputConfig: { fileName: 'files/ID' } } },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:batchGenerateContent`,
    { batch: { input_config: { file_name: 'files/ID' } } },
  ],
  [
    'googleFile',
    `${GEMINI}/models/gemini-x:batchGenerateContent`,
    {
      batch: {
        inputConfig: {
          requests: {
            requests: [
              { request: { contents: [{ parts: [{ fileData: { fileUri: 'files/ID' } }] }] } },
            ],
          },
        },
      },
    },
  ],
  [
    'googleFile',
    `${GEMINI}/interactions`,
    { model: 'gemini-x', input: [{ type: 'document', uri: `${GEMINI}/files/ID` }] },
  ],
  [
    'googleFile',
    `${GEMINI}/interactions`,
    {
      model: 'gemini-x',
      input: [{ type: 'user_input', content: [{ type: 'image', uri: `${GEMINI}/files/ID` }] }],
    },
  ],
  [
    'store',
    `${GEMINI}/interactions`,
    {
      model: 'gemini-x',
      input: 'x',
      tools: [{ type: 'file_search', file_search_store_names: ['fileSearchStores/ID'] }],
    },
  ],
  [
    'interaction',
    `${GEMINI}/interactions`,
    { model: 'gemini-x', input: 'x', previous_interaction_id: 'ID' },
  ],
  [
    'cache',
    `${GEMINI}/models/gemini-x:countTokens`,
    { generateContentRequest: { cachedContent: 'cachedContents/ID' } },
  ],
  [
    'vertexOperation',
    `${VEO}:fetchPredictOperation`,
    { operationName: 'publishers/google/models/veo/operations/ID' },
  ],
  ['file', `${V1}/images/edits`, { model: 'gpt-image-1', images: [{ file_id: 'ID' }] }],
  [
    'file',
    `${V1}/images/edits`,
    {
      model: 'gpt-image-1',
      images: [{ image_url: 'https://example.com/a.png' }],
      mask: { file_id: 'ID' },
    },
  ],
  ['file', `${V1}/videos`, { model: 'sora-2', prompt: 'x', input_reference: { file_id: 'ID' } }],
  ['xaiFile', `${XAI}/images/edits`, { model: 'grok-imagine', image: { file_id: 'ID' } }],
  ['xaiFile', `${XAI}/images/edits`, { model: 'grok-imagine', images: [{ file_id: 'ID' }] }],
  ['xaiFile', `${XAI}/videos/generations`, { model: 'grok-imagine', image: { file_id: 'ID' } }],
  [
    'xaiFile',
    `${XAI}/videos/generations`,
    { model: 'grok-imagine', reference_images: [{ file_id: 'ID' }] },
  ],
  ['xaiFile', `${XAI}/videos/edits`, { model: 'grok-imagine', video: { file_id: 'ID' } }],
  ['xaiFile', `${XAI}/videos/extensions`, { model: 'grok-imagine', video: { file_id: 'ID' } }],
  [
    'deepseekFile',
    `${DEEPSEEK}/chat/completions`,
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file_id: 'ID' }] }] },
  ],
  [
    'mistralFile',
    `${MISTRAL}/chat/completions`,
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file_id: 'ID' }] }] },
  ],
  [
    'mistralFile',
    `${MISTRAL}/conversations`,
    { model: 'm', inputs: [{ role: 'user', content: [{ type: 'document', file_id: 'ID' }] }] },
  ],
  ['mistralFile', `${MISTRAL}/batch/jobs`, { model: 'm', input_files: ['file-of-before', 'ID'] }],
  [
    'file',
    `${V1}/conversations`,
    { items: [{ role: 'user', content: [{ type: 'input_file', file_id: 'ID' }] }] },
  ],
  [
    'file',
    `${V1}/conversations/conv_of_before/items`,
    { items: [{ role: 'user', content: [{ type: 'input_file', file_id: 'ID' }] }] },
  ],
  [
    'file',
    `${V1}/responses`,
    {
      model: 'gpt-5',
      tools: [{ type: 'shell', environment: { type: 'container_auto', file_ids: ['ID'] } }],
    },
  ],
  [
    'vector_store',
    `${V1}/responses`,
    {
      model: 'gpt-5',
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'file_search', vector_store_ids: ['ID'] }],
        },
      ],
    },
  ],
  [
    'container',
    `${V1}/responses`,
    {
      model: 'gpt-5',
      input: [
        { type: 'tool_search_output', tools: [{ type: 'code_interpreter', container: 'ID' }] },
      ],
    },
  ],
  [
    'vector_store',
    `${V1}/conversations`,
    {
      items: [
        { type: 'additional_tools', tools: [{ type: 'file_search', vector_store_ids: ['ID'] }] },
      ],
    },
  ],
  [
    'skill',
    `${V1}/responses`,
    {
      model: 'gpt-5',
      tools: [
        {
          type: 'shell',
          environment: {
            type: 'container_auto',
            skills: [{ type: 'skill_reference', skill_id: 'ID' }],
          },
        },
      ],
    },
  ],
  [
    'container',
    `${V1}/responses`,
    {
      model: 'gpt-5',
      tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'ID' } }],
    },
  ],
  [
    'usedContainer',
    `${V1}/responses`,
    { model: 'gpt-5', tools: [{ type: 'code_interpreter', container: 'ID' }] },
  ],
  [
    'response',
    `${V1}/responses`,
    { model: 'gpt-5', prompt_cache_options: { comparison_response_id: 'ID' } },
  ],
  [
    'anthropicSkill',
    `${ANTHROPIC}/v1/messages`,
    { model: 'claude', container: { skills: [{ type: 'custom', skill_id: 'ID' }] } },
  ],
  ['anthropicContainer', `${ANTHROPIC}/v1/messages`, { model: 'claude', container: 'ID' }],
  [
    'anthropicContainer',
    `${ANTHROPIC}/v1/messages`,
    { model: 'claude', container: { id: 'ID', skills: [] } },
  ],
  [
    'anthropicThread',
    `${ANTHROPIC}/v1/messages`,
    { model: 'claude', thread: { type: 'continue', previous_message_id: 'ID' } },
  ],
  [
    'store',
    `${GEMINI}/models/gemini-x:generateContent`,
    { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/ID'] } }] },
  ],
  ['googleFile', `${GEMINI}/fileSearchStores/store-of-before:importFile`, { fileName: 'files/ID' }],
  [
    'file',
    `${V1}/responses`,
    {
      model: 'gpt-5',
      input: [
        {
          type: 'computer_call_output',
          call_id: 'c',
          output: { type: 'computer_screenshot', file_id: 'ID' },
        },
      ],
    },
  ],
  [
    'file',
    `${V1}/evals/eval_of_before/runs`,
    { data_source: { type: 'jsonl', source: { type: 'file_id', id: 'ID' } } },
  ],
  [
    'file',
    `${V1}/assistants`,
    { model: 'gpt-5', tool_resources: { file_search: { vector_stores: [{ file_ids: ['ID'] }] } } },
  ],
  [
    'file',
    `${V1}/threads/thread_of_before`,
    { tool_resources: { code_interpreter: { file_ids: ['ID'] } } },
  ],
  [
    'vector_store',
    `${V1}/threads/runs`,
    {
      assistant_id: 'asst_of_before',
      thread: { tool_resources: { file_search: { vector_store_ids: ['ID'] } } },
    },
  ],
  [
    'file',
    `${V1}/threads/runs`,
    {
      assistant_id: 'asst_of_before',
      thread: {
        messages: [
          { role: 'user', content: [{ type: 'image_file', image_file: { file_id: 'ID' } }] },
        ],
      },
    },
  ],
  [
    'file',
    `${V1}/threads/thread_of_before/runs`,
    {
      assistant_id: 'asst_of_before',
      additional_messages: [{ role: 'user', content: 'x', attachments: [{ file_id: 'ID' }] }],
    },
  ],
  [
    'cache',
    `${GEMINI}/openai/chat/completions`,
    {
      model: 'gemini-x',
      messages: [],
      extra_body: { google: { cached_content: 'cachedContents/ID' } },
    },
  ],
  [
    'googleFile',
    `${GEMINI}/interactions`,
    { model: 'gemini-x', input: { type: 'document', uri: `${GEMINI}/files/ID` } },
  ],
  ['anthropicAgent', `${ANTHROPIC}/v1/sessions`, { agent: 'ID', environment_id: 'env_1' }],
  [
    'anthropicAgent',
    `${ANTHROPIC}/v1/sessions`,
    { agent: { type: 'agent', id: 'ID', version: 1 }, environment_id: 'env_1' },
  ],
  [
    'userProfile',
    `${ANTHROPIC}/v1/messages`,
    { model: 'claude', messages: [] },
    { 'Anthropic-User-Profile-Id': 'ID' },
  ],
  ['memoryStore', `${ANTHROPIC}/v1/memory_stores/ID/memories`, { path: '/a', content: 'x' }],
  [
    'memoryStore',
    `${ANTHROPIC}/v1/sessions`,
    {
      agent: 'agent_of_before',
      environment_id: 'env_1',
      resources: [{ type: 'memory_store', memory_store_id: 'ID' }],
    },
  ],
  ['anthropicAgent', `${ANTHROPIC}/v1/agents/ID`, { version: 1, name: 'x' }],
  [
    'anthropicFile',
    `${ANTHROPIC}/v1/sessions`,
    {
      agent: 'agent_of_before',
      environment_id: 'env_1',
      resources: [{ type: 'file', file_id: 'ID' }],
    },
  ],
  [
    'anthropicFile',
    `${ANTHROPIC}/v1/sessions/sesn_of_before/resources`,
    { type: 'file', file_id: 'ID' },
  ],
  [
    'anthropicFile',
    `${ANTHROPIC}/v1/sessions/sesn_of_before/events`,
    {
      events: [
        {
          type: 'user.message',
          content: [{ type: 'document', source: { type: 'file', file_id: 'ID' } }],
        },
      ],
    },
  ],
  [
    'anthropicSkill',
    `${ANTHROPIC}/v1/agents`,
    { model: 'claude', name: 'x', skills: [{ type: 'custom', skill_id: 'ID' }] },
  ],
  [
    'anthropicSkill',
    `${ANTHROPIC}/v1/agents/agent_of_before`,
    { version: 1, skills: [{ type: 'custom', skill_id: 'ID' }] },
  ],
  ['library', `${MISTRAL}/libraries/ID/documents`, {}],
  [
    'mistralAgent',
    `${MISTRAL}/agents`,
    { model: 'm', name: 'x', handoffs: ['ag_of_before', 'ID'] },
  ],
  [
    'mistralFile',
    `${MISTRAL}/batch/jobs`,
    {
      model: 'm',
      requests: [
        { body: { messages: [{ role: 'user', content: [{ type: 'file', file_id: 'ID' }] }] } },
      ],
    },
  ],
  ['mistralAgent', `${MISTRAL}/chat/completions`, { model: 'm', agent_id: 'ID', messages: [] }],
  ['mistralAgent', `${MISTRAL}/fim/completions`, { model: 'm', agent_id: 'ID', prompt: 'x' }],
  ['mistralAgent', `${MISTRAL}/agents/completions`, { agent_id: 'ID', messages: [] }],
  ['mistralAgent', `${MISTRAL}/conversations`, { agent_id: 'ID', inputs: 'x' }],
  ['mistralAgent', `${MISTRAL}/batch/jobs`, { agent_id: 'ID', input_files: ['file-of-before'] }],
  [
    'mistralFile',
    `${MISTRAL}/agents/completions`,
    {
      agent_id: 'ag_of_before',
      messages: [{ role: 'user', content: [{ type: 'file', file_id: 'ID' }] }],
    },
  ],
  [
    'mistralFile',
    `${MISTRAL}/conversations/conv_of_before`,
    { inputs: [{ role: 'user', content: [{ type: 'document', file_id: 'ID' }] }] },
  ],
  [
    'mistralFile',
    `${MISTRAL}/conversations/conv_of_before/restart`,
    { inputs: [{ role: 'user', content: [{ type: 'document', file_id: 'ID' }] }] },
  ],
  ['cohereDataset', `${COHERE}/v1/embed-jobs`, { model: 'embed', dataset_id: 'ID' }],
  ['cohereDataset', `${COHERE}/v2/batches`, { model: 'command', input_dataset_id: 'ID' }],
  [
    'perplexityResponse',
    `${PERPLEXITY}/v1/responses`,
    { model: 'sonar', previous_response_id: 'ID' },
  ],
]
