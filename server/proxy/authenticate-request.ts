// Step 2: authenticates the key of a request, and checks whether it may send one more request now.
// A key is sent where clients of its provider put the provider's key. It gives access to this
// server, so no provider may receive one: this file also finds keys in data for the provider.
import type { Clock } from '../common/clock.ts'
import { SECRET_TEXT_LENGTH } from '../common/issued-secrets.ts'
import { nameAt, onlyValueOf, valueAt, valueOf } from '../http1/header-fields.ts'
import { offeredProtocols } from '../http1/websocket/handshake.ts'
import { authenticate } from '../keys/authenticate.ts'
import type { CachedKey, KeyCache } from '../keys/cache.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { fullLimit, rateLimitExceeded } from './admission/key-limits.ts'
import type { RequestShares, RequestSlot } from './admission/request-shares.ts'
import { GatewayError, serviceUnavailable } from './gateway-error.ts'
import { decodedFully } from './providers/object-ref.ts'
import type { Provider } from './providers/provider.ts'
import { keysIn } from './socket/subprotocols.ts'

/**
 * TABLE of headers, besides `Authorization` and the one in the provider's row, in which clients
 * send a key (lower case).
 */
export const KEY_HEADERS: ReadonlySet<string> = new Set([
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'xi-api-key',
  'x-key',
  'x-gladia-key',
  'x-hume-api-key',
])

const AUTHORIZATION = 'authorization'
/** The prefix of every proxy key; other credentials are not ours and are dropped. */
const PREFIX = 'tmk_'
/** A whole key, token or session (server/common/issued-secrets.ts), anywhere in a text. */
const SECRET = /tm[tksir]_[0-9A-Za-z]+_[0-9A-Za-z]+_[0-9A-Za-z]{6}/
/** Base64 text that is long enough for a key. */
const BASE64 = /[A-Za-z0-9+/_-]{80,}/g
/** A key in `Authorization`, after any scheme. */
const IN_AUTHORIZATION = /^(?:\S+[ \t]+)?(tmk_\S+)[ \t]*$/

/** A query parameter with a credential: its name in lower case, its value decoded. */
export interface QueryCredential {
  readonly name: string
  readonly value: string
}

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
 * @param isLongLived whether it is kept for hours, as by a socket: then it is copied, because in V8
 *   a part of a string keeps the whole string in memory, here the head of the request
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
 * @throws GatewayError `invalid_api_key`, `api_key_expired`, `api_key_disabled`,
 * `origin_not_allowed`
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

/**
 * The key of a request; null if it has two different ones.
 *
 * @param authorization the `Authorization` header
 * @param provider the provider of the called address, if it is known
 * @param queryKeys the values of credential parameters in its address
 */
export function presentedKey(
  headers: readonly string[],
  authorization: string | undefined,
  provider: Provider | null,
  queryKeys: readonly QueryCredential[],
): Omit<RequestCredential, 'origin'> | null {
  let found: string | undefined
  for (let i = 0; i < headers.length; i += 2) {
    const value = valueAt(headers, i)
    // For nearly every header, nothing more is needed.
    if (!value.startsWith(PREFIX) || !mayCarryKey(nameAt(headers, i).toLowerCase(), provider))
      continue
    if (found !== undefined && found !== value.trimEnd()) return null
    found = value.trimEnd()
  }
  if (valueOf(headers, 'sec-websocket-protocol') !== undefined) {
    for (const key of keysIn(offeredProtocols(headers))) {
      if (found !== undefined && found !== key) return null
      found = key
    }
  }
  let fromQuery = false
  if (queryKeys.length > 0) {
    for (const { name, value: key } of queryKeys) {
      if (!key.startsWith(PREFIX) || provider?.keyParameters?.includes(name) !== true) continue
      if (found !== undefined && found !== key) return null
      found = key
      fromQuery = true
    }
  }
  // This header requires a scheme.
  if (found === undefined)
    return { credential: authorization?.startsWith(PREFIX) ? '' : authorization, fromQuery }
  const other = IN_AUTHORIZATION.exec(authorization ?? '')?.[1]
  return other === undefined || other === found ? { credential: found, fromQuery } : null
}

/** @param name in lower case */
function mayCarryKey(name: string, provider: Provider | null): boolean {
  if (KEY_HEADERS.has(name)) return true
  const auth = provider?.auth
  return (
    auth !== undefined &&
    auth.header.toLowerCase() === name &&
    (name !== AUTHORIZATION || auth.scheme === undefined)
  )
}

/** Whether a path or query contains a key or another secret of ours, also percent-encoded. */
export function addressContainsKey(pathAndQuery: string): boolean {
  if (pathAndQuery.length < SECRET_TEXT_LENGTH) return false
  return (
    SECRET.test(pathAndQuery) ||
    (pathAndQuery.includes('%') &&
      pathAndQuery.split(/[/?&=]/).some((part) => SECRET.test(decodedFully(part))))
  )
}

const hasSecret = (text: string): boolean => text.includes(PREFIX) || SECRET.test(text)

/**
 * Whether a header's value contains a key, which is allowed only in the headers that we read, or
 * another secret of ours. Shorter values cannot.
 */
export function valueContainsKey(value: string): boolean {
  if (value.length < SECRET_TEXT_LENGTH) return false
  if (hasSecret(value) || (value.includes('%') && hasSecret(decodedFully(value)))) return true
  return (value.match(BASE64) ?? []).some((text) =>
    SECRET.test(Buffer.from(text, 'base64').toString('latin1')),
  )
}
