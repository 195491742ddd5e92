// Preloaded by the processes of a test run, and by a server after its first start: takes packages
// from their bundles (prebundle.ts), which lie in node_modules/.cache under the name in `?in=`. Plain
// JavaScript, so that no process strips types before it has begun, and for any Node: npm's own,
// which tests start too, may be too old to have the hooks.
import { readdirSync } from 'node:fs'
import * as module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const name = new URL(import.meta.url).searchParams.get('in') ?? 'prebundled'
const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', name)
// Programs beside this one build packages from what npm has installed.
const here = pathToFileURL(join(import.meta.dirname, '/')).href
const bundles = new Map(
  readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => [
      file.replace(/\.mjs$/, '').replaceAll('\\', '/'),
      pathToFileURL(join(folder, file)).href,
    ]),
)

// Our own sources name files as they are: Node would look for each in three ways, 300 times for a
// server.
const ours = pathToFileURL(join(import.meta.dirname, '..', '/')).href
const isSource = (parent) =>
  parent?.startsWith(ours) && !parent.includes('/node_modules/') && !parent.startsWith(here)

module.registerHooks?.({
  resolve: (specifier, context, next) => {
    if (/^\.\.?\/.*\.ts$/.test(specifier) && isSource(context.parentURL))
      return {
        url: new URL(specifier, context.parentURL).href,
        format: 'module-typescript',
        shortCircuit: true,
      }
    const url = bundles.get(specifier)
    return url === undefined || !isSource(context.parentURL)
      ? next(specifier, context)
      : { url, format: 'module', shortCircuit: true }
  },
})
