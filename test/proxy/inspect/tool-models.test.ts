// A tool, plugin or option that has the provider run another model reaches that model: a key that
// is limited to models passes only where it may use that one too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startScoped, type Id } from '../support/scoped.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }

interface Case {
  readonly id?: Id
  readonly path?: string
  /** The key's models beside `allowed`. */
  readonly more?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** Members of the body beside its model. */
  readonly body: Readonly<Record<string, unknown>> | string
}

const RESPONSES = { path: '/v1/responses' }
const CHAT = { path: '/v1/chat/completions' }
const CLAUDE = { id: 'anthropic', path: '/v1/messages' } as const
const ROUTER = { id: 'openrouter', path: '/api/v1/chat/completions' } as const
const MISTRAL = { id: 'mistral', ...CHAT } as const
const GEMINI = { id: 'google', path: '/v1beta/models/allowed:generateContent' } as const
const VERTEX = {
  id: 'vertex',
  path: '/v1/publishers/google/models/allowed:generateContent',
} as const
const AGENT = { id: 'google', path: '/v1beta/interactions' } as const
const AZURE = { id: 'azure', path: '/openai/v1/responses' } as const
const DATA = {
  id: 'azure',
  path: '/openai/deployments/allowed/chat/completions?api-version=1',
} as const
const CONVERSE = { id: 'bedrock', path: '/model/allowed/converse' } as const
const ADDED = { id: 'added', ...CHAT } as const
const IMAGE = { type: 'image_generation' } as const
const tools = (...types: (string | object)[]) => ({
  tools: types.map((type) => (typeof type === 'string' ? { type } : type)),
})
const source = (parameters: object, list = 'data_sources') => ({
  [list]: [{ type: 'azure_search', parameters }],
})

