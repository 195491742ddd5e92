// Step 6: the key's limit and the ledger's reservation, durable before the upstream sees a byte.
import { hash } from 'node:crypto'
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { HttpExchange } from '../../http1/exchange.ts'
import { valueOf } from '../../http1/header-fields.ts'
import {
  PATIENCE_MS,
  type Admission,
  type AdmissionRequest,
  type Ledger,
} from '../../ledger/ledger.ts'
import type { RateLimitGroup } from '../credentials/health.ts'
import type { Credential, CredentialPool } from '../credentials/pool.ts'
import { GatewayError, serviceUnavailable } from '../gateway-error.ts'
import type { InspectedRequest } from '../inspect/inspected-request.ts'
import type { Match } from '../providers/match.ts'
import type { Upstream } from '../providers/provider.ts'
import { rateLimitExceeded, tightestLimit } from './key-limits.ts'

/** The ledger's record of an admitted request. */
export type Admitted = Extract<Admission, { admitted: true }>

/** An admitted request, and the credential that it is sent with. */
export interface AdmittedRequest {
  readonly credential: Credential
  /** The requests that share the credential's limit at the provider. */
  readonly limitGroup: RateLimitGroup
  readonly admission: Admitted
  /** The reservation in the ledger. */
  readonly row: AdmissionRequest
  /** The owner in whose turns it is connected and written. */
  readonly owner: Owner
}

interface AdmissionDeps {
  readonly ledger: Ledger
  readonly credentials: CredentialPool
}

/** A request that has passed steps 1 to 5. */
interface Candidate {
  readonly id: string
  readonly exchange: HttpExchange
  readonly upstream: Upstream
  readonly match: Match
  readonly inspected: InspectedRequest
  /**
   * The credential that created the objects named by the request; null if none of them is known.
   */
  readonly makerCredential: string | null
}

/** Used for hosts that get no credential: those that serve files. */
const ANONYMOUS: Credential = { id: 'none', provider: '', secret: '', values: {}, weight: 1 }

/**
 * Admits a request: selects its credential and writes its reservation to the ledger. If there is no
 * credential, the request is refused before it is counted, so that callers do not pay for the
 * operator's mistake.
 *
 * @param openRequests number of open requests: a single one does not wait for others to share its
 *   write
 * @throws GatewayError `upstream_credential_missing`, `rate_limit_exceeded`, `service_unavailable`
 */
export async function admitRequest(
  { ledger, credentials }: AdmissionDeps,
  { id, exchange, upstream, match, inspected, makerCredential }: Candidate,
  openRequests: number,
): Promise<AdmittedRequest> {
  const { key, model } = inspected
  const contextKey = valueOf(exchange.headers, 'x-proxy-context-key') || null
  const limitGroup = { model, key: key.id }
  const credential =
    upstream.provider.anonymous === true
      ? ANONYMOUS
      : (credentials.pick(upstream, contextKey, makerCredential, limitGroup) ??
        (makerCredential === null
          ? null
          : credentials.pick(upstream, contextKey, null, limitGroup)))
  if (credential === null)
    throw new GatewayError(
      'upstream_credential_missing',
      `The operator of this proxy has set no credential for ${upstream.provider.name}. Add one in the dashboard, under Providers.`,
    )
  const row: AdmissionRequest = {
    id,
    account_id: key.accountId,
    key_id: key.id,
    rpm: key.rpm,
    provider: upstream.provider.id,
    model,
    endpoint: match.pattern,
    method: exchange.method,
    context: contextKey === null ? null : hash('sha256', contextKey).slice(0, 32),
    child_id: key.child?.id ?? null,
    child_rpm: key.child?.rpm ?? null,
    end_user: key.child?.endUser ?? null,
  }
  const patience = patienceMs(inspected.body?.length ?? 0, openRequests)
  let admission: Admission
  try {
    admission = await ledger.admit(row, exchange, patience)
  } catch {
    throw serviceUnavailable(
      'The ledger cannot be written at the moment. Nothing was sent to the provider.',
    )
  }
  if (!admission.admitted)
    throw rateLimitExceeded(tightestLimit(ledger, key)?.rpm ?? 0, admission.wait)
  return { credential, limitGroup, admission, row, owner: row }
}

/**
 * A long body took a while to arrive, and its response takes a while to begin, so it may wait a
 * millisecond longer for each 16 KB, up to a bound.
 */
const BYTES_PER_MS = 16 * 1024
const MAX_PATIENCE_MS = 24

/** How long a request may wait for others to share its write to the ledger, in milliseconds. */
function patienceMs(bodyLength: number, openRequests: number): number {
  return openRequests === 1 ? 0 : Math.min(PATIENCE_MS + bodyLength / BYTES_PER_MS, MAX_PATIENCE_MS)
}
