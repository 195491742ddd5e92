// What the proxy refuses, it says in the provider's own way: every provider of the AI SDK shows our
// sentence.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APICallError, generateText, streamText } from 'ai'
import { changeKey, revokeKey, type KeyInput } from '../../../server/keys/keys.ts'
import { GATEWAY_ERRORS } from '../../../server/proxy/error-response.ts'
import { respond, type Script } from '../../support/providers/fake.ts'
import { startServed, type Served } from '../support/served.ts'
import type { Fetch } from './calls.ts'
import { SPEAKERS } from './cases/failures.ts'
import { fetchThrough, startTwice } from './twice.ts'

interface Refused {
  code: keyof typeof GATEWAY_ERRORS
  /** The beginning of the sentence. */
  says: RegExp
  /** The key that is used, if it is not a valid one without limits. */
  secret?: (served: Served) => Promise<string>
  /** What becomes of a request on its way to the proxy. */
  bends?: (url: string, body: string) => { url?: string; body?: string }
  /** What the provider does, where it is reached. */
  upstream?: Script
  method?: string
}

const keyWith = (wishes: Partial<KeyInput>) => async (served: Served) =>
  (await served.key(wishes)).secret

/** A key that has been changed since, once the proxy knows it. */
const keyAfter =
  (change: (served: Served, id: string) => Promise<unknown>) => async (served: Served) => {
    const { id, secret } = await served.key()
    await change(served, id)
    await served.running.keys?.refresh()
    return secret
  }

