// Whether a credential works: one cheap call to its provider, on the same connections and with the
// same headers as any other.
import { fits, type Credential, type CredentialPool } from './pool.ts'
import { withCredential } from '../forward/headers.ts'
import type { Provider } from '../providers/provider.ts'
import { type ProviderTable } from '../providers/table.ts'
import { PROVIDERS } from '../providers/rows/index.ts'
import type { HttpClient, UpstreamError } from '../../http1/client/client.ts'
import type { RouteCache } from '../target/route-cache.ts'

/** A call that costs nothing and that only a good credential opens. */
interface Call {
  path: string
  headers?: readonly string[]
  /** Sent by POST; a GET without. */
  body?: string
}

/** What a custom provider has, and most of the others. */
const USUAL: Call = { path: '/v1/models' }

/** TABLE of those calls that are not the usual one: provider → call. */
const CALLS: Readonly<Record<string, Call>> = {
  google: { path: '/v1beta/models?pageSize=1' },
  // Express mode has no list that a key opens; counting tokens is free.
  vertex: {
    path: '/v1/publishers/google/models/gemini-2.5-flash:countTokens',
    headers: ['Content-Type', 'application/json'],
    body: '{"contents":[{"role":"user","parts":[{"text":"x"}]}]}',
  },
  azure: { path: '/openai/v1/models' },
  anthropic: { path: '/v1/models?limit=1', headers: ['anthropic-version', '2023-06-01'] },
  groq: { path: '/openai/v1/models' },
  deepseek: { path: '/models' },
  cohere: { path: '/v1/models?page_size=1' },
  fireworks: { path: '/inference/v1/models' },
  // Its list of models is open to everybody; this is what the key itself may do.
  openrouter: { path: '/api/v1/key' },
  perplexity: { path: '/async/chat/completions' },
  bedrock: { path: '/async-invoke?maxResults=1' },
}

/** An added provider on a built-in one's host is that one under another name: it has its base. */
function callOf({ base }: Provider): Call {
  const kin = PROVIDERS.find((row) => row.base === base)
  return (kin && CALLS[kin.id]) ?? USUAL
}

/** How long a test call may take. */
const PROBE_TIMEOUT_MS = 30_000

/** How a test call ended. */
export interface Probe {
  ok: boolean
  /** The provider's status; null where there was no answer. */
  status: number | null
  /** A sentence that a person can act on. */
  detail: string
}

export interface ProbeDeps {
  table: ProviderTable
  routes: RouteCache
  client: HttpClient
  credentials: CredentialPool
  /** Ends test calls that are under way: the process is shutting down. */
  stopped: AbortSignal
}

/**
 * Makes the test call with one credential, whether it is paused or resting. Its outcome counts for
 * its health like any other's.
 */
export async function probe(
  { table, routes, client, credentials, stopped }: ProbeDeps,
  credential: Credential,
): Promise<Probe> {
  const upstream = table.upstreams.find(
    (one) => one.provider.id === credential.provider && fits(credential, one),
  )
  if (!upstream)
    return {
      ok: false,
      status: null,
      detail: 'The provider of this credential is not known any more.',
    }
  const { provider } = upstream
  const { path, headers = [], body } = callOf(provider)
  const bytes = body === undefined ? null : Buffer.from(body)
  const destination = routes.destinationFor(upstream)
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
  return new Promise((resolve) => {
    const call = client.send(
      {
        destination,
        method: bytes === null ? 'GET' : 'POST',
        path,
        headers: withCredential(headers, provider.auth, credential.secret),
        body:
          bytes === null
            ? null
            : {
                length: bytes.length,
                held: [bytes],
                heldTrailers: [],
                rest: null,
                observe: null,
                trailers: () => [],
              },
      },
      {
        onInterim: () => {},
        // What the head says is all there is to know; the rest may be long.
        onHead(status) {
          credentials.recordProbe(credential, status)
          resolve({ ok: status < 300, status, detail: sentenceOf(provider, status) })
          call.abort()
        },
        onBody: () => {},
        onPause: () => {},
        onEnd: () => {},
        onError: (error) =>
          resolve({ ok: false, status: null, detail: unreached(provider, error.code) }),
      },
    )
    signal.addEventListener('abort', () => {
      call.abort()
      resolve({ ok: false, status: null, detail: unreached(provider, 'timeout') })
    })
  })
}

function sentenceOf({ name }: Provider, status: number): string {
  if (status < 300) return `${name} accepts this credential.`
  if (status === 401 || status === 403)
    return `${name} refuses this credential (${status}). Check that it was copied completely, is not revoked, and may use the API.`
  if (status === 429)
    return `${name} limits this credential at the moment (429). It is known there; try again later.`
  if (status < 500)
    return `${name} answered ${status}. The credential is most likely wrong, or the address is not that of its API.`
  return `${name} has a problem of its own (${status}). Try again later.`
}

function unreached({ name }: Provider, code: UpstreamError['code']): string {
  return code === 'timeout'
    ? `${name} did not answer in time.`
    : `${name} cannot be reached. Check its address, and the network of this server.`
}
