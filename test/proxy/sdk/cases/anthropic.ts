import { createAnthropic } from '@ai-sdk/anthropic'
import { file, object, stream, streamTools, text, tools, type Fetch } from '../calls.ts'
import { MANAGED, type Case } from '../twice.ts'
import { json, sse, type Tokens, type Wire } from '../wire.ts'

const anthropic = (fetch: Fetch) => createAnthropic({ apiKey: MANAGED, fetch })
const model = (fetch: Fetch) => anthropic(fetch)('claude-sonnet-4-5')

/** The provider does not count what the cache gave or took as input; we do, and so does the SDK. */
const TOKENS: Tokens = [12 + 100 + 40, 27, 40, null]
const USAGE = {
  input_tokens: 12,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 40,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 0 },
  output_tokens: 27,
  service_tier: 'standard',
}
const HEADERS = {
  'request-id': 'req_011CT',
  'anthropic-ratelimit-requests-limit': '4000',
  'anthropic-ratelimit-requests-remaining': '3999',
  'anthropic-ratelimit-requests-reset': '2025-10-01T12:00:00Z',
  'cf-ray': '9a1',
}
const message = (content: object[], stop_reason = 'end_turn'): Wire =>
  json(
    {
      id: 'msg_01XFDUDY',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content,
      stop_reason,
      stop_sequence: null,
      usage: USAGE,
    },
    { tokens: TOKENS, headers: HEADERS },
  )
const CALL = { type: 'tool_use', id: 'toolu_01T', name: 'weather', input: { city: 'Paris' } }

const streamed = (blocks: [start: object, ...deltas: object[]][], stop_reason = 'end_turn'): Wire =>
  sse(
    [
      [
        'message_start',
        {
          type: 'message_start',
          message: {
            id: 'msg_01XFDUDY',
            type: 'message',
            role: 'assistant',
            model: 'claude-sonnet-4-5-20250929',
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { ...USAGE, output_tokens: 1 },
          },
        },
      ],
      ['ping', { type: 'ping' }],
      ...blocks.flatMap(([content_block, ...deltas], index) => [
        ['content_block_start', { type: 'content_block_start', index, content_block }],
        ...deltas.map((delta) => [
          'content_block_delta',
          { type: 'content_block_delta', index, delta },
        ]),
        ['content_block_stop', { type: 'content_block_stop', index }],
      ]),
      [
        'message_delta',
        {
          type: 'message_delta',
          delta: { stop_reason, stop_sequence: null },
          usage: { output_tokens: 27 },
        },
      ],
      ['message_stop', { type: 'message_stop' }],
    ],
    { tokens: TOKENS, headers: HEADERS },
  )

const THINKING: [object, ...object[]] = [
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'thinking_delta', thinking: 'Paris, then.' },
  { type: 'signature_delta', signature: 'EqoBCkgIARABGAIiQL' },
]
const words = (...texts: string[]): [object, ...object[]] => [
  { type: 'text', text: '' },
  ...texts.map((piece) => ({ type: 'text_delta', text: piece })),
]

export const ANTHROPIC_CASES: Case[] = [
  {
    name: 'anthropic: generates',
    run: text(model),
    responses: [
      message([
        { type: 'thinking', thinking: 'Paris, then.', signature: 'EqoBCkgIARABGAIiQL' },
        { type: 'text', text: 'It is sunny — 21 °C. 🌞' },
      ]),
    ],
  },
  {
    name: 'anthropic: streams',
    run: stream(model),
    responses: [streamed([THINKING, words('It is ', 'sunny. 🌞')])],
  },
  {
    name: 'anthropic: calls tools',
    run: tools(model),
    responses: [
      message([{ type: 'text', text: 'Let me see.' }, CALL], 'tool_use'),
      message([{ type: 'text', text: 'Sunny.' }]),
    ],
  },
  {
    name: 'anthropic: streams tool calls',
    run: streamTools(model),
    responses: [
      streamed(
        [
          [
            { ...CALL, input: {} },
            { type: 'input_json_delta', partial_json: '' },
            { type: 'input_json_delta', partial_json: '{"city":' },
            { type: 'input_json_delta', partial_json: '"Paris"}' },
          ],
        ],
        'tool_use',
      ),
      streamed([words('Sunny.')]),
    ],
  },
  {
    name: 'anthropic: an object',
    run: object(model),
    responses: [message([{ type: 'text', text: '{"city":"Paris"}' }])],
  },
  {
    name: 'anthropic: an object by a tool',
    run: object((fetch) => anthropic(fetch)('claude-3-haiku-20240307')),
    responses: [
      message(
        [{ type: 'tool_use', id: 'toolu_02', name: 'json', input: { city: 'Paris' } }],
        'tool_use',
      ),
    ],
  },
  {
    name: 'anthropic: uploads a file',
    run: file((fetch) => anthropic(fetch).files()),
    responses: [
      json({
        id: 'file_011CNha8',
        type: 'file',
        filename: 'pixel.png',
        mime_type: 'image/png',
        size_bytes: 70,
        created_at: '2025-01-01T00:00:00Z',
        downloadable: false,
      }),
    ],
  },
  {
    name: 'anthropic: an error in the midst of a stream',
    run: stream(model),
    countsOtherwise: 'the SDK forgets the usage of a stream that fails',
    responses: [
      {
        ...sse([
          [
            'message_start',
            {
              type: 'message_start',
              message: {
                id: 'msg_1',
                type: 'message',
                role: 'assistant',
                model: 'claude',
                content: [],
                stop_reason: null,
                stop_sequence: null,
                usage: { input_tokens: 3, output_tokens: 1 },
              },
            },
          ],
          ['error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
        ]),
        tokens: [3, null, null, null],
      },
    ],
  },
]