/** TABLE of refusals that a request with a body can meet. */
const TABLE: Refused[] = [
  {
    code: 'invalid_api_key',
    says: /^The proxy key is not valid\. A proxy key begins with tmk_/,
    secret: () => Promise.resolve('sk-of-somebody-else'),
  },
  {
    code: 'invalid_api_key',
    says: /^This is an API token, which works only under \/api\. Send a proxy key/,
    secret: () => Promise.resolve('tmt_of_an_account'),
  },
  {
    code: 'invalid_api_key',
    says: /^The proxy key is not valid\. It may have been revoked\./,
    secret: keyAfter(({ running }, id) => revokeKey(running.store, id, null, Date.now())),
  },
  {
    code: 'api_key_disabled',
    says: /^The proxy key is disabled\. Use another one,/,
    secret: keyAfter(({ running }, id) =>
      changeKey(running.store, id, null, { disabled: true }, Date.now()),
    ),
  },
  {
    code: 'api_key_expired',
    says: /^The proxy key has expired\. Use another one,/,
    secret: keyWith({ expires_at: 1 }),
  },
  {
    code: 'origin_not_allowed',
    says: /^The proxy key is only for web pages of its allowed origins, and this request names no origin\./,
    secret: keyWith({ allowed_origins: ['https://app.test'] }),
  },
  {
    code: 'model_not_allowed',
    says: /^This key may not use the model "/,
    secret: keyWith({ models: ['something-else-*'] }),
  },
  {
    code: 'rate_limit_exceeded',
    says: /^The proxy key allows 1 request a minute\. The next one can pass in \d\d? seconds?\.$/,
    secret: async (served) => {
      const { secret } = await served.key({ rpm: 1 })
      await served.send(secret, 'https://api.openai.com/v1/models', { method: 'GET' })
      return secret
    },
  },
  {
    code: 'ambiguous_body',
    says: /^The body is not valid JSON \(/,
    secret: keyWith({ models: ['*'] }),
    bends: (_, body) => ({ body: `${body}}` }),
  },
  {
    code: 'body_too_large',
    says: /^The body must be read to find its model, and is larger than \d+ bytes\./,
    secret: keyWith({ models: ['*'] }),
    bends: (_, body) => ({ body: body.padEnd(30_000) }),
  },
  {
    code: 'invalid_upstream_url',
    says: /^The upstream address has a fragment/,
    bends: (url) => ({ url: `${url}#x` }),
  },
  {
    code: 'upstream_not_allowed',
    says: /^No provider of this proxy has the host unknown\.\S+\. Check its spelling/,
    bends: (url) => ({ url: url.replace('https://', 'https://unknown.') }),
  },
  {
    code: 'endpoint_not_allowed',
    says: /^The endpoint POST \/\S+\/no\/such\/thing\/… is not known to the proxy, and this key is limited/,
    secret: keyWith({ models: ['*'] }),
    bends: (url) => ({ url: url.replace(/(\?|$)/, `/no/such/thing/${'x'.repeat(30)}$1`) }),
  },
  {
    code: 'invalid_upstream_url',
    says: /^The path of the upstream address has \. or \.\. segments\./,
    bends: (url) => ({ url: url.replace(/(\/[^/]*)$/, '/..$1') }),
  },
  {
    code: 'method_not_allowed',
    says: /^The proxy accepts only GET, HEAD, POST/,
    method: 'PROPFIND',
  },
  {
    code: 'upstream_unreachable',
    says: /^.+ could not be reached, or did not answer\.$/,
    upstream: (call) => call.reset(),
  },
  {
    code: 'upstream_timeout',
    says: /^.+ did not answer in time\.$/,
    upstream: (call) => call.gone(),
  },
]

test('every provider of the AI SDK shows our sentence and our status for every refusal', async (t) => {
  globalThis.AI_SDK_LOG_WARNINGS = false
  const { served } = await startTwice(t, {
    TOLLMARK_MAX_BODY: '20KB',
    TOLLMARK_FIRST_BYTE_TIMEOUT: '2s',
  })
  const { secret: valid } = await served.key()
  for (const { code, says, secret, bends, upstream, method } of TABLE) {
    served.fake.play(upstream ?? respond(500, {}))
    const through = fetchThrough(served.port, secret === undefined ? valid : await secret(served))
    const bent: Fetch = (input, init) => {
      const { url = String(input), body = String(init?.body) } =
        bends?.(String(input), String(init?.body)) ?? {}
      return through(url, { ...init, body, ...(method !== undefined && { method }) })
    }
    await Promise.all(
      SPEAKERS.map(async ({ id, model }) => {
        const error = await generateText({
          model: model(bent),
          prompt: 'Hello',
          maxRetries: 0,
        }).catch((thrown: unknown) => thrown)
        const what = `${code} by ${id}`
        assert.ok(APICallError.isInstance(error), `${what}: ${String(error)}`)
        assert.match(error.message, says, `${what}: ${error.responseBody}`)
        assert.deepEqual(
          [error.statusCode, error.responseHeaders?.['x-proxy-error']],
          [GATEWAY_ERRORS[code].status, code],
          what,
        )
        assert.equal(error.isRetryable, error.statusCode === 429 || error.statusCode! >= 500, what)
        assert.ok(!error.responseBody!.includes('tmk_') || code === 'invalid_api_key', what)
      }),
    )
  }
})

test('a refused stream fails with our sentence too', async (t) => {
  const { served } = await startTwice(t)
  const { secret } = await served.key({ models: ['something-else-*'] })
  for (const { id, model } of SPEAKERS) {
    const errors: unknown[] = []
    const result = streamText({
      model: model(fetchThrough(served.port, secret)),
      prompt: 'Hello',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })
    await result.consumeStream()
    assert.match(String(errors[0]), /This key may not use the model "/, id)
  }
  assert.equal(served.fake.requests.length, 0)
})

test('the error names a provider without a credential', async (t) => {
  const served = await startServed(t, respond(500, {}), {
    OPENAI_API_KEY: '',
    GOOGLE_GENERATIVE_AI_API_KEY: '',
    ANTHROPIC_API_KEY: '',
  })
  const { secret } = await served.key()
  // Of these the host itself is part of the credential.
  for (const { id, model } of SPEAKERS.filter(
    (one) => one.id !== 'azure' && one.id !== 'bedrock',
  )) {
    const error = await generateText({
      model: model(fetchThrough(served.port, secret)),
      prompt: 'Hello',
      maxRetries: 0,
    }).catch((thrown: unknown) => thrown)
    assert.ok(APICallError.isInstance(error), id)
    assert.match(
      error.message,
      /^The operator of this proxy has set no credential for .+\. Add one in the dashboard, under Providers\.$/,
      id,
    )
    assert.deepEqual(
      [error.statusCode, error.responseHeaders?.['x-proxy-error']],
      [502, 'upstream_credential_missing'],
      id,
    )
  }
})
