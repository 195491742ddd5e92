// What the AI SDK makes of the proxy's refusals: it waits as long as Retry-After-Ms says, and shows
// our sentence.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respond } from '../support/providers/fake.ts'
import { providers } from './responses.ts'
import { load, MAJORS, makeProject } from './project.ts'
import { startProxied } from './proxied.ts'

/** Milliseconds. */
const WAIT = 1_230
const SLACK = 50

for (const major of MAJORS) {
  test(`AI SDK ${major} waits for Retry-After-Ms and tries again`, async (t) => {
    const proxied = await startProxied(t)
    const { ai, genai } = await load(await makeProject(t, major))
    const google = genai.createProxyGenai({
      apiKey: await proxied.key(),
      proxyUrl: proxied.proxyUrl,
    })
    const slow = respond(
      429,
      { 'Content-Type': 'application/json', 'Retry-After-Ms': String(WAIT) },
      '{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}',
    )
    proxied.fake.play(async (call) => {
      const first = proxied.fake.requests.length === 1
      await (first ? slow : providers())(call)
    })
    const timers = t.mock.method(globalThis, 'setTimeout')
    const { text } = await ai.generateText({ model: google('gemini-2.5-flash'), prompt: 'Hello' })
    assert.equal(text, 'Hello from Gemini')
    // What it asked its clock for is exact; what really passed cannot be less, but on a busy
    // machine more.
    const asked = timers.mock.calls
      .map((call) => call.arguments[1] ?? 0)
      .filter((milliseconds) => Math.abs(milliseconds - WAIT) <= SLACK)
    assert.equal(asked.length, 1)
    const [first, second] = proxied.fake.requests
    assert.ok(
      second!.headAt - first!.headAt >= WAIT - SLACK,
      `${second!.headAt - first!.headAt} ms`,
    )
  })

  test(`AI SDK ${major} shows the proxy's sentence`, async (t) => {
    const proxied = await startProxied(t, providers())
    const { ai, genai, express, openai, core } = await load(await makeProject(t, major))
    const { proxyUrl } = proxied
    const said = async (
      model: Parameters<typeof ai.generateText>[0]['model'],
    ): Promise<{ message: string; retryable: unknown; headers: Record<string, string> }> => {
      const error: unknown = await ai.generateText({ model, prompt: 'Hello', maxRetries: 0 }).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      assert.ok(ai.APICallError.isInstance(error), String(error))
      return {
        message: error.message,
        retryable: error.isRetryable,
        headers: error.responseHeaders ?? {},
      }
    }
    const limited = await proxied.key({ rpm: 1 })
    const models = [
      genai.createProxyGenai({ apiKey: limited, proxyUrl })('gemini-2.5-flash'),
      express.createProxyExpress({ apiKey: limited, proxyUrl })('gemini-2.5-flash'),
      openai
        .createOpenAI({
          apiKey: core.PROXY_MANAGED,
          fetch: core.createProxyFetch({ apiKey: limited, proxyUrl }),
        })
        .chat('gpt-5'),
    ]
    await ai.generateText({ model: models[0]!, prompt: 'Hello' })
    for (const model of models) {
      const { message, retryable, headers } = await said(model)
      assert.match(
        message,
        /^The proxy key allows 1 request a minute\. The next one can pass in \d\d? seconds?\.$/,
      )
      assert.equal(retryable, true)
      assert.ok(Number(headers['retry-after-ms']) > 0)
    }
    const scoped = genai.createProxyGenai({
      apiKey: await proxied.key({ models: ['gemini-2.5-pro'] }),
      proxyUrl,
    })
    const refused = await said(scoped('gemini-2.5-flash'))
    assert.deepEqual(
      [refused.retryable, refused.headers['x-proxy-error']],
      [false, 'model_not_allowed'],
    )
    const unknown = await said(
      genai.createProxyGenai({ apiKey: 'tmk_wrong', proxyUrl })('gemini-2.5-flash'),
    )
    assert.equal(unknown.headers['x-proxy-error'], 'invalid_api_key')
    assert.ok(!unknown.message.includes('tmk_wrong'))
  })

  test(`AI SDK ${major}: a call without a key says what to do and sends nothing`, async (t) => {
    const proxied = await startProxied(t)
    const { ai, genai, express } = await load(await makeProject(t, major))
    for (const provider of [
      genai.createProxyGenai({ proxyUrl: proxied.proxyUrl }),
      express.createProxyExpress({ proxyUrl: proxied.proxyUrl }),
    ]) {
      await assert.rejects(
        ai.generateText({ model: provider('gemini-2.5-flash'), prompt: 'Hello' }),
        /There is no key for the proxy\. Pass `apiKey`.*NEXT_PUBLIC_AI_PROXY_KEY/,
      )
    }
    assert.equal(proxied.wire(), '')
  })
}