/** TABLE of requests that run another model, which `more` allows where it is given. */
const REACHING: readonly (readonly [name: string, request: Case])[] = [
  ['an image tool without a model', { ...RESPONSES, body: tools(IMAGE) }],
  ['an image tool whose model is null', { ...RESPONSES, body: tools({ ...IMAGE, model: null }) }],
  [
    'an image tool beside one that names an allowed model',
    { ...RESPONSES, body: tools({ ...IMAGE, model: 'allowed' }, IMAGE) },
  ],
  [
    'an image tool behind a function with a model',
    { ...RESPONSES, body: tools({ type: 'function', name: 'f', model: 'allowed' }, IMAGE) },
  ],
  [
    'an image tool whose type stands behind',
    {
      ...RESPONSES,
      body: '{"model":"allowed","tools":[{"quality":"low","type":"image_generation"}]}',
    },
  ],
  ['an image tool of another case', { ...RESPONSES, body: tools('Image_Generation') }],
  ['an image tool with a space', { ...RESPONSES, body: tools('image_generation ') }],
  ['an image tool with a NUL', { ...RESPONSES, body: tools('image_generation\u0000') }],
  ['an image tool with a date', { ...RESPONSES, body: tools('image_generation_20270101') }],
  [
    'an image tool that only some of its models are allowed for',
    { ...RESPONSES, more: ['gpt-image-1'], body: tools(IMAGE) },
  ],
  [
    'an image tool in a namespace',
    { ...RESPONSES, body: tools({ type: 'namespace', name: 'n', tools: [IMAGE] }) },
  ],
  [
    'an image tool among the input',
    {
      ...RESPONSES,
      body: { input: [{ type: 'additional_tools', role: 'developer', ...tools(IMAGE) }] },
    },
  ],
  [
    'an image tool in a conversation',
    {
      path: '/v1/conversations',
      body: { model: undefined, items: [{ type: 'additional_tools', ...tools(IMAGE) }] },
    },
  ],
  [
    'an image tool in an item',
    {
      path: '/v1/conversations/conv_1/items',
      body: { model: undefined, items: [{ type: 'additional_tools', ...tools(IMAGE) }] },
    },
  ],
  ['a type that is a list', { ...RESPONSES, body: tools({ type: ['image_generation'] }) }],
  ['a type that is empty', { ...RESPONSES, body: tools('') }],
  ['a type that is only a date', { ...RESPONSES, body: tools('_20250305') }],
  ['a type that every object has', { ...RESPONSES, body: tools('constructor') }],
  ['a tool of tomorrow', { ...RESPONSES, body: tools('video_generation') }],
  ['tools as an object', { ...RESPONSES, body: { tools: { type: 'image_generation' } } }],
  ['tools in lists', { ...RESPONSES, body: { tools: [[IMAGE]] } }],
  ['tools as texts', { ...RESPONSES, body: { tools: ['image_generation'] } }],
  ['a stored prompt', { ...RESPONSES, body: { prompt: { id: 'pmpt_1' } } }],
  ['a moderation', { ...RESPONSES, body: { moderation: { model: 'omni-moderation-latest' } } }],
  ['an image tool at Azure', { ...AZURE, body: tools(IMAGE) }],
  [
    'an image tool at Azure of another deployment',
    { ...AZURE, headers: { 'x-ms-oai-image-generation-deployment': 'other' }, body: tools(IMAGE) },
  ],
  [
    'a memory of Foundry',
    { ...AZURE, body: tools({ type: 'memory_search', memory_store_name: 'm' }) },
  ],
  ['an agent of another agent', { ...AZURE, body: tools('a2a_preview') }],
  [
    'an embedding deployment',
    {
      ...DATA,
      body: source({ embedding_dependency: { type: 'deployment_name', deployment_name: 'other' } }),
    },
  ],
  [
    'an embedding deployment by its name of 2023',
    { ...DATA, body: source({ embeddingDeploymentName: 'other' }, 'dataSources') },
  ],
  [
    'an embedding deployment by its name of 2023 in the newer list',
    { ...DATA, body: source({ embeddingDeploymentName: 'other' }) },
  ],
  [
    'an embedding address',
    {
      ...DATA,
      body: source({
        embedding_dependency: {
          type: 'endpoint',
          endpoint: 'https://acme.openai.azure.com/openai/deployments/other/embeddings',
        },
      }),
    },
  ],
  [
    'an embedding address of 2023',
    {
      ...DATA,
      body: source(
        { embeddingEndpoint: 'https://acme.openai.azure.com/openai/deployments/other/embeddings' },
        'dataSources',
      ),
    },
  ],
  [
    'an embedding model of a search',
    { ...DATA, body: source({ embedding_dependency: { type: 'model_id', model_id: 'other' } }) },
  ],
  [
    'an embedding deployment where the model is in the body',
    {
      id: 'azure',
      path: '/openai/v1/chat/completions',
      body: source({ embedding_dependency: { type: 'deployment_name', deployment_name: 'other' } }),
    },
  ],
  [
    'an advisor without a model',
    { ...CLAUDE, body: tools({ type: 'advisor_20260301', name: 'advisor' }) },
  ],
  ['a tool of tomorrow at Anthropic', { ...CLAUDE, body: tools('image_generation_20270101') }],
  [
    'an advisor in a message',
    {
      ...CLAUDE,
      body: {
        messages: [
          {
            role: 'system',
            content: [
              {
                type: 'tool_addition',
                tool: { type: 'tool_definition', definition: { type: 'advisor_20260301' } },
              },
            ],
          },
        ],
      },
    },
  ],
  [
    'an advisor in a batch',
    {
      id: 'anthropic',
      path: '/v1/messages/batches',
      body: { requests: [{ params: { model: 'allowed', ...tools('advisor_20260301') } }] },
    },
  ],
  [
    'an advisor in Converse',
    {
      ...CONVERSE,
      body: { additionalModelRequestFields: tools({ type: 'advisor_20260301', model: 'other' }) },
    },
  ],
  [
    'fallbacks in Converse',
    { ...CONVERSE, body: { additionalModelRequestFields: { fallbacks: [{ model: 'other' }] } } },
  ],
  ['an image tool of xAI', { id: 'xai', ...RESPONSES, body: tools(IMAGE) }],
  ['an image tool of Mistral', { ...MISTRAL, body: tools(IMAGE) }],
  [
    'an image tool in a conversation of Mistral',
    { id: 'mistral', path: '/v1/conversations', body: { inputs: 'x', ...tools(IMAGE) } },
  ],
  [
    'an image tool of an agent of Mistral',
    { id: 'mistral', path: '/v1/agents', body: { name: 'a', ...tools(IMAGE) } },
  ],
  [
    'an image tool in a batch of Mistral',
    { id: 'mistral', path: '/v1/batch/jobs', body: { requests: [{ body: tools(IMAGE) }] } },
  ],
  [
    'a guardrail without a model',
    { ...MISTRAL, body: { guardrails: [{ moderation_llm_v2: { action: 'block' } }] } },
  ],
  [
    'a document that Mistral reads',
    {
      ...MISTRAL,
      body: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'document_url', document_url: 'https://x.test/a.pdf' },
            ],
          },
        ],
      },
    },
  ],
  [
    'a document without a type',
    {
      ...MISTRAL,
      body: { messages: [{ role: 'user', content: [{ document_url: 'https://x.test/a.pdf' }] }] },
    },
  ],
  [
    'a document in a conversation of Mistral',
    {
      id: 'mistral',
      path: '/v1/conversations',
      body: {
        inputs: [
          {
            role: 'user',
            content: [{ type: 'document_url', document_url: 'https://x.test/a.pdf' }],
          },
        ],
      },
    },
  ],
  ['a document for a library', { id: 'mistral', path: '/v1/libraries/l1/documents', body: {} }],
  [
    'a run of an agent of Foundry',
    {
      id: 'azure',
      path: '/api/projects/p/threads/thread_1/runs',
      body: { assistant_id: 'asst_1' },
    },
  ],
  [
    'a tool of tomorrow at Groq',
    { id: 'groq', path: '/openai/v1/chat/completions', body: tools('image_generation') },
  ],
  [
    'a tool of tomorrow at Perplexity',
    { id: 'perplexity', ...RESPONSES, body: tools('image_generation') },
  ],
  [
    'a model that ranks what Perplexity finds',
    { id: 'perplexity', path: '/chat/completions', body: { ranking_model: 'other' } },
  ],
  [
    'a model that ranks in the background',
    {
      id: 'perplexity',
      path: '/async/chat/completions',
      body: { request: { model: 'allowed', ranking_model: 'other' } },
    },
  ],
  [
    'a stored profile of Perplexity',
    { id: 'perplexity', ...RESPONSES, body: { profile: { id: 'p1', type: 'custom' } } },
  ],
  [
    'a model that routes',
    {
      ...VERTEX,
      body: {
        generationConfig: { routingConfig: { autoMode: { modelRoutingPreference: 'BALANCED' } } },
      },
    },
  ],
  [
    'another model that is routed to',
    {
      ...VERTEX,
      body: { generationConfig: { routingConfig: { manualMode: { modelName: 'other' } } } },
    },
  ],
  [
    'another model that is routed to in snake_case',
    {
      ...GEMINI,
      body: { generation_config: { routing_config: { manual_mode: { model_name: 'other' } } } },
    },
  ],
  [
    'a store of RAG with a ranker',
    {
      ...VERTEX,
      body: {
        tools: [
          {
            retrieval: {
              vertexRagStore: {
                ragRetrievalConfig: { ranking: { llmRanker: { modelName: 'other' } } },
              },
            },
          },
        ],
      },
    },
  ],
  [
    'a store of RAG in snake_case',
    {
      ...VERTEX,
      body: {
        tools: [{ retrieval: { vertex_rag_store: { rag_resources: [{ rag_corpus: 'c' }] } } }],
      },
    },
  ],
  ...[
    { imageGeneration: {} },
    { googleSearch: {}, videoGeneration: {} },
    { subAgent: { model: 'other' } },
    { retrieval: { modelRanker: {} } },
    { type: 'imageGeneration' },
    { name: 'f', imageGeneration: {} },
    'imageGeneration',
  ].flatMap((tool): (readonly [string, Case])[] =>
    [GEMINI, VERTEX].map((at) => [
      `a tool of tomorrow by its key: ${JSON.stringify(tool)}`,
      { ...at, body: { tools: [{ urlContext: {} }, tool] } },
    ]),
  ),
  [
    'a tool of tomorrow in what is counted',
    {
      id: 'google',
      path: '/v1beta/models/allowed:countTokens',
      body: {
        model: undefined,
        generate_content_request: { model: 'models/allowed', tools: [{ of_tomorrow: {} }] },
      },
    },
  ],
  [
    'a tool of tomorrow in a batch',
    {
      id: 'google',
      path: '/v1beta/models/allowed:batchGenerateContent',
      body: {
        batch: {
          inputConfig: { requests: { requests: [{ request: { tools: [{ ofTomorrow: {} }] } }] } },
        },
      },
    },
  ],
  [
    'a tool of tomorrow in a cache',
    { id: 'google', path: '/v1beta/cachedContents', body: { tools: [{ ofTomorrow: {} }] } },
  ],
  [
    'a tool of tomorrow in a raw call',
    {
      id: 'vertex',
      path: '/v1/publishers/google/models/allowed:rawPredict',
      body: { tools: [{ ofTomorrow: {} }] },
    },
  ],
  [
    'a tool that is too long to look at',
    { ...GEMINI, body: { tools: [{ ofTomorrow: 'x'.repeat(300_000) }] } },
  ],
  [
    'a store of RAG in tools that are no list',
    { ...VERTEX, body: { tools: { retrieval: { vertexRagStore: {} } } } },
  ],
  [
    'another model that is routed to in a batch',
    {
      id: 'google',
      path: '/v1beta/models/allowed:batchGenerateContent',
      body: {
        batch: {
          inputConfig: {
            requests: {
              requests: [
                {
                  request: {
                    generationConfig: { routingConfig: { manualMode: { modelName: 'other' } } },
                  },
                },
              ],
            },
          },
        },
      },
    },
  ],
  [
    'a store of RAG in a batch',
    {
      id: 'google',
      path: '/v1beta/models/allowed:batchGenerateContent',
      body: {
        batch: {
          input_config: {
            requests: {
              requests: [{ request: { tools: [{ retrieval: { vertexRagStore: {} } }] } }],
            },
          },
        },
      },
    },
  ],
  [
    'a store of RAG of an interaction',
    {
      ...AGENT,
      body: tools({
        type: 'retrieval',
        rag_store_config: {
          rag_retrieval_config: { ranking: { rank_service: { model_name: 'other' } } },
        },
      }),
    },
  ],
  ['an image tool of OpenRouter', { ...ROUTER, body: tools('openrouter:image_generation') }],
  [
    "an image tool of OpenRouter by the name of OpenAI's",
    { id: 'openrouter', path: '/api/v1/responses', body: tools(IMAGE) },
  ],
  [
    "an advisor of OpenRouter, whose model the request's model chooses",
    { ...ROUTER, body: tools('openrouter:advisor') },
  ],
  ['a panel of OpenRouter', { ...ROUTER, body: tools('openrouter:fusion') }],
  [
    'a panel of OpenRouter with another model',
    {
      ...ROUTER,
      body: tools({
        type: 'openrouter:fusion',
        parameters: { analysis_models: ['allowed', 'other'] },
      }),
    },
  ],
  [
    'a panel with an analyst but no members',
    { ...ROUTER, body: tools({ type: 'openrouter:fusion', parameters: { model: 'allowed' } }) },
  ],
  [
    'a panel with members but no judge',
    {
      ...ROUTER,
      body: tools({ type: 'openrouter:fusion', parameters: { analysis_models: ['allowed'] } }),
    },
  ],
  ['the panel of a plugin', { ...ROUTER, body: { plugins: [{ id: 'fusion' }] } }],
  [
    'the panel of a plugin with a judge',
    { ...ROUTER, body: { plugins: [{ id: 'fusion', model: 'allowed' }] } },
  ],
  [
    'the panel of a plugin with members',
    { ...ROUTER, body: { plugins: [{ id: 'fusion', analysis_models: ['allowed'] }] } },
  ],
  [
    'the panel of a plugin with no members',
    { ...ROUTER, body: { plugins: [{ id: 'fusion', analysis_models: [], model: 'allowed' }] } },
  ],
  [
    'the panel of a plugin with another member',
    {
      ...ROUTER,
      body: {
        plugins: [{ id: 'fusion', analysis_models: ['allowed', 'other'], model: 'allowed' }],
      },
    },
  ],
  [
    'the panel of a plugin with a preset',
    {
      ...ROUTER,
      body: {
        plugins: [
          {
            id: 'fusion',
            preset: 'general-budget',
            analysis_models: ['allowed'],
            model: 'allowed',
          },
        ],
      },
    },
  ],
  [
    'the panel of a plugin in messages',
    { id: 'openrouter', path: '/api/v1/messages', body: { plugins: [{ id: 'fusion' }] } },
  ],
  [
    'a preset behind a model',
    { ...ROUTER, more: ['allowed*'], body: { model: 'allowed@preset/x' } },
  ],
  [
    'a sub-agent with another model',
    { ...ROUTER, body: tools({ type: 'openrouter:subagent', parameters: { model: 'other' } }) },
  ],
  [
    'an image tool of a sub-agent',
    {
      ...ROUTER,
      body: tools({
        type: 'openrouter:subagent',
        parameters: tools('openrouter:image_generation'),
      }),
    },
  ],
  ...[
    { parameters: { models: ['other'] } },
    { parameters: { preset: 'p' } },
    { parameters: tools({ type: 'openrouter:subagent', parameters: { model: 'other' } }) },
    {
      parameters: tools({
        type: 'openrouter:subagent',
        parameters: tools('openrouter:image_generation'),
      }),
    },
  ].flatMap((agent): (readonly [string, Case])[] => [
    [
      `a sub-agent with what is not followed: ${JSON.stringify(agent)}`,
      { ...ROUTER, body: tools({ type: 'openrouter:subagent', ...agent }) },
    ],
    [
      `a sub-agent in the input with what is not followed: ${JSON.stringify(agent)}`,
      {
        id: 'openrouter',
        path: '/api/v1/responses',
        body: { input: [tools({ type: 'openrouter:subagent', ...agent })] },
      },
    ],
  ]),
  [
    'a preset of a plugin',
    { ...ROUTER, body: { plugins: [{ id: 'fusion', preset: 'general-high' }] } },
  ],
  ['a plugin of tomorrow', { ...ROUTER, body: { plugins: [{ id: 'image-maker' }] } }],
  [
    'OCR',
    { ...ROUTER, body: { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] } },
  ],
  [
    'a PDF for which no engine is named',
    {
      ...ROUTER,
      body: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:…' } }],
          },
        ],
      },
    },
  ],
  [
    'an image tool in messages of OpenRouter',
    { id: 'openrouter', path: '/api/v1/messages', body: tools('openrouter:image_generation') },
  ],
  [
    'fallbacks of a gateway',
    { ...ADDED, body: { context_window_fallbacks: [{ allowed: ['other'] }] } },
  ],
  [
    'a model list of a gateway',
    {
      ...ADDED,
      body: {
        user_config: {
          model_list: [{ model_name: 'allowed', litellm_params: { model: 'other' } }],
        },
      },
    },
  ],
  ['a model put over the body', { ...ADDED, body: { extra_body: { model: 'other' } } }],
  ["an address put over the gateway's", { ...ADDED, body: { api_base: 'https://other.test' } }],
  ['a stored prompt of a gateway', { ...ADDED, body: { prompt_id: 'p1' } }],
  ['an image tool of an added provider', { id: 'added', ...RESPONSES, body: tools(IMAGE) }],
]

