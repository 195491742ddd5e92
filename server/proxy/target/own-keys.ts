// Finds our own proxy keys in data for a provider: a key opens this server, so no provider may get
// it.
import { SECRET_TEXT_LENGTH } from '../../common/secrets.ts'
import { decodedFully } from '../providers/object-ref.ts'

/** The prefix of every proxy key. */
const PREFIX = 'tmk_'
/** A whole key (server/common/secrets.ts), anywhere in a text. */
const KEY = /tmk_[0-9A-Za-z]+_[0-9A-Za-z]+_[0-9A-Za-z]{6}/
/** Base64 text that is long enough for a key. */
const BASE64 = /[A-Za-z0-9+/_-]{80,}/g

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
