// Packages of many small modules, as one module each, for the processes and threads of a test run.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/**
 * TABLE of packages. Kysely has 255 modules, and three threads of each server load it: 95 ms of CPU
 * each time, 10 as one module.
 */
const PACKAGES = ['kysely']

/**
 * Bundles them as they are installed now.
 *
 * @returns the value of NODE_OPTIONS with which a process takes the bundles
 */
export async function prebundle(): Promise<string> {
  const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'prebundled')
  rmSync(folder, { recursive: true, force: true })
  for (const name of PACKAGES) {
    const bundle = await rolldown({
      input: name,
      cwd: import.meta.dirname,
      platform: 'node',
      logLevel: 'silent',
    })
    await bundle.write({ file: join(folder, `${name}.mjs`), format: 'esm', codeSplitting: false })
    await bundle.close()
  }
  return `${process.env['NODE_OPTIONS'] ?? ''} --import=${pathToFileURL(join(import.meta.dirname, 'prebundled.mjs')).href}`.trim()
}
