import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import * as fc from 'fast-check'
import { compileScope } from '../../../server/keys/scope.ts'
import { needsBody } from '../../../server/proxy/inspect/resolve-models.ts'
import { BodyObserver } from '../../../server/proxy/inspect/observer.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { checkScope, readHeld } from './inspected.ts'

const table = createProviderTable({
  custom: [
    { id: 'house-gateway', origin: 'https://llm.example.com' },
    { id: 'house-claude', origin: 'https://claude.example.com', speaks: 'anthropic' },
  ],
  instances: [
    { provider: 'azure', values: { resource: 'acme' } },
    { provider: 'bedrock', values: { region: 'us-east-1' } },
  ],
})
const JSON_TYPE = ['Content-Type', 'application/json']
const LIMIT = 1_000_000

interface Case {
  /** Provider; openai's chat unless told. */
  id?: string
  path?: string
  scope?: string[]
  headers?: string[]
  body: string | Buffer | null
}

async function check({
  id = 'openai',
  path = '/v1/chat/completions',
  scope = ['allowed'],
  headers = JSON_TYPE,
  body,
}: Case): Promise<string> {
  const provider = table.byId(id)
  assert.ok(provider)
  const match = classify(provider, 'POST', path)
  assert.equal(match.class, 'model', path)
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const reach = await checkScope(compileScope(scope), {
    provider,
    match,
    pathAndQuery: path,
    headers,
    body: bytes,
    limit: LIMIT,
  })
  return reach.ok ? `ok ${reach.models.join(',')}` : reach.code
}

const GEMINI = { id: 'google', path: '/v1beta/models/allowed:generateContent' }
const BATCH = { id: 'google', path: '/v1beta/models/allowed:batchGenerateContent' }
const ROUTER = { id: 'openrouter', path: '/api/v1/chat/completions' }
const MISTRAL = { id: 'mistral', path: '/v1/chat/completions' }
const GATEWAY = { id: 'house-gateway', path: '/v1/chat/completions' }
const PATTERNS = ['allow*', ...Array.from({ length: 498 }, (_, i) => `${i}*`), 'm*']
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `m-${i}`)
const withModels = (count: number): string =>
  JSON.stringify({ model: 'allowed', models: names(count) })
const SPOKEN = { id: 'house-claude', path: '/v1/messages' }
const CLAUDE = { id: 'anthropic', path: '/v1/messages' }
const CLAUDE_BATCH = { id: 'anthropic', path: '/v1/messages/batches' }
const RESPONSES = { path: '/v1/responses' }
const [NO, AMBIGUOUS] = ['model_not_allowed', 'ambiguous_body']
const deep = (depth: number) => `{"model":"allowed","x":${'['.repeat(depth)}${']'.repeat(depth)}}`

