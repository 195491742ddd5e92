// Secrets at rest: AES-256-GCM (NIST SP 800-38D) under the master key, each bound to the record that it belongs to.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from '../../errors.ts'

const NONCE = 12
const TAG = 16
const KEY = 32

/**
 * Encrypts a secret. A fresh random nonce each time; the record's identity is authenticated with it, so that a sealed text which was
 * moved to another record does not open.
 */
export function seal(master: Buffer, secret: string, record: string): string {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', master, nonce).setAAD(Buffer.from(record))
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')
}

/** Decrypts what `seal` made for the same record; null where the master key is another one or the text was changed. */
export function unseal(master: Buffer, text: string, record: string): string | null {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length < NONCE + TAG) return null
  try {
    const decipher = createDecipheriv('aes-256-gcm', master, bytes.subarray(0, NONCE), { authTagLength: TAG })
    decipher.setAAD(Buffer.from(record)).setAuthTag(bytes.subarray(-TAG))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

/**
 * The master key: the setting's, or else the one in the data folder, made at the first start (mode 0600). Processes that start together
 * agree on one.
 *
 * @throws SetupError where the file cannot be made or does not hold a key
 */
export function masterKey(set: Buffer | null, data: string): Buffer {
  if (set !== null) return set
  const path = join(data, 'master.key')
  try {
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, `${randomBytes(KEY).toString('base64')}\n`)
    fsyncSync(file)
    closeSync(file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw new SetupError(`The master key cannot be kept in ${path}. Make the folder writable, or set TOLLMARK_MASTER_KEY.`, { cause: error })
    }
  }
  // Another process may have made the file a moment ago and not written to it yet.
  for (let tries = 0; tries < 100; tries++) {
    const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
    if (key.length === KEY) return key
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
  throw new SetupError(`${path} does not hold a master key. Restore it, or set TOLLMARK_MASTER_KEY; stored credentials cannot be read without it.`)
}
