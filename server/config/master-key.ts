// The key under which stored provider credentials are sealed.
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { SetupError, codeOf } from '../common/errors.ts'
import { key256 } from './setting-kinds.ts'

const NAME = 'master.key'

/**
 * The master key: the setting's, or the one in the data folder, which is made (mode 0600) where
 * there is none. Processes that start together get the same one.
 *
 * @param given `TOLLMARK_MASTER_KEY`, or null
 * @param data the data folder; it exists
 * @returns 32 bytes
 * @throws SetupError where the file is there and holds no key: a new one would make every stored
 *   credential unreadable
 */
export function readMasterKey(given: Buffer | null, data: string): Buffer {
  if (given) return given
  const path = join(data, NAME)
  const kept = read(path) ?? createOnce(path, join(data, `${NAME}.${process.pid}`))
  const key = key256.parse(kept.trim())
  if (!key)
    throw new SetupError(
      `${path} holds no key of 32 bytes. Put back the file that was there, or set TOLLMARK_MASTER_KEY.`,
    )
  return key
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new SetupError(
      `${path} cannot be read. Make it readable for the user that runs the server.`,
      { cause: error },
    )
  }
}

/**
 * Writes a new key beside its place and links it there, whole, unless another process was first.
 */
function createOnce(path: string, part: string): string {
  const file = openSync(part, 'w', 0o600)
  try {
    writeSync(file, `${randomBytes(32).toString('base64')}\n`)
    fsyncSync(file)
    linkSync(part, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    closeSync(file)
    rmSync(part, { force: true })
  }
  return readFileSync(path, 'utf8')
}
