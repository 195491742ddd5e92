// Tests whether a credential works, with one cheap request to its provider, on the same connections
// and with the same headers as any other request.
import { fits, type Credential, type CredentialPool } from './pool.ts'
import { withCredential } from '../forward/apply-header-rules.ts'
import type { ProbeCall, Provider } from '../providers/provider.ts'
import { type ProviderTable } from '../providers/table.ts'
import type { HttpClient, UpstreamError } from '../../http1/client/client.ts'
import type { RouteCache } from '../find-route.ts'

/** The test request of most providers. */
const USUAL: ProbeCall = { path: '/v1/models' }

/** How long a test call may take (milliseconds). */
const PROBE_TIMEOUT_MS = 30_000

/** How a test call ended. */
export interface Probe {
  ok: boolean
  /** The provider's status; null where there was no response. */
  status: number | null
  /** A sentence that a person can act on. */
  detail: string
}

/** Dependencies of a test call. */
export interface ProbeDeps {
  table: ProviderTable
  routes: RouteCache
  client: HttpClient
  credentials: CredentialPool
  /** Ends test calls in progress when the process shuts down. */
  stopped: AbortSignal
}

/**
 * Makes the test call with one credential, even if it is paused or cools down. The result counts
 * for its health like any other.
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
      detail: 'The provider of this credential is no longer known.',
    }
  const { provider } = upstream
  const { path, headers = [], body, opens = [] } = provider.probe ?? USUAL
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
        // Only the head matters, and the body may be long.
        onHead(status) {
          credentials.recordProbe(credential, status)
          resolve({
            ok: status < 300 || opens.includes(status),
            status,
            detail: sentenceOf(provider, status),
          })
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
  return `${name} reports an error of its own (${status}). Try again later.`
}

function unreached({ name }: Provider, code: UpstreamError['code']): string {
  return code === 'timeout'
    ? `${name} did not answer in time.`
    : `${name} cannot be reached. Check its address, and the network of this server.`
}
