// createProxyRegistry: models by one text, of either major version of the AI SDK, through the real
// server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createProxyRegistry } from '@proxy-sdk/core'
import { embedMany, generateText, streamText } from 'ai'
import { providers } from './responses.ts'
import { load, makeProject, MAJORS } from './project.ts'
import { startProxied, UPSTREAM_SECRET } from './proxied.ts'

const FACTORIES = {
  openai: createOpenAI,
  anthropic: createAnthropic,
  google: createGoogleGenerativeAI,
}

test('the registry finds models by text, also as the default provider', async (t) => {
  const proxied = await startProxied(t, providers())
  const registry = createProxyRegistry({
    providers: FACTORIES,
    proxyUrl: proxied.proxyUrl,
    apiKey: await proxied.key(),
  })
  globalThis.AI_SDK_DEFAULT_PROVIDER = registry
  t.after(() => Reflect.deleteProperty(globalThis, 'AI_SDK_DEFAULT_PROVIDER'))
  assert.equal(
    (
      await generateText({
        model: registry.languageModel('google/gemini-2.5-flash'),
        prompt: 'Hello',
      })
    ).text,
    'Hello from Gemini',
  )
  assert.equal(
    (await generateText({ model: 'openai/gpt-5', prompt: 'Hello' })).text,
    'Hello from /v1/responses',
  )
  assert.equal(
    await streamText({ model: 'anthropic/claude-sonnet-4-5', prompt: 'Hello' }).text,
    'Hello',
  )
  assert.deepEqual(
    (await embedMany({ model: 'google/gemini-embedding-001', values: ['a', 'b'] })).embeddings,
    [
      [0, 0.5],
      [1, 0.5],
    ],
  )
  // What follows the provider's name is the model's id, whatever it holds.
  await generateText({ model: registry.languageModel('openai/ft:gpt-5:acme/x'), prompt: 'Hello' })
  assert.match(proxied.fake.requests.at(-1)?.body.toString() ?? '', /"model":"ft:gpt-5:acme\/x"/)
  assert.ok(!proxied.wire().includes(UPSTREAM_SECRET))
})

test('an unknown provider is an error that lists the known ones', () => {
  const registry = createProxyRegistry({ providers: FACTORIES, apiKey: 'tmk_x' })
  assert.throws(() => registry.languageModel('mistral/x' as never), {
    message:
      'There is no provider "mistral" for the model "mistral/x". The registry has openai, anthropic, google.',
  })
  const { rerankingModel } = createProxyRegistry({
    providers: { openai: () => ({ specificationVersion: 'v3' as const }) },
  })
  assert.throws(() => rerankingModel('openai/x' as never), {
    message: 'The provider "openai" has no rerankingModel.',
  })
})

for (const major of MAJORS) {
  test(`with AI SDK ${major}`, async (t) => {
    const proxied = await startProxied(t, providers())
    const { ai, core, openai, anthropic } = await load(await makeProject(t, major))
    const registry = core.createProxyRegistry({
      providers: { openai: openai.createOpenAI, anthropic: anthropic.createAnthropic },
      proxyUrl: proxied.proxyUrl,
      apiKey: await proxied.key(),
    })
    assert.equal(
      (await ai.generateText({ model: registry.languageModel('openai/gpt-5'), prompt: 'Hello' }))
        .text,
      'Hello from /v1/responses',
    )
    assert.equal(
      await ai.streamText({
        model: registry.languageModel('anthropic/claude-sonnet-4-5'),
        prompt: 'Hello',
      }).text,
      'Hello',
    )
  })
}
