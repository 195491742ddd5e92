// One case, run twice against the same scripted provider: straight, and through the whole server.
// What the SDK makes of it must be the same, and so must be what the provider receives.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { flushJournal } from '../../../server/ledger/settlement/journal.ts'
import { respond, headerOf, type Received } from '../../support/providers/fake.ts'
import { startServed, type Served } from '../support/served.ts'
import type { Fetch, Run } from './calls.ts'
import { playing, type Wire } from './wire.ts'

export interface Case {
  name: string
  run: Run
  /** The responses of the provider, one per request. */
  responses: Wire[]
  /** The name of the error that the run ends with, where it does. */
  fails?: string
  /** Where the ledger rightly counts otherwise than the SDK: why. */
  countsOtherwise?: string
}

interface Via {
  id: string
  hosts: string[]
  /** The setting of its credential. */
  setting: string
  header: string
  scheme?: string
}

const bearer = { header: 'authorization', scheme: 'Bearer' }

/** TABLE of providers: what a caller names, and how our credential has to arrive. */
const VIA: Via[] = [
  {
    id: 'google',
    hosts: ['generativelanguage.googleapis.com'],
    setting: 'GOOGLE_GENERATIVE_AI_API_KEY',
    header: 'x-goog-api-key',
  },
  {
    id: 'vertex',
    hosts: ['aiplatform.googleapis.com'],
    setting: 'GOOGLE_VERTEX_API_KEY',
    header: 'x-goog-api-key',
  },
  { id: 'openai', hosts: ['api.openai.com'], setting: 'OPENAI_API_KEY', ...bearer },
  {
    id: 'anthropic',
    hosts: ['api.anthropic.com'],
    setting: 'ANTHROPIC_API_KEY',
    header: 'x-api-key',
  },
  { id: 'mistral', hosts: ['api.mistral.ai'], setting: 'MISTRAL_API_KEY', ...bearer },
  { id: 'groq', hosts: ['api.groq.com'], setting: 'GROQ_API_KEY', ...bearer },
  { id: 'xai', hosts: ['api.x.ai'], setting: 'XAI_API_KEY', ...bearer },
  { id: 'deepseek', hosts: ['api.deepseek.com'], setting: 'DEEPSEEK_API_KEY', ...bearer },
  { id: 'cohere', hosts: ['api.cohere.com'], setting: 'COHERE_API_KEY', ...bearer },
  { id: 'together', hosts: ['api.together.xyz'], setting: 'TOGETHER_API_KEY', ...bearer },
  { id: 'fireworks', hosts: ['api.fireworks.ai'], setting: 'FIREWORKS_API_KEY', ...bearer },
  { id: 'perplexity', hosts: ['api.perplexity.ai'], setting: 'PERPLEXITY_API_KEY', ...bearer },
  { id: 'openrouter', hosts: ['openrouter.ai'], setting: 'OPENROUTER_API_KEY', ...bearer },
  { id: 'cerebras', hosts: ['api.cerebras.ai'], setting: 'CEREBRAS_API_KEY', ...bearer },
  {
    id: 'azure',
    hosts: ['acme.openai.azure.com', 'acme.cognitiveservices.azure.com'],
    setting: 'AZURE_API_KEY',
    header: 'api-key',
  },
  {
    id: 'bedrock',
    hosts: [
      'bedrock-runtime.us-east-1.amazonaws.com',
      'bedrock-agent-runtime.us-east-1.amazonaws.com',
    ],
    setting: 'AWS_BEARER_TOKEN_BEDROCK',
    ...bearer,
  },
]

/** What a program puts where its own credential would be. */
export const MANAGED = 'proxy-managed'
const secretOf = (id: string) => `the-upstream-secret-of-${id}`
const viaOf = (host: string) => VIA.find(({ hosts }) => hosts.includes(host))

/** Every provider leads to the one fake, each below a path of its own. */
export async function startTwice(
  t: TestContext,
  more: Record<string, string> = {},
): Promise<Twice> {
  const settings: Record<string, string> = {
    ...more,
    AZURE_RESOURCE_NAME: 'acme',
    AWS_REGION: 'us-east-1',
  }
  for (const { id, setting } of VIA) settings[setting] = secretOf(id)
  const served = await startServed(t, playing([]), (origin) => ({
    ...settings,
    ...Object.fromEntries(
      VIA.map(({ id }) => [`TOLLMARK_UPSTREAM_${id.toUpperCase()}`, `${origin}/to/${id}`]),
    ),
  }))
  const { secret } = await served.key()
  return new Twice(served, secret)
}

export class Twice {
  readonly served: Served
  readonly #secret: string

