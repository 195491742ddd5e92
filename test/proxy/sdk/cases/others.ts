// What the remaining providers have of their own.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createCohere } from '@ai-sdk/cohere'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createFireworks } from '@ai-sdk/fireworks'
import { createGroq } from '@ai-sdk/groq'
import { createMistral } from '@ai-sdk/mistral'
import { createPerplexity } from '@ai-sdk/perplexity'
import { createTogetherAI } from '@ai-sdk/togetherai'
import { createXai } from '@ai-sdk/xai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import {
  editImage,
  embed,
  file,
  image,
  object,
  PIXEL,
  ranking,
  SOUND,
  speech,
  stream,
  streamTools,
  text,
  tools,
  transcript,
  video,
  type Fetch,
} from '../calls.ts'
import { MANAGED, type Case } from '../twice.ts'
import { bytes, eventStream, json, sse, type Tokens, type Wire } from '../wire.ts'
import { EMBEDDINGS, RESPONSES_USAGE, STORED_FILE } from './openai.ts'

const key = { apiKey: MANAGED }
const bedrock = (fetch: Fetch) => createAmazonBedrock({ ...key, region: 'us-east-1', fetch })
const cohere = (fetch: Fetch) => createCohere({ ...key, fetch })
const xai = (fetch: Fetch) => createXai({ ...key, fetch })
const B64 = PIXEL.toString('base64')

const BEDROCK_USAGE = {
  inputTokens: 30,
  outputTokens: 11,
  totalTokens: 51,
  cacheReadInputTokens: 8,
  cacheWriteInputTokens: 2,
}
const BEDROCK_TOKENS: Tokens = [40, 11, 8, null]
const BEDROCK_HEADERS = {
  'x-amzn-RequestId': 'a1b2',
  'x-amzn-bedrock-cache-read-input-token-count': '8',
}
const converse = (content: object[], stopReason = 'end_turn'): Wire =>
  json(
    {
      metrics: { latencyMs: 512 },
      output: { message: { role: 'assistant', content } },
      stopReason,
      usage: BEDROCK_USAGE,
    },
    { tokens: BEDROCK_TOKENS, headers: BEDROCK_HEADERS },
  )
const converseStream = (blocks: [string, unknown][], stopReason = 'end_turn'): Wire =>
  eventStream(
    [
      ['messageStart', { role: 'assistant' }],
      ...blocks,
      ['messageStop', { stopReason }],
      ['metadata', { usage: BEDROCK_USAGE, metrics: { latencyMs: 400 } }],
    ],
    { tokens: BEDROCK_TOKENS, headers: BEDROCK_HEADERS },
  )
const bedrockText = (...texts: string[]): [string, unknown][] => [
  ...texts.map((piece): [string, unknown] => [
    'contentBlockDelta',
    { contentBlockIndex: 0, delta: { text: piece } },
  ]),
  ['contentBlockStop', { contentBlockIndex: 0 }],
]
const claude = (fetch: Fetch) => bedrock(fetch)('anthropic.claude-3-haiku-20240307-v1:0')
const BEDROCK: Case[] = [
  {
    name: 'bedrock: generates',
    run: text(claude),
    responses: [converse([{ text: 'It is sunny — 21 °C. 🌞' }])],
  },
  {
    name: 'bedrock: generates with a model named by its ARN',
    run: text((fetch) =>
      bedrock(fetch)(
        'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0',
      ),
    ),
    responses: [converse([{ text: 'Sunny.' }])],
  },
  {
    name: 'bedrock: streams',
    run: stream(claude),
    responses: [converseStream(bedrockText('It is ', 'sunny. 🌞'))],
  },
  {
    name: 'bedrock: calls tools',
    run: tools(claude),
    responses: [
      converse(
        [{ toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Paris' } } }],
        'tool_use',
      ),
      converse([{ text: 'Sunny.' }]),
    ],
  },
  {
    name: 'bedrock: streams tool calls',
    run: streamTools(claude),
    responses: [
      converseStream(
        [
          [
            'contentBlockStart',
            {
              contentBlockIndex: 0,
              start: { toolUse: { toolUseId: 'tooluse_1', name: 'weather' } },
            },
          ],
          [
            'contentBlockDelta',
            { contentBlockIndex: 0, delta: { toolUse: { input: '{"city":' } } },
          ],
          [
            'contentBlockDelta',
            { contentBlockIndex: 0, delta: { toolUse: { input: '"Paris"}' } } },
          ],
          ['contentBlockStop', { contentBlockIndex: 0 }],
        ],
        'tool_use',
      ),
      converseStream(bedrockText('Sunny.')),
    ],
  },
  {
    name: 'bedrock: embeds',
    run: embed((fetch) => bedrock(fetch).embedding('amazon.titan-embed-text-v2:0'), ['sunny']),
    responses: [
      json(
        {
          embedding: [0.1, -0.2],
          inputTextTokenCount: 2,
          embeddingsByType: { float: [0.1, -0.2] },
        },
        { headers: { 'x-amzn-bedrock-input-token-count': '2' }, tokens: [2, null, null, null] },
      ),
    ],
  },
  {
    name: 'bedrock: makes an image',
    run: image((fetch) => bedrock(fetch).image('amazon.nova-canvas-v1:0')),
    responses: [json({ images: [B64], error: null })],
  },
  {
    name: 'bedrock: ranks',
    run: ranking((fetch) => bedrock(fetch).reranking('cohere.rerank-v3-5:0')),
    responses: [
      json({
        results: [
          { index: 1, relevanceScore: 0.9 },
          { index: 0, relevanceScore: 0.1 },
        ],
      }),
    ],
  },
]

const COHERE_USAGE = {
  billed_units: { input_tokens: 9, output_tokens: 14 },
  tokens: { input_tokens: 72, output_tokens: 16 },
  cached_tokens: 32,
}
const COHERE_TOKENS: Tokens = [72, 16, 32, null]
const cohereChat = (message: object, finish_reason = 'COMPLETE'): Wire =>
  json(
    {
      id: 'c14c80c3',
      message: { role: 'assistant', ...message },
      finish_reason,
      usage: COHERE_USAGE,
    },
    { tokens: COHERE_TOKENS },
  )
const cohereStream = (events: object[], finish_reason = 'COMPLETE'): Wire =>
  sse(
    [
      {
        id: 'c14c80c3',
        type: 'message-start',
        delta: {
          message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] },
        },
      },
      ...events,
      { type: 'message-end', delta: { finish_reason, usage: COHERE_USAGE } },
    ].map((event) => [(event as { type: string }).type, event]),
    { tokens: COHERE_TOKENS },
  )