const cases: [name: string, request: Case, expected: string][] = [
  // What is meant to pass.
  ['the allowed model', { body: '{"model":"allowed","messages":[]}' }, 'ok allowed'],
  [
    'the model last',
    { body: '{"messages":[{"role":"user","content":"x"}],"model":"allowed"}' },
    'ok allowed',
  ],
  ['space around', { body: ' \r\n\t{ "model" : "allowed" } \n' }, 'ok allowed'],
  [
    'a decoy in a message',
    {
      body: '{"messages":[{"content":"\\"model\\":\\"other\\"","model":"other"}],"model":"allowed"}',
    },
    'ok allowed',
  ],
  [
    'a function whose schema has a model',
    {
      body: '{"model":"allowed","tools":[{"type":"function","function":{"parameters":{"properties":{"model":{"type":"string"}}}}}]}',
    },
    'ok allowed',
  ],
  ['an escaped letter in the value', { body: '{"model":"allow\\u0065d"}' }, 'ok allowed'],
  ['no content type', { headers: [], body: '{"model":"allowed"}' }, 'ok allowed'],
  [
    'a content type with a charset',
    { headers: ['content-type', 'application/json; charset=UTF-8'], body: '{"model":"allowed"}' },
    'ok allowed',
  ],
  [
    'an input of one text',
    { ...RESPONSES, body: '{"model":"allowed","input":"Hello"}' },
    'ok allowed',
  ],
  [
    'tools among the input',
    {
      ...RESPONSES,
      body: '{"model":"allowed","input":[{"role":"user","content":"x"},{"type":"additional_tools","tools":[{"type":"image_generation","model":"allowed"},{"type":"function"}]}]}',
    },
    'ok allowed,allowed',
  ],
  [
    'a conversation',
    { path: '/v1/conversations', body: '{"items":[{"role":"user","content":"x"}]}' },
    'ok ',
  ],
  ['a conversation without items', { path: '/v1/conversations', body: null }, 'ok '],
  [
    'tokens to embed',
    { path: '/v1/embeddings', body: '{"model":"allowed","input":[[1,2],[3]]}' },
    'ok allowed',
  ],
  [
    'messages of one text and of several',
    {
      ...CLAUDE,
      body: '{"model":"allowed","messages":[{"role":"user","content":"x"},{"role":"user","content":[{"type":"text","text":"x"}]}]}',
    },
    'ok allowed',
  ],
  [
    'a text at Bedrock',
    {
      id: 'bedrock',
      path: '/model/allowed/invoke',
      body: '{"messages":[{"role":"user","content":"x"}]}',
    },
    'ok allowed',
  ],
  ['two hundred levels', { body: deep(200) }, 'ok allowed'],
  [
    'a guard of an allowed model',
    { id: 'together', body: '{"model":"allowed","safety_model":"allowed"}' },
    'ok allowed,allowed',
  ],
  [
    'an image tool of an allowed model',
    {
      ...RESPONSES,
      body: '{"model":"allowed","tools":[{"type":"image_generation","model":"allowed"}]}',
    },
    'ok allowed,allowed',
  ],
  ['a glob', { scope: ['gpt-*'], body: '{"model":"gpt-x-mini"}' }, 'ok gpt-x-mini'],
  [
    'all models of a list allowed',
    { ...ROUTER, scope: ['a/*', 'b/x'], body: '{"models":["a/1","b/x"]}' },
    'ok a/1,b/x',
  ],
  [
    'a router whose models are allowed',
    {
      ...ROUTER,
      body: '{"model":"allowed","plugins":[{"id":"auto-router","allowed_models":["allowed"],"excluded_models":["other"]}]}',
    },
    'ok allowed,allowed',
  ],
  [
    'a fallback that is allowed',
    {
      ...CLAUDE,
      body: '{"model":"allowed","fallbacks":[{"model":"allowed"}],"fallback_credit_token":"x"}',
    },
    'ok allowed,allowed',
  ],
  [
    'a prediction at Fireworks',
    {
      id: 'fireworks',
      path: '/inference/v1/chat/completions',
      body: '{"model":"allowed","prediction":{"type":"content","content":"x"}}',
    },
    'ok allowed',
  ],
  ['gemini without a body model', { ...GEMINI, body: '{"contents":[]}' }, 'ok allowed'],
  [
    'gemini with the same model in the body',
    { ...GEMINI, body: '{"model":"models/allowed","contents":[]}' },
    'ok allowed,models/allowed',
  ],
  ['gemini without a body', { ...GEMINI, body: null }, 'ok allowed'],
  [
    'a batch of the allowed model',
    {
      ...CLAUDE_BATCH,
      body: '{"requests":[{"custom_id":"1","params":{"model":"allowed"}},{"custom_id":"2","params":{"model":"allowed"}}]}',
    },
    'ok allowed',
  ],
  [
    'gemini batch in the body',
    {
      ...BATCH,
      body: '{"batch":{"input_config":{"requests":{"requests":[{"request":{"contents":[]}}]}}}}',
    },
    'ok allowed',
  ],
  [
    'bedrock by id',
    {
      id: 'bedrock',
      path: '/model/us.anthropic.claude-x-v1%3A0/converse',
      scope: ['us.anthropic.claude-x-v1:0'],
      body: '{}',
    },
    'ok us.anthropic.claude-x-v1:0',
  ],
  [
    'bedrock by ARN',
    {
      id: 'bedrock',
      path: '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Famazon.nova/invoke',
      scope: ['amazon.nova'],
      body: '{}',
    },
    'ok arn:aws:bedrock:us-east-1::foundation-model/amazon.nova',
  ],
  [
    'azure by deployment',
    {
      id: 'azure',
      path: '/openai/deployments/allowed/chat/completions?api-version=1',
      body: '{"messages":[]}',
    },
    'ok allowed',
  ],
  [
    'vertex by its short name',
    { id: 'vertex', path: '/v1/publishers/google/models/allowed:generateContent', body: '{}' },
    'ok publishers/google/models/allowed',
  ],
  [
    'a model with an odd name, exactly listed',
    { scope: ['Größe 1'], body: '{"model":"Größe 1"}' },
    'ok Größe 1',
  ],
  [
    'gzip',
    { headers: [...JSON_TYPE, 'Content-Encoding', 'gzip'], body: gzipSync('{"model":"allowed"}') },
    'ok allowed',
  ],
  [
    'gzip with all that a head of it can hold',
    {
      headers: ['Content-Encoding', 'gzip'],
      body: Buffer.concat([
        Buffer.from('1f8b081e0000000000030200', 'hex'),
        Buffer.from('exname\0comment\0cc'),
        gzipSync('{"model":"allowed"}').subarray(10),
      ]),
    },
    'ok allowed',
  ],
  [
    'deflate',
    {
      headers: [...JSON_TYPE, 'Content-Encoding', 'deflate'],
      body: deflateSync('{"model":"allowed"}'),
    },
    'ok allowed',
  ],
  [
    'br',
    {
      headers: [...JSON_TYPE, 'Content-Encoding', 'br'],
      body: brotliCompressSync('{"model":"allowed"}'),
    },
    'ok allowed',
  ],
  [
    'zstd',
    {
      headers: [...JSON_TYPE, 'Content-Encoding', 'ZSTD'],
      body: zstdCompressSync('{"model":"allowed"}'),
    },
    'ok allowed',
  ],

  // Another model, plainly and hidden.
  ['another model', { body: '{"model":"other"}' }, NO],
  [
    'another model as the guard',
    { id: 'together', body: '{"model":"allowed","safety_model":"other"}' },
    NO,
  ],
  ['an empty scope', { scope: [], body: '{"model":"allowed"}' }, NO],
  ['another case', { body: '{"model":"Allowed"}' }, NO],
  ['a space behind', { body: '{"model":"allowed "}' }, NO],
  ['a NUL behind', { body: '{"model":"allowed\\u0000"}' }, NO],
  ['a zero-width space', { body: '{"model":"allowed\u200b"}' }, NO],
  ['a full-width letter', { body: '{"model":"ａllowed"}' }, NO],
  ['a longer name', { body: '{"model":"allowed-pro"}' }, NO],
  ['a shorter name', { body: '{"model":"allowe"}' }, NO],
  ['a list in a string', { body: '{"model":"allowed,other"}' }, NO],
  ['a glob in the request', { body: '{"model":"*"}' }, NO],
  ['dots under a glob', { scope: ['a/*'], body: '{"model":"a/../b"}' }, NO],
  ['double slash under a glob', { scope: ['a/*'], body: '{"model":"a//b"}' }, NO],
  ['encoded slash under a glob', { scope: ['a*'], body: '{"model":"a%2Fb"}' }, NO],
  ['query under a glob', { scope: ['a*'], body: '{"model":"a?model=b"}' }, NO],
  ['control character under a glob', { scope: ['*'], body: '{"model":"a\\nb"}' }, NO],
  ['beyond ASCII under a glob', { scope: ['*'], body: '{"model":"é"}' }, NO],
  [
    'a preset under a glob',
    { ...ROUTER, scope: ['openai/*'], body: '{"model":"openai/gpt@preset/x"}' },
    NO,
  ],
  ['a lone surrogate', { scope: ['*'], body: '{"model":"a\\ud800"}' }, NO],
  ['a very long name', { scope: ['*'], body: `{"model":"${'a'.repeat(5_000)}"}` }, NO],

  // Not a name.
  ['no model', { body: '{"messages":[]}' }, NO],
  ['only a nested model', { body: '{"body":{"model":"allowed"}}' }, NO],
  ['an empty object', { body: '{}' }, NO],
  ['no body', { body: null }, NO],
  ['an empty body', { body: '' }, NO],
  ['a number', { body: '{"model":1}' }, NO],
  ['null', { body: '{"model":null}' }, NO],
  ['true', { body: '{"model":true}' }, NO],
  ['a list', { body: '{"model":["allowed"]}' }, NO],
  ['an object', { body: '{"model":{"id":"allowed"}}' }, NO],
  ['an empty string', { body: '{"model":""}' }, NO],
  ['a list of bodies', { body: '[{"model":"allowed"}]' }, NO],
  ['a string as the body', { body: '"allowed"' }, NO],
  ['a number as the body', { body: '1' }, NO],

  // Keys that parsers read differently.
  ['twice, allowed first', { body: '{"model":"allowed","model":"other"}' }, AMBIGUOUS],
  ['twice, allowed last', { body: '{"model":"other","model":"allowed"}' }, AMBIGUOUS],
  ['twice the same', { body: '{"model":"allowed","model":"allowed"}' }, AMBIGUOUS],
  ['twice, once null', { body: '{"model":"allowed","model":null}' }, AMBIGUOUS],
  ['twice, once not a name', { body: '{"model":"allowed","model":1}' }, AMBIGUOUS],
  ['an escaped key', { body: '{"mod\\u0065l":"allowed"}' }, AMBIGUOUS],
  ['an escaped key of another model', { body: '{"mod\\u0065l":"other"}' }, NO],
  ['plain and escaped', { body: '{"model":"allowed","\\u006dodel":"allowed"}' }, AMBIGUOUS],
  [
    'plain and escaped of another model',
    { body: '{"model":"allowed","\\u006d\\u006f\\u0064\\u0065\\u006c":"other"}' },
    AMBIGUOUS,
  ],
  ['a key in capitals', { body: '{"model":"allowed","Model":"other"}' }, AMBIGUOUS],
  ['only a key in capitals', { body: '{"MODEL":"allowed"}' }, AMBIGUOUS],
  ['a key that folds', { ...ROUTER, body: '{"model":"allowed","modelſ":["other"]}' }, AMBIGUOUS],
  ['a key cut by NUL', { body: '{"model":"allowed","model\\u0000x":"other"}' }, AMBIGUOUS],
  [
    'tools twice',
    { ...RESPONSES, body: '{"model":"allowed","tools":[],"tools":[{"model":"other"}]}' },
    AMBIGUOUS,
  ],
  [
    'a model twice in a tool',
    { ...RESPONSES, body: '{"model":"allowed","tools":[{"model":"allowed","model":"allowed"}]}' },
    AMBIGUOUS,
  ],

  // Not exactly one JSON value.
  ['a BOM', { body: '\ufeff{"model":"allowed"}' }, AMBIGUOUS],
  ['UTF-16', { body: Buffer.from('{"model":"allowed"}', 'utf16le') }, AMBIGUOUS],
  [
    'invalid UTF-8',
    {
      body: Buffer.concat([
        Buffer.from('{"model":"allowed","x":"'),
        Buffer.from([0xff]),
        Buffer.from('"}'),
      ]),
    },
    AMBIGUOUS,
  ],
  [
    'invalid UTF-8 in the key',
    {
      body: Buffer.concat([
        Buffer.from('{"mod'),
        Buffer.from([0xc1, 0xa5]),
        Buffer.from('l":"other","model":"allowed"}'),
      ]),
    },
    AMBIGUOUS,
  ],
  ['trailing garbage', { body: '{"model":"allowed"}x' }, AMBIGUOUS],
  ['a second value', { body: '{"model":"allowed"}{"model":"other"}' }, AMBIGUOUS],
  ['a second line', { body: '{"model":"allowed"}\n{"model":"other"}' }, AMBIGUOUS],
  ['a NUL behind the value', { body: '{"model":"allowed"}\0' }, AMBIGUOUS],
  ['cut off', { body: '{"model":"allowed"' }, AMBIGUOUS],
  ['cut off in a string', { body: '{"model":"allowed","x":"' }, AMBIGUOUS],
  ['a trailing comma', { body: '{"model":"allowed",}' }, AMBIGUOUS],
  ['a trailing comma in a list', { body: '{"model":"allowed","x":[1,]}' }, AMBIGUOUS],
  ['two commas', { body: '{"model":"allowed",,"x":1}' }, AMBIGUOUS],
  ['a leading comma', { body: '{,"model":"allowed"}' }, AMBIGUOUS],
  ['no comma', { body: '{"model":"allowed" "x":1}' }, AMBIGUOUS],
  ['no colon', { body: '{"model" "allowed"}' }, AMBIGUOUS],
  ['unquoted keys', { body: '{model:"allowed"}' }, AMBIGUOUS],
  ['single quotes', { body: "{'model':'allowed'}" }, AMBIGUOUS],
  ['NaN', { body: '{"model":"allowed","x":NaN}' }, AMBIGUOUS],
  ['Infinity', { body: '{"model":"allowed","x":-Infinity}' }, AMBIGUOUS],
  ['a leading zero', { body: '{"model":"allowed","x":01}' }, AMBIGUOUS],
  ['a hexadecimal number', { body: '{"model":"allowed","x":0x1}' }, AMBIGUOUS],
  ['a plus sign', { body: '{"model":"allowed","x":+1}' }, AMBIGUOUS],
  ['a bare point', { body: '{"model":"allowed","x":1.}' }, AMBIGUOUS],
  ['True', { body: '{"model":"allowed","x":True}' }, AMBIGUOUS],
  ['a comment', { body: '{"model":"allowed" /* x */}' }, AMBIGUOUS],
  ['a line comment', { body: '{"model":"allowed"} // x' }, AMBIGUOUS],
  ['a comment that hides', { body: '{/*"model":"other",*/"model":"allowed"}' }, AMBIGUOUS],
  ['wrong brackets', { body: '{"model":"allowed","x":[}' }, AMBIGUOUS],
  ['a bad escape in the key', { body: '{"mod\\el":"x","model":"allowed"}' }, AMBIGUOUS],
  ['a form feed between', { body: '{"model":\f"allowed"}' }, AMBIGUOUS],
  ['a no-break space between', { body: '{"model":\u00a0"allowed"}' }, AMBIGUOUS],
  ['nested without end', { body: deep(5_000) }, AMBIGUOUS],
  ['nested and cut off', { body: '['.repeat(100_000) }, AMBIGUOUS],
  ['a huge number', { body: `{"model":"allowed","x":${'9'.repeat(5_000)}}` }, AMBIGUOUS],
  ['not JSON', { body: 'model=allowed' }, AMBIGUOUS],
  [
    'protobuf for Gemini',
    {
      ...GEMINI,
      headers: ['content-type', 'application/x-protobuf'],
      body: Buffer.from([0x0a, 0x07, 0x61, 0x6c]),
    },
    AMBIGUOUS,
  ],

  // Content types that another reader might follow.
  [
    'another charset',
    { headers: ['content-type', 'application/json; charset=utf-16'], body: '{"model":"allowed"}' },
    AMBIGUOUS,
  ],
  [
    'utf-7',
    { headers: ['content-type', 'application/json;charset="utf-7"'], body: '{"model":"allowed"}' },
    AMBIGUOUS,
  ],
  [
    'two content types',
    {
      headers: [...JSON_TYPE, 'content-type', 'multipart/form-data; boundary=x'],
      body: '{"model":"allowed"}',
    },
    AMBIGUOUS,
  ],
  [
    'a form',
    { headers: ['content-type', 'application/x-www-form-urlencoded'], body: 'model=allowed' },
    NO,
  ],
  [
    'multipart where JSON is spoken',
    { headers: ['content-type', 'multipart/form-data; boundary=x'], body: '{"model":"allowed"}' },
    NO,
  ],

  // Encoded bodies.
  [
    'gzip of another model',
    { headers: ['content-encoding', 'gzip'], body: gzipSync('{"model":"other"}') },
    NO,
  ],
  [
    'an encoding that is none',
    { headers: ['content-encoding', 'constructor'], body: '{"model":"allowed"}' },
    NO,
  ],
  ['not gzip', { headers: ['content-encoding', 'gzip'], body: '{"model":"allowed"}' }, NO],
  [
    'two gzip members',
    {
      headers: ['content-encoding', 'gzip'],
      body: Buffer.concat([gzipSync('{"model":"allowed"}'), gzipSync('{"model":"other"}')]),
    },
    NO,
  ],
  [
    'gzip and garbage',
    {
      headers: ['content-encoding', 'gzip'],
      body: Buffer.concat([gzipSync('{"model":"allowed"}'), Buffer.from('x')]),
    },
    NO,
  ],
  [
    'gzip with a wrong checksum',
    {
      headers: ['content-encoding', 'gzip'],
      body: gzipSync('{"model":"allowed"}').map((byte, i, all) =>
        i === all.length - 8 ? byte ^ 1 : byte,
      ) as Buffer,
    },
    NO,
  ],
  [
    'gzip with a wrong length',
    {
      headers: ['content-encoding', 'gzip'],
      body: gzipSync('{"model":"allowed"}').map((byte, i, all) =>
        i === all.length - 4 ? byte ^ 1 : byte,
      ) as Buffer,
    },
    NO,
  ],
  [
    'a head of gzip that goes on',
    {
      headers: ['content-encoding', 'gzip'],
      body: Buffer.concat([Buffer.from('1f8b0808000000000003', 'hex'), Buffer.alloc(20, 'x')]),
    },
    NO,
  ],
  [
    'gzip cut off',
    {
      headers: ['content-encoding', 'gzip'],
      body: gzipSync('{"model":"allowed"}').subarray(0, -4),
    },
    NO,
  ],
  [
    'a bomb',
    {
      headers: ['content-encoding', 'gzip'],
      body: gzipSync(`{"model":"allowed","x":"${'a'.repeat(2_000_000)}"}`),
    },
    NO,
  ],
  [
    'a bomb of br',
    { headers: ['content-encoding', 'br'], body: brotliCompressSync(Buffer.alloc(5_000_000)) },
    NO,
  ],
  [
    'a bomb of zstd',
    { headers: ['content-encoding', 'zstd'], body: zstdCompressSync(Buffer.alloc(5_000_000)) },
    NO,
  ],
  [
    'two zstd frames',
    {
      headers: ['content-encoding', 'zstd'],
      body: Buffer.concat([zstdCompressSync('{"model":"allowed"}'), zstdCompressSync(' ')]),
    },
    NO,
  ],
  [
    'br and garbage',
    {
      headers: ['content-encoding', 'br'],
      body: Buffer.concat([brotliCompressSync('{"model":"allowed"}'), Buffer.from('x')]),
    },
    NO,
  ],
  [
    'raw deflate',
    { headers: ['content-encoding', 'deflate'], body: deflateRawSync('{"model":"allowed"}') },
    NO,
  ],
  [
    'an unknown encoding',
    { headers: ['content-encoding', 'compress'], body: '{"model":"allowed"}' },
    NO,
  ],
  [
    'two encodings',
    {
      headers: ['content-encoding', 'gzip, gzip'],
      body: gzipSync(gzipSync('{"model":"allowed"}')),
    },
    NO,
  ],
  [
    'two encoding headers',
    {
      headers: ['content-encoding', 'identity', 'content-encoding', 'gzip'],
      body: gzipSync('{"model":"other"}'),
    },
    AMBIGUOUS,
  ],
  [
    'two encoding headers, a body of the first',
    {
      headers: ['content-encoding', 'identity', 'content-encoding', 'gzip'],
      body: '{"model":"allowed"}',
    },
    AMBIGUOUS,
  ],
  ['an encoding and no body', { headers: ['content-encoding', 'gzip'], body: null }, NO],
  [
    'gemini, an encoding that the body does not have',
    { ...GEMINI, headers: ['content-encoding', 'gzip'], body: '{"contents":[]}' },
    NO,
  ],

  // Further places that name a model.
  [
    'a query that only looks like a model',
    {
      path: '/v1/chat/completions?modelx=1&supermodel=2&model_version=3',
      body: '{"model":"allowed"}',
    },
    'ok allowed',
  ],
  [
    'a query of another model',
    { path: '/v1/chat/completions?model=other', body: '{"model":"allowed"}' },
    NO,
  ],
  [
    'an encoded query name',
    { path: '/v1/chat/completions?mod%65l=other', body: '{"model":"allowed"}' },
    NO,
  ],
  [
    'a query in capitals',
    { path: '/v1/chat/completions?MODEL=other', body: '{"model":"allowed"}' },
    NO,
  ],
  [
    'a query with brackets',
    { path: '/v1/chat/completions?model[]=other', body: '{"model":"allowed"}' },
    NO,
  ],
  [
    'an image tool of another model',
    {
      ...RESPONSES,
      body: '{"model":"allowed","tools":[{"type":"image_generation","model":"other"}]}',
    },
    NO,
  ],
  [
    'a moderation by another model',
    { body: '{"model":"allowed","moderation":{"model":"other"}}' },
    NO,
  ],
  [
    'an image tool among the input',
    {
      ...RESPONSES,
      body: '{"model":"allowed","input":[{"type":"additional_tools","role":"developer","tools":[{"type":"image_generation","model":"other"}]}]}',
    },
    NO,
  ],
  [
    'an image tool among the input of Azure',
    {
      id: 'azure',
      path: '/openai/v1/responses',
      body: '{"model":"allowed","input":[{"type":"tool_search_output","tools":[{"type":"image_generation","model":"other"}]}]}',
    },
    NO,
  ],
  [
    'an input that is no list',
    { ...RESPONSES, body: '{"model":"allowed","input":{"tools":[{"model":"other"}]}}' },
    NO,
  ],
  [
    'a tool in a conversation',
    {
      path: '/v1/conversations',
      body: '{"items":[{"type":"additional_tools","tools":[{"type":"image_generation","model":"other"}]}]}',
    },
    NO,
  ],
  [
    'a tool in an item',
    {
      path: '/v1/conversations/conv_1/items',
      body: '{"items":[{"type":"additional_tools","tools":[{"type":"image_generation","model":"other"}]}]}',
    },
    NO,
  ],
  [
    'tools that are no list',
    { ...RESPONSES, body: '{"model":"allowed","tools":{"0":{"model":"other"}}}' },
    NO,
  ],
  ['tools as a string', { ...RESPONSES, body: '{"model":"allowed","tools":"x"}' }, NO],
  ['models beside the model', { body: '{"model":"allowed","models":["other"]}' }, NO],
  [
    'models with another one',
    { ...ROUTER, body: '{"model":"allowed","models":["allowed","other"]}' },
    NO,
  ],
  ['models without model', { ...ROUTER, body: '{"models":["other"]}' }, NO],
  ['an empty list of models', { ...ROUTER, body: '{"models":[]}' }, NO],
  ['models as a string', { ...ROUTER, body: '{"model":"allowed","models":"other"}' }, NO],
  [
    "a guardrail's model",
    {
      ...MISTRAL,
      body: '{"model":"allowed","guardrails":[{"moderation_llm_v2":{"model_name":"other"}}]}',
    },
    NO,
  ],
  [
    "a guardrail's model that is allowed",
    {
      ...MISTRAL,
      body: '{"model":"allowed","guardrails":[{"moderation_llm_v1":{"model_name":"allowed"}}]}',
    },
    'ok allowed,allowed',
  ],
  [
    'a training that goes on from a stored one',
    {
      id: 'together',
      path: '/v1/fine-tunes',
      body: '{"model":"allowed","training_file":"file-1","from_checkpoint":"ft-1:10"}',
    },
    NO,
  ],
  ['models of objects', { ...ROUTER, body: '{"model":"allowed","models":[{"id":"other"}]}' }, NO],
  ['models of lists', { ...ROUTER, body: '{"model":"allowed","models":[["other"]]}' }, NO],
  [
    'models of an added provider',
    { ...GATEWAY, body: '{"model":"allowed","models":["other"]}' },
    NO,
  ],
  [
    'fallbacks of an added provider',
    { ...GATEWAY, body: '{"model":"allowed","fallbacks":["other"]}' },
    NO,
  ],
  [
    'router settings of an added provider',
    {
      ...GATEWAY,
      body: '{"model":"allowed","router_settings_override":{"fallbacks":[{"allowed":["other"]}]}}',
    },
    NO,
  ],
  [
    'router settings of an added provider, in `extra_body`',
    { ...GATEWAY, body: '{"model":"allowed","extra_body":{"router_settings_override":{}}}' },
    NO,
  ],
  [
    'a change of the body by an added provider',
    {
      ...GATEWAY,
      body: '{"model":"allowed","tensorzero::extra_body":[{"pointer":"/model","value":"other"}]}',
    },
    NO,
  ],
  [
    'a list of models of an added provider',
    { ...GATEWAY, scope: ['allow*'], body: '{"model":"allowed,other"}' },
    NO,
  ],
  [
    'a header of an added provider that names another model',
    {
      ...GATEWAY,
      headers: [...JSON_TYPE, 'X-Gateway-Model-Name-Rewrite', 'other'],
      body: '{"model":"allowed"}',
    },
    NO,
  ],
  [
    'a header of an added provider that names an allowed model',
    {
      ...GATEWAY,
      headers: [...JSON_TYPE, 'X-Gateway-Model-Name-Rewrite', 'allowed'],
      body: '{"model":"allowed"}',
    },
    'ok allowed,allowed',
  ],
  [
    'fallbacks of an added provider that speaks a dialect',
    { ...SPOKEN, body: '{"model":"allowed","fallbacks":[{"allowed":["other"]}]}' },
    NO,
  ],
  [
    'router settings of an added provider that speaks a dialect',
    { ...SPOKEN, body: '{"model":"allowed","router_settings_override":{}}' },
    NO,
  ],
  [
    'a header of an added provider that speaks a dialect',
    {
      ...SPOKEN,
      headers: [...JSON_TYPE, 'X-Portkey-Config', 'pc-other'],
      body: '{"model":"allowed"}',
    },
    NO,
  ],
  ['a dialect of an added provider', { ...SPOKEN, body: '{"model":"allowed"}' }, 'ok allowed'],
  [
    'a hundred different models for a key with 500 patterns',
    { ...ROUTER, scope: PATTERNS, body: withModels(100) },
    `ok allowed,${names(100).join()}`,
  ],
  [
    'more different models than can be compared with a key’s patterns',
    { ...ROUTER, scope: PATTERNS, body: withModels(500) },
    'ambiguous_body',
  ],
  [
    'as many different models for a key with few patterns',
    { ...ROUTER, scope: ['allow*', 'm*'], body: withModels(2_000) },
    `ok allowed,${names(2_000).join()}`,
  ],
  ['a preset', { ...ROUTER, body: '{"model":"allowed","preset":"mine"}' }, NO],
  [
    'a plugin with a model',
    { ...ROUTER, body: '{"model":"allowed","plugins":[{"id":"x","model":"other"}]}' },
    NO,
  ],
  [
    'a plugin with models, in messages',
    {
      id: 'openrouter',
      path: '/api/v1/messages',
      body: '{"model":"allowed","plugins":[{"id":"x","models":["other"]}]}',
    },
    NO,
  ],
  [
    'a server tool with a model, in messages',
    {
      id: 'openrouter',
      path: '/api/v1/messages',
      body: '{"model":"allowed","tools":[{"type":"x","parameters":{"model":"other"}}]}',
    },
    NO,
  ],
  [
    'models beside the model of messages',
    { ...CLAUDE, body: '{"model":"allowed","models":["other"]}' },
    NO,
  ],
  [
    'an advisor',
    {
      ...CLAUDE,
      body: '{"model":"allowed","tools":[{"type":"advisor_20260301","name":"advisor","model":"other"}]}',
    },
    NO,
  ],
  [
    'an advisor in a message',
    {
      ...CLAUDE,
      body: '{"model":"allowed","messages":[{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"advisor_20260301","model":"other"}}}]}]}',
    },
    NO,
  ],
  [
    'an advisor in what a compaction keeps',
    {
      ...CLAUDE,
      body: '{"model":"allowed","messages":[{"role":"assistant","content":[{"type":"compaction","tool_changes":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"advisor_20260301","model":"other"}}}]}]}]}',
    },
    NO,
  ],
  [
    'an advisor in a message of a batch',
    {
      ...CLAUDE_BATCH,
      body: '{"requests":[{"params":{"model":"allowed","messages":[{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"advisor_20260301","model":"other"}}}]}]}}]}',
    },
    NO,
  ],
  [
    'an advisor in a message at Bedrock',
    {
      id: 'bedrock',
      path: '/model/allowed/invoke',
      body: '{"messages":[{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"advisor_20260301","model":"other"}}}]}]}',
    },
    NO,
  ],
  [
    'an advisor at Vertex',
    {
      id: 'vertex',
      path: '/v1/publishers/anthropic/models/allowed:rawPredict',
      scope: ['anthropic/allowed'],
      body: '{"tools":[{"type":"advisor_20260301","model":"other"}]}',
    },
    NO,
  ],
  [
    'an advisor in a message at OpenRouter',
    {
      id: 'openrouter',
      path: '/api/v1/messages',
      body: '{"model":"allowed","messages":[{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"advisor_20260301","model":"other"}}}]}]}',
    },
    NO,
  ],
  ['a fallback', { ...CLAUDE, body: '{"model":"allowed","fallbacks":[{"model":"other"}]}' }, NO],
  [
    'a router whose models are not all allowed',
    {
      ...ROUTER,
      body: '{"model":"allowed","plugins":[{"id":"auto-router","allowed_models":["allowed","other"]}]}',
    },
    NO,
  ],
  [
    'a router whose models are a pattern',
    {
      ...ROUTER,
      body: '{"model":"allowed","plugins":[{"id":"auto-router","allowed_models":["*"]}]}',
    },
    NO,
  ],
  [
    'a router of tomorrow',
    { ...ROUTER, body: '{"model":"allowed","plugins":[{"id":"jev-router","models":["allowed"]}]}' },
    NO,
  ],
  [
    'a fallback in Converse',
    {
      id: 'bedrock',
      path: '/model/allowed/converse',
      body: '{"additionalModelRequestFields":{"fallbacks":"default"}}',
    },
    NO,
  ],
  ['default fallbacks', { ...CLAUDE, body: '{"model":"allowed","fallbacks":"default"}' }, NO],
  [
    'a batch with another model',
    {
      ...CLAUDE_BATCH,
      body: '{"requests":[{"params":{"model":"allowed"}},{"params":{"model":"other"}}]}',
    },
    NO,
  ],
  [
    'a batch with the model elsewhere',
    { ...CLAUDE_BATCH, body: '{"model":"allowed","requests":[{"params":{}}]}' },
    NO,
  ],
  [
    'a batch that is no list',
    { ...CLAUDE_BATCH, body: '{"requests":{"params":{"model":"other"}}}' },
    NO,
  ],
  [
    'requests twice',
    {
      ...CLAUDE_BATCH,
      body: '{"requests":[{"params":{"model":"allowed"}}],"requests":[{"params":{"model":"allowed"}}]}',
    },
    AMBIGUOUS,
  ],
  [
    'a batch of a file',
    {
      path: '/v1/batches',
      body: '{"input_file_id":"file-1","endpoint":"/v1/chat/completions","model":"allowed"}',
    },
    NO,
  ],
  ['an evaluation', { path: '/v1/evals', body: '{"model":"allowed"}' }, NO],
  ['a remix', { path: '/v1/videos/v1/remix', body: '{"prompt":"x","model":"allowed"}' }, NO],
  [
    'a run of a stored assistant',
    { path: '/v1/threads/t1/runs', body: '{"assistant_id":"a1"}' },
    NO,
  ],
  [
    'fine-tuning with graders',
    { path: '/v1/fine_tuning/jobs', body: '{"model":"allowed","method":{"type":"reinforcement"}}' },
    NO,
  ],
  [
    'an agent in a batch of Mistral',
    {
      id: 'mistral',
      path: '/v1/batch/jobs',
      body: '{"model":"allowed","requests":[{"body":{"agent_id":"ag_1"}}]}',
    },
    NO,
  ],
  [
    'an agent of Foundry',
    {
      id: 'azure',
      path: '/api/projects/p/openai/v1/responses',
      body: '{"model":"allowed","agent":{"type":"agent_reference","name":"a"},"input":"x"}',
    },
    NO,
  ],
  [
    'an agent of Foundry by its newer name',
    {
      id: 'azure',
      path: '/api/projects/p/openai/v1/responses',
      body: '{"model":"allowed","agent_reference":{"name":"a"},"input":"x"}',
    },
    NO,
  ],
  ...[
    '/v1/chat/completions',
    '/v1/completions',
    '/v1/fim/completions',
    '/v1/agents/completions',
    '/v1/responses',
  ].map((path): [string, Case, string] => [
    `a stored agent at ${path} of Mistral`,
    { id: 'mistral', path, body: '{"model":"allowed","agent_id":"ag_1"}' },
    NO,
  ]),
  [
    'a stored agent of Mistral',
    { id: 'mistral', path: '/v1/conversations', body: '{"model":"allowed","agent_id":"ag_1"}' },
    NO,
  ],
  [
    'compound systems of Groq',
    {
      id: 'groq',
      path: '/openai/v1/chat/completions',
      body: '{"model":"allowed","compound_custom":{"models":{"answering_model":"other"}}}',
    },
    NO,
  ],
  [
    'a preset of Perplexity',
    { id: 'perplexity', path: '/v1/responses', body: '{"preset":"pro-search"}' },
    NO,
  ],
  [
    'asynchronous Perplexity',
    {
      id: 'perplexity',
      path: '/async/chat/completions',
      body: '{"request":{"model":"other"},"model":"allowed"}',
    },
    NO,
  ],
  ...[
    '{"request":{"model":"allowed"},"model":"other"}',
    '{"request":{"model":"allowed","models":["allowed","other"]}}',
    '{"request":{"model":"allowed","tools":[{"type":"function","model":"other"}]}}',
  ].map((body): [string, Case, string] => [
    `asynchronous Perplexity with another model: ${body}`,
    { id: 'perplexity', path: '/v1/async/sonar', body },
    NO,
  ]),
  [
    'other models in a batch of Mistral',
    {
      id: 'mistral',
      path: '/v1/batch/jobs',
      body: '{"model":"allowed","requests":[{"body":{"models":["other"]}}]}',
    },
    NO,
  ],
  ['speech without a model', { id: 'xai', path: '/v1/tts', body: '{"text":"x"}' }, NO],
  [
    'a session of Anthropic',
    { id: 'anthropic', path: '/v1/sessions', body: '{"agent":"a1","model":"allowed"}' },
    NO,
  ],
  [
    'gemini, another model in the body',
    { ...GEMINI, body: '{"model":"models/other","contents":[]}' },
    NO,
  ],
  [
    'gemini, a model of an embedding request',
    {
      id: 'google',
      path: '/v1beta/models/allowed:batchEmbedContents',
      body: '{"requests":[{"model":"models/other","content":{}}]}',
    },
    NO,
  ],
  [
    'gemini, counting for another model',
    {
      id: 'google',
      path: '/v1beta/models/allowed:countTokens',
      body: '{"generateContentRequest":{"model":"models/other"}}',
    },
    NO,
  ],
  [
    'gemini, counting for another model in snake_case',
    {
      id: 'google',
      path: '/v1beta/models/allowed:countTokens',
      body: '{"generate_content_request":{"model":"models/other"}}',
    },
    NO,
  ],
  [
    'gemini batch with another model',
    {
      ...BATCH,
      body: '{"batch":{"inputConfig":{"requests":{"requests":[{"request":{"model":"models/other"}}]}}}}',
    },
    NO,
  ],
  [
    'gemini batch of a file',
    { ...BATCH, body: '{"batch":{"inputConfig":{"fileName":"files/x"}}}' },
    NO,
  ],
  [
    'gemini batch of a file in snake_case',
    { ...BATCH, body: '{"batch":{"input_config":{"file_name":"files/x"}}}' },
    NO,
  ],
  ['gemini lenient JSON', { ...GEMINI, body: '{model:"models/other"}' }, AMBIGUOUS],
  [
    'a tuned model of the same name',
    { id: 'google', path: '/v1beta/tunedModels/allowed:generateContent', body: '{}' },
    NO,
  ],
  [
    'a cache of another model',
    { id: 'google', path: '/v1beta/cachedContents', body: '{"model":"models/other"}' },
    NO,
  ],
  [
    'an agent that is allowed',
    { id: 'google', path: '/v1beta/interactions', body: '{"agent":"allowed"}' },
    'ok allowed',
  ],
  [
    'an agent',
    { id: 'google', path: '/v1beta/interactions', body: '{"agent":"deep-research"}' },
    NO,
  ],
  [
    'an agent with a model of its own',
    {
      id: 'google',
      path: '/v1beta/interactions',
      body: '{"agent":"allowed","agent_config":{"type":"x","model":"other"}}',
    },
    NO,
  ],
  [
    'a store with another embedding model',
    { id: 'google', path: '/v1beta/fileSearchStores', body: '{"embeddingModel":"models/other"}' },
    NO,
  ],
  [
    'a publisher of the same model name',
    { id: 'vertex', path: '/v1/publishers/evil/models/allowed:generateContent', body: '{}' },
    NO,
  ],
  [
    'a deployed endpoint',
    { id: 'vertex', path: '/v1/projects/p/locations/l/endpoints/1:predict', body: '{}' },
    NO,
  ],
  [
    'azure, another model in the body',
    {
      id: 'azure',
      path: '/openai/deployments/allowed/chat/completions',
      body: '{"model":"other"}',
    },
    NO,
  ],
  [
    'azure, an image deployment in a header',
    {
      id: 'azure',
      path: '/openai/v1/responses',
      headers: [...JSON_TYPE, 'X-Ms-Oai-Image-Generation-Deployment', 'other'],
      body: '{"model":"allowed"}',
    },
    NO,
  ],
  [
    'azure, another model in a form',
    {
      id: 'azure',
      path: '/openai/deployments/allowed/audio/transcriptions',
      headers: ['content-type', 'multipart/form-data; boundary=b'],
      body: '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n--b--\r\n',
    },
    NO,
  ],
  [
    'azure, an embedding deployment',
    {
      id: 'azure',
      path: '/openai/deployments/allowed/chat/completions',
      body: '{"data_sources":[{"parameters":{"embedding_dependency":{"deployment_name":"other"}}}]}',
    },
    NO,
  ],
  [
    'bedrock, another region profile',
    { id: 'bedrock', path: '/model/eu.allowed/converse', body: '{}' },
    NO,
  ],
  [
    'bedrock, an opaque profile',
    {
      id: 'bedrock',
      path: '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fallowed/converse',
      body: '{}',
    },
    NO,
  ],
  [
    'bedrock, an ARN that goes on',
    {
      id: 'bedrock',
      path: '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Fx%2Fallowed/converse',
      body: '{}',
    },
    NO,
  ],
  [
    'bedrock, reranking with another model',
    {
      id: 'bedrock',
      path: '/rerank',
      body: '{"rerankingConfiguration":{"bedrockRerankingConfiguration":{"modelConfiguration":{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/other"}}}}',
    },
    NO,
  ],
  [
    'only a tool with a model',
    { ...RESPONSES, body: '{"tools":[{"type":"image_generation","model":"allowed"}]}' },
    NO,
  ],
]

