// The AI SDK's providers need no fetch of ours: with `/proxy/<host>` as their base URL and a proxy
// key as their own they do the same as with the provider itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createCohere } from '@ai-sdk/cohere'
import { createGoogle } from '@ai-sdk/google'
import { createGroq } from '@ai-sdk/groq'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText, type LanguageModel } from 'ai'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { startServed } from '../support/served.ts'

interface Options {
  baseURL: string
  apiKey: string
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const SSE = { 'Content-Type': 'text/event-stream' }
const chat = {
  id: '1',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
}
const chunk = {
  id: '1',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
}
const events = (...all: unknown[]): string =>
  all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const gemini = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
}

/** TABLE: the provider, where it is, its response at once and as a stream. */
const CASES: [
  make: (options: Options) => LanguageModel,
  base: string,
  whole: unknown,
  streamed: string,
][] = [
  [
    (options) => createOpenAI(options).chat('gpt-5'),
    'api.openai.com/v1',
    chat,
    `${events(chunk)}data: [DONE]\n\n`,
  ],
  [
    (options) => createGroq(options)('llama'),
    'api.groq.com/openai/v1',
    chat,
    `${events(chunk)}data: [DONE]\n\n`,
  ],
  [
    (options) => createMistral(options)('mistral-large'),
    'api.mistral.ai/v1',
    { object: 'chat.completion', ...chat },
    `${events({ object: 'chat.completion.chunk', ...chunk })}data: [DONE]\n\n`,
  ],
  [
    (options) => createGoogle(options)('gemini-2.5-flash'),
    'generativelanguage.googleapis.com/v1beta',
    gemini,
    events(gemini),
  ],
  [
    (options) => createAnthropic(options)('claude-sonnet-4-5'),
    'api.anthropic.com/v1',
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    events(
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ),
  ],
  [
    (options) => createCohere(options)('command-r'),
    'api.cohere.com/v2',
    {
      generation_id: '1',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      finish_reason: 'COMPLETE',
      usage: {
        billed_units: { input_tokens: 1, output_tokens: 2 },
        tokens: { input_tokens: 1, output_tokens: 2 },
      },
    },
    events(
      { type: 'message-start', id: '1' },
      {
        type: 'content-start',
        index: 0,
        delta: { message: { content: { type: 'text', text: '' } } },
      },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hello' } } } },
      { type: 'content-end', index: 0 },
      {
        type: 'message-end',
        delta: {
          finish_reason: 'COMPLETE',
          usage: { tokens: { input_tokens: 1, output_tokens: 2 } },
        },
      },
    ),
  ],
]

test('a text and a stream are the same directly and through a base URL', async (t) => {
  const { fake, key, port } = await startServed(t, respond(200, {}, ''), (origin) =>
    Object.fromEntries(
      ['MISTRAL', 'GROQ', 'COHERE'].flatMap((id) => [
        [`TOLLMARK_UPSTREAM_${id}`, origin],
        [`${id}_API_KEY`, 'k'],
      ]),
    ),
  )
  const { secret } = await key()
  for (const [make, base, whole, streamed] of CASES) {
    const run = async (options: Options) => {
      const model = make(options)
      fake.play(respond(200, JSON_TYPE, JSON.stringify(whole)))
      const { text, usage, finishReason } = await generateText({
        model,
        prompt: 'Hi',
        maxRetries: 0,
      })
      fake.play(respond(200, SSE, streamed))
      const parts: string[] = []
      for await (const piece of streamText({ model, prompt: 'Hi', maxRetries: 0 }).textStream)
        parts.push(piece)
      const sent = fake.requests
        .splice(0)
        .map(({ method, target, body, rawHeaders }) => [
          method,
          target,
          body.toString(),
          headerOf(rawHeaders, 'user-agent'),
          headerOf(rawHeaders, 'content-type'),
        ])
      return { text, usage, finishReason, parts, sent }
    }
    const direct = await run({
      baseURL: `${fake.origin}${base.slice(base.indexOf('/'))}`,
      apiKey: 'k',
    })
    const through = await run({ baseURL: `http://127.0.0.1:${port}/proxy/${base}`, apiKey: secret })
    assert.equal(direct.text, 'Hello', base)
    assert.deepEqual(direct.parts, ['Hello'], base)
    assert.deepEqual(through, direct, base)
  }
})