/** TABLE of requests that run nothing but allowed models. */
const ORDINARY: readonly (readonly [name: string, request: Case])[] = [
  [
    'functions',
    {
      ...CHAT,
      body: tools({
        type: 'function',
        function: {
          name: 'f',
          parameters: {
            type: 'object',
            properties: { model: { type: 'string' }, type: { type: 'string' } },
          },
        },
      }),
    },
  ],
  [
    'every tool of OpenAI that runs no model',
    {
      ...RESPONSES,
      body: tools(
        'function',
        'custom',
        'web_search',
        'web_search_preview',
        'web_search_preview_2025_03_11',
        'web_search_2025_08_26',
        'file_search',
        'code_interpreter',
        'computer',
        'computer_use_preview',
        'mcp',
        'local_shell',
        'shell',
        'apply_patch',
        'tool_search',
        'programmatic_tool_calling',
      ),
    },
  ],
  [
    'a namespace of functions',
    {
      ...RESPONSES,
      body: tools({
        type: 'namespace',
        name: 'n',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'c' },
        ],
      }),
    },
  ],
  [
    'an image tool with an allowed model',
    { ...RESPONSES, body: tools({ ...IMAGE, model: 'allowed' }) },
  ],
  [
    'an image tool of a key for images',
    { ...RESPONSES, more: ['gpt-image-*'], body: tools(IMAGE) },
  ],
  ['an image tool of a key for any name', { ...RESPONSES, more: ['*'], body: tools(IMAGE) }],
  ['search options', { ...CHAT, body: { web_search_options: { search_context_size: 'low' } } }],
  [
    'speech',
    { ...CHAT, body: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } } },
  ],
  ['a prediction', { ...CHAT, body: { prediction: { type: 'content', content: 'x' } } }],
  [
    'a choice of tools',
    { ...RESPONSES, body: { ...tools('web_search'), tool_choice: { type: 'web_search' } } },
  ],
  [
    'a picture that is moderated less',
    { path: '/v1/images/generations', body: { prompt: 'x', moderation: 'low' } },
  ],
  [
    'an image tool at Azure of an allowed deployment',
    {
      ...AZURE,
      headers: { 'x-ms-oai-image-generation-deployment': 'allowed' },
      body: tools(IMAGE),
    },
  ],
  [
    'grounding of Foundry',
    { ...AZURE, body: tools('bing_grounding', 'azure_ai_search', 'openapi') },
  ],
  [
    'an allowed embedding deployment',
    {
      ...DATA,
      body: source({
        embedding_dependency: { type: 'deployment_name', deployment_name: 'allowed' },
      }),
    },
  ],
  [
    'data without vectors',
    {
      ...DATA,
      body: source({
        endpoint: 'https://x.search.windows.net',
        index_name: 'i',
        query_type: 'simple',
      }),
    },
  ],
  [
    'every tool of Anthropic that runs no model',
    {
      ...CLAUDE,
      body: tools(
        { name: 'f', input_schema: {} },
        'custom',
        'bash_20250124',
        'text_editor_20250728',
        'computer_20251124',
        'memory_20250818',
        'web_search_20250305',
        'web_search_20260318',
        'web_fetch_20260309',
        'code_execution_20260521',
        'tool_search_tool_bm25_20251119',
        'tool_search_tool_regex',
        'mcp_toolset',
        'browser_toolset_20260801',
      ),
    },
  ],
  [
    'an allowed advisor',
    { ...CLAUDE, body: tools({ type: 'advisor_20260301', name: 'advisor', model: 'allowed' }) },
  ],
  [
    'tools in Converse',
    {
      ...CONVERSE,
      body: {
        toolConfig: {
          tools: [{ toolSpec: { name: 'f' } }, { systemTool: { name: 'nova_grounding' } }],
        },
        additionalModelRequestFields: {
          thinking: { type: 'enabled' },
          ...tools('computer_20250124'),
        },
      },
    },
  ],
  [
    'every tool of xAI that runs no model',
    {
      id: 'xai',
      ...RESPONSES,
      body: tools(
        'function',
        'web_search',
        'x_search',
        'code_interpreter',
        'file_search',
        'view_image',
        'view_x_video',
        'mcp',
      ),
    },
  ],
  [
    'live search',
    {
      id: 'xai',
      ...CHAT,
      body: { search_parameters: { mode: 'auto', sources: [{ type: 'web' }, { type: 'x' }] } },
    },
  ],
  [
    'an image tool of xAI for a key for images',
    { id: 'xai', ...RESPONSES, more: ['grok-imagine-*'], body: tools(IMAGE) },
  ],
  [
    'every tool of Mistral that runs no model',
    {
      ...MISTRAL,
      body: tools(
        'function',
        'web_search',
        'web_search_premium',
        'code_interpreter',
        'document_library',
      ),
    },
  ],
  [
    'a guardrail that names an allowed model',
    {
      ...MISTRAL,
      body: {
        guardrails: [{ moderation_llm_v2: { model_name: 'allowed' } }, { moderation_llm_v1: null }],
      },
    },
  ],
  [
    'a guardrail of a key for moderation',
    {
      ...MISTRAL,
      more: ['mistral-moderation-*'],
      body: { guardrails: [{ moderation_llm_v1: {} }] },
    },
  ],
  [
    'a document of a key for OCR',
    {
      ...MISTRAL,
      more: ['mistral-ocr-*'],
      body: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'document_url', document_url: 'https://x.test/a.pdf' }],
          },
        ],
      },
    },
  ],
  [
    'messages of Mistral',
    {
      ...MISTRAL,
      body: {
        messages: [
          { role: 'system', content: 'x' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'image_url', image_url: 'https://x.test/a.png' },
            ],
          },
        ],
      },
    },
  ],
  ['inputs of Mistral', { id: 'mistral', path: '/v1/conversations', body: { inputs: 'x' } }],
  [
    'a run of an assistant',
    { path: '/v1/threads/thread_1/runs', body: { assistant_id: 'asst_1' } },
  ],
  [
    'tools of Groq',
    {
      id: 'groq',
      path: '/openai/v1/chat/completions',
      body: tools('function', 'browser_search', 'code_interpreter'),
    },
  ],
  [
    'tools of a provider that runs none',
    { id: 'cerebras', ...CHAT, body: tools('function', 'whatever') },
  ],
  [
    'tools of Perplexity',
    {
      id: 'perplexity',
      ...RESPONSES,
      body: tools('web_search', 'fetch_url', 'people_search', 'finance_search', 'function'),
    },
  ],
  [
    'a search of Perplexity',
    {
      id: 'perplexity',
      path: '/chat/completions',
      body: { web_search_options: { search_context_size: 'low' }, search_mode: 'academic' },
    },
  ],
  [
    'tools of Cohere',
    { id: 'cohere', path: '/v2/chat', body: { ...tools('function'), documents: ['x'] } },
  ],
  [
    'every tool of Gemini',
    {
      ...GEMINI,
      body: {
        tools: [
          { googleSearch: {} },
          { urlContext: {} },
          { codeExecution: {} },
          { computerUse: {} },
          { googleMaps: {} },
          { functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] },
          { function_declarations: [{ name: 'f', description: 'x'.repeat(60_000) }] },
          { google_search: {}, file_search: { file_search_store_names: [] }, mcp_servers: [] },
          { googleSearch: {}, ofTomorrow: null },
        ],
        generationConfig: {
          imageConfig: { aspectRatio: '1:1' },
          speechConfig: { languageCode: 'en' },
        },
      },
    },
  ],
  [
    'a search of Vertex',
    {
      ...VERTEX,
      body: {
        tools: [{ enterpriseWebSearch: {} }, { retrieval: { vertexAiSearch: { datastore: 'd' } } }],
      },
    },
  ],
  [
    "a tool of Anthropic's at Vertex",
    {
      id: 'vertex',
      path: '/v1/publishers/anthropic/models/allowed:rawPredict',
      more: ['anthropic/allowed'],
      body: { model: undefined, tools: [{ name: 'f', input_schema: {} }] },
    },
  ],
  [
    'tools of an interaction',
    {
      ...AGENT,
      body: tools('function', 'google_search', 'url_context', 'code_execution', 'mcp_server'),
    },
  ],
  [
    'tools and plugins of OpenRouter',
    {
      ...ROUTER,
      body: {
        ...tools('function', 'openrouter:web_search', 'openrouter:datetime', {
          type: 'openrouter:subagent',
          parameters: tools('openrouter:web_search'),
        }),
        plugins: [{ id: 'web', engine: 'exa' }, { id: 'response-healing' }],
      },
    },
  ],
  [
    'a panel of allowed models',
    {
      ...ROUTER,
      body: tools({
        type: 'openrouter:fusion',
        parameters: { analysis_models: ['allowed'], model: 'allowed' },
      }),
    },
  ],
  [
    'the panel of a plugin with allowed models',
    {
      ...ROUTER,
      body: { plugins: [{ id: 'fusion', analysis_models: ['allowed'], model: 'allowed' }] },
    },
  ],
  [
    'a PDF that the model reads itself',
    {
      ...ROUTER,
      body: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'file', file: {} },
            ],
          },
        ],
        plugins: [{ id: 'file-parser', pdf: { engine: 'native' } }],
      },
    },
  ],
  [
    'a PDF for a key for OCR',
    {
      ...ROUTER,
      more: ['mistral-ocr'],
      body: { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] },
    },
  ],
  [
    'messages of one text at OpenRouter',
    { ...ROUTER, body: { messages: [{ role: 'user', content: 'x' }] } },
  ],
  [
    'an input of one text at OpenRouter',
    { id: 'openrouter', path: '/api/v1/responses', body: { input: 'x' } },
  ],
  [
    'tools of an added provider',
    {
      ...ADDED,
      body: {
        ...tools('function', 'web_search_20250305', 'code_interpreter'),
        extra_body: { top_k: 1 },
      },
    },
  ],
]

