// Preloaded by test processes, and by a server after its first start: loads packages from their
// bundles (prebundle.ts), in node_modules/.cache under the name in `?in=`. Plain JavaScript, to
// avoid type stripping, and for any Node, because tests also start npm, whose Node may be too old
// for the hooks.
import { readdirSync } from 'node:fs'
import * as module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const name = new URL(import.meta.url).searchParams.get('in') ?? 'prebundled'
const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', name)
// The build scripts in this folder need the installed packages.
const here = pathToFileURL(join(import.meta.dirname, '/')).href
const bundles = new Map(
  readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => [
      file.replace(/\.mjs$/, '').replaceAll('\\', '/'),
      pathToFileURL(join(folder, file)).href,
    ]),
)

// Our sources import exact file names, so skip Node's search, which would try three paths for each
// of a server's 300 files.
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