for (const [name, request, expected] of cases) {
  test(`${request.id ?? 'openai'}: ${name} → ${expected.split(' ')[0]}`, async () =>
    assert.equal(await check(request), expected))
}

/** Whether a key for the model `allowed` may open an address. */
async function mayGet(id: string, path: string): Promise<boolean> {
  const provider = table.byId(id)
  assert.ok(provider)
  const match = classify(provider, 'GET', path)
  assert.equal(needsBody(match), false)
  const request = { provider, match, pathAndQuery: path, headers: [], body: null, limit: LIMIT }
  return (await checkScope(compileScope(['allowed']), request)).ok
}

test('a model in the query', async () => {
  for (const [query, expected] of [
    ['?model=allowed', true],
    ['?model=other', false],
    ['', false],
    ['?model=allowed&model=other', false],
    ['?model=other&model=allowed', false],
    ['?model=allowed&model=allowed', false],
    ['?model=allow%65d', true],
    ['?model=allowed%20', false],
    ['?model=allowed+', false],
    ['?Model=allowed', false],
    ['?model', false],
    ['?model=allowed&x=1', true],
    // Azure reads either, depending on the version of its API.
    ['?model=allowed&deployment=other', false],
    ['?model=allowed&Deployment=other', false],
    ['?model=allowed&deployment_status=x', true],
  ] as const)
    assert.equal(await mayGet('openai', `/v1/realtime${query}`), expected, query)
})

