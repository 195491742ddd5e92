// Packages of many small modules, as few modules: for the processes and threads of a test run, and
// for the starts of a server after its first. As a program it bundles into the folder that it is
// given.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/** TABLE of what our sources import of packages with many modules. */
const PACKAGES = [
  '@hono/node-server',
  '@hono/zod-openapi',
  '@opentelemetry/api',
  'commander',
  'hono',
  'hono/compress',
  'hono/cookie',
  'hono/cors',
  'hono/http-exception',
  'hono/route',
  'kysely',
  'pg',
  'prom-client',
  'zod',
]

const ENTRY = 'entry:'

/** What an importer may name of a package: a CommonJS one lists nothing that a bundler can read. */
async function reexport(name: string): Promise<string> {
  const names = Object.keys((await import(name)) as object).filter(
    (one) => one !== 'default' && /^[a-z$][\w$]*$/i.test(one),
  )
  return `export { ${names.join(', ')} } from '${name}'`
}

/**
 * Bundles them as they are installed now, together: what two of them import is one module.
 *
 * @returns the value of NODE_OPTIONS with which a process takes the bundles
 */
export async function prebundle(): Promise<string> {
  const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'prebundled')
  rmSync(folder, { recursive: true, force: true })
  await bundleInto(folder)
  return `${process.env['NODE_OPTIONS'] ?? ''} --import=${pathToFileURL(join(import.meta.dirname, 'prebundled.mjs')).href}`.trim()
}

async function bundleInto(folder: string): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(PACKAGES.map((name) => [name, ENTRY + name])),
    cwd: import.meta.dirname,
    platform: 'node',
    logLevel: 'silent',
    external: ['pg-native'],
    plugins: [
      {
        name: 'entries',
        resolveId: (id) => (id.startsWith(ENTRY) ? id : null),
        load: (id) => (id.startsWith(ENTRY) ? reexport(id.slice(ENTRY.length)) : null),
      },
    ],
  })
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name].mjs',
  })
  await bundle.close()
}

/** A folder that is there is whole, and its files are in use: it is never changed. */
async function bundleOnce(folder: string): Promise<void> {
  const making = `${folder}.${process.pid}`
  try {
    await bundleInto(making)
    if (!existsSync(folder)) renameSync(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

const [folder] = process.argv.slice(2)
if (import.meta.main && folder !== undefined) await bundleOnce(folder)
