// Finds the proxy key of a request, in the places where clients of its provider put the provider's
// key.
import { nameAt, valueAt } from '../../http1/header-fields.ts'
import { offeredProtocols } from '../../http1/websocket/handshake.ts'
import type { Provider } from '../providers/provider.ts'
import { keysIn } from '../socket/subprotocols.ts'
import { isBare, TARGET_HEADER, type QueryCredential } from '../target/parse-target.ts'

/**
 * TABLE of headers, besides `Authorization` and the one in the provider's row, in which clients
 * send a key (lower case).
 */
const KEY_HEADERS: ReadonlySet<string> = new Set([
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'xi-api-key',
  'x-key',
  'x-gladia-key',
  'x-hume-api-key',
])

const AUTHORIZATION = 'authorization'
/** The prefix of every proxy key; other values are not ours and are dropped. */
const PREFIX = 'tmk_'
/** A key in `Authorization`, after any scheme. */
const IN_AUTHORIZATION = /^(?:\S+[ \t]+)?(tmk_\S+)[ \t]*$/

const varyByProvider = new WeakMap<Provider, string>()

/**
 * The request headers on which a response depends, for `Vary` (RFC 9110, section 12.5.5): those
 * that may contain a key (caches know only `Authorization`), `Origin`, and the header that names
 * the upstream if the target does not.
 */
export function varyHeader(provider: Provider, target: string): string {
  let names = varyByProvider.get(provider)
  if (names === undefined) {
    const all = new Set([
      AUTHORIZATION,
      ...KEY_HEADERS,
      provider.auth.header.toLowerCase(),
      'origin',
    ])
    varyByProvider.set(provider, (names = [...all].join(', ')))
  }
  return isBare(target) ? `${names}, ${TARGET_HEADER}` : names
}

/** A key as it was presented. */
export interface PresentedKey {
  /** The key alone, or an unchanged `Authorization`; undefined if there is neither. */
  readonly credential: string | undefined
  readonly fromQuery: boolean
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
): PresentedKey | null {
  let found: string | undefined
  for (let i = 0; i < headers.length; i += 2) {
    const value = valueAt(headers, i)
    // For nearly every header, nothing more is needed.
    if (!value.startsWith(PREFIX) || !mayCarryKey(nameAt(headers, i).toLowerCase(), provider))
      continue
    if (found !== undefined && found !== value.trimEnd()) return null
    found = value.trimEnd()
  }
  for (const key of keysIn(offeredProtocols(headers))) {
    if (found !== undefined && found !== key) return null
    found = key
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
