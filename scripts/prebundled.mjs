// Preloaded by the processes of a test run: takes packages from their bundles (prebundle.ts). Plain JavaScript, so that no process strips types
// before it has begun, and for any Node: npm's own, which tests start too, may be too old to have the hooks.
import { readdirSync } from 'node:fs'
import * as module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'prebundled')
const bundles = new Map(readdirSync(folder).map((file) => [file.replace(/\.mjs$/, ''), pathToFileURL(join(folder, file)).href]))

module.registerHooks?.({
  resolve: (specifier, context, next) => {
    const url = bundles.get(specifier)
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
  },
})
