// Authenticates callers of the proxy by their keys.
import { hash as digest, timingSafeEqual } from 'node:crypto'
import { copyString } from '../common/copy-string.ts'
import { parsePublicId } from '../common/issued-secrets.ts'
import type { CachedKey, CachedSecret, KeyCache } from './cache.ts'

/** An authenticated key, or the refusal of the caller. */
export type Authenticated =
  | { readonly ok: true; readonly key: CachedKey }
  | {
      readonly ok: false
      readonly code:
        | 'invalid_api_key'
        | 'api_key_expired'
        | 'api_key_disabled'
        | 'origin_not_allowed'
      readonly message: string
    }

/** What the caller of a key that has ended can do. */
const ANOTHER_KEY = 'Use another one, or ask the operator of this proxy.'

/** An API token, alone or after an authentication scheme. */
const API_TOKEN = /^(?:\w+ +)?tmt_/

/** Compared with if the key does not exist, so that an unknown key takes the same time. */
const EMPTY_HASH = Buffer.alloc(32)

/** A key, alone or after an authentication scheme that clients use. */
const CREDENTIAL = /^(?:(?:bearer|key|token) +)?(tmk_\S+) *$/i

/** A verified credential, cached by its text. */
interface VerifiedCredential {
  readonly publicId: string
  readonly found: CachedSecret
  /** The result for a valid key, reused: each open socket authenticates four times a second. */
  readonly accepted: Authenticated
}

/** Size of the cache of verified credentials; when it is full, it is emptied. */
const MAX_VERIFIED = 2_000
const verifiedByCache = new WeakMap<KeyCache, Map<string, VerifiedCredential>>()

/**
 * Verifies a credential by its hash. Returns it, or a sentence that says what is wrong. A verified
 * credential is not hashed again while the key cache holds the same record; any change to a key
 * creates a new record.
 */
function verify(keys: KeyCache, credential: string): VerifiedCredential | string {
  let verified = verifiedByCache.get(keys)
  if (verified === undefined) verifiedByCache.set(keys, (verified = new Map()))
  const known = verified.get(credential)
  if (known !== undefined && keys.find(known.publicId) === known.found) return known
  const secret = CREDENTIAL.exec(credential)?.[1]
  const publicId = secret === undefined ? undefined : parsePublicId('tmk', secret)
  if (API_TOKEN.test(credential))
    return 'This is an API token, which works only under /api. Send a proxy key, which begins with tmk_.'
  if (secret === undefined || publicId === undefined)
    return 'The proxy key is not valid. A proxy key begins with tmk_; check that it was copied completely.'
  const found = keys.find(publicId)
  const matches = timingSafeEqual(digest('sha256', secret, 'buffer'), found?.hash ?? EMPTY_HASH)
  if (!matches || found === undefined || found.key.revoked)
    return 'The proxy key is not valid. It may have been revoked.'
  if (verified.size >= MAX_VERIFIED) verified.clear()
  const accepted = { ok: true, key: found.key } as const
  const fresh = { publicId, found, accepted }
  verified.set(copyString(credential), fresh)
  return fresh
}

/**
 * Authenticates a caller by its key. Malformed keys (form, checksum) cost no query. Unknown,
 * expired, disabled and revoked keys take the same time, and only a caller with the whole secret
 * learns which it is.
 *
 * @param credential as presented: the key, or `Bearer` and the key; empty where there should be a
 *   scheme before the key
 * @param origin the `Origin` header, which a key with allowed origins requires
 * @param now milliseconds since 1970
 */
export function authenticate(
  keys: KeyCache,
  credential: string | undefined,
  origin: string | undefined,
  now: number,
): Authenticated {
  if (credential === undefined || credential === '')
    return invalid('Send a proxy key in the header "Authorization: Bearer <API_KEY>".')
  const verified = verify(keys, credential)
  if (typeof verified === 'string') return invalid(verified)
  const { found, accepted } = verified
  const { key } = found
  if (key.disabled || keys.isDisabled(key.accountId))
    return {
      ok: false,
      code: 'api_key_disabled',
      message: `The proxy key is disabled. ${ANOTHER_KEY}`,
    }
  if (key.expiresAt !== null && key.expiresAt <= now)
    return {
      ok: false,
      code: 'api_key_expired',
      message: `The proxy key has expired. ${ANOTHER_KEY}`,
    }
  if (found.expiresAt !== null && found.expiresAt <= now)
    return {
      ok: false,
      code: 'api_key_expired',
      message: 'This secret of the API key was replaced by a newer one. Use the newer one.',
    }
  if (
    key.allowedOrigins !== null &&
    (origin === undefined || !key.allowedOrigins.has(origin.toLowerCase()))
  ) {
    return {
      ok: false,
      code: 'origin_not_allowed',
      message:
        origin === undefined
          ? 'The proxy key is only for web pages of its allowed origins, and this request names no origin.'
          : 'The proxy key may not be used from this origin.',
    }
  }
  return accepted
}

/** The public id of the secret in a credential; undefined where it is malformed. */
export function publicIdOf(credential: string | undefined): string | undefined {
  const secret = CREDENTIAL.exec(credential ?? '')?.[1]
  return secret === undefined ? undefined : parsePublicId('tmk', secret)
}

/**
 * The key of a complete credential, whatever its state; null if there is none. Only for records
 * about the key: it does not authenticate.
 */
export function findKeyByCredential(
  keys: KeyCache,
  credential: string | undefined,
): CachedKey | null {
  const secret = CREDENTIAL.exec(credential ?? '')?.[1]
  const publicId = secret === undefined ? undefined : parsePublicId('tmk', secret)
  if (secret === undefined || publicId === undefined) return null
  const found = keys.find(publicId)
  const matches = timingSafeEqual(digest('sha256', secret, 'buffer'), found?.hash ?? EMPTY_HASH)
  return matches && found !== undefined ? found.key : null
}

function invalid(message: string): Authenticated {
  return { ok: false, code: 'invalid_api_key', message }
}

/** A host without a scheme, as people type it: with a dot, a port, or `localhost`. */
const BARE_HOST = /^(?:[^\s:/?#@]+\.[^\s:/?#@]+|localhost|[^\s:/?#@.]+(?=:\d))(?::\d+)?\/?$/i
const LOOPBACK = /^(?:localhost|127\.[\d.]+)(?::|\/|$)/i

/**
 * Normalizes an origin (`https://example.com`, `http://localhost:3000`); null if the text is not an
 * origin. The default scheme is https, and http for this machine.
 */
export function normalizeOrigin(original: string): string | null {
  const text = BARE_HOST.test(original)
    ? `${LOOPBACK.test(original) ? 'http' : 'https'}://${original}`
    : original
  if (!URL.canParse(text)) return null
  const { origin, protocol, pathname, search, hash } = new URL(text)
  const bare = pathname === '/' && search === '' && hash === '' && !origin.includes('*')
  return bare && (protocol === 'https:' || protocol === 'http:') ? origin : null
}
