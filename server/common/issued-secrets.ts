// The secrets that we issue have one form; they are created, parsed and compared here: API tokens
// (`tmt_…`), proxy keys (`tmk_…`), sessions (`tms_…`), invitations (`tmi_…`), password resets
// (`tmr_…`).
//
//   tmt_<public id>_<secret>_<checksum>
//
// The public id finds the record; the secret proves it; the checksum tells a typing error or
// garbage from a real secret without a lookup. We store the SHA-256 of the whole text: it contains
// more than 192 random bits, so a slow hash would add nothing.
import { createHash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { base62, randomText } from './ids.ts'

/** 12 × log2(62) = 71 bits: unique without asking the store. */
const PUBLIC_LENGTH = 12
/** 36 × log2(62) = 214 random bits. */
const SECRET_LENGTH = 36
/** 62⁶ > 2³². */
const CHECKSUM_LENGTH = 6

/** Length of every secret, with its prefix. */
export const SECRET_TEXT_LENGTH =
  'tmk__'.length + PUBLIC_LENGTH + SECRET_LENGTH + 1 + CHECKSUM_LENGTH

/**
 * The purpose of a secret, by its prefix: the API (a token), the proxy (a key), the dashboard (a
 * session), an account (an invitation, a password reset).
 */
export type SecretPrefix = 'tmt' | 'tmk' | 'tms' | 'tmi' | 'tmr'

/** A new secret, its public id, and the hash that is stored. */
export interface NewSecret {
  /** The whole text; shown once, never stored. */
  secret: string
  publicId: string
  /** The stored form: SHA-256, 64 hexadecimal digits. */
  hash: string
}

/** Makes a secret from the system's random numbers. */
export function createSecret(prefix: SecretPrefix): NewSecret {
  const publicId = randomText(PUBLIC_LENGTH)
  const body = `${prefix}_${publicId}_${randomText(SECRET_LENGTH)}`
  const secret = `${body}_${checksum(body)}`
  return { secret, publicId, hash: hashSecret(secret) }
}

const FORM = new RegExp(
  `^(tm[tksir])_([0-9A-Za-z]{${PUBLIC_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH}}_([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
)

const WITHIN_TEXT = new RegExp(
  `(tm[tksir]_[0-9A-Za-z]{${PUBLIC_LENGTH}}_)[0-9A-Za-z]{${SECRET_LENGTH}}_[0-9A-Za-z]{${CHECKSUM_LENGTH}}`,
  'g',
)

/** Redacts secrets in text from elsewhere before it is stored or repeated; public ids stay. */
export function withoutSecrets(text: string): string {
  return text.length < SECRET_TEXT_LENGTH ? text : text.replace(WITHIN_TEXT, '$1…')
}

/**
 * The public id of a well-formed secret with this prefix and a valid checksum, else undefined.
 * Needs no lookup.
 */
export function parsePublicId(prefix: SecretPrefix, secret: string): string | undefined {
  const [, found, publicId, sum] = FORM.exec(secret) ?? []
  return found === prefix && checksum(secret.slice(0, -CHECKSUM_LENGTH - 1)) === sum
    ? publicId
    : undefined
}

/** The stored form of a secret: SHA-256, 64 hexadecimal digits. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Whether a secret has this stored hash, compared in constant time. */
export function matchesHash(secret: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(secret), 'hex'), Buffer.from(hash, 'hex'))
}

/** Whether a text equals a known secret, compared in constant time, whatever its length. */
export function isSecret(text: string, known: string): boolean {
  return matchesHash(text, hashSecret(known))
}

/** The displayed part of a secret: prefix and public id, which grant no access. */
export function displayPrefix(prefix: SecretPrefix, publicId: string): string {
  return `${prefix}_${publicId}`
}

function checksum(text: string): string {
  return base62(crc32(text), CHECKSUM_LENGTH)
}
