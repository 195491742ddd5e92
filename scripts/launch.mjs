// The one way into the project: `node scripts/launch.mjs [--build | --dev] FILE [ARG …]`, on whatever
// Node ≥ 20 the machine has. It installs what the lockfile names when that is missing or has changed
// (install.mjs), then runs FILE under a Node that runs TypeScript by itself: this one if it is new
// enough, else the one that npm installed beside the other packages. Plain JavaScript, standard
// library only: it runs before anything is installed.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findNode, handOver, stop } from './hand-over.mjs'
import { install } from './install.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')

/** How long after a start its packages are bundled for the next one: it has answered somebody by then. */
const BUNDLE_AFTER_MS = 15_000

/**
 * The flag with which a server takes its packages from bundles: it starts with a third less work.
 * None where they are not there yet, or are of other packages: then they are made beside it.
 */
function bundled(node) {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const name = `bundled-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`
  const folder = join(modules, '.cache', name)
  const hooks = pathToFileURL(join(root, 'scripts', 'prebundled.mjs'))
  hooks.searchParams.set('in', name)
  if (existsSync(folder)) return [`--import=${hooks.href}`]
  const bundle = () => {
    const args = [fileURLToPath(import.meta.url), '--build', 'scripts/prebundle.ts', folder]
    const child = spawn(node, args, { stdio: 'ignore' })
    child.unref()
    // Where it fails, the next start is as this one.
    child.on('error', () => {})
    try {
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    } catch {
      // Then it is done sooner.
    }
  }
  setTimeout(bundle, BUNDLE_AFTER_MS).unref()
  return []
}

const wish = /^--(build|dev)$/.exec(process.argv[2] ?? '')?.[1]
const [file, ...rest] = process.argv.slice(wish === undefined ? 2 : 3)
if (!file) stop('usage: node scripts/launch.mjs [--build | --dev] FILE [ARG …]')
install(root, wish ?? 'serve')
const node = findNode((name) => {
  const path = join(modules, name, 'bin', 'node')
  return existsSync(path) ? path : undefined
})
handOver(
  node,
  [join(root, file), ...rest],
  join(modules, '.cache', 'compiled'),
  rest[0] === 'serve' ? bundled(node) : [],
)
