// How providers say no, each in its own words; and what breaks off.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createAzure } from '@ai-sdk/azure'
import { createCerebras } from '@ai-sdk/cerebras'
import { createCohere } from '@ai-sdk/cohere'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createFireworks } from '@ai-sdk/fireworks'
import { createGoogle } from '@ai-sdk/google'
import { createGoogleVertex } from '@ai-sdk/google-vertex/edge'
import { createGroq } from '@ai-sdk/groq'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createPerplexity } from '@ai-sdk/perplexity'
import { createTogetherAI } from '@ai-sdk/togetherai'
import { createXai } from '@ai-sdk/xai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import type { LanguageModel } from 'ai'
import { stream, text, type Fetch } from '../calls.ts'
import { MANAGED, type Case } from '../twice.ts'
import { json, type Tokens, type Wire } from '../wire.ts'

interface Speaker {
  /** Id of the provider table. */
  id: string
  model: (fetch: Fetch) => LanguageModel
  /** How it writes an error. */
  error: (status: number, message: string) => object
}

const key = { apiKey: MANAGED }
const googleError = (status: number, message: string) => ({
  error: {
    code: status,
    message,
    status: 'SOME_STATUS',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }],
  },
})
const openaiError = (_: number, message: string) => ({
  error: { message, type: 'some_error', param: null, code: 'some_code' },
})

/** TABLE of providers: one language model of each. */
export const SPEAKERS: Speaker[] = [
  {
    id: 'google',
    model: (fetch) => createGoogle({ ...key, fetch })('gemini-2.5-flash'),
    error: googleError,
  },
  {
    id: 'vertex',
    model: (fetch) => createGoogleVertex({ ...key, fetch })('gemini-2.5-flash'),
    error: googleError,
  },
  { id: 'openai', model: (fetch) => createOpenAI({ ...key, fetch })('gpt-5'), error: openaiError },
  {
    id: 'openai',
    model: (fetch) => createOpenAI({ ...key, fetch }).chat('gpt-5'),
    error: openaiError,
  },
  {
    id: 'azure',
    model: (fetch) => createAzure({ ...key, fetch, resourceName: 'acme' })('ours'),
    error: openaiError,
  },
  {
    id: 'anthropic',
    model: (fetch) => createAnthropic({ ...key, fetch })('claude-sonnet-4-5'),
    error: (_, message) => ({
      type: 'error',
      error: { type: 'some_error', message },
      request_id: 'req_011',
    }),
  },
  {
    id: 'mistral',
    model: (fetch) => createMistral({ ...key, fetch })('mistral-small-latest'),
    error: (_, message) => ({
      object: 'error',
      message,
      type: 'some_error',
      param: null,
      code: null,
    }),
  },
  {
    id: 'groq',
    model: (fetch) => createGroq({ ...key, fetch })('llama-3.3-70b-versatile'),
    error: (_, message) => ({ error: { message, type: 'some_error' } }),
  },
  {
    id: 'xai',
    model: (fetch) => createXai({ ...key, fetch })('grok-4'),
    error: (_, message) => ({ code: 'some code', error: message }),
  },
  {
    id: 'deepseek',
    model: (fetch) => createDeepSeek({ ...key, fetch })('deepseek-chat'),
    error: openaiError,
  },
  {
    id: 'cohere',
    model: (fetch) => createCohere({ ...key, fetch })('command-a-03-2025'),
    error: (_, message) => ({ message }),
  },
  {
    id: 'together',
    model: (fetch) =>
      createTogetherAI({ ...key, fetch })('meta-llama/Llama-3.3-70B-Instruct-Turbo'),
    error: openaiError,
  },
  {
    id: 'fireworks',
    model: (fetch) =>
      createFireworks({ ...key, fetch })('accounts/fireworks/models/kimi-k2-instruct'),
    error: (_, message) => ({ error: message }),
  },
  {
    id: 'perplexity',
    model: (fetch) => createPerplexity({ ...key, fetch })('sonar'),
    error: (status, message) => ({ error: { code: status, message, type: 'some_error' } }),
  },
  {
    id: 'openrouter',
    model: (fetch) => createOpenRouter({ ...key, fetch }).chat('openai/gpt-5'),
    error: (status, message) => ({
      error: { code: status, message, metadata: { provider_name: 'OpenAI' } },
      user_id: 'user_1',
    }),
  },
  {
    id: 'cerebras',
    model: (fetch) => createCerebras({ ...key, fetch })('llama-4-scout-17b-16e-instruct'),
    error: (_, message) => ({ message, type: 'some_error', param: 'model', code: 'some_code' }),
  },
  {
    id: 'bedrock',
    model: (fetch) =>
      createAmazonBedrock({ ...key, fetch, region: 'us-east-1' })('amazon.nova-lite'),
    error: (_, message) => ({ message, type: null }),
  },
]

