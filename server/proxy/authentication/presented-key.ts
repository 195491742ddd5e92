// Finds proxy keys in a request: the one that it presents, in the places where clients of its
// provider put the provider's key, and any in data for the provider. A key opens this server, so no
// provider may get one.
import { SECRET_TEXT_LENGTH } from '../../common/secrets.ts'
import { nameAt, valueAt, valueOf } from '../../http1/header-fields.ts'
import { offeredProtocols } from '../../http1/websocket/handshake.ts'
import { decodedFully } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import { keysIn } from '../socket/subprotocols.ts'
import type { QueryCredential } from '../target/parse-target.ts'

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
/** A whole key (server/common/secrets.ts), anywhere in a text. */
const KEY = /tmk_[0-9A-Za-z]+_[0-9A-Za-z]+_[0-9A-Za-z]{6}/
/** Base64 text that is long enough for a key. */
const BASE64 = /[A-Za-z0-9+/_-]{80,}/g
/** A key in `Authorization`, after any scheme. */
const IN_AUTHORIZATION = /^(?:\S+[ \t]+)?(tmk_\S+)[ \t]*$/

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

/** Whether a path or query contains a key, also percent-encoded. */
export function addressContainsKey(pathAndQuery: string): boolean {
  if (pathAndQuery.length < SECRET_TEXT_LENGTH) return false
  return (
    KEY.test(pathAndQuery) ||
    (pathAndQuery.includes('%') &&
      pathAndQuery.split(/[/?&=]/).some((part) => KEY.test(decodedFully(part))))
  )
}

/**
 * Whether a header's value contains a key, which is allowed only in the headers that we read.
 * Shorter values cannot.
 */
export function valueContainsKey(value: string): boolean {
  if (value.length < SECRET_TEXT_LENGTH) return false
  if (value.includes(PREFIX) || (value.includes('%') && decodedFully(value).includes(PREFIX)))
    return true
  return (value.match(BASE64) ?? []).some((text) =>
    KEY.test(Buffer.from(text, 'base64').toString('latin1')),
  )
}
