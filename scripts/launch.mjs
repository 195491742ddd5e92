// The one way into the project: `node scripts/launch.mjs [--dev] FILE [ARG …]`, on whatever Node ≥
// 20 the machine has. It installs what the lockfile names when that is missing or has changed (with
// `--dev` also what only tests and benchmarks need), then runs FILE under a Node that runs
// TypeScript by itself: this one if it is new enough, else the one that npm installed beside the
// other packages. Plain JavaScript, standard library only: it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findNode, handOver, stop } from './hand-over.mjs'
import { checkNodeBinary } from './node-binary.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
/** Says which lockfile was installed, and whether with the packages for development. */
const stamp = join(modules, '.tollmark-lock')

/** The packages of a lockfile by their folders; none where there is no such file. */
function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {}
}

/**
 * Whether npm has installed what the lockfile names, whoever told it to: it keeps a list of its
 * own.
 */
function isInstalled(wanted, installed, dev) {
  return Object.entries(wanted).every(
    ([folder, { version, link, dev: isDev, optional, devOptional }]) => {
      if (!folder.startsWith('node_modules/') || optional || ((isDev || devOptional) && !dev))
        return true
      const found = installed[folder]
      return link ? found?.link === true : found !== undefined && found.version === version
    },
  )
}

/**
 * Installs the packages of the lockfile unless they are there. Those for development are added
 * without removing anything: a server may be running from this very folder. Where they are, they
 * stay.
 */
function install(dev) {
  const lockfile = join(root, 'package-lock.json')
  const lock = createHash('sha256').update(readFileSync(lockfile)).digest('hex')
  const stamped = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (stamped === `${lock} dev` || (stamped === lock && !dev)) return
  const wanted = packagesOf(lockfile)
  const installed = packagesOf(join(modules, '.package-lock.json'))
  const withDev = dev || Object.values(installed).some((one) => one.dev)
  const done = [withDev, dev].find((also) => isInstalled(wanted, installed, also))
  if (done === undefined)
    npm(stamped === lock ? ['install', '--no-save'] : ['ci', ...(withDev ? [] : ['--omit=dev'])])
  checkNodeBinary(modules)
  writeFileSync(stamp, (done ?? withDev) ? `${lock} dev` : lock)
}

function npm(command) {
  process.stderr.write('tollmark: installing packages (once) …\n')
  // Node-version warnings are expected here: the packages run under the newer Node, not under the
  // one that installs.
  const args = [...command, '--no-audit', '--no-fund', '--loglevel=error']
  // On Windows npm is a script, which only a shell runs.
  const done = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (done.error)
    stop(`npm could not be started (${done.error.message}). Install npm 10 or newer and try again.`)
  if (done.status !== 0)
    stop(
      `npm ${command[0]} failed; its output is above. Check the connection to your package registry and try again.`,
    )
}

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
    const args = ['--disable-warning=ExperimentalWarning', join(root, 'scripts', 'prebundle.ts')]
    const child = spawn(node, [...args, folder], { stdio: 'ignore' })
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

const dev = process.argv[2] === '--dev'
const [file, ...rest] = process.argv.slice(dev ? 3 : 2)
if (!file) stop('usage: node scripts/launch.mjs [--dev] FILE [ARG …]')
install(dev)
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