  constructor(served: Served, secret: string) {
    this.served = served
    this.#secret = secret
  }

  /** A fetch that goes to the fake provider as if it were the provider itself. */
  readonly direct: Fetch = (input, init) => {
    const { address, headers, options } = asked(input, init)
    const url = new URL(address)
    const via = viaOf(url.host)
    if (via === undefined)
      return Promise.reject(new Error(`${url.host} is no provider of this test`))
    return fetch(`${this.served.fake.origin}/to/${via.id}${url.pathname}${url.search}`, {
      ...options,
      headers,
    })
  }

  /** A fetch that goes through the proxy with a key of ours. */
  readonly proxied: Fetch = (input, init) =>
    fetchThrough(this.served.port, this.#secret)(input, init)

  async compare({ name, run, responses, fails, countsOtherwise }: Case): Promise<void> {
    const straight = await this.#once(run, responses, this.direct)
    const before = await this.#newest()
    const through = await this.#once(run, responses, this.proxied)

    assert.equal(errorName(straight.outcome), fails, `${name}: ${describe(straight.outcome)}`)
    assert.equal(
      straight.requests.length,
      responses.length,
      `${name}: every scripted response was asked for`,
    )
    assert.deepEqual(visible(through.outcome), visible(straight.outcome), name)

    assert.deepEqual(through.requests.map(arrived), straight.requests.map(arrived), name)
    for (const request of through.requests) checkCredential(request)

    const rows = await this.#rows(before, through.requests.length)
    assert.deepEqual(
      rows.map(({ tokens_in, tokens_out, tokens_cached, tokens_reasoning }) => [
        tokens_in,
        tokens_out,
        tokens_cached,
        tokens_reasoning,
      ]),
      responses.map(({ tokens }) => tokens ?? [null, null, null, null]),
      `${name}: tokens in the ledger`,
    )
    assert.deepEqual(
      rows.map(({ status }) => status),
      responses.map(({ status }) => status ?? 200),
      name,
    )
    if (countsOtherwise === undefined) checkAgainstSdk(name, straight.outcome, rows)
  }

  async #once(
    run: Run,
    responses: Wire[],
    fetch: Fetch,
  ): Promise<{ outcome: unknown; requests: Received[] }> {
    const { fake } = this.served
    fake.requests.splice(0)
    const play = playing(responses)
    fake.play((call) => (isProbe(call.received) ? respond(200, {})(call) : play(call)))
    const outcome = await withSeededRandom(() => run(fetch)).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    )
    return { outcome, requests: fake.requests.splice(0).filter((request) => !isProbe(request)) }
  }

  async #newest(): Promise<number> {
    return this.served.running.store.run(flushJournal, null)
  }

  /** The ledger's rows after `seq`, once they are complete. */
  async #rows(seq: number, count: number) {
    for (;;) {
      const rows = await this.served.running.store.db
        .selectFrom('requests')
        .selectAll()
        .where('seq', '>', seq)
        .orderBy('seq')
        .execute()
      if (rows.length >= count && rows.every(({ state }) => state !== 'reserved')) return rows
      await sleep(2)
    }
  }
}

/**
 * The proxy's own test call, by which it learns after a 401 whether its credential still works;
 * whatever an SDK sends names its sender.
 */
const isProbe = ({ rawHeaders }: Received): boolean => headerOf(rawHeaders, 'user-agent') === null

/**
 * What a program does to use the proxy: the address goes into `url`, and a key of ours into
 * `Authorization`.
 */
export const fetchThrough =
  (port: number, secret: string): Fetch =>
  (input, init) => {
    const { address, headers, options } = asked(input, init)
    headers.set('authorization', `Bearer ${secret}`)
    return fetch(`http://127.0.0.1:${port}/proxy?url=${encodeURIComponent(address)}`, {
      ...options,
      headers,
    })
  }

function asked(
  input: string | URL | Request,
  init: RequestInit = {},
): { address: string; headers: Headers; options: RequestInit } {
  if (input instanceof Request) throw new TypeError('the SDK has never given a Request so far')
  return { address: String(input), headers: new Headers(init.headers), options: init }
}

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date'])
const AUTH = new Set([
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
])

/**
 * A request as it arrived, without what may differ: the connection's own headers, the host,
 * credentials, the random boundary of a form.
 */