test('a model in the query whose name another parameter completes', async () => {
  for (const [query, expected] of [
    ['?model=allowed', true],
    ['?model=allowed&tiers=nova', true],
    ['?model=allowed&tier=nova', false],
    ['?tier=nova&model=allowed', false],
    ['?model=allowed&tier=allowed', false],
    ['?model=allowed&Tier=nova', false],
    ['?model=allowed&t%69er=nova', false],
    ['?model=allowed&x=1;tier=nova', false],
  ] as const)
    assert.equal(await mayGet('deepgram', `/v1/listen${query}`), expected, query)
})

test('a neutral endpoint needs neither a body nor a model', async () => {
  const provider = table.byId('openai')
  assert.ok(provider)
  const match = classify(provider, 'GET', '/v1/files/file-1')
  assert.equal(needsBody(match), false)
  const reach = await checkScope(compileScope(['x']), {
    provider,
    match,
    pathAndQuery: '/v1/files/file-1',
    headers: [],
    body: null,
    limit: LIMIT,
  })
  assert.deepEqual(reach, {
    ok: true,
    models: [],
    objects: [{ kind: 'file', id: 'file-1' }],
    kept: false,
  })
})

test('objects that a body names are reported', async () => {
  const provider = table.byId('openai')
  assert.ok(provider)
  const match = classify(provider, 'POST', '/v1/responses')
  const objectsOf = async (body: string) => {
    const reach = await checkScope(compileScope(['m']), {
      provider,
      match,
      pathAndQuery: '/v1/responses',
      headers: JSON_TYPE,
      body: Buffer.from(body),
      limit: LIMIT,
    })
    return reach.ok && reach.objects
  }
  const body =
    '{"model":"m","previous_response_id":"resp_1","input":[{"content":[{"type":"input_file","file_id":"file-1"}]},{"content":"text"}]}'
  assert.deepEqual(await objectsOf(body), [
    { kind: 'response', id: 'resp_1' },
    { kind: 'file', id: 'file-1' },
  ])
  assert.deepEqual(await objectsOf('{"model":"m"}'), [])
})