/** TABLE of refusals that a provider can give. */
const REFUSALS: { status: number; headers?: Record<string, string> }[] = [
  { status: 400 },
  { status: 401, headers: { 'WWW-Authenticate': 'Bearer realm="provider"' } },
  { status: 403 },
  { status: 404 },
  {
    status: 429,
    headers: {
      'Retry-After': '17',
      'Retry-After-Ms': '16500',
      'X-RateLimit-Remaining-Requests': '0',
    },
  },
  { status: 429, headers: { 'Retry-After': 'Wed, 21 Oct 2099 07:28:00 GMT' } },
  { status: 500 },
  { status: 503, headers: { 'Retry-After': '3' } },
  { status: 529 },
]

const refused = ({ id, model, error }: Speaker, n: number): Case[] => [
  ...REFUSALS.map(({ status, headers = {} }): Case => ({
    name: `${id} (${n}) responds with ${status} ${Object.keys(headers).join(', ')}`,
    run: text(model),
    responses: [json(error(status, `The provider says ${status}: “nein”.`), { status, headers })],
    fails: 'AI_APICallError',
  })),
  {
    name: `${id} (${n}) refuses a stream`,
    run: stream(model),
    responses: [json(error(429, 'Not now.'), { status: 429, headers: { 'Retry-After': '9' } })],
  },
  {
    name: `${id} (${n}) responds with what is no JSON`,
    run: text(model),
    responses: [
      { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad gateway</h1>' },
    ],
    fails: 'AI_APICallError',
  },
  {
    name: `${id} (${n}) is asked again as it says`,
    run: text(model, { maxRetries: 1 }),
    fails: 'AI_RetryError',
    responses: [
      json(error(429, 'Not now.'), {
        status: 429,
        headers: { 'Retry-After-Ms': '20', 'Retry-After': '1' },
      }),
      json(error(500, 'Not at all.'), { status: 500 }),
    ],
  },
]

export const REFUSED: Case[] = SPEAKERS.flatMap(refused)

/**
 * What of a response's tokens was said before it broke off, by the beginning of the case's name.
 */
const SAID_EARLY: [name: string, tokens: Tokens][] = [
  ['google', [20, null, null, null]],
  ['vertex', [20, null, null, null]],
  ['anthropic', [152, null, 40, null]],
]

/** Every stream of other cases, broken off before its end in either way. */
export const brokenOff = (cases: readonly Case[]): Case[] =>
  cases
    .filter(
      ({ name, responses }) =>
        name.endsWith(': streams') && responses.length === 1 && responses[0]!.pieces !== undefined,
    )
    .flatMap(({ name, run, responses: [response] }) =>
      (['closed', 'reset'] as const).map((breaks): Case => {
        const { pieces = [], tokens: _, ...rest } = response!
        const early = SAID_EARLY.find(([start]) => name.startsWith(start))?.[1]
        const broken: Wire = {
          ...rest,
          pieces: pieces.slice(0, Math.ceil(pieces.length / 2)),
          breaks,
          ...(early && { tokens: early }),
        }
        return {
          name: `${name}, and the connection is ${breaks}`,
          run,
          responses: [broken],
          countsOtherwise: 'the SDK forgets the usage of a stream that fails',
        }
      }),
    )
