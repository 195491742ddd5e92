// The entry point of the project: `node scripts/launch.mjs [--build | --dev] FILE [ARG …]`, on any
// Node ≥ 20. It installs missing or changed packages (install.mjs), then runs FILE under a Node
// that supports TypeScript: this one if it is recent enough, otherwise the one that npm installed.
// Plain JavaScript with the standard library only, because it runs before anything is installed.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundlesOf } from './bundles.mjs'
import { findNode, handOver, stop } from './hand-over.mjs'
import { install } from './install.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')

/**
 * Delay after a start before packages are bundled for the next one, so that this does not slow the
 * start itself.
 */
const BUNDLE_AFTER_MS = 3_000

/**
 * The flag that makes a server load its packages from bundles, which saves a third of its start and
 * 24 MB. None if there are no current bundles; then they are built in the background.
 */
function bundled(node) {
  const { folder, flag } = bundlesOf(root)
  if (existsSync(folder)) return [flag]
  const bundle = () => {
    const args = [fileURLToPath(import.meta.url), '--build', 'scripts/prebundle.ts', folder]
    const child = spawn(node, args, { stdio: 'ignore' })
    child.unref()
    // If it fails, the next start has no bundles either.
    child.on('error', () => {})
    try {
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    } catch {
      // The priority is optional.
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
