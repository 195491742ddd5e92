// The whole server before one fake upstream for every provider: what a key that is limited to
// models can reach.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TargetForm } from '../../../server/proxy/parse-target.ts'
import { respond, headerOf } from '../../support/providers/fake.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import type { Sent } from './relayed.ts'
import { startServed, type Served } from './served.ts'

/** TABLE of providers: where each is called. */
export const ORIGINS = {
  openai: 'https://api.openai.com',
  google: 'https://generativelanguage.googleapis.com',
  vertex: 'https://aiplatform.googleapis.com',
  anthropic: 'https://api.anthropic.com',
  azure: 'https://acme.openai.azure.com',
  mistral: 'https://api.mistral.ai',
  groq: 'https://api.groq.com',
  xai: 'https://api.x.ai',
  deepseek: 'https://api.deepseek.com',
  cohere: 'https://api.cohere.com',
  together: 'https://api.together.xyz',
  fireworks: 'https://api.fireworks.ai',
  perplexity: 'https://api.perplexity.ai',
  openrouter: 'https://openrouter.ai',
  cerebras: 'https://api.cerebras.ai',
  bedrock: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  gateway: 'https://ai-gateway.vercel.sh',
  added: 'https://llm.acme.test',
} as const
export type Id = keyof typeof ORIGINS

export interface Outcome {
  readonly status: number
  /** `X-Proxy-Error`, or null. */
  readonly code: string | null
  readonly body: string
  /** Requests that reached the upstream. */
  readonly sent: number
}

export interface Scoped {
  readonly served: Served
  /** A request with a key for these models (null: for all) and every stored object. */
  ask(
    id: Id,
    path: string,
    models: readonly string[] | null,
    sent: Sent & { form?: TargetForm },
  ): Promise<Outcome>
}

export async function startScoped(t: TestContext): Promise<Scoped> {
  const served = await startServed(
    t,
    respond(200, { 'Content-Type': 'application/json' }, '{}'),
    (origin) => {
      const path = join(temporaryFolder(t), 'providers.json')
      writeFileSync(
        path,
        JSON.stringify([
          { id: 'added', origin: ORIGINS.added, dial: origin, credential: { env: 'ADDED_KEY' } },
        ]),
      )
      const settings: Record<string, string> = {
        TOLLMARK_PROVIDERS: path,
        ADDED_KEY: 'k',
        AZURE_RESOURCE_NAME: 'acme',
        AWS_REGION: 'us-east-1',
        AWS_BEARER_TOKEN_BEDROCK: 'k',
        GOOGLE_VERTEX_API_KEY: 'k',
        AI_GATEWAY_API_KEY: 'k',
      }
      for (const id of Object.keys(ORIGINS)) {
        if (id === 'added') continue
        settings[`TOLLMARK_UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`] = origin
        if (!['google', 'vertex', 'bedrock', 'gateway'].includes(id))
          settings[`${id.toUpperCase()}_API_KEY`] = 'k'
      }
      return settings
    },
  )
  const secrets = new Map<string, string>()
  return {
    served,
    async ask(id, path, models, sent) {
      const name = JSON.stringify(models)
      let secret = secrets.get(name)
      if (secret === undefined)
        secrets.set(
          name,
          (secret = (
            await served.key({ models: models === null ? null : [...models], objects: 'upstream' })
          ).secret),
        )
      const before = served.fake.requests.length
      const got = await served.send(secret, `${ORIGINS[id]}${path}`, { method: 'POST', ...sent })
      return {
        status: got.status,
        code: headerOf(got.rawHeaders, 'x-proxy-error') ?? null,
        body: got.body.toString(),
        sent: served.fake.requests.length - before,
      }
    },
  }
}
