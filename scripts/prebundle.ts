// Bundles packages of many small modules into few, for test processes and for server starts after
// the first. As a program, it bundles into the given folder.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { bundlesOf } from './bundles.mjs'

/** TABLE of imports from packages with many modules, all of them in a server's node_modules. */
export const PACKAGES = [
  '@hono/node-server',
  '@hono/zod-openapi',
  '@opentelemetry/api',
  '@fastify/busboy',
  'commander',
  'hono',
  'hono/compress',
  'hono/cookie',
  'hono/cors',
  'hono/http-exception',
  'hono/route',
  'kysely',
  'pg',
  'pino',
  'prom-client',
  'yaml',
  'zod',
]

/** Zod's messages in other languages, half of its code, which nothing here shows. */
const ZOD_LANGUAGES = /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/

const ENTRY = 'entry:'

/**
 * A module that re-exports a package's names, because bundlers cannot read those of a CommonJS
 * package.
 */
async function reexport(name: string): Promise<string> {
  const names = Object.keys((await import(name)) as object).filter(
    (one) => one !== 'default' && /^[a-z$][\w$]*$/i.test(one),
  )
  return `export { ${names.join(', ')} } from '${name}'`
}

/**
 * Bundles the installed packages together, so that shared dependencies are loaded once.
 *
 * @returns the flag that makes a process use the bundles
 */
export async function prebundle(): Promise<string> {
  const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'prebundled')
  rmSync(folder, { recursive: true, force: true })
  await bundleInto(folder)
  return `--import=${pathToFileURL(join(import.meta.dirname, 'prebundled.mjs')).href}`
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
        load: (id) => {
          if (id.startsWith(ENTRY)) return reexport(id.slice(ENTRY.length))
          return ZOD_LANGUAGES.test(id) ? "export { default as en } from './en.js'" : null
        },
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

/**
 * Bundles the installed packages unless that is done.
 *
 * @returns the flag that makes a server use the bundles, as the launcher sets it
 */
export async function bundleInstalled(): Promise<string> {
  const { folder, flag } = bundlesOf(join(import.meta.dirname, '..'))
  if (!existsSync(folder)) await bundleOnce(folder)
  return flag
}

/** Where this process writes bundles until they are complete. */
const makingOf = (folder: string): string => `${folder}.${process.pid}`

/** An existing folder is complete and in use, so it is never changed. */
async function bundleOnce(folder: string): Promise<void> {
  const making = makingOf(folder)
  try {
    await bundleInto(making)
    if (!existsSync(folder)) renameSync(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

const [folder] = process.argv.slice(2)
if (import.meta.main && folder !== undefined) {
  // Ctrl-C in a server's terminal ends its bundler, too.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      rmSync(makingOf(folder), { recursive: true, force: true })
      process.exit(1)
    })
  await bundleOnce(folder)
}