test('a message names the refused model, shortened and printable', async () => {
  const provider = table.byId('openai')
  assert.ok(provider)
  const match = classify(provider, 'POST', '/v1/chat/completions')
  const body = Buffer.from(JSON.stringify({ model: `evil\u001b[31m"${'x'.repeat(300)}` }))
  const reach = await checkScope(compileScope(['m']), {
    provider,
    match,
    pathAndQuery: '/v1/chat/completions',
    headers: JSON_TYPE,
    body,
    limit: LIMIT,
  })
  assert.equal(reach.ok, false)
  const message = 'message' in reach ? reach.message : ''
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  assert.doesNotMatch(message, /[\u0000-\u001f]/)
  assert.ok(message.length < 200 && message.includes('evil?'))
})

/** The first value most of the time, so that whole bodies are valid often enough. */
const mostly = (usual: string, ...others: string[]) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )

test('a body in which JSON.parse finds a model that is not allowed never passes', async () => {
  const key = mostly(
    '"model"',
    '"mod\\u0065l"',
    '"Model"',
    '"models"',
    '"x"',
    '"tools"',
    '"model\\u0000"',
    '"mo\\del"',
    'model',
  )
  const name = mostly(
    '"allowed"',
    '"other"',
    '"allow\\u0065d"',
    'null',
    '1',
    '["other"]',
    '{"model":"other"}',
    '[{"model":"other"}]',
    '"a\\"b"',
    'tru',
  )
  const gap = mostly('', ' ', '\n', '\f', '\ufeff')
  const member = fc
    .tuple(gap, key, gap, mostly(':', '=', ''), gap, name, gap)
    .map((parts) => parts.join(''))
  const text = fc
    .tuple(
      gap,
      fc.array(member, { maxLength: 4 }),
      mostly(',', ',,', ';'),
      mostly('}', '}}', '} {}', ']', ''),
    )
    .map(([before, members, comma, end]) => `${before}{${members.join(comma)}${end}`)
  let passed = 0
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 255 }),
      fc.integer({ min: 0, max: 3 }),
      async (body, at, byte, mutate) => {
        const bytes = Buffer.from(body)
        if (mutate === 0 && at < bytes.length) bytes[at] = byte
        const result = await check({
          id: 'openrouter',
          path: '/api/v1/chat/completions',
          body: bytes,
        })
        let parsed: unknown
        try {
          parsed = JSON.parse(bytes.toString('utf8'))
        } catch {
          // A stray byte inside a text that nobody asks for may pass, for the upstream to judge; it
          // cannot move the model.
          if (mutate === 0)
            assert.match(result, /^(ok( |,)allowed(,allowed)*|model_not_allowed|ambiguous_body)$/)
          else assert.notEqual(result.slice(0, 2), 'ok', `${body} is not JSON`)
          return
        }
        if (!result.startsWith('ok')) return
        passed++
        const { model, models } = parsed as { model?: unknown; models?: unknown }
        assert.ok(model === 'allowed' || (model === undefined && Array.isArray(models)), body)
        if (Array.isArray(models)) for (const each of models) assert.equal(each, 'allowed')
      },
    ),
    { numRuns: 4_000 },
  )
  assert.ok(passed > 100, 'many bodies must pass, or nothing was tested')
})

