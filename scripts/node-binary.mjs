// The Node from npm is a third party's repackaging of Node's release. It is run only if its
// `bin/node` has the SHA-256 pinned in node-binaries.json. Plain JavaScript with the standard
// library only, because it runs before anything is trusted.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stop } from './hand-over.mjs'

const pinned = JSON.parse(readFileSync(new URL('node-binaries.json', import.meta.url), 'utf8'))

/**
 * Ends the process if the installed Node does not match its pin.
 *
 * @param {string} modules node_modules
 */
export function checkNodeBinary(modules) {
  for (const [name, { version, sha256 }] of Object.entries(pinned)) {
    const path = join(modules, name, 'bin', 'node')
    if (!existsSync(path)) continue
    const found = createHash('sha256').update(readFileSync(path)).digest('hex')
    if (found !== sha256)
      stop(
        `${path} is not the Node ${version} that this version pins (its SHA-256 is ${found}). ` +
          'Delete node_modules and try again. If it stays so, do not run it, and report it.',
      )
  }
}