test('a tool, plugin or option that runs another model is refused before anything is sent', async (t) => {
  const { ask } = await startScoped(t)
  for (const [
    name,
    { id = 'openai', path = '/v1/responses', more = [], headers = {}, body },
  ] of REACHING) {
    const sent = {
      headers: { ...JSON_TYPE, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify({ model: 'allowed', ...body }),
    }
    const limited = await ask(id, path, ['allowed', ...more], sent)
    assert.deepEqual(
      [limited.status, limited.code, limited.sent],
      [403, 'model_not_allowed', 0],
      `${id}: ${name}: ${limited.body}`,
    )
    const unlimited = await ask(id, path, null, sent)
    assert.deepEqual(
      [unlimited.status, unlimited.sent],
      [200, 1],
      `${id}: ${name}, for a key without limits: ${unlimited.body}`,
    )
  }
})

test('a tool, plugin or option that runs only allowed models passes', async (t) => {
  const { ask } = await startScoped(t)
  for (const [
    name,
    { id = 'openai', path = '/v1/responses', more = [], headers = {}, body },
  ] of ORDINARY) {
    const got = await ask(id, path, ['allowed', ...more], {
      headers: { ...JSON_TYPE, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify({ model: 'allowed', ...body }),
    })
    assert.deepEqual([got.status, got.sent], [200, 1], `${id}: ${name}: ${got.body}`)
  }
})

test('a refusal names the tool, and says how to allow it', async (t) => {
  const { ask } = await startScoped(t)
  const said = async (types: object) =>
    (
      await ask('openai', '/v1/responses', ['allowed'], {
        headers: JSON_TYPE,
        body: JSON.stringify({ model: 'allowed', ...types }),
      })
    ).body
  assert.match(
    await said(tools(IMAGE)),
    /\\"image_generation\\" may run the model \\"gpt-image-1\\".*Name an allowed model in it, or add gpt-image-\* to the key's models/,
  )
  assert.match(
    await said(tools('of_tomorrow')),
    /\\"of_tomorrow\\" .*does not know this type of tool/,
  )
})

test('a duplicate or escaped type is refused', async (t) => {
  const { ask } = await startScoped(t)
  for (const tool of [
    '{"type":"function","type":"image_generation"}',
    '{"type":"image_generation","type":"function"}',
    '{"type":"function","t\\u0079pe":"image_generation"}',
    '{"TYPE":"image_generation","type":"function"}',
    '{"t\\u0079pe":"image_generation"}',
  ]) {
    const got = await ask('openai', '/v1/responses', ['allowed'], {
      headers: JSON_TYPE,
      body: `{"model":"allowed","tools":[${tool}]}`,
    })
    assert.deepEqual([got.status, got.sent], [400, 0], `${tool}: ${got.body}`)
  }
})