test('the observer notes the model of a streamed body, one byte at a time', () => {
  const streams: [
    id: string,
    path: string,
    headers: string[],
    body: string,
    model: string | null,
  ][] = [
    [
      'openai',
      '/v1/chat/completions',
      JSON_TYPE,
      '{"messages":[{"model":"no","content":"\\"model\\""}],"model":"yes"}',
      'yes',
    ],
    ['openai', '/v1/chat/completions', JSON_TYPE, '{"messages":[]}', null],
    ['openai', '/v1/chat/completions', JSON_TYPE, 'not json', null],
    ['openai', '/v1/brand/new', JSON_TYPE, '{"model":"m"}', null],
    ['google', '/v1beta/models/path:generateContent', JSON_TYPE, '{"contents":[]}', 'path'],
    [
      'anthropic',
      '/v1/messages/batches',
      JSON_TYPE,
      '{"requests":[{"params":{"model":"batch"}}]}',
      'batch',
    ],
    [
      'openai',
      '/v1/audio/transcriptions',
      ['content-type', 'multipart/form-data; boundary=b'],
      '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper\r\n--b--\r\n',
      'whisper',
    ],
    ['openai', '/v1/chat/completions', ['content-encoding', 'gzip'], '{"model":"m"}', null],
  ]
  for (const [id, path, headers, body, model] of streams) {
    const provider = table.byId(id)
    assert.ok(provider)
    const whole = new BodyObserver(classify(provider, 'POST', path), headers, path)
    whole.write(Buffer.from(body))
    assert.equal(whole.end(), model, body)
    const split = new BodyObserver(classify(provider, 'POST', path), headers, path)
    for (const byte of Buffer.from(body)) split.write(Buffer.from([byte]))
    assert.equal(split.end(), model, body)
  }
})

