// The chat completions that nearly every provider speaks, each in its own accent.
import { createAzure } from '@ai-sdk/azure'
import { createCerebras } from '@ai-sdk/cerebras'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createFireworks } from '@ai-sdk/fireworks'
import { createGroq } from '@ai-sdk/groq'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createPerplexity } from '@ai-sdk/perplexity'
import { createTogetherAI } from '@ai-sdk/togetherai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import type { LanguageModel } from 'ai'
import {
  object,
  output,
  stream,
  streamedObject,
  streamTools,
  text,
  tools,
  type Fetch,
} from '../calls.ts'
import { MANAGED, type Case } from '../twice.ts'
import { json, sse, type Tokens, type Wire } from '../wire.ts'

interface Dialect {
  name: string
  model: (fetch: Fetch) => LanguageModel
  /** The usage object of a response, and what the ledger makes of it. */
  usage: object
  tokens: Tokens
  /** What a response has beside the common fields: itself, its message, its last chunk. */
  extra?: object
  message?: object
  /** How the usage stands in the last chunk of a stream. */
  last?: (usage: object) => object
  headers?: Record<string, string>
  countsOtherwise?: string
  /** Tools are not spoken. */
  noTools?: true
}

const key = { apiKey: MANAGED }
const FULL = {
  prompt_tokens: 31,
  completion_tokens: 12,
  total_tokens: 43,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 5 },
}
const PLAIN = { prompt_tokens: 31, completion_tokens: 12, total_tokens: 43 }
const LIMITS = {
  'x-ratelimit-limit-requests': '500',
  'x-ratelimit-remaining-requests': '499',
  'x-ratelimit-reset-tokens': '6ms',
}

/** TABLE of dialects. */
const DIALECTS: Dialect[] = [
  {
    name: 'openai chat',
    model: (fetch) => createOpenAI({ ...key, fetch }).chat('gpt-5-mini'),
    usage: FULL,
    tokens: [31, 12, 8, 5],
    extra: { system_fingerprint: 'fp_44709d6fcb', service_tier: 'default' },
    message: { refusal: null, annotations: [] },
    headers: {
      ...LIMITS,
      'x-request-id': 'upstream-7',
      'openai-version': '2020-10-01',
      'openai-processing-ms': '312',
    },
  },
  {
    name: 'azure chat',
    model: (fetch) => createAzure({ ...key, fetch, resourceName: 'acme' }).chat('our-deployment'),
    usage: FULL,
    tokens: [31, 12, 8, 5],
    extra: {
      prompt_filter_results: [
        {
          prompt_index: 0,
          content_filter_results: { hate: { filtered: false, severity: 'safe' } },
        },
      ],
    },
    headers: {
      'apim-request-id': 'b1f2',
      'x-ms-region': 'East US',
      'azureml-model-session': 'd012',
    },
  },
  {
    name: 'azure deployment',
    model: (fetch) =>
      createAzure({
        ...key,
        fetch,
        resourceName: 'acme',
        useDeploymentBasedUrls: true,
        apiVersion: '2024-10-21',
      }).chat('our-deployment'),
    usage: FULL,
    tokens: [31, 12, 8, 5],
  },
  {
    name: 'mistral',
    model: (fetch) => createMistral({ ...key, fetch })('mistral-small-latest'),
    usage: { prompt_tokens: 31, total_tokens: 43, completion_tokens: 12, num_cached_tokens: 8 },
    tokens: [31, 12, 8, null],
    last: (usage) => ({ usage }),
    headers: { 'x-kong-request-id': '77' },
  },
  {
    name: 'groq',
    model: (fetch) => createGroq({ ...key, fetch })('llama-3.3-70b-versatile'),
    usage: {
      queue_time: 0.05,
      prompt_tokens: 31,
      prompt_time: 0.01,
      completion_tokens: 12,
      completion_time: 0.04,
      total_tokens: 43,
      total_time: 0.05,
    },
    tokens: [31, 12, null, null],
    extra: { x_groq: { id: 'req_01jx' } },
    last: (usage) => ({ x_groq: { id: 'req_01jx', usage } }),
    headers: LIMITS,
  },
  {
    name: 'deepseek',
    model: (fetch) => createDeepSeek({ ...key, fetch })('deepseek-chat'),
    usage: {
      ...PLAIN,
      prompt_tokens_details: { cached_tokens: 8 },
      prompt_cache_hit_tokens: 8,
      prompt_cache_miss_tokens: 23,
    },
    tokens: [31, 12, 8, null],
    extra: { system_fingerprint: 'fp_eaab8d114b' },
  },
  {
    name: 'deepseek reasoner',
    model: (fetch) => createDeepSeek({ ...key, fetch })('deepseek-reasoner'),
    usage: { ...FULL, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 23 },
    tokens: [31, 12, 8, 5],
    message: { reasoning_content: 'Paris is in France.' },
    noTools: true,
  },
  {
    name: 'together',
    model: (fetch) =>
      createTogetherAI({ ...key, fetch })('meta-llama/Llama-3.3-70B-Instruct-Turbo'),
    usage: PLAIN,
    tokens: [31, 12, null, null],
    extra: { prompt: [] },
  },
  {
    name: 'fireworks',
    model: (fetch) =>
      createFireworks({ ...key, fetch })('accounts/fireworks/models/kimi-k2-instruct'),
    usage: PLAIN,
    tokens: [31, 12, null, null],
    headers: { 'fireworks-prompt-tokens': '31', 'fireworks-server-processing-time': '0.2' },
  },
  {
    name: 'perplexity',
    model: (fetch) => createPerplexity({ ...key, fetch })('sonar-pro'),
    usage: {
      ...PLAIN,
      citation_tokens: 3,
      num_search_queries: 2,
      search_context_size: 'low',
      cost: {
        input_tokens_cost: 0.001,
        output_tokens_cost: 0.002,
        request_cost: 0.005,
        total_cost: 0.008,
      },
    },
    tokens: [31, 12, null, null],
    extra: { citations: ['https://example.com/paris'], search_results: [] },
    last: (usage) => ({ usage }),
    noTools: true,
  },
  {
    name: 'openrouter',
    model: (fetch) => createOpenRouter({ ...key, fetch }).chat('anthropic/claude-sonnet-4'),
    usage: {
      ...FULL,
      cost: 0.00012,
      is_byok: false,
      cost_details: { upstream_inference_cost: null },
    },
    tokens: [31, 12, 8, 5],
    extra: { provider: 'Anthropic' },
  },
  {
    name: 'cerebras',
    model: (fetch) => createCerebras({ ...key, fetch })('llama-4-scout-17b-16e-instruct'),
    usage: FULL,
    tokens: [31, 12, 8, 5],
    extra: { time_info: { queue_time: 0.0001, total_time: 0.01 } },
  },
]

