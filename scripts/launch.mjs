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
import { install, setFor } from './install.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')

/** Builds the dashboard, after the first start and where its sources have changed. */
const DASHBOARD = 'dashboard/build.ts'
/**
 * Delay after a start before packages are bundled for the next one, so that this does not slow the
 * first requests.
 */
const BUNDLE_AFTER_MS = 15_000

/**
 * Bundles packages in a process of its own, unless that is done. If it fails, the next start has no
 * bundles either.
 */
function bundle(node, folder) {
  if (existsSync(folder)) return
  const args = [fileURLToPath(import.meta.url), '--build', 'scripts/prebundle.ts', folder]
  const child = spawn(node, args, { stdio: 'ignore' })
  child.unref()
  child.on('error', () => {})
  return child.pid
}

/** Bundles packages for the next start, once this one no longer needs the processor. */
function bundleLater(node, folder) {
  const start = () => {
    const pid = bundle(node, folder)
    try {
      if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW)
    } catch {
      // The priority is optional.
    }
  }
  setTimeout(start, BUNDLE_AFTER_MS).unref()
}

const wish = /^--(build|dev)$/.exec(process.argv[2] ?? '')?.[1]
const [file, ...rest] = process.argv.slice(wish === undefined ? 2 : 3)
if (!file) stop('usage: node scripts/launch.mjs [--build | --dev] FILE [ARG …]')
install(root, wish ?? setFor(rest))
const node = findNode((name) => {
  const path = join(modules, name, 'bin', 'node')
  return existsSync(path) ? path : undefined
})
const { folder, flag } = bundlesOf(root)
// A server's first start: its packages for builds are now installed, and it may be stopped soon.
if (file === DASHBOARD) bundle(node, folder)
const isServer = rest[0] === 'serve'
// With bundles a server starts in two thirds of the time, and takes 24 MB less.
const isBundled = isServer && existsSync(folder)
const stays = isServer && !isBundled
if (stays) bundleLater(node, folder)
handOver(node, [join(root, file), ...rest], join(modules, '.cache', 'compiled'), {
  more: isBundled ? [flag] : [],
  stays,
})
