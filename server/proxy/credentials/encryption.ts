// Encrypts secrets at rest: AES-256-GCM (NIST SP 800-38D) under the master key, each bound to its
// record.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE = 12
const TAG = 16

/**
 * Encrypts a secret with a fresh random nonce. The record's identity is authenticated with it, so
 * that a sealed text that was moved to another record cannot be decrypted.
 */
export function seal(master: Buffer, secret: string, record: string): string {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', master, nonce).setAAD(Buffer.from(record))
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')
}

/**
 * Decrypts a text sealed for the same record; null if the master key differs or the text was
 * changed.
 */
export function unseal(master: Buffer, text: string, record: string): string | null {
  const bytes = Buffer.from(text, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', master, bytes.subarray(0, NONCE), {
      authTagLength: TAG,
    })
    decipher.setAAD(Buffer.from(record)).setAuthTag(bytes.subarray(-TAG))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString(
      'utf8',
    )
  } catch {
    return null
  }
}
