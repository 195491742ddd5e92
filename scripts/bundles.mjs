// Where the bundles of installed packages are (prebundle.ts). Plain JavaScript with the standard
// library only, because the launcher needs it on any Node ≥ 20.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * The bundles of the packages in a clone's lockfile.
 *
 * @param {string} root the clone
 * @returns {{ folder: string, flag: string }} the folder, which exists once they are built, and the
 *   flag that makes Node load packages from it
 */
export function bundlesOf(root) {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', 'scripts/prebundle.ts'])
    hash.update(readFileSync(join(root, file)))
  const name = `bundled-${hash.digest('hex').slice(0, 16)}`
  const hooks = pathToFileURL(join(root, 'scripts', 'prebundled.mjs'))
  hooks.searchParams.set('in', name)
  return { folder: join(root, 'node_modules', '.cache', name), flag: `--import=${hooks.href}` }
}
