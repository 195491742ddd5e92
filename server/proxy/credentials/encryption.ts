// Secrets at rest: AES-256-GCM (NIST SP 800-38D) under the master key, each bound to the record
// that it belongs to.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE = 12
const TAG = 16

/**
 * Encrypts a secret. A fresh random nonce each time; the record's identity is authenticated with
 * it, so that a sealed text which was moved to another record does not open.
 */
export function seal(master: Buffer, secret: string, record: string): string {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', master, nonce).setAAD(Buffer.from(record))
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')
}

/**
 * Decrypts what `seal` made for the same record; null where the master key is another one or the
 * text was changed.
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