const cohereText = (...texts: string[]) => [
  { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
  ...texts.map((piece) => ({
    type: 'content-delta',
    index: 0,
    delta: { message: { content: { text: piece } } },
  })),
  { type: 'content-end', index: 0 },
]
const COHERE_CALL = {
  id: 'weather_abc',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
}
const command = (fetch: Fetch) => cohere(fetch)('command-a-03-2025')
const COHERE: Case[] = [
  {
    name: 'cohere: generates',
    run: text(command),
    responses: [cohereChat({ content: [{ type: 'text', text: 'It is sunny. 🌞' }] })],
  },
  {
    name: 'cohere: streams',
    run: stream(command),
    responses: [cohereStream(cohereText('It is ', 'sunny.'))],
  },
  {
    name: 'cohere: calls tools',
    run: tools(command),
    responses: [
      cohereChat({ tool_plan: 'I will look.', tool_calls: [COHERE_CALL] }, 'TOOL_CALL'),
      cohereChat({ content: [{ type: 'text', text: 'Sunny.' }] }),
    ],
  },
  {
    name: 'cohere: streams tool calls',
    run: streamTools(command),
    responses: [
      cohereStream(
        [
          { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I will look.' } } },
          {
            type: 'tool-call-start',
            index: 0,
            delta: {
              message: {
                tool_calls: { ...COHERE_CALL, function: { name: 'weather', arguments: '' } },
              },
            },
          },
          {
            type: 'tool-call-delta',
            index: 0,
            delta: { message: { tool_calls: { function: { arguments: '{"city":"Paris"}' } } } },
          },
          { type: 'tool-call-end', index: 0 },
        ],
        'TOOL_CALL',
      ),
      cohereStream(cohereText('Sunny.')),
    ],
  },
  {
    name: 'cohere: an object',
    run: object(command),
    responses: [cohereChat({ content: [{ type: 'text', text: '{"city":"Paris"}' }] })],
  },
  {
    name: 'cohere: embeds',
    run: embed((fetch) => cohere(fetch).embedding('embed-v4.0')),
    responses: [
      json(
        {
          id: 'e1',
          embeddings: {
            float: [
              [0.1, 0.2],
              [0.3, 0.4],
            ],
          },
          texts: ['sunny day', 'rainy city'],
          meta: { api_version: { version: '2' }, billed_units: { input_tokens: 4 } },
          response_type: 'embeddings_by_type',
        },
        { tokens: [4, null, null, null] },
      ),
    ],
  },
  {
    name: 'cohere: ranks',
    run: ranking((fetch) => cohere(fetch).reranking('rerank-v3.5')),
    responses: [
      json({
        id: 'r1',
        results: [
          { index: 1, relevance_score: 0.98 },
          { index: 0, relevance_score: 0.02 },
        ],
        meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
      }),
    ],
  },
]

const XAI_SHELL = {
  id: 'resp_x1',
  object: 'response',
  created_at: 1_741_476_542,
  model: 'grok-4-fast',
  status: 'completed',
  store: true,
  parallel_tool_calls: true,
  tools: [],
  tool_choice: 'auto',
  text: { format: { type: 'text' } },
}
const XAI_SAID = {
  id: 'msg_x1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'It is sunny.', annotations: [], logprobs: [] }],
}
const XAI_TOKENS: Tokens = [36, 87, 16, 64]
const XAI_CALL = {
  id: 'fc_x1',
  type: 'function_call',
  call_id: 'call_x1',
  name: 'weather',
  arguments: '{"city":"Paris"}',
  status: 'completed',
}
const grok = (fetch: Fetch) => xai(fetch)('grok-4-fast')
const XAI: Case[] = [
  {
    name: 'xai: generates',
    run: text(grok),
    responses: [
      json({ ...XAI_SHELL, output: [XAI_SAID], usage: RESPONSES_USAGE }, { tokens: XAI_TOKENS }),
    ],
  },
  {
    name: 'xai: streams',
    run: stream(grok),
    responses: [
      sse(
        [
          {
            type: 'response.created',
            sequence_number: 0,
            response: { ...XAI_SHELL, status: 'in_progress', output: [] },
          },
          {
            type: 'response.output_item.added',
            sequence_number: 1,
            output_index: 0,
            item: { ...XAI_SAID, status: 'in_progress', content: [] },
          },
          {
            type: 'response.content_part.added',
            sequence_number: 2,
            item_id: 'msg_x1',
            output_index: 0,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
          {
            type: 'response.output_text.delta',
            sequence_number: 3,
            item_id: 'msg_x1',
            output_index: 0,
            content_index: 0,
            delta: 'It is ',
          },
          {
            type: 'response.output_text.delta',
            sequence_number: 4,
            item_id: 'msg_x1',
            output_index: 0,
            content_index: 0,
            delta: 'sunny.',
          },
          {
            type: 'response.output_text.done',
            sequence_number: 5,
            item_id: 'msg_x1',
            output_index: 0,
            content_index: 0,
            text: 'It is sunny.',
          },
          {
            type: 'response.output_item.done',
            sequence_number: 6,
            output_index: 0,
            item: XAI_SAID,
          },
          {
            type: 'response.completed',
            sequence_number: 7,
            response: { ...XAI_SHELL, output: [XAI_SAID], usage: RESPONSES_USAGE },
          },
          '[DONE]',
        ],
        { tokens: XAI_TOKENS },
      ),
    ],
  },
  {
    name: 'xai: calls tools',
    run: tools(grok),
    responses: [
      json({ ...XAI_SHELL, output: [XAI_CALL], usage: RESPONSES_USAGE }, { tokens: XAI_TOKENS }),
      json({ ...XAI_SHELL, output: [XAI_SAID], usage: RESPONSES_USAGE }, { tokens: XAI_TOKENS }),
    ],
  },
  {
    name: 'xai: an object',
    run: object(grok),
    responses: [
      json(
        {
          ...XAI_SHELL,
          output: [
            { ...XAI_SAID, content: [{ ...XAI_SAID.content[0], text: '{"city":"Paris"}' }] },
          ],
          usage: RESPONSES_USAGE,
        },
        { tokens: XAI_TOKENS },
      ),
    ],
  },
  {
    name: 'xai: makes an image',
    run: image((fetch) => xai(fetch).image('grok-imagine-image')),
    responses: [json({ data: [{ b64_json: B64, revised_prompt: 'A lighthouse' }] })],
  },
  {
    name: 'xai: edits an image',
    run: editImage((fetch) => xai(fetch).image('grok-imagine-image')),
    responses: [json({ data: [{ b64_json: B64 }] })],
  },
  {
    name: 'xai: speaks',
    run: speech((fetch) => xai(fetch).speech()),
    responses: [bytes('audio/mpeg', SOUND)],
  },
  {
    name: 'xai: transcribes',
    run: transcript((fetch) => xai(fetch).transcription()),
    responses: [
      json({
        text: 'Good morning.',
        language: 'English',
        duration: 1.2,
        words: [
          { text: 'Good', start: 0, end: 0.4 },
          { text: 'morning.', start: 0.4, end: 1.2 },
        ],
      }),
    ],
  },
  {
    name: 'xai: uploads a file',
    run: file((fetch) => xai(fetch).files()),
    responses: [STORED_FILE],
  },
  {
    name: 'xai: makes a video',
    run: video((fetch) => xai(fetch).video('grok-imagine-video'), { poll: { intervalMs: 1 } }),
    responses: [
      json({ request_id: 'vid-77' }),
      json({ status: 'pending', progress: 40 }),
      json({
        status: 'done',
        model: 'grok-imagine-video',
        video: {
          url: 'https://api.x.ai/v1/files/vid-77/content',
          duration: 5,
          respect_moderation: true,
        },
      }),
      bytes('video/mp4', Buffer.from('a small video')),
    ],
  },
]

const embeds = (name: string, model: Parameters<typeof embed>[0]): Case => ({
  name: `${name}: embeds`,
  run: embed(model),
  responses: [EMBEDDINGS],
})
const REST: Case[] = [
  embeds('mistral', (fetch) => createMistral({ ...key, fetch }).embedding('mistral-embed')),
  embeds('together', (fetch) =>
    createTogetherAI({ ...key, fetch }).embeddingModel('BAAI/bge-large-en-v1.5'),
  ),
  embeds('fireworks', (fetch) =>
    createFireworks({ ...key, fetch }).embeddingModel('nomic-ai/nomic-embed-text-v1.5'),
  ),
  embeds('openrouter', (fetch) =>
    createOpenRouter({ ...key, fetch }).textEmbeddingModel('openai/text-embedding-3-small'),
  ),
  {
    name: 'perplexity: embeds',
    run: embed((fetch) => createPerplexity({ ...key, fetch }).embedding('pplx-embed-v1-0.6b')),
    responses: [
      json(
        {
          object: 'list',
          model: 'pplx-embed-v1-0.6b',
          data: [
            { object: 'embedding', index: 0, embedding: 'AQIDBA==' },
            { object: 'embedding', index: 1, embedding: 'BQYHCA==' },
          ],
          usage: { prompt_tokens: 8, total_tokens: 8 },
        },
        { tokens: [8, null, null, null] },
      ),
    ],
  },
  {
    name: 'together: makes an image',
    run: image((fetch) =>
      createTogetherAI({ ...key, fetch }).image('black-forest-labs/FLUX.1-schnell'),
    ),
    responses: [
      json({ id: 'o1', model: 'flux', object: 'list', data: [{ index: 0, b64_json: B64 }] }),
    ],
  },
  {
    name: 'together: ranks',
    run: ranking((fetch) =>
      createTogetherAI({ ...key, fetch }).reranking('Salesforce/Llama-Rank-v1'),
    ),
    responses: [
      json(
        {
          id: 'r1',
          model: 'rank',
          object: 'rerank',
          results: [
            { index: 1, relevance_score: 0.9 },
            { index: 0, relevance_score: 0.1 },
          ],
          usage: { prompt_tokens: 20, completion_tokens: 0, total_tokens: 20 },
        },
        { tokens: [20, 0, null, null] },
      ),
    ],
  },
  {
    name: 'fireworks: makes an image',
    run: image(
      (fetch) =>
        createFireworks({ ...key, fetch }).image('accounts/fireworks/models/flux-1-dev-fp8'),
      { aspectRatio: '1:1' },
    ),
    responses: [bytes('image/png', PIXEL, { headers: { 'finish-reason': 'SUCCESS' } })],
  },
  {
    name: 'groq: transcribes',
    run: transcript((fetch) =>
      createGroq({ ...key, fetch }).transcription('whisper-large-v3-turbo'),
    ),
    responses: [
      json({
        task: 'transcribe',
        language: 'English',
        duration: 2.5,
        text: 'Good morning.',
        segments: [
          {
            id: 0,
            seek: 0,
            start: 0,
            end: 2.5,
            text: 'Good morning.',
            tokens: [1],
            temperature: 0,
            avg_logprob: -0.1,
            compression_ratio: 1.1,
            no_speech_prob: 0,
          },
        ],
        x_groq: { id: 'req_01' },
      }),
    ],
  },
  {
    name: 'mistral: transcribes',
    run: transcript((fetch) =>
      createMistral({ ...key, fetch }).transcription('voxtral-mini-latest'),
    ),
    responses: [
      json(
        {
          model: 'voxtral-mini-2507',
          text: 'Good morning.',
          language: 'en',
          segments: [],
          usage: {
            prompt_audio_seconds: 3,
            prompt_tokens: 4,
            total_tokens: 40,
            completion_tokens: 6,
          },
        },
        { tokens: [4, 6, null, null] },
      ),
    ],
  },
  {
    name: 'mistral: speaks',
    run: speech((fetch) => createMistral({ ...key, fetch }).speech('voxtral-tts'), {
      voice: 'casual',
    }),
    responses: [json({ audio_data: SOUND.toString('base64') })],
  },
  {
    name: 'deepseek: uploads a file',
    run: file((fetch) => createDeepSeek({ ...key, fetch }).files()),
    responses: [
      json({
        id: 'file-d1',
        object: 'file',
        bytes: 70,
        created_at: 1_677_610_602,
        filename: 'pixel.png',
        purpose: 'user_data',
      }),
    ],
  },
]

export const OTHER_CASES: Case[] = [...BEDROCK, ...COHERE, ...XAI, ...REST]
