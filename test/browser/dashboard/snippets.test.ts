// The code that a new key is shown with: for a provider that is ready and a model that the key
// allows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Model, Provider } from '../../../dashboard/src/api/shapes.ts'
import { choicesFor, programsFor, setupOf, snippetsOf } from '../../../dashboard/src/snippets.ts'

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
    id,
    name: id,
    source: id === 'acme' ? 'stored' : 'built_in',
    base: BASES[id],
    hosts: [],
    auth: { header: 'Authorization', scheme: 'Bearer' },
    ready: ready.includes(id),
    dial: null,
    credentials: null,
    health: 'healthy',
    last_error: null,
  }))
}

const SEEN: Model[] = [
  { id: 'gemini-1-seen', provider: 'google' },
  { id: 'house-7b', provider: 'acme' },
]
const found = (
  ready: Id[],
  models: string[] | null,
  allowed: Id[] | null = null,
): string | undefined => {
  const [choice] = choicesFor({ models, providers: allowed }, providers(...ready), SEEN)
  return choice && `${choice.provider.id} ${choice.model}`
}

/**
 * TABLE: the providers that are ready, the models and providers that the key allows, and what the
 * snippets are for.
 */
const CHOICES: readonly [
  ready: Id[],
  models: string[] | null,
  allowed: Id[] | null,
  choice: string,
][] = [
  [['openai'], null, null, 'openai gpt-5-mini'],
  [['google', 'openai'], null, null, 'google gemini-2.5-flash'],
  [['google', 'openai'], null, ['openai'], 'openai gpt-5-mini'],
  [['google', 'openai'], ['gpt-*'], null, 'openai gpt-5-mini'],
  [['google', 'openai'], ['gpt-4o*'], null, 'openai gpt-4o-mini'],
  [['google', 'openai'], ['gpt-3*'], null, 'openai <a model like gpt-3*>'],
  [['openai', 'anthropic'], ['gpt-3*', 'claude-haiku-4-5'], null, 'anthropic claude-haiku-4-5'],
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
  for (const [ready, models, allowed, choice] of CHOICES)
    assert.equal(found(ready, models, allowed), choice, `${ready}: ${models}`)
  assert.equal(found(['openai'], ['nothing-like-it'], ['openai']), undefined)
})

/** The snippets of one provider, by their titles. */
function snippetsFor(
  id: Id,
  streaming: boolean,
  page: string | null = null,
): Record<string, string> {
  const [choice] = choicesFor({ models: null, providers: [id] }, providers(id), SEEN)
  assert.ok(choice)
  const use = { secret: 'tmk_secret', streaming, origin: 'http://localhost:8484', page }
  return Object.fromEntries(snippetsOf(choice, use).map(({ title, code }) => [title, code]))
}

test('each snippet names the proxy, the key and the model', () => {
  for (const id of Object.keys(BASES) as Id[]) {
    for (const streaming of [false, true]) {
      for (const [title, code] of Object.entries(snippetsFor(id, streaming))) {
        assert.ok(
          code.includes('tmk_secret') && code.includes('http://localhost:8484'),
          `${id}, ${title}: ${code}`,
        )
        if (title.startsWith('@') || title === 'AI SDK')
          assert.equal(code.includes('streamText'), streaming, `${id}, ${title}: ${code}`)
      }
    }
  }
  const titles = ['curl', 'TypeScript', 'Python', 'AI SDK']
  assert.deepEqual(Object.keys(snippetsFor('google', false)), [...titles, '@proxy-sdk/genai'])
  assert.deepEqual(Object.keys(snippetsFor('vertex', false)), [
    ...titles,
    '@proxy-sdk/genai-express',
  ])
  assert.deepEqual(Object.keys(snippetsFor('openai', false)), [...titles, '@proxy-sdk/core'])
})

/** TABLE: a provider, the language, and the base URL that its SDK gets. */
const SDK_URLS: readonly [id: Id, title: string, base: string][] = [
  ['openai', 'TypeScript', 'api.openai.com/v1'],
  ['anthropic', 'TypeScript', 'api.anthropic.com'],
  ['anthropic', 'Python', 'api.anthropic.com'],
  ['anthropic', 'AI SDK', 'api.anthropic.com/v1'],
  ['google', 'Python', 'generativelanguage.googleapis.com'],
  ['mistral', 'TypeScript', 'api.mistral.ai'],
  ['xai', 'TypeScript', 'api.x.ai/v1'],
  // A server that speaks OpenAI's dialect has it below /v1.
  ['acme', 'TypeScript', 'llm.example.com/v1'],
]

test('an SDK gets its base URL behind the proxy', () => {
  for (const [id, title, base] of SDK_URLS) {
    const code = snippetsFor(id, false)[title] ?? ''
    assert.ok(code.includes(`'http://localhost:8484/proxy/${base}'`), `${id}, ${title}: ${code}`)
  }
  assert.match(
    snippetsFor('google', true)['curl'] ?? '',
    /\/proxy\/generativelanguage\.googleapis\.com\/v1beta\/.*streamGenerateContent\?alt=sse'/,
  )
})

test('an origin-bound key has no Python snippet, because only browsers send an origin', () => {
  const page = 'https://app.example.com'
  const { curl = '', TypeScript = '', ...others } = snippetsFor('openai', false, page)
  assert.match(curl, /-H 'Origin: https:\/\/app\.example\.com'/)
  assert.match(TypeScript, /\n {2}dangerouslyAllowBrowser: true,\n\}\)/)
  assert.deepEqual(Object.keys(others), ['AI SDK', '@proxy-sdk/core'])
  for (const code of [TypeScript, ...Object.values(others)]) {
    assert.match(
      code,
      /^\/\/ On a page of https:\/\/app\.example\.com: the key works nowhere else\.\n/,
    )
  }
  assert.doesNotMatch(
    Object.values(snippetsFor('openai', false)).join('\n'),
    /Origin|On a page|allowBrowser/i,
  )
})

test('setup of programs matches `tollmark env`', () => {
  const [choice] = choicesFor(
    { models: null, providers: ['anthropic'] },
    providers('anthropic'),
    SEEN,
  )
  assert.ok(choice)
  const program = programsFor(choice).find(({ id }) => id === 'claude-code')
  assert.ok(program)
  assert.deepEqual(setupOf(program, 'https://ai.example.com', 'tmk_x').code.split('\n'), [
    'export ANTHROPIC_BASE_URL=https://ai.example.com/proxy/api.anthropic.com',
    'export ANTHROPIC_AUTH_TOKEN=tmk_x',
  ])
})
