// The code that a new key is shown with: for a provider that is ready and a model that the key allows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model, Provider } from '../../../dashboard/src/api/shapes.ts'
import { choicesFor, snippetsOf } from '../../../dashboard/src/snippets.ts'

/** TABLE of providers of the tests, and their base addresses. */
const BASES = {
  google: 'https://generativelanguage.googleapis.com/v1beta',
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  vertex: 'https://aiplatform.googleapis.com/v1/publishers/google',
  mistral: 'https://api.mistral.ai/v1',
  xai: 'https://api.x.ai/v1',
  acme: 'https://llm.example.com',
}
type Id = keyof typeof BASES

function providers(...ready: Id[]): Provider[] {
  return (Object.keys(BASES) as Id[]).map((id) => ({
    id, name: id, source: 'built_in', base: BASES[id], hosts: [], ready: ready.includes(id),
    dial: null, credentials: null, health: 'healthy', last_error: null,
  }))
}

const SEEN: Model[] = [{ id: 'gemini-1-seen', provider: 'google' }, { id: 'house-7b', provider: 'acme' }]
const found = (ready: Id[], models: string[] | null, allowed: Id[] | null = null): string | undefined => {
  const [choice] = choicesFor({ models, providers: allowed }, providers(...ready), SEEN)
  return choice && `${choice.provider.id} ${choice.model}`
}

/** TABLE: the providers that are ready, the models and providers that the key allows, and what the snippets are for. */
const CHOICES: readonly [ready: Id[], models: string[] | null, allowed: Id[] | null, choice: string][] = [
  [['openai'], null, null, 'openai gpt-5-mini'],
  [['google', 'openai'], null, null, 'google gemini-2.5-flash'],
  [['google', 'openai'], null, ['openai'], 'openai gpt-5-mini'],
  [['google', 'openai'], ['gpt-*'], null, 'openai gpt-5-mini'],
  [['google', 'openai'], ['gpt-4o*'], null, 'openai <a model like gpt-4o*>'],
  [['openai', 'anthropic'], ['gpt-4o*', 'claude-haiku-4-5'], null, 'anthropic claude-haiku-4-5'],
  [['google'], ['models/gemini-2*'], null, 'google gemini-2.5-flash'],
  [['google'], ['models/gemini-3-pro'], null, 'google gemini-3-pro'],
  [['google'], ['gemini-0*'], null, 'google <a model like gemini-0*>'],
  [['google'], ['gemini-*-seen'], null, 'google gemini-1-seen'],
  [['mistral'], ['mistral-large'], null, 'mistral mistral-large'],
  [['acme'], null, null, 'acme house-7b'],
  [['acme', 'xai'], ['grok-*'], null, 'xai grok-4'],
  // Nothing is ready: what could be.
  [[], null, null, 'google gemini-2.5-flash'],
  [['openai'], ['claude-*'], null, 'anthropic claude-sonnet-5'],
]

test('snippets are for a provider that is ready and a model that the key allows', () => {
  for (const [ready, models, allowed, choice] of CHOICES) assert.equal(found(ready, models, allowed), choice, `${ready}: ${models}`)
  assert.equal(found(['openai'], ['nothing-like-it'], ['openai']), undefined)
})

test('each snippet holds the address, the key and the model, streaming or not', () => {
  const of = (id: Id, streaming: boolean, page: string | null = null) => {
    const [choice] = choicesFor({ models: null, providers: [id] }, providers(id), SEEN)
    assert.ok(choice)
    return Object.fromEntries(snippetsOf(choice, 'tmk_secret', streaming, 'http://localhost:8484', page).map(({ title, code }) => [title, code]))
  }
  for (const id of Object.keys(BASES) as Id[]) {
    for (const streaming of [false, true]) {
      for (const [title, code] of Object.entries(of(id, streaming))) {
        assert.ok(code.includes('tmk_secret') && code.includes('http://localhost:8484'), `${id}, ${title}: ${code}`)
        if (title.startsWith('@') || title === 'TypeScript') assert.equal(code.includes('streamText'), streaming, `${id}, ${title}: ${code}`)
        if (title === 'Python') assert.equal(code.includes('stream=True'), streaming, `${id}: ${code}`)
      }
    }
  }
  assert.match(of('google', true)['curl'] ?? '', /streamGenerateContent%3Falt%3Dsse/)
  assert.match(of('anthropic', false)['curl'] ?? '', /-H 'anthropic-version: 2023-06-01'/)
  assert.match(of('openai', true)['curl'] ?? '', /"stream":true/)
  assert.match(of('openai', true)['Python'] ?? '', /'stream': True/)
  assert.deepEqual(Object.keys(of('google', false)), ['curl', 'TypeScript', 'Python', '@proxy-sdk/genai'])
  assert.deepEqual(Object.keys(of('vertex', false)), ['curl', 'TypeScript', 'Python', '@proxy-sdk/genai-express'])
  assert.match(of('acme', false)['TypeScript'] ?? '', /baseURL: 'https:\/\/llm.example.com'/)
  // A key for some pages only: what is no browser says itself where it comes from.
  const onPage = of('google', false, 'https://app.example.com')
  assert.match(onPage['curl'] ?? '', /-H 'Origin: https:\/\/app\.example\.com'/)
  assert.match(onPage['Python'] ?? '', /'Origin': 'https:\/\/app\.example\.com',/)
  for (const title of ['TypeScript', '@proxy-sdk/genai']) assert.match(onPage[title] ?? '', /^\/\/ On a page of https:\/\/app\.example\.com: the key works nowhere else\.\n/)
  assert.doesNotMatch(Object.values(of('google', false)).join('\n'), /Origin|On a page/)
})