test('the number of models and stored objects read from one body is bounded', async () => {
  const provider = table.byId('openai')
  assert.ok(provider)
  const path = '/v1/responses'
  const match = classify(provider, 'POST', path)
  const many = (part: string, count: number, names = ['"allowed"', '"other"']): Buffer =>
    Buffer.from(
      `{"model":"allowed",${part.replace('ONE', Array.from({ length: count }, (_, i) => names[i % names.length]).join(','))}}`,
    )
  const verdict = async (body: Buffer): Promise<string> => {
    const reach = await checkScope(compileScope(['allowed', 'other']), {
      provider,
      match,
      pathAndQuery: path,
      headers: JSON_TYPE,
      body,
      limit: 1e8,
    })
    return reach.ok ? 'passes' : reach.code
  }
  for (const part of ['"models":[ONE]', '"tools":[{"vector_store_ids":[ONE]}]']) {
    assert.equal(await verdict(many(part, 199_999)), 'passes', part)
    assert.equal(await verdict(many(part, 200_000)), AMBIGUOUS, part)
    assert.notEqual(
      await readHeld(provider, match, JSON_TYPE, many(part, 199_999), 1e8),
      null,
      part,
    )
    assert.equal(await readHeld(provider, match, JSON_TYPE, many(part, 200_000), 1e8), null, part)
    // The same one again and again is one.
    assert.equal(await verdict(many(part, 200_000, ['"other"'])), 'passes', part)
  }
})

