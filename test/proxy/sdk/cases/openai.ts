// OpenAI's own surface, on OpenAI and on Azure: responses, completions, embeddings, images, speech,
// transcription, files.
import { createAzure } from '@ai-sdk/azure'
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModel } from 'ai'
import {
  editImage,
  embed,
  file,
  image,
  object,
  PIXEL,
  SOUND,
  speech,
  stream,
  streamTools,
  text,
  tools,
  transcript,
  type Fetch,
} from '../calls.ts'
import { MANAGED, type Case } from '../twice.ts'
import { bytes, json, sse, type Wire } from '../wire.ts'

const openai = (fetch: Fetch) => createOpenAI({ apiKey: MANAGED, fetch })
const azure = (fetch: Fetch) => createAzure({ apiKey: MANAGED, fetch, resourceName: 'acme' })

export const RESPONSES_USAGE = {
  input_tokens: 36,
  input_tokens_details: { cached_tokens: 16 },
  output_tokens: 87,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 123,
}
const COUNTED = { tokens: [36, 87, 16, 64] } as const
const SHELL = {
  id: 'resp_67ccd2bed1ec',
  object: 'response',
  created_at: 1_741_476_542,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: 'gpt-5-2025-08-07',
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  metadata: {},
  service_tier: 'default',
}
const THOUGHT = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Thinking of Paris.' }],
}
const said = (words: string) => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [
    {
      type: 'output_text',
      text: words,
      annotations: [
        {
          type: 'url_citation',
          url: 'https://example.com/paris',
          title: 'Paris',
          start_index: 0,
          end_index: 4,
        },
      ],
      logprobs: [],
    },
  ],
})
const CALL = {
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_8Z',
  name: 'weather',
  arguments: '{"city":"Paris"}',
}

const response = (output: object[]): Wire =>
  json(
    { ...SHELL, status: 'completed', output, usage: RESPONSES_USAGE },
    { ...COUNTED, headers: { 'x-request-id': 'upstream-9', 'openai-version': '2020-10-01' } },
  )

const TEXT_EVENTS = (words: string[]) => [
  [
    'response.created',
    {
      type: 'response.created',
      sequence_number: 0,
      response: { ...SHELL, status: 'in_progress', output: [], usage: null },
    },
  ],
  [
    'response.output_item.added',
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { id: 'rs_1', type: 'reasoning', summary: [] },
    },
  ],
  [
    'response.reasoning_summary_part.added',
    {
      type: 'response.reasoning_summary_part.added',
      sequence_number: 2,
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
  ],
  [
    'response.reasoning_summary_text.delta',
    {
      type: 'response.reasoning_summary_text.delta',
      sequence_number: 3,
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
      delta: 'Thinking of Paris.',
    },
  ],
  [
    'response.output_item.done',
    { type: 'response.output_item.done', sequence_number: 4, output_index: 0, item: THOUGHT },
  ],
  [
    'response.output_item.added',
    {
      type: 'response.output_item.added',
      sequence_number: 5,
      output_index: 1,
      item: { ...said(''), status: 'in_progress', content: [] },
    },
  ],
  ...words.map((delta, i) => [
    'response.output_text.delta',
    {
      type: 'response.output_text.delta',
      sequence_number: 6 + i,
      item_id: 'msg_1',
      output_index: 1,
      content_index: 0,
      delta,
      logprobs: [],
    },
  ]),
  [
    'response.output_item.done',
    {
      type: 'response.output_item.done',
      sequence_number: 20,
      output_index: 1,
      item: said(words.join('')),
    },
  ],
  [
    'response.completed',
    {
      type: 'response.completed',
      sequence_number: 21,
      response: {
        ...SHELL,
        status: 'completed',
        output: [THOUGHT, said(words.join(''))],
        usage: RESPONSES_USAGE,
      },
    },
  ],
]
const CALL_EVENTS = [
  [
    'response.created',
    {
      type: 'response.created',
      sequence_number: 0,
      response: { ...SHELL, status: 'in_progress', output: [] },
    },
  ],
  [
    'response.output_item.added',
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { ...CALL, status: 'in_progress', arguments: '' },
    },
  ],
  [
    'response.function_call_arguments.delta',
    {
      type: 'response.function_call_arguments.delta',
      sequence_number: 2,
      item_id: 'fc_1',
      output_index: 0,
      delta: '{"city":"Paris"}',
    },
  ],
  [
    'response.function_call_arguments.done',
    {
      type: 'response.function_call_arguments.done',
      sequence_number: 3,
      item_id: 'fc_1',
      output_index: 0,
      arguments: '{"city":"Paris"}',
    },
  ],
  [
    'response.output_item.done',
    { type: 'response.output_item.done', sequence_number: 4, output_index: 0, item: CALL },
  ],
  [
    'response.completed',
    {
      type: 'response.completed',
      sequence_number: 5,
      response: { ...SHELL, status: 'completed', output: [CALL], usage: RESPONSES_USAGE },
    },
  ],
]

const responsesOf = (name: string, model: (fetch: Fetch) => LanguageModel): Case[] => [
  {
    name: `${name} responses: generates`,
    run: text(model),
    responses: [response([THOUGHT, said('It is sunny.')])],
  },
  {
    name: `${name} responses: streams`,
    run: stream(model),
    responses: [sse(TEXT_EVENTS(['It is ', 'sunny. 🌞']), COUNTED)],
  },
  {
    name: `${name} responses: calls tools`,
    run: tools(model),
    responses: [response([CALL]), response([said('Sunny.')])],
  },
  {
    name: `${name} responses: streams tool calls`,
    run: streamTools(model),
    responses: [sse(CALL_EVENTS, COUNTED), sse(TEXT_EVENTS(['Sunny.']), COUNTED)],
  },
  {
    name: `${name} responses: an object`,
    run: object(model),
    responses: [response([said('{"city":"Paris"}')])],
  },
]

