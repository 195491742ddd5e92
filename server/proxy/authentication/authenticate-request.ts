// Step 2: authenticates the key of a request, and checks whether it may send one more request now.
import type { Clock } from '../../common/clock.ts'
import { onlyValueOf } from '../../http1/header-fields.ts'
import { authenticate } from '../../keys/authenticate.ts'
import type { CachedKey, KeyCache } from '../../keys/cache.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { fullLimit } from '../admission/key-limits.ts'
import { GatewayError, rateLimitExceeded, serviceUnavailable } from '../gateway-error.ts'
import type { Provider } from '../providers/provider.ts'
import type { RequestShares, RequestSlot } from '../admission/request-shares.ts'
import type { QueryCredential } from '../target/parse-target.ts'
import { presentedKey } from './presented-key.ts'

/** The parts of a request that authenticate it. */
export interface RequestCredential {
  /** The key alone, or an unchanged `Authorization` header; undefined if there is neither. */
  readonly credential: string | undefined
  /** Whether the key is in the query of the upstream address. */
  readonly fromQuery: boolean
  /** The `Origin` header. */
  readonly origin: string | undefined
}

/**
 * Finds the credential of a request.
 *
 * @param provider the provider of the called address; null if it is not known
 * @param queryCredentials the values of credential parameters in the query of that address
 * @param isLongLived whether it is kept for hours, as by a socket: then it is copied, because V8's
 *   parts of a string keep the whole string in memory, here the head of the request
 * @throws GatewayError `malformed_request` if there are two
 */
export function readCredential(
  headers: readonly string[],
  provider: Provider | null,
  queryCredentials: readonly QueryCredential[],
  isLongLived: boolean,
): RequestCredential {
  const authorization = onlyValueOf(headers, 'authorization')
  const origin = onlyValueOf(headers, 'origin')
  if (authorization === null || origin === null)
    throw new GatewayError(
      'malformed_request',
      `The request has two ${origin === null ? 'Origin' : 'Authorization'} headers. Send one.`,
    )
  const presented = presentedKey(headers, authorization, provider, queryCredentials)
  if (presented === null)
    throw new GatewayError(
      'malformed_request',
      'The request has two different proxy keys. Send one.',
    )
  const { credential, fromQuery } = presented
  return isLongLived
    ? { credential: copyOf(credential), fromQuery, origin: copyOf(origin) }
    : { credential, fromQuery, origin }
}

const copyOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text).toString()

/**
 * The current key for a credential. Called again after a body has arrived, because that may take a
 * while.
 * @throws GatewayError `invalid_api_key`, `api_key_expired`, `api_key_disabled`, `origin_not_allowed`
 */
export function authenticateKey(
  keys: KeyCache,
  { credential, origin }: RequestCredential,
  clock: Pick<Clock, 'now'>,
): CachedKey {
  const result = authenticate(keys, credential, origin, clock.now())
  if (!result.ok) throw new GatewayError(result.code, result.message)
  return result.key
}

/**
 * Takes one of the key's slots for open requests; release it when the request has ended.
 * @throws GatewayError `rate_limit_exceeded` if the key's window is known to be full,
 *   `service_unavailable` if its share of open requests is used up
 */
export function openSlot(ledger: Ledger, shares: RequestShares, key: CachedKey): RequestSlot {
  const { id, accountId } = key
  const full = fullLimit(ledger, key)
  if (full !== null) {
    ledger.countRefusal({ key_id: id, account_id: accountId })
    throw rateLimitExceeded(full.rpm, full.wait)
  }
  const slot = shares.acquire(id, accountId)
  if (slot === null)
    throw serviceUnavailable('The proxy is busy, and this key has used its share of open requests.')
  return slot
}