const choice = (message: object, finish_reason: string) => ({
  index: 0,
  message: { role: 'assistant', ...message },
  finish_reason,
  logprobs: null,
})
const CALL = {
  id: 'call_9xT',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
}

const whole = (
  { extra, usage, tokens, headers, message }: Dialect,
  said: object,
  reason = 'stop',
): Wire =>
  json(
    {
      id: 'chatcmpl-B9M',
      object: 'chat.completion',
      created: 1_741_569_952,
      model: 'the-model-2025',
      choices: [choice({ ...message, ...said }, reason)],
      usage,
      ...extra,
    },
    { tokens, ...(headers && { headers }) },
  )

const streamed = (
  { extra, usage, tokens, headers, message, last }: Dialect,
  deltas: object[],
  reason = 'stop',
): Wire => {
  const part = (choices: object[], more: object = {}) => ({
    id: 'chatcmpl-B9M',
    object: 'chat.completion.chunk',
    created: 1_741_569_952,
    model: 'the-model-2025',
    choices,
    ...extra,
    ...more,
  })
  const delta = (said: object, finish_reason: string | null = null) => [
    { index: 0, delta: said, finish_reason, logprobs: null },
  ]
  const end =
    last === undefined
      ? [part(delta({}, reason)), part([], { usage })]
      : [part(delta({}, reason), last(usage))]
  return sse(
    [
      part(delta({ role: 'assistant', content: '' })),
      ...(message ? [part(delta(message))] : []),
      ...deltas.map((said) => part(delta(said))),
      ...end,
      '[DONE]',
    ],
    { tokens, ...(headers && { headers }) },
  )
}

const TEXT = ['It is ', 'sunny — 21', ' °C. 🌞'].map((content) => ({ content }))
const CALLING = [
  { tool_calls: [{ index: 0, ...CALL, function: { name: 'weather', arguments: '' } }] },
  { tool_calls: [{ index: 0, function: { arguments: '{"ci' } }] },
  { tool_calls: [{ index: 0, function: { arguments: 'ty":"Paris"}' } }] },
]

const casesOf = (dialect: Dialect): Case[] => {
  const { name, model, noTools, countsOtherwise } = dialect
  const responses: [string, Case['run'], Wire[]][] = [
    ['generates', text(model), [whole(dialect, { content: 'It is sunny — 21 °C. 🌞' })]],
    ['streams', stream(model), [streamed(dialect, TEXT)]],
    ['an object', object(model), [whole(dialect, { content: '{"city":"Paris"}' })]],
    [
      'a streamed object',
      streamedObject(model),
      [streamed(dialect, [{ content: '{"city":' }, { content: '"Paris"}' }])],
    ],
    ['an output', output(model), [whole(dialect, { content: '{"city":"Paris"}' })]],
  ]
  if (!noTools) {
    responses.push(
      [
        'calls tools',
        tools(model),
        [
          whole(dialect, { content: null, tool_calls: [CALL] }, 'tool_calls'),
          whole(dialect, { content: 'Sunny.' }),
        ],
      ],
      [
        'streams tool calls',
        streamTools(model),
        [streamed(dialect, CALLING, 'tool_calls'), streamed(dialect, TEXT)],
      ],
    )
  }
  return responses.map(([what, run, wires]) => ({
    name: `${name}: ${what}`,
    run,
    responses: wires,
    ...(countsOtherwise && { countsOtherwise }),
  }))
}

export const CHAT: Case[] = DIALECTS.flatMap(casesOf)
