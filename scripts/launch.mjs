// The one way into the project: `node scripts/launch.mjs [--dev] FILE [ARG …]`, on whatever Node ≥ 20 the machine has.
// It installs what the lockfile names when that is missing or has changed (with `--dev` also what only tests and
// benchmarks need), then runs FILE under a Node that runs TypeScript by itself: this one if it is new enough, else the
// one that npm installed beside the other packages.
// Plain JavaScript, standard library only: it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The oldest Node that the server's own code runs on: type stripping without a flag, node:sqlite, argon2. */
const OLDEST = [24, 7]

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockfile = join(root, 'package-lock.json')
const stamp = join(root, 'node_modules', '.tollmark-lock')

/** Ends the process with one sentence that a person can act on. */
function stop(sentence) {
  process.stderr.write(`tollmark: ${sentence}\n`)
  process.exit(1)
}

/** Whether a Node version such as "24.21.0" can run the server. */
function runsTypeScript(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}

/**
 * Installs the packages of the lockfile unless they are there. The stamp says which lockfile, and whether with the packages
 * for development. Those are added without removing anything: a server may be running from this very folder.
 */
function install(dev) {
  const lock = createHash('sha256').update(readFileSync(lockfile)).digest('hex')
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (installed === `${lock} dev` || (installed === lock && !dev)) return
  process.stderr.write('tollmark: installing packages (once) …\n')
  const command = installed === lock ? ['install', '--no-save'] : ['ci', ...(dev ? [] : ['--omit=dev'])]
  // Node-version warnings are expected here: the packages run under the newer Node, not under the one that installs.
  const args = [...command, '--no-audit', '--no-fund', '--loglevel=error']
  const done = spawnSync(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.error) stop(`npm could not be started (${done.error.message}). Install npm 10 or newer and try again.`)
  if (done.status !== 0) stop(`npm ${command[0]} failed; its output is above. Check the connection to your package registry and try again.`)
  writeFileSync(stamp, dev ? `${lock} dev` : lock)
}

/** The path of a Node that runs TypeScript. */
function findNode() {
  if (runsTypeScript(process.versions.node)) return process.execPath
  const brought = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (existsSync(brought)) return brought
  return stop(
    `this machine has Node ${process.versions.node}, and on ${process.platform}-${process.arch} no newer one comes with the packages. ` +
      `Install Node ${OLDEST.join('.')} or newer and try again.`,
  )
}

const dev = process.argv[2] === '--dev'
const [file, ...rest] = process.argv.slice(dev ? 3 : 2)
if (!file) stop('usage: node scripts/launch.mjs [--dev] FILE [ARG …]')
install(dev)
// What has been compiled once is not compiled again: a third of the time to start.
const env = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'), ...process.env }
// A larger space for young objects saves nothing and takes longer to fill: 280 MB at 2,000 open streams instead of 240. With half of it, a request costs a tenth more.
// Bytes that are read count as memory of the heap until young objects are collected. Without room for them each 20 MB of bodies cause a full collection: 3.0 ms instead of 1.7 a body of 300 KB.
const flags = ['--conditions=tollmark', '--disable-warning=ExperimentalWarning', '--max-semi-space-size=16', '--initial-old-space-size=128']
const child = spawn(findNode(), [...flags, join(root, file), ...rest], { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