function arrived({ method, target, rawHeaders, body }: Received) {
  const headers: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    // What browsers add about the page is kept from the provider.
    if (name === 'connection' || name === 'host' || AUTH.has(name) || name.startsWith('sec-'))
      continue
    headers.push(`${name}: ${rawHeaders[i + 1]}`)
  }
  const boundary = /boundary=(\S+)/.exec(headers.join('\n'))?.[1]
  const calm = (text: string) =>
    boundary === undefined ? text : text.replaceAll(boundary, 'BOUNDARY')
  // Google's video addresses carry the caller's own key, which the proxy takes away.
  const address = target.replace(/[?&]key=proxy-managed/, '')
  return {
    method,
    target: address,
    headers: headers.map(calm),
    body: calm(body.toString('latin1')),
  }
}

/** Our credential has arrived once, and nobody else's. */
function checkCredential({ target, rawHeaders }: Received): void {
  const via = VIA.find(({ id }) => target.startsWith(`/to/${id}/`))!
  const given: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (AUTH.has(rawHeaders[i]!.toLowerCase()))
      given.push(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!)
  const value = via.scheme === undefined ? secretOf(via.id) : `${via.scheme} ${secretOf(via.id)}`
  const header = target.includes('/speechtotext/')
    ? 'ocp-apim-subscription-key'
    : target.includes('/v1beta/openai/')
      ? 'authorization'
      : via.header
  assert.deepEqual(given, [header, value], target)
  for (const text of [target, ...rawHeaders])
    assert.ok(!text.includes(MANAGED) && !text.includes('tmk_'), text)
}

/**
 * What the contract lets the proxy add: its request id where the provider sent none, and whose
 * credential a provider refuses.
 */
const isOurs = (name: string, value: string): boolean =>
  (name === 'x-request-id' && value.startsWith('req_')) ||
  name === 'x-proxy-request-id' ||
  (name === 'x-proxy-error' && value === 'upstream_credential_rejected')

/**
 * Whatever a program can see, as plain data: errors with all their fields, bytes as text, this
 * moment's times as one word.
 */
function visible(value: unknown, key = ''): unknown {
  if (value instanceof Date) return isNow(value.getTime()) ? 'now' : value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Headers) return visible(Object.fromEntries(value), 'headers')
  if (Array.isArray(value)) return value.map((one) => visible(one))
  if (typeof value === 'function') return 'function'
  if (typeof value !== 'object' || value === null) return value
  if (key === 'performance') return 'measured'
  const fields: Record<string, unknown> =
    value instanceof Error ? { ...value, name: value.name, message: value.message } : { ...value }
  // What lies below an error of fetch itself is the connection's, and there are other ones here.
  if (value instanceof Error && value.cause !== undefined && value.name !== 'TypeError')
    fields['cause'] = visible(value.cause)
  if (/headers$/i.test(key)) {
    for (const name of Object.keys(fields))
      if (HOP_BY_HOP.has(name) || isOurs(name, String(fields[name]))) delete fields[name]
  }
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, visible(field, name)]),
  )
}

const isNow = (time: number) => Math.abs(Date.now() - time) < 60_000

function errorName(outcome: unknown): string | undefined {
  return outcome instanceof Error ? outcome.name : undefined
}

function describe(outcome: unknown): string {
  return outcome instanceof Error
    ? `${outcome.stack} ${JSON.stringify(visible(outcome))}`
    : 'it went well'
}

interface Counted {
  tokens_in: number | null
  tokens_out: number | null
}

/** A second opinion on the ledger: the SDK's own sum over the steps of a run. */
function checkAgainstSdk(name: string, outcome: unknown, rows: readonly Counted[]): void {
  const usages = usagesOf(outcome)
  if (usages.length === 0 || usages.length !== rows.length) return
  const told = (count: unknown) => count ?? null
  assert.deepEqual(
    rows.map(({ tokens_in, tokens_out }) => [tokens_in, tokens_out]),
    usages.map(({ inputTokens, outputTokens }) => [told(inputTokens), told(outputTokens)]),
    `${name}: the SDK counts the same`,
  )
}

interface SdkUsage {
  inputTokens: unknown
  outputTokens: unknown
}

function usagesOf(outcome: unknown): SdkUsage[] {
  if (typeof outcome !== 'object' || outcome === null) return []
  if ('steps' in outcome) return usagesOf(outcome.steps)
  if (Array.isArray(outcome)) return outcome.flatMap(usagesOf)
  const usage = 'usage' in outcome ? outcome.usage : undefined
  return typeof usage === 'object' &&
    usage !== null &&
    'inputTokens' in usage &&
    'outputTokens' in usage
    ? [usage]
    : []
}

/** The SDK draws its own ids from Math.random: the same ones in both runs. */
async function withSeededRandom<T>(run: () => Promise<T>): Promise<T> {
  const { random } = Math
  let state = 1
  Math.random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  try {
    return await run()
  } finally {
    Math.random = random
  }
}