test('at most 10,000 distinct strings that could be ids are checked', async () => {
  const provider = table.byId('openai')
  assert.ok(provider)
  const match = classify(provider, 'POST', '/v1/responses')
  const body = (count: number, names = 20_000): Buffer =>
    Buffer.from(
      `{"model":"allowed","input":[${Array.from({ length: count }, (_, i) => `"${i % 2 === 0 ? 'file-' : 'f\\u0069le-'}${i % names}"`).join(',')}]}`,
    )
  const verdict = async (bytes: Buffer): Promise<string | number> => {
    const reach = await checkScope(compileScope(['allowed']), {
      provider,
      match,
      pathAndQuery: '/v1/responses',
      headers: JSON_TYPE,
      body: bytes,
      limit: 1e8,
    })
    return reach.ok ? reach.objects.length : reach.code
  }
  assert.equal(await verdict(body(10_000)), 10_000)
  assert.equal(await verdict(body(10_033)), AMBIGUOUS)
  assert.notEqual(await readHeld(provider, match, JSON_TYPE, body(10_000), 1e8), null)
  assert.equal(await readHeld(provider, match, JSON_TYPE, body(10_033), 1e8), null)
  // The same ones again and again are few.
  assert.equal(await verdict(body(50_000, 1_000)), 1_000)
})

/** TABLE of endpoints and what the refusal of a request without a model says. */
const UNNAMED: [id: string, path: string, message: RegExp][] = [
  ['openai', '/v1/chat/completions', /^The body does not name a model where/],
  ['fish-audio', '/v1/tts', /^This endpoint expects the model in a header: `model`\./],
  ['gateway', '/v1/ai/language-model', /: `ai-language-model-id` or `ai-model-id`\./],
]

test('the refusal of a request without a model says where the endpoint expects it', async () => {
  for (const [id, path, message] of UNNAMED) {
    const provider = table.byId(id)
    assert.ok(provider)
    const match = classify(provider, 'POST', path)
    const reach = await checkScope(compileScope(['allowed']), {
      provider,
      match,
      pathAndQuery: path,
      headers: JSON_TYPE,
      body: Buffer.from('{"text":"x"}'),
      limit: 1e8,
    })
    assert.ok(!reach.ok && reach.code === NO, path)
    assert.match(reach.message, message)
  }
})

test('a form that repeats its model byte by byte takes no longer than any other', () => {
  const provider = table.byId('openai')
  assert.ok(provider)
  const path = '/v1/audio/transcriptions'
  const observer = new BodyObserver(
    classify(provider, 'POST', path),
    ['content-type', 'multipart/form-data; boundary=b'],
    path,
  )
  // Of the processor: on a busy machine any work takes long.
  const before = process.cpuUsage()
  for (const byte of Buffer.from('name=model\r\n'.repeat(5_000)))
    observer.write(Buffer.from([byte]))
  assert.equal(observer.end(), null)
  assert.ok(process.cpuUsage(before).user < 2_000_000)
})
