import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  brotliCompressSync,
  crc32,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import * as fc from 'fast-check'
import { createUsageMeter, type Usage } from '../../../server/proxy/usage/meter.ts'
import { UNKNOWN } from '../../../server/proxy/usage/usage.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import type { ObjectRef } from '../../../server/proxy/providers/object-ref.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { heldBytes } from '../inspect/memory.ts'

const table = createProviderTable({
  custom: [{ id: 'acme', origin: 'https://api.acme.test' }],
  instances: [
    { provider: 'azure', values: { resource: 'acme' } },
    { provider: 'bedrock', values: { region: 'us-east-1' } },
  ],
})

interface Fixture {
  name: string
  id: string
  path?: string
  method?: string
  type?: string
  headers?: string[]
  body: string | Buffer
  /** input, output, cached, reasoning */
  usage: (number | null)[]
  /** Further kinds of tokens. */
  rare?: Partial<Usage>
  created?: string
}

const OWNER = { account_id: 'a', key_id: 'k' }
const CHAT = '/v1/chat/completions'
const sse = (...events: (object | string)[]) =>
  events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('')
const named = (...events: [string, object][]) =>
  events.map(([name, event]) => `event: ${name}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const delta = (content: string, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content } }],
  ...more,
})
const STREAM = 'text/event-stream; charset=utf-8'
const NONE = [null, null, null, null]

/** The usage of numbers in the order of a fixture. */
function usageOf([
  tokens_in,
  tokens_out,
  tokens_cached,
  tokens_reasoning,
]: Fixture['usage']): Usage {
  const numbers = { tokens_in, tokens_out, tokens_cached, tokens_reasoning }
  return { ...UNKNOWN, ...(numbers as Partial<Usage>) }
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}

/** One frame of Amazon's event stream. */
function frame(headers: Record<string, string>, payload: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(value.length)
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + head.length + payload.length, 0)
  prelude.writeUInt32BE(head.length, 4)
  const start = Buffer.concat([prelude, checksum(prelude), head, Buffer.from(payload)])
  return Buffer.concat([start, checksum(start)])
}
const converse = (type: string, payload: object) =>
  frame(
    { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' },
    JSON.stringify(payload),
  )
const invoked = (event: object) =>
  frame(
    { ':message-type': 'event', ':event-type': 'chunk' },
    JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcd' }),
  )
const AWS = 'application/vnd.amazon.eventstream'

const gemini = (text: string, usageMetadata: object) => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' } }],
  usageMetadata,
  modelVersion: 'gemini-x',
})

const fixtures: Fixture[] = [
  // OpenAI
  {
    name: 'chat',
    id: 'openai',
    body: JSON.stringify(
      {
        id: 'c1',
        choices: [{ message: { content: '"usage": {"prompt_tokens": 9}' } }],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 20,
          total_tokens: 30,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      },
      null,
      2,
    ),
    usage: [10, 20, 4, 5],
  },
  {
    name: 'chat without details',
    id: 'openai',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":0,"total_tokens":10}}',
    usage: [10, 0, null, null],
  },
  { name: 'chat without usage', id: 'openai', body: '{"choices":[]}', usage: NONE },
  { name: 'usage null', id: 'openai', body: '{"usage":null}', usage: NONE },
  { name: 'an error', id: 'openai', body: '{"error":{"message":"usage","type":"x"}}', usage: NONE },
  {
    name: 'a stream with include_usage',
    id: 'openai',
    type: STREAM,
    body: sse(
      delta('Hel', { usage: null }),
      delta('lo "usage":{"prompt_tokens":1}', { usage: null }),
      {
        id: 'c1',
        choices: [],
        usage: {
          prompt_tokens: 7,
          completion_tokens: 3,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      },
      '[DONE]',
    ),
    usage: [7, 3, 0, null],
  },
  {
    name: 'a stream without include_usage',
    id: 'openai',
    type: STREAM,
    body: sse(delta('Hello'), delta('usage'), '[DONE]'),
    usage: NONE,
  },
  {
    name: 'a stream cut off before its usage',
    id: 'openai',
    type: STREAM,
    body: sse(delta('Hello', { usage: null })).slice(0, -1),
    usage: NONE,
  },
  {
    name: 'a stream cut off behind its usage',
    id: 'openai',
    type: STREAM,
    body: sse({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }).slice(0, -2),
    usage: [1, 2, null, null],
  },
  {
    name: 'a stream with CRLF, comments and other fields',
    id: 'openai',
    type: STREAM,
    body: `: hi\r\n\r\nid: 1\r\ndata:${JSON.stringify(delta('x'))}\r\n\r\nretry: 5\r\ndata:{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\r\n\r\ndata: [DONE]\r\n\r\n`,
    usage: [1, 2, null, null],
  },
  {
    name: 'a stream with CR',
    id: 'openai',
    type: STREAM,
    body: `data: ${JSON.stringify(delta('x'))}\r\rdata: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\r\rdata: [DONE]\r\r`,
    usage: [1, 2, null, null],
  },
  {
    name: 'an event of several data lines',
    id: 'openai',
    type: STREAM,
    body: 'data: {"choices":[],\ndata:  "usage": {"prompt_tokens": 1,\ndata: "completion_tokens": 2}}\n\n',
    usage: [1, 2, null, null],
  },
  {
    name: 'an event of several data lines with CRLF',
    id: 'openai',
    type: STREAM,
    body: 'data: {"choices":[],\r\ndata:  "usage": {"prompt_tokens": 1,\r\ndata: "completion_tokens": 2}}\r\n\r\n',
    usage: [1, 2, null, null],
  },
  {
    name: 'a usage key in a tool call behind the usage',
    id: 'openai',
    type: STREAM,
    body: sse(
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
      { choices: [{ x: { usage: { prompt_tokens: 99 } } }] },
      '[DONE]',
    ),
    usage: [1, 2, null, null],
  },
  {
    name: 'texts about usage behind the usage',
    id: 'openai',
    type: STREAM,
    body: sse(
      delta('"usage":{"prompt_tokens":8}'),
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
      ...Array.from({ length: 8 }, () => delta(`${'x'.repeat(3_000)}"usage":{"prompt_tokens":9}`)),
      '[DONE]',
    ),
    usage: [1, 2, null, null],
  },
  {
    name: 'a long stream with CR',
    id: 'openai',
    type: STREAM,
    body: sse(...Array.from({ length: 400 }, () => delta('x'.repeat(900))), {
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    }).replaceAll('\n', '\r'),
    usage: [1, 2, null, null],
  },
  {
    name: 'embeddings',
    id: 'openai',
    path: '/v1/embeddings',
    body: JSON.stringify({
      object: 'list',
      data: [{ embedding: Array.from({ length: 500 }, (_, i) => i / 7) }],
      usage: { prompt_tokens: 8, total_tokens: 8 },
    }),
    usage: [8, null, null, null],
  },
  {
    name: 'chat with audio, and a cache written',
    id: 'openai',
    body: '{"usage":{"prompt_tokens":30,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":11,"audio_tokens":20},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":7}}}',
    usage: [30, 9, 0, 0],
    rare: { tokens_cache_write: 11, tokens_audio_in: 20, tokens_audio_out: 7 },
  },
  {
    name: 'a response whose parts are larger than the whole',
    id: 'openai',
    path: '/v1/responses',
    body: '{"usage":{"input_tokens":3,"output_tokens":2,"input_tokens_details":{"cache_write_tokens":4,"audio_tokens":5},"output_tokens_details":{"audio_tokens":6}}}',
    usage: [3, 2, null, null],
    rare: { tokens_cache_write: 3, tokens_audio_in: 3, tokens_audio_out: 2 },
  },
  {
    name: 'images',
    id: 'openai',
    path: '/v1/images/generations',
    body: `{"data":[{"b64_json":"${'A'.repeat(300_000)}"}],"usage":{"input_tokens":5,"output_tokens":1056,"total_tokens":1061,"input_tokens_details":{"text_tokens":5}}}`,
    usage: [5, 1056, null, null],
  },
  {
    name: 'transcription by tokens',
    id: 'openai',
    path: '/v1/audio/transcriptions',
    body: '{"text":"hi","usage":{"type":"tokens","input_tokens":14,"output_tokens":3,"input_token_details":{"text_tokens":0,"audio_tokens":14}}}',
    usage: [14, 3, null, null],
    rare: { tokens_audio_in: 14 },
  },
  {
    name: 'transcription by seconds',
    id: 'openai',
    path: '/v1/audio/transcriptions',
    body: '{"text":"hi","usage":{"type":"duration","seconds":3}}',
    usage: NONE,
  },
  {
    name: 'speech',
    id: 'openai',
    path: '/v1/audio/speech',
    type: 'audio/mpeg',
    body: 'ID3 "usage":{"prompt_tokens":1}',
    usage: NONE,
  },
  {
    name: 'responses',
    id: 'openai',
    path: '/v1/responses',
    body: '{"id":"resp_1","output":[],"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":10},"output_tokens":40,"output_tokens_details":{"reasoning_tokens":15},"total_tokens":70}}',
    usage: [30, 40, 10, 15],
    created: 'response:resp_1',
  },
  {
    name: 'responses stream',
    id: 'openai',
    path: '/v1/responses',
    type: STREAM,
    body: named(
      ['response.created', { type: 'response.created', response: { id: 'resp_2', usage: null } }],
      ['response.output_text.delta', { type: 'response.output_text.delta', delta: '{"usage":1}' }],
      [
        'response.completed',
        {
          type: 'response.completed',
          response: {
            id: 'resp_2',
            output: [{ content: 'x'.repeat(5_000) }],
            usage: {
              input_tokens: 3,
              output_tokens: 4,
              output_tokens_details: { reasoning_tokens: 1 },
            },
          },
        },
      ],
    ),
    usage: [3, 4, null, 1],
    created: 'response:resp_2',
  },
  {
    name: 'responses stream that ends incomplete',
    id: 'openai',
    path: '/v1/responses',
    type: STREAM,
    body: named([
      'response.incomplete',
      {
        type: 'response.incomplete',
        response: { id: 'resp_3', usage: { input_tokens: 3, output_tokens: 4 } },
      },
    ]),
    usage: [3, 4, null, null],
    created: 'response:resp_3',
  },
  {
    name: 'responses stream with an event too long to keep',
    id: 'openai',
    path: '/v1/responses',
    type: STREAM,
    body: named(
      ['response.created', { response: { id: 'resp_4' } }],
      [
        'response.completed',
        {
          type: 'response.completed',
          response: {
            id: 'resp_4',
            output: [{ result: 'A'.repeat(400_000) }],
            usage: { input_tokens: 5, output_tokens: 6 },
          },
        },
      ],
      ['done', { x: 1 }],
    ),
    usage: [5, 6, null, null],
    created: 'response:resp_4',
  },
  {
    name: 'items and containers of a responses stream',
    id: 'openai',
    path: '/v1/responses',
    type: STREAM,
    body: named(
      ['response.created', { type: 'response.created', response: { id: 'resp_5', usage: null } }],
      ['response.output_text.delta', { delta: 'the "container_id" of it' }],
      [
        'response.output_item.done',
        { item: { id: 'ci_1', type: 'code_interpreter_call', container_id: 'cntr_1' } },
      ],
      ['response.output_text.delta', { item_id: 'msg_1', delta: 'x'.repeat(3_000) }],
      [
        'response.completed',
        {
          response: {
            id: 'resp_5',
            output: [
              { type: 'message', id: 'msg_1' },
              { container_id: 'cntr_1' },
              { container_id: 'cntr_2' },
            ],
            usage: { input_tokens: 5, output_tokens: 6 },
          },
        },
      ],
    ),
    usage: [5, 6, null, null],
    created: 'response:resp_5 container:cntr_1 container:cntr_2 item:msg_1',
  },
  {
    name: 'a created file',
    id: 'openai',
    path: '/v1/files',
    body: '{"id":"file-9","object":"file"}',
    usage: NONE,
    created: 'file:file-9',
  },
  {
    name: 'a poll is not counted again',
    id: 'openai',
    method: 'GET',
    path: '/v1/responses/resp_1',
    body: '{"id":"resp_1","usage":{"input_tokens":30,"output_tokens":40}}',
    usage: NONE,
  },
  {
    name: 'an unknown endpoint',
    id: 'openai',
    path: '/v1/brand/new',
    body: '{"usage":{"input_tokens":1,"output_tokens":2}}',
    usage: [1, 2, null, null],
  },
  {
    name: 'azure',
    id: 'azure',
    path: '/openai/deployments/d/chat/completions',
    body: '{"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    usage: [1, 2, null, null],
  },

  // Anthropic
  {
    name: 'messages',
    id: 'anthropic',
    path: '/v1/messages',
    body: '{"content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":7,"output_tokens_details":{"thinking_tokens":2}}}',
    usage: [115, 7, 100, 2],
    rare: { tokens_cache_write: 5 },
  },
  {
    name: 'messages whose cache is written for five minutes and an hour',
    id: 'anthropic',
    path: '/v1/messages',
    body: '{"usage":{"input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":3},"output_tokens":7}}',
    usage: [17, 7, null, null],
    rare: { tokens_cache_write: 7 },
  },
  {
    name: 'messages without cache',
    id: 'anthropic',
    path: '/v1/messages',
    body: '{"usage":{"input_tokens":10,"output_tokens":7}}',
    usage: [10, 7, null, null],
  },
  {
    name: 'messages stream',
    id: 'anthropic',
    path: '/v1/messages',
    type: STREAM,
    body: named(
      [
        'message_start',
        {
          type: 'message_start',
          message: {
            id: 'm',
            usage: {
              input_tokens: 10,
              cache_creation_input_tokens: 0,
              cache_read_input_tokens: 20,
              output_tokens: 1,
            },
          },
        },
      ],
      [
        'content_block_delta',
        {
          type: 'content_block_delta',
          delta: { type: 'text_delta', text: '"usage":{"output_tokens":1000}' },
        },
      ],
      [
        'message_delta',
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 15 } },
      ],
      ['message_stop', { type: 'message_stop' }],
    ),
    usage: [30, 15, 20, null],
    rare: { tokens_cache_write: 0 },
  },
  {
    name: 'messages stream whose end repeats the input',
    id: 'anthropic',
    path: '/v1/messages',
    type: STREAM,
    body: named(
      [
        'message_start',
        {
          type: 'message_start',
          message: { usage: { input_tokens: 10, cache_read_input_tokens: 20, output_tokens: 1 } },
        },
      ],
      [
        'message_delta',
        {
          type: 'message_delta',
          usage: {
            input_tokens: 12,
            cache_read_input_tokens: 20,
            output_tokens: 15,
            cache_creation_input_tokens: null,
          },
        },
      ],
    ),
    usage: [32, 15, 20, null],
  },
  {
    name: 'messages stream with other keys of that name before its beginning',
    id: 'anthropic',
    path: '/v1/messages',
    type: STREAM,
    body: `: "usage":1\n\n${named(
      [
        'message_start',
        { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
      ],
      ...Array.from({ length: 5 }, (): [string, object] => [
        'content_block_start',
        { type: 'content_block_start', content_block: { content: [{ usage: 'x'.repeat(900) }] } },
      ]),
      ['message_delta', { type: 'message_delta', usage: { output_tokens: 15 } }],
    )}`,
    usage: [10, 15, null, null],
  },
  {
    name: 'messages stream cut off',
    id: 'anthropic',
    path: '/v1/messages',
    type: STREAM,
    body: named([
      'message_start',
      { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    ]),
    usage: [10, null, null, null],
  },
  {
    name: 'compaction',
    id: 'anthropic',
    path: '/v1/messages',
    body: '{"usage":{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":100,"output_tokens":20},{"type":"message","input_tokens":10,"output_tokens":5}]}}',
    usage: [110, 25, null, null],
  },
  {
    name: 'compaction at Vertex',
    id: 'vertex',
    path: '/v1/publishers/anthropic/models/claude:rawPredict',
    body: '{"usage":{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":100,"output_tokens":20},{"type":"message","input_tokens":10,"output_tokens":5}]}}',
    usage: [110, 25, null, null],
  },
  {
    name: 'thinking of Claude',
    id: 'bedrock',
    path: '/model/m/invoke',
    body: '{"usage":{"input_tokens":10,"output_tokens":5,"output_tokens_details":{"thinking_tokens":3}}}',
    usage: [10, 5, null, 3],
  },
  {
    name: 'Claude behind a gateway',
    id: 'acme',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"cache_read_input_tokens":4,"cache_creation_input_tokens":0}}',
    usage: [10, 5, 4, null],
    rare: { tokens_cache_write: 0 },
  },
  {
    name: 'a model of the Vercel gateway',
    id: 'gateway',
    path: '/v4/ai/language-model',
    body: '{"content":[],"usage":{"inputTokens":{"total":10,"noCache":5,"cacheRead":4,"cacheWrite":1},"outputTokens":{"total":6,"text":4,"reasoning":2}}}',
    usage: [10, 6, 4, 2],
    rare: { tokens_cache_write: 1 },
  },
  {
    name: 'a stream of the Vercel gateway',
    id: 'gateway',
    path: '/v3/ai/language-model',
    type: STREAM,
    body: sse(
      { type: 'text-delta', id: '1', delta: 'Hi' },
      {
        type: 'finish',
        finishReason: { unified: 'stop' },
        usage: { inputTokens: { total: 10, cacheRead: 4 }, outputTokens: { total: 6 } },
      },
    ),
    usage: [10, 6, 4, null],
  },
  {
    name: 'an earlier version of the Vercel gateway',
    id: 'gateway',
    path: '/v1/ai/language-model',
    body: '{"usage":{"inputTokens":10,"outputTokens":6,"totalTokens":16,"reasoningTokens":2,"cachedInputTokens":4}}',
    usage: [10, 6, 4, 2],
  },
  {
    name: 'an embedding by the Vercel gateway',
    id: 'gateway',
    path: '/v4/ai/embedding-model',
    body: '{"embeddings":[[0.1]],"usage":{"tokens":7}}',
    usage: [7, null, null, null],
  },
  {
    name: 'an embedding by Voyage, which reports only the total',
    id: 'voyage',
    path: '/v1/embeddings',
    body: '{"object":"list","data":[],"model":"voyage-4","usage":{"total_tokens":7}}',
    usage: [7, null, null, null],
  },
  {
    name: 'an embedding by Alibaba, which reports only the total',
    id: 'alibaba',
    path: '/api/v1/services/embeddings/text-embedding/text-embedding',
    body: '{"output":{"embeddings":[]},"usage":{"total_tokens":7},"request_id":"r"}',
    usage: [7, null, null, null],
  },
  {
    name: "a stream of Ollama's own API",
    id: 'ollama',
    path: '/api/chat',
    type: 'application/x-ndjson',
    body: '{"model":"m","message":{"role":"assistant","content":"eval_count"},"done":false}\n{"model":"m","done":true,"prompt_eval_count":11,"eval_count":18}\n',
    usage: [11, 18, null, null],
  },
  {
    name: "an embedding by Ollama's own API",
    id: 'ollama',
    path: '/api/embed',
    body: '{"model":"m","embeddings":[[0.1]],"prompt_eval_count":8}',
    usage: [8, null, null, null],
  },
  {
    name: 'embeddings by :predict',
    id: 'vertex',
    path: '/v1/projects/p/locations/us-central1/publishers/google/models/text-embedding-005:predict',
    body: '{"predictions":[{"embeddings":{"values":[0.1],"statistics":{"truncated":false,"token_count":6}}},{"embeddings":{"statistics":{"token_count":7.0,"truncated":false},"values":[0.2]}}],"metadata":{"billableCharacterCount":50}}',
    usage: [13, null, null, null],
  },
  {
    name: 'embeddings by :predict with counts that are no numbers',
    id: 'vertex',
    path: '/v1/projects/p/locations/us-central1/publishers/google/models/text-embedding-005:predict',
    body: '{"predictions":[{"embeddings":{"statistics":{"token_count":"6"}}},{"embeddings":{"statistics":{"token_count":{"a":1}}}}]}',
    usage: NONE,
  },
  {
    name: 'only the total of a chat',
    id: 'alibaba',
    path: '/compatible-mode/v1/chat/completions',
    body: '{"usage":{"total_tokens":7}}',
    usage: NONE,
  },
  {
    name: 'a fallback',
    id: 'anthropic',
    path: '/v1/messages',
    body: '{"usage":{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"message","input_tokens":10,"output_tokens":0},{"type":"fallback_message","input_tokens":10,"output_tokens":5}]}}',
    usage: [10, 5, null, null],
  },
  {
    name: 'files and the container of a messages stream',
    id: 'anthropic',
    path: '/v1/messages',
    type: STREAM,
    body: named(
      [
        'message_start',
        {
          type: 'message_start',
          message: { id: 'msg_1', container: null, usage: { input_tokens: 1, output_tokens: 1 } },
        },
      ],
      ...Array.from({ length: 9 }, (): [string, object] => [
        'content_block_delta',
        { type: 'content_block_delta', delta: { type: 'text_delta', text: '"file_id"' } },
      ]),
      [
        'content_block_start',
        {
          type: 'content_block_start',
          content_block: {
            type: 'bash_code_execution_tool_result',
            content: { content: [{ file_id: 'file_1' }, { file_id: 'file_2' }] },
          },
        },
      ],
      [
        'message_delta',
        {
          type: 'message_delta',
          delta: { container: { id: 'container_1' } },
          usage: { output_tokens: 5 },
        },
      ],
    ),
    usage: [1, 5, null, null],
    created: 'file:file_1 file:file_2 container:container_1',
  },
  {
    name: 'a created batch',
    id: 'anthropic',
    path: '/v1/messages/batches',
    body: '{"id":"msgbatch_1","type":"message_batch"}',
    usage: NONE,
    created: 'batch:msgbatch_1',
  },

  // Google
  {
    name: 'generateContent',
    id: 'google',
    path: '/v1beta/models/g:generateContent',
    body: JSON.stringify(
      gemini('x', {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 7,
        cachedContentTokenCount: 4,
        totalTokenCount: 22,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
      }),
    ),
    usage: [10, 12, 4, 7],
  },
  {
    name: 'generateContent with audio',
    id: 'google',
    path: '/v1beta/models/g:generateContent',
    body: JSON.stringify(
      gemini('x', {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        toolUsePromptTokenCount: 4,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 1 },
          { modality: 'AUDIO', tokenCount: 6 },
          { modality: 'AUDIO', tokenCount: 3 },
          null,
        ],
        toolUsePromptTokensDetails: [{ modality: 'AUDIO', tokenCount: 4 }],
        candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }, { modality: 'AUDIO' }],
      }),
    ),
    usage: [14, 5, null, null],
    rare: { tokens_audio_in: 13, tokens_audio_out: 5 },
  },
  {
    name: 'a Live response',
    id: 'google',
    path: '/v1beta/models/g:generateContent',
    body: '{"usageMetadata":{"promptTokenCount":10,"responseTokenCount":5,"responseTokensDetails":[{"modality":"AUDIO","tokenCount":4}],"promptTokensDetails":{}}}',
    usage: [10, 5, null, null],
    rare: { tokens_audio_out: 4 },
  },
  {
    name: 'an interaction with audio',
    id: 'google',
    path: '/v1beta/interactions',
    body: '{"usage":{"total_input_tokens":9,"total_output_tokens":8,"input_tokens_by_modality":[{"modality":"audio","tokens":6}],"output_tokens_by_modality":[{"modality":"text","tokens":8}]}}',
    usage: [9, 8, null, null],
    rare: { tokens_audio_in: 6 },
  },
  {
    name: 'generateContent with a tool’s prompt',
    id: 'google',
    path: '/v1beta/models/g:generateContent',
    body: '{"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":3,"candidatesTokenCount":5}}',
    usage: [13, 5, null, null],
  },
  {
    name: 'generateContent that was blocked',
    id: 'google',
    path: '/v1beta/models/g:generateContent',
    body: '{"promptFeedback":{},"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10}}',
    usage: [10, null, null, null],
  },
  {
    name: 'streamGenerateContent?alt=sse',
    id: 'google',
    path: '/v1beta/models/g:streamGenerateContent?alt=sse',
    type: STREAM,
    body: sse(
      gemini('a', { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 }),
      gemini('b', { promptTokenCount: 10, candidatesTokenCount: 2 }),
      gemini('c', { promptTokenCount: 10, candidatesTokenCount: 3 }),
      gemini('d', { promptTokenCount: 10, candidatesTokenCount: 4, thoughtsTokenCount: 6 }),
    ),
    usage: [10, 10, null, 6],
  },
  {
    name: 'streamGenerateContent as a list',
    id: 'google',
    path: '/v1beta/models/g:streamGenerateContent',
    type: 'application/json; charset=UTF-8',
    body: JSON.stringify(
      [
        gemini('a', { promptTokenCount: 10 }),
        gemini('"usageMetadata":{}', {
          promptTokenCount: 10,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 6,
        }),
      ],
      null,
      2,
    ),
    usage: [10, 10, null, 6],
  },
  {
    name: 'the same list, cut off',
    id: 'google',
    path: '/v1beta/models/g:streamGenerateContent',
    body: `[${JSON.stringify(gemini('a', { promptTokenCount: 10, candidatesTokenCount: 1 }))},\n{"candidates`,
    usage: [10, 1, null, null],
  },
  {
    name: 'interactions',
    id: 'google',
    path: '/v1beta/interactions',
    body: '{"id":"int_1","usage":{"total_input_tokens":10,"total_output_tokens":5,"total_thought_tokens":2,"total_cached_tokens":3,"total_tokens":17}}',
    usage: [10, 7, 3, 2],
    created: 'interaction:int_1',
  },
  {
    name: 'interactions stream',
    id: 'google',
    path: '/v1beta/interactions',
    type: STREAM,
    body: named(
      ['interaction.created', { event_type: 'interaction.created', interaction: { id: 'int_2' } }],
      [
        'interaction.completed',
        {
          event_type: 'interaction.completed',
          interaction: { id: 'int_2', usage: { total_input_tokens: 1, total_output_tokens: 2 } },
        },
      ],
    ),
    usage: [1, 2, null, null],
    created: 'interaction:int_2',
  },
  {
    name: 'an operation',
    id: 'google',
    path: '/v1beta/models/veo:predictLongRunning',
    body: '{"name":"models/veo/operations/op1"}',
    usage: NONE,
    created: 'operation:op1',
  },
  {
    name: 'an uploaded file',
    id: 'google',
    path: '/upload/v1beta/files',
    body: '{"file":{"name":"files/f1","uri":"https://x"}}',
    usage: NONE,
    created: 'file:f1',
  },
  {
    name: 'vertex',
    id: 'vertex',
    path: '/v1/publishers/google/models/g:generateContent',
    body: '{"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"trafficType":"ON_DEMAND"}}',
    usage: [1, 2, null, null],
  },
  {
    name: 'Gemini in OpenAI’s dialect',
    id: 'google',
    path: '/v1beta/openai/chat/completions',
    body: '{"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    usage: [1, 2, null, null],
  },

  // The others
  {
    name: 'mistral, cached at the top',
    id: 'mistral',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"num_cached_tokens":6}}',
    usage: [10, 2, 6, null],
  },
  {
    name: 'mistral, cached in prompt_token_details',
    id: 'mistral',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_token_details":{"cached_tokens":6}}}',
    usage: [10, 2, 6, null],
  },
  {
    name: 'mistral stream',
    id: 'mistral',
    type: STREAM,
    body: sse(
      delta('a'),
      delta('b', { usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } }),
      '[DONE]',
    ),
    usage: [5, 2, null, null],
  },
  {
    name: 'groq stream',
    id: 'groq',
    path: '/openai/v1/chat/completions',
    type: STREAM,
    body: sse(
      delta('a', { x_groq: { id: 'r' } }),
      delta('', {
        x_groq: {
          id: 'r',
          usage: {
            prompt_tokens: 5,
            completion_tokens: 2,
            prompt_tokens_details: { cached_tokens: 1 },
            queue_time: 0.1,
          },
        },
      }),
      '[DONE]',
    ),
    usage: [5, 2, 1, null],
  },
  {
    name: 'xai counts reasoning apart',
    id: 'xai',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":50}}}',
    usage: [10, 53, 4, 50],
  },
  {
    name: 'xai, cached outside of the prompt',
    id: 'xai',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":40}}}',
    usage: [50, 3, 40, null],
  },
  {
    name: 'xai responses',
    id: 'xai',
    path: '/v1/responses',
    body: '{"id":"r","usage":{"input_tokens":10,"output_tokens":30,"output_tokens_details":{"reasoning_tokens":20}}}',
    usage: [10, 30, null, 20],
    created: 'response:r',
  },
  {
    name: 'deepseek',
    id: 'deepseek',
    path: '/chat/completions',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}}}',
    usage: [10, 3, 8, 1],
  },
  {
    name: 'cohere',
    id: 'cohere',
    path: '/v2/chat',
    body: '{"usage":{"billed_units":{"input_tokens":5,"output_tokens":6},"tokens":{"input_tokens":70,"output_tokens":8},"cached_tokens":3}}',
    usage: [70, 8, 3, null],
  },
  {
    name: 'cohere, billed only',
    id: 'cohere',
    path: '/v2/chat',
    body: '{"usage":{"billed_units":{"input_tokens":5,"output_tokens":6}}}',
    usage: [5, 6, null, null],
  },
  {
    name: 'cohere stream',
    id: 'cohere',
    path: '/v2/chat',
    type: STREAM,
    body: named(
      ['message-start', { type: 'message-start' }],
      [
        'message-end',
        {
          type: 'message-end',
          delta: {
            finish_reason: 'COMPLETE',
            usage: {
              billed_units: { input_tokens: 5, output_tokens: 6 },
              tokens: { input_tokens: 70, output_tokens: 8 },
            },
          },
        },
      ],
    ),
    usage: [70, 8, null, null],
  },
  {
    name: 'cohere embed',
    id: 'cohere',
    path: '/v2/embed',
    body: '{"embeddings":{},"meta":{"api_version":{"version":"2"},"billed_units":{"input_tokens":4}}}',
    usage: [4, null, null, null],
  },
  {
    name: 'cohere v1 stream',
    id: 'cohere',
    path: '/v1/chat',
    type: 'application/stream+json',
    body: '{"event_type":"text-generation","text":"a"}\n{"event_type":"stream-end","response":{"text":"a","meta":{"billed_units":{"input_tokens":5,"output_tokens":6},"tokens":{"input_tokens":70,"output_tokens":8}}}}\n',
    usage: [70, 8, null, null],
  },
  {
    name: 'cohere v1 stream of server-sent events',
    id: 'cohere',
    path: '/v1/chat',
    type: STREAM,
    body: sse(
      { event_type: 'text-generation', text: 'It wrote "billed_units": 3.' },
      {
        event_type: 'stream-end',
        response: {
          text: 'a',
          meta: {
            billed_units: { input_tokens: 5, output_tokens: 6 },
            tokens: { input_tokens: 70, output_tokens: 8 },
          },
        },
      },
    ),
    usage: [70, 8, null, null],
  },
  {
    name: 'perplexity counts reasoning apart',
    id: 'perplexity',
    path: '/chat/completions',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":3,"reasoning_tokens":40,"citation_tokens":7,"num_search_queries":2,"cost":{"total_cost":0.1}}}',
    usage: [10, 43, null, 40],
  },
  {
    name: 'perplexity stream',
    id: 'perplexity',
    path: '/chat/completions',
    type: STREAM,
    body: sse(
      ...[1, 2, 3, 4, 5].map((n) =>
        delta('x', { usage: { prompt_tokens: 10, completion_tokens: n } }),
      ),
    ),
    usage: [10, 5, null, null],
  },
  {
    name: 'fireworks, reasoning larger than the completion',
    id: 'fireworks',
    path: '/inference/v1/chat/completions',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":9}}}',
    usage: [10, 3, null, 3],
  },
  {
    name: 'together',
    id: 'together',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}',
    usage: [10, 3, null, null],
  },
  {
    name: 'cerebras',
    id: 'cerebras',
    body: '{"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0}}}',
    usage: [10, 3, 0, null],
  },
  {
    name: 'openrouter',
    id: 'openrouter',
    path: '/api/v1/chat/completions',
    type: STREAM,
    body: `: OPENROUTER PROCESSING\n\n${sse(delta('a'), { choices: [], usage: { prompt_tokens: 10, completion_tokens: 3, cost: 0.01, prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 } } }, '[DONE]')}`,
    usage: [10, 3, 1, null],
    rare: { tokens_cache_write: 2 },
    created: 'generation:c1',
  },
  {
    name: 'an added provider in Anthropic’s dialect',
    id: 'acme',
    path: '/anything',
    body: '{"usage":{"input_tokens":1,"cache_read_input_tokens":2,"output_tokens":3}}',
    usage: [3, 3, 2, null],
  },
  {
    name: 'an added provider in Gemini’s dialect',
    id: 'acme',
    path: '/anything',
    body: '{"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}',
    usage: [1, 2, null, null],
  },

  // Bedrock
  {
    name: 'converse',
    id: 'bedrock',
    path: '/model/m/converse',
    body: '{"output":{},"usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15,"cacheReadInputTokens":3,"cacheWriteInputTokens":2}}',
    usage: [15, 5, 3, null],
    rare: { tokens_cache_write: 2 },
  },
  {
    name: 'invoke of Nova',
    id: 'bedrock',
    path: '/model/m/invoke',
    body: '{"output":{},"usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15,"cacheReadInputTokenCount":3,"cacheWriteInputTokenCount":2}}',
    usage: [15, 5, 3, null],
    rare: { tokens_cache_write: 2 },
  },
  {
    name: 'converse-stream',
    id: 'bedrock',
    path: '/model/m/converse-stream',
    type: AWS,
    body: Buffer.concat([
      converse('messageStart', { role: 'assistant' }),
      converse('contentBlockDelta', { delta: { text: '"usage":{"inputTokens":99}' } }),
      converse('messageStop', { stopReason: 'end_turn' }),
      converse('metadata', {
        metrics: { latencyMs: 5 },
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      }),
    ]),
    usage: [10, 5, null, null],
  },
  {
    name: 'converse-stream with a frame too long to keep',
    id: 'bedrock',
    path: '/model/m/converse-stream',
    type: AWS,
    body: Buffer.concat([
      converse('contentBlockDelta', { delta: { text: 'x'.repeat(300_000) } }),
      converse('metadata', { usage: { inputTokens: 1, outputTokens: 2 } }),
    ]),
    usage: [1, 2, null, null],
  },
  {
    name: 'invoke-with-response-stream of Claude',
    id: 'bedrock',
    path: '/model/m/invoke-with-response-stream',
    type: AWS,
    body: Buffer.concat([
      invoked({
        type: 'message_start',
        message: { usage: { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 } },
      }),
      invoked({ type: 'content_block_delta', delta: { text: 'hello' } }),
      invoked({ type: 'message_delta', usage: { output_tokens: 9 } }),
      invoked({
        type: 'message_stop',
        'amazon-bedrock-invocationMetrics': { inputTokenCount: 10, outputTokenCount: 9 },
      }),
    ]),
    usage: [14, 9, 4, null],
  },
  {
    name: 'invoke-with-response-stream of another model',
    id: 'bedrock',
    path: '/model/m/invoke-with-response-stream',
    type: AWS,
    body: Buffer.concat([
      invoked({ generation: 'x' }),
      invoked({
        generation: '',
        'amazon-bedrock-invocationMetrics': { inputTokenCount: 3, outputTokenCount: 4 },
      }),
    ]),
    usage: [3, 4, null, null],
  },
  {
    name: 'a broken event stream',
    id: 'bedrock',
    path: '/model/m/converse-stream',
    type: AWS,
    body: 'this is not an event stream at all',
    usage: NONE,
  },
  {
    name: 'invoke, counts in headers',
    id: 'bedrock',
    path: '/model/m/invoke',
    headers: ['X-Amzn-Bedrock-Input-Token-Count', '12', 'X-Amzn-Bedrock-Output-Token-Count', '3'],
    body: '{"embedding":[1,2]}',
    usage: [12, 3, null, null],
  },

  // Nonsense
  {
    name: 'counts that are none',
    id: 'openai',
    body: '{"usage":{"prompt_tokens":"10","completion_tokens":-1,"prompt_tokens_details":[1],"completion_tokens_details":"x"}}',
    usage: NONE,
  },
  { name: 'usage as a list', id: 'openai', body: '{"usage":[1,2]}', usage: NONE },
  { name: 'not JSON', id: 'openai', body: '<html>"usage"</html>', usage: NONE },
  {
    name: 'a response without a type',
    id: 'openai',
    type: '',
    body: '{"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    usage: [1, 2, null, null],
  },
  { name: 'empty', id: 'openai', body: '', usage: NONE },
  {
    name: 'a stream of nonsense',
    id: 'openai',
    type: STREAM,
    body: 'data: {"usage":{{{\n\n"usage"\n\ndata: "usage"\n\n',
    usage: NONE,
  },
  {
    name: 'lines of JSON',
    id: 'openai',
    type: 'application/x-ndjson',
    body: '{"choices":[]}\n{"usage":{"prompt_tokens":1,"completion_tokens":2}}\n',
    usage: [1, 2, null, null],
  },
  ...[
    'application/json',
    'text/plain; charset=utf-8',
    'application/octet-stream',
    'text/html',
    '',
    'nonsense',
  ].flatMap((type): Fixture[] => [
    {
      name: `a stream as "${type}"`,
      id: 'openai',
      type,
      body: sse(
        delta('Hel'),
        { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } },
        '[DONE]',
      ),
      usage: [7, 3, null, null],
    },
    {
      name: `a stream that begins with a comment and blank lines as "${type}"`,
      id: 'openai',
      type,
      body: `\r\n: hi\n\n${sse({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })}`,
      usage: [7, 3, null, null],
    },
    {
      name: `a stream with names of events as "${type}"`,
      id: 'anthropic',
      path: '/v1/messages',
      type,
      body: named(
        ['message_start', { message: { usage: { input_tokens: 1, output_tokens: 1 } } }],
        ['message_delta', { usage: { output_tokens: 5 } }],
      ),
      usage: [1, 5, null, null],
    },
    {
      name: `lines of JSON as "${type}"`,
      id: 'openai',
      type,
      body: '{"choices":[]}\n{"usage":{"prompt_tokens":1,"completion_tokens":2}}\n',
      usage: [1, 2, null, null],
    },
    {
      name: `JSON as "${type}"`,
      id: 'openai',
      type,
      body: `${' '.repeat(300)}{"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
      usage: [1, 2, null, null],
    },
  ]),
  {
    name: 'JSON as a stream of events',
    id: 'openai',
    type: STREAM,
    body: ' {"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    usage: [1, 2, null, null],
  },
  {
    name: 'an event stream without a blank line at its beginning or end',
    id: 'openai',
    type: '',
    body: 'data:{"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    usage: [1, 2, null, null],
  },
  {
    name: 'text that begins with a word of events',
    id: 'openai',
    type: 'text/plain',
    body: 'dat {"usage":{"prompt_tokens":1}}',
    usage: NONE,
  },
  {
    name: 'a picture that begins like an object',
    id: 'openai',
    type: 'image/png',
    body: '{"usage":{"prompt_tokens":1}}',
    usage: NONE,
  },
]

/** U+FEFF in UTF-8. */
const MARK = Buffer.from('\ufeff')

const ENCODERS: [encoding: string, encode: (body: Buffer) => Buffer][] = [
  ['gzip', (body) => gzipSync(body)],
  ['deflate', (body) => deflateSync(body)],
  ['deflate', (body) => deflateRawSync(body)],
  ['br', (body) => brotliCompressSync(body)],
  ['zstd', (body) => zstdCompressSync(body)],
  ['gzip, br', (body) => brotliCompressSync(gzipSync(body))],
  ['deflate,identity , ZSTD', (body) => zstdCompressSync(deflateRawSync(body))],
]

async function read(
  fixture: Fixture,
  pieces: Iterable<Buffer>,
  headers: string[] = [],
): Promise<{ usage: Usage; created: readonly ObjectRef[] }> {
  const provider = table.byId(fixture.id)
  assert.ok(provider)
  const match = classify(provider, fixture.method ?? 'POST', fixture.path ?? CHAT)
  const meter = createUsageMeter(
    provider,
    match,
    ['Content-Type', fixture.type ?? 'application/json', ...(fixture.headers ?? []), ...headers],
    OWNER,
  )
  for (const piece of pieces) meter.write(piece)
  return { usage: await meter.end(), created: meter.created }
}

function* cut(body: Buffer, size: number): Generator<Buffer> {
  // Each piece is wiped once it has been given: a reader that keeps a view instead of a copy is
  // found out.
  for (let i = 0; i < body.length; i += size) {
    const piece = Buffer.from(body.subarray(i, i + size))
    yield piece
    piece.fill(0)
  }
}

for (const fixture of fixtures) {
  test(`${fixture.id}: ${fixture.name}`, async () => {
    const body = Buffer.from(fixture.body)
    const usage = { ...usageOf(fixture.usage), ...fixture.rare }
    const created = (fixture.created?.split(' ') ?? []).map((name) => ({
      kind: name.split(':')[0],
      id: name.split(':')[1],
    }))
    const expected = { usage, created }
    assert.deepEqual(await read(fixture, cut(body, Infinity)), expected, 'in one piece')
    for (const size of [1, 2, 3, 7, 1000])
      if (body.length / size < 50_000)
        assert.deepEqual(await read(fixture, cut(body, size)), expected, `in pieces of ${size}`)
    for (const [encoding, encode] of ENCODERS)
      for (const size of [1000, Infinity])
        assert.deepEqual(
          await read(fixture, cut(encode(body), size), ['content-encoding', encoding]),
          expected,
          `${encoding} in pieces of ${size}`,
        )
    if (fixture.type === AWS) return
    for (const size of [1, 2, Infinity])
      assert.deepEqual(
        await read(fixture, cut(Buffer.concat([MARK, body]), size)),
        expected,
        `behind a byte order mark, in pieces of ${size}`,
      )
  })
}

test('a truncated compressed stream gives the usage it had', async () => {
  const fixture = fixtures.find(({ name }) => name === 'messages stream')
  assert.ok(fixture)
  const more = Buffer.from(`${String(fixture.body)}data: {"x":"${'abcdefghij'.repeat(2_000)}"}\n\n`)
  for (const [encoding, encode] of ENCODERS.slice(0, 3)) {
    const encoded = encode(more)
    const { usage } = await read(
      fixture,
      [encoded.subarray(0, encoded.length - 12)],
      ['content-encoding', encoding],
    )
    assert.deepEqual(usage, { ...usageOf([30, 15, 20, null]), tokens_cache_write: 0 }, encoding)
  }
})

test('a body that does not match its encoding is unknown, not an error', async () => {
  const fixture = fixtures[0]
  assert.ok(fixture)
  for (const encoding of ['gzip', 'br', 'zstd', 'deflate', 'compress', 'gzip, br', 'constructor']) {
    const { usage } = await read(
      fixture,
      [Buffer.from('{"usage":{"prompt_tokens":1}}')],
      ['content-encoding', encoding],
    )
    assert.deepEqual(usage, UNKNOWN, encoding)
  }
})

test('any bytes, of any type and split, are handled', async () => {
  const types = fc.constantFrom(
    'application/json',
    'text/event-stream',
    'application/vnd.amazon.eventstream',
    'application/x-ndjson',
  )
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        'data: ',
        '\n\n',
        '\r\n',
        '"usage":',
        '{',
        '}',
        'null',
        '\\',
        '"',
        '\0\0\0\x20\0\0\0\0',
      )
      .map((text) => Buffer.from(text, 'latin1')),
  )
  await fc.assert(
    fc.asyncProperty(types, fc.array(piece, { maxLength: 20 }), async (type, pieces) => {
      const one = await read({ name: '', id: 'openai', type, body: '', usage: [] }, [
        Buffer.concat(pieces),
      ])
      assert.deepEqual(
        await read({ name: '', id: 'openai', type, body: '', usage: [] }, pieces),
        one,
      )
    }),
    { numRuns: 500 },
  )
})

test('a frame that claims to be huge is not kept', async () => {
  const provider = table.byId('bedrock')
  assert.ok(provider)
  const meter = createUsageMeter(
    provider,
    classify(provider, 'POST', '/model/m/converse-stream'),
    ['content-type', AWS],
    OWNER,
  )
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(60_000_000, 0)
  meter.write(prelude)
  const piece = Buffer.alloc(1_000_000)
  const before = heldBytes()
  for (let i = 0; i < 50; i++) meter.write(piece)
  assert.ok(heldBytes() - before < 10_000_000)
  assert.deepEqual(await meter.end(), UNKNOWN)
})

test('a stream that repeats its usage keeps only a few events', async () => {
  const provider = table.byId('google')
  assert.ok(provider)
  const meter = createUsageMeter(
    provider,
    classify(provider, 'POST', '/v1beta/models/g:streamGenerateContent'),
    ['content-type', STREAM],
    OWNER,
  )
  const event = Buffer.from(
    sse(gemini('x'.repeat(1_900), { promptTokenCount: 1, candidatesTokenCount: 2 })),
  )
  const before = heldBytes()
  for (let i = 0; i < 20_000; i++) meter.write(event)
  assert.ok(heldBytes() - before < 5_000_000)
  assert.deepEqual(await meter.end(), usageOf([1, 2, null, null]))
})

test('a response of fifty megabytes takes the memory of one usage object', async () => {
  const provider = table.byId('openai')
  assert.ok(provider)
  for (const type of ['application/json', 'text/event-stream']) {
    const meter = createUsageMeter(
      provider,
      classify(provider, 'POST', CHAT),
      ['content-type', type],
      OWNER,
    )
    const piece = Buffer.alloc(1_000_000, 'x')
    meter.write(Buffer.from('data: {"x":"'.slice(type === 'application/json' ? 6 : 0)))
    const before = heldBytes()
    for (let i = 0; i < 50; i++) meter.write(piece)
    assert.ok(heldBytes() - before < 10_000_000, type)
    meter.write(Buffer.from('","usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n'))
    assert.deepEqual(await meter.end(), usageOf([1, 2, null, null]), type)
  }
})

test('an event that is cut off names its object, as soon as the caller may have seen it', () => {
  const provider = table.byId('openai')
  assert.ok(provider)
  const match = classify(provider, 'POST', '/v1/responses')
  const event = named([
    'response.created',
    { type: 'response.created', response: { id: 'resp_1', output: [], tools: [{ name: 'x' }] } },
  ])
  const made = [{ kind: 'response', id: 'resp_1' }]
  for (let end = event.indexOf('resp_1') + 'resp_1"'.length; end <= event.length; end++) {
    const meter = createUsageMeter(provider, match, ['content-type', STREAM], OWNER, true)
    meter.write(Buffer.from(event.slice(0, end)))
    void meter.end()
    assert.deepEqual(meter.created, made, event.slice(0, end))
  }
})
