// The key that encrypts stored provider credentials.
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { SetupError, codeOf } from '../common/errors.ts'
import { key256 } from './setting-kinds.ts'

const NAME = 'master.key'

/**
 * The master key: from the setting, or from the data folder, where it is created (mode 0600) if
 * missing. Processes that start together get the same one.
 *
 * @param given `TOLLMARK_MASTER_KEY`, or null
 * @param data the data folder, which must exist
 * @returns 32 bytes
 * @throws SetupError if the file exists without a valid key: a new key would make every stored
 *   credential unreadable
 */
export function readMasterKey(given: Buffer | null, data: string): Buffer {
  if (given) return given
  const path = join(data, NAME)
  const kept = read(path) ?? createOnce(path, join(data, `${NAME}.${process.pid}`))
  const key = key256.parse(kept.trim())
  if (!key)
    throw new SetupError(
      `${path} does not contain a 32-byte key. Restore the original file, or set TOLLMARK_MASTER_KEY.`,
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
 * Writes a new key to a temporary file and links it into place, unless another process was first.
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