export const EMBEDDINGS = json(
  {
    object: 'list',
    model: 'text-embedding-3-small',
    data: [
      { object: 'embedding', index: 0, embedding: [0.0057, -0.0023, 1e-7] },
      { object: 'embedding', index: 1, embedding: [0.1, 0.2, -0.3] },
    ],
    usage: { prompt_tokens: 8, total_tokens: 8 },
  },
  { tokens: [8, null, null, null] },
)
const IMAGES = json(
  {
    created: 1_713_833_628,
    data: [{ b64_json: PIXEL.toString('base64'), revised_prompt: 'A lighthouse at dusk' }],
    background: 'opaque',
    output_format: 'png',
    quality: 'high',
    size: '1024x1024',
    usage: {
      total_tokens: 100,
      input_tokens: 50,
      output_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    },
  },
  { tokens: [50, 50, null, null] },
)
const TRANSCRIPT = json({
  task: 'transcribe',
  language: 'english',
  duration: 2.5,
  text: 'Good morning.',
  segments: [
    {
      id: 0,
      seek: 0,
      start: 0,
      end: 2.5,
      text: 'Good morning.',
      tokens: [50_364],
      temperature: 0,
      avg_logprob: -0.2,
      compression_ratio: 1.2,
      no_speech_prob: 0.01,
    },
  ],
  words: [{ word: 'Good', start: 0, end: 1 }],
})
const TRANSCRIPT_COUNTED = json(
  {
    text: 'Good morning.',
    usage: {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { text_tokens: 0, audio_tokens: 14 },
      output_tokens: 45,
      total_tokens: 59,
    },
  },
  { tokens: [14, 45, null, null] },
)
const MPEG = bytes('audio/mpeg', SOUND, { headers: { 'x-request-id': 'upstream-3' } })
export const STORED_FILE = json({
  id: 'file-abc123',
  object: 'file',
  bytes: 70,
  created_at: 1_677_610_602,
  filename: 'pixel.png',
  purpose: 'assistants',
  status: 'processed',
})

export const OPENAI_CASES: Case[] = [
  ...responsesOf('openai', (fetch) => openai(fetch)('gpt-5')),
  ...responsesOf('azure', (fetch) => azure(fetch)('our-gpt-5')),
  {
    name: 'openai completion: generates',
    run: text((fetch) => openai(fetch).completion('gpt-3.5-turbo-instruct')),
    responses: [
      json(
        {
          id: 'cmpl-1',
          object: 'text_completion',
          created: 1_700_000_000,
          model: 'gpt-3.5-turbo-instruct',
          choices: [{ text: 'Sunny.', index: 0, logprobs: null, finish_reason: 'stop' }],
          usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
        },
        { tokens: [5, 3, null, null] },
      ),
    ],
  },
  {
    name: 'openai completion: streams',
    run: stream((fetch) => openai(fetch).completion('gpt-3.5-turbo-instruct')),
    responses: [
      sse(
        [
          ...['Sun', 'ny.'].map((piece) => ({
            id: 'cmpl-1',
            object: 'text_completion',
            created: 1_700_000_000,
            model: 'gpt-3.5-turbo-instruct',
            choices: [{ text: piece, index: 0, logprobs: null, finish_reason: null }],
          })),
          {
            id: 'cmpl-1',
            object: 'text_completion',
            created: 1_700_000_000,
            model: 'gpt-3.5-turbo-instruct',
            choices: [{ text: '', index: 0, logprobs: null, finish_reason: 'stop' }],
          },
          {
            id: 'cmpl-1',
            object: 'text_completion',
            created: 1_700_000_000,
            model: 'gpt-3.5-turbo-instruct',
            choices: [],
            usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
          },
          '[DONE]',
        ],
        { tokens: [5, 3, null, null] },
      ),
    ],
  },
  {
    name: 'openai: embeds',
    run: embed((fetch) => openai(fetch).embedding('text-embedding-3-small')),
    responses: [EMBEDDINGS],
  },
  {
    name: 'azure: embeds',
    run: embed((fetch) => azure(fetch).embedding('our-embedding')),
    responses: [EMBEDDINGS],
  },
  {
    name: 'openai: makes an image',
    run: image((fetch) => openai(fetch).image('gpt-image-1'), { size: '1024x1024' }),
    responses: [IMAGES],
  },
  {
    name: 'openai: edits an image',
    run: editImage((fetch) => openai(fetch).image('gpt-image-1')),
    responses: [IMAGES],
  },
  {
    name: 'azure: makes an image',
    run: image((fetch) => azure(fetch).image('our-image')),
    responses: [IMAGES],
  },
  {
    name: 'openai: speaks',
    run: speech((fetch) => openai(fetch).speech('gpt-4o-mini-tts')),
    responses: [MPEG],
  },
  {
    name: 'azure: speaks',
    run: speech((fetch) => azure(fetch).speech('our-tts')),
    responses: [MPEG],
  },
  {
    name: 'openai: transcribes',
    run: transcript((fetch) => openai(fetch).transcription('whisper-1')),
    responses: [TRANSCRIPT],
  },
  {
    name: 'openai: transcribes, with tokens',
    run: transcript((fetch) => openai(fetch).transcription('gpt-4o-transcribe')),
    responses: [TRANSCRIPT_COUNTED],
  },
  {
    name: 'azure: transcribes',
    run: transcript((fetch) => azure(fetch).transcription('our-whisper')),
    responses: [TRANSCRIPT],
  },
  {
    name: 'openai: uploads a file',
    run: file((fetch) => openai(fetch).files()),
    responses: [STORED_FILE],
  },
]
