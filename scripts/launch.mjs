// The one way into the project: `node scripts/launch.mjs [--dev] FILE [ARG …]`, on whatever Node ≥
// 20 the machine has. It installs what the lockfile names when that is missing or has changed (with
// `--dev` also what only tests and benchmarks need), then runs FILE under a Node that runs
// TypeScript by itself: this one if it is new enough, else the one that npm installed beside the
// other packages. Plain JavaScript, standard library only: it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
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

const dev = process.argv[2] === '--dev'
const [file, ...rest] = process.argv.slice(dev ? 3 : 2)
if (!file) stop('usage: node scripts/launch.mjs [--dev] FILE [ARG …]')
install(dev)
const node = findNode((name) => {
  const path = join(modules, name, 'bin', 'node')
  return existsSync(path) ? path : undefined
})
handOver(node, [join(root, file), ...rest], join(modules, '.cache', 'compiled'))
