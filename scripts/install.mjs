// Installs the packages in the lockfile that a program needs. Plain JavaScript with the standard
// library only, because it runs before anything is installed, on any Node ≥ 20.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isRecentNode, stop } from './hand-over.mjs'
import { checkNodeBinary } from './node-binary.mjs'

/**
 * TABLE of sets of packages, smallest first, and their npm options. A server on one machine needs
 * few of the files, so it starts sooner. `connect` adds the dependencies of the root package.json,
 * with which a server reaches other services: S3 and OpenTelemetry. `build` adds those of the
 * dashboard and of the client packages.
 */
const SETS = {
  serve: ['--omit=dev', '--workspace=server'],
  connect: ['--omit=dev', '--workspace=server', '--include-workspace-root'],
  build: ['--omit=dev'],
  // Overrides NODE_ENV=production.
  dev: ['--include=dev'],
}
const ORDER = Object.keys(SETS)

/** A setting or argument that makes a server use S3 or OpenTelemetry. */
const CONNECTS = /^\s*(?:export\s+)?(?:S3_BUCKET|OTEL_EXPORTER_OTLP_ENDPOINT)\s*=|\bs3:\/\//m

/**
 * The packages that a server or a command needs, by its settings and arguments.
 *
 * @param {string[]} args the command's arguments
 * @returns {'serve' | 'connect'}
 */
export function setFor(args) {
  const variables = Object.entries(process.env).map(([name, value]) => `${name}=${value}`)
  return CONNECTS.test([...variables, ...args, readSettingsFile()].join('\n')) ? 'connect' : 'serve'
}

/** The text of `.env` (server/config/settings.ts reports one that cannot be read). */
function readSettingsFile() {
  try {
    return readFileSync('.env', 'utf8')
  } catch {
    return ''
  }
}

/** The packages of a lockfile by folder; none if the file does not exist. */
function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {}
}

/** Whether npm has installed the lockfile's packages, according to npm's own list. */
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
 * Installs missing packages of the lockfile. Never removes any, because a server may be running
 * from this folder.
 *
 * @param {string} root the clone
 * @param {'serve' | 'connect' | 'build' | 'dev'} set what the program needs
 */
export function install(root, set) {
  if (has(root, set)) return
  const locked = lockInstall(root)
  try {
    // Under an old Node npm leaves out optional packages that need a newer one, such as the
    // dashboard's builder. So it first installs the server's packages, which bring a recent Node,
    // and adds the builder's under that.
    const builds = set === 'build' || set === 'dev'
    const steps = builds && !isRecentNode() ? ['serve', set] : [set]
    // Another process may have just done it.
    for (const step of steps) if (!has(root, step)) addPackages(root, step)
  } finally {
    rmSync(locked, { force: true })
  }
}

/** The file that records the installed lockfile and set. */
const stampOf = (root) => join(root, 'node_modules', '.tollmark-lock')
const lockOf = (root) =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')

/** The installed set of this lockfile, from the stamp; undefined without one. */
function stampedSet(root) {
  if (!existsSync(stampOf(root))) return undefined
  const [lock, set] = readFileSync(stampOf(root), 'utf8').split(' ')
  return lock === lockOf(root) ? set : undefined
}

const has = (root, set) => ORDER.indexOf(stampedSet(root)) >= ORDER.indexOf(set)

function addPackages(root, set) {
  const modules = join(root, 'node_modules')
  const stamped = stampedSet(root)
  const wanted = packagesOf(join(root, 'package-lock.json'))
  const installed = packagesOf(join(modules, '.package-lock.json'))
  const goal = Object.values(installed).some((one) => one.dev) ? 'dev' : set
  const done = ['dev', ...(set === 'dev' ? [] : ['build'])].find((one) =>
    isInstalled(wanted, installed, one === 'dev'),
  )
  if (done === undefined)
    npm(root, [...(stamped === undefined ? ['ci'] : ['install', '--no-save']), ...SETS[goal]])
  checkNodeBinary(modules)
  linkNode(modules)
  writeFileSync(stampOf(root), `${lockOf(root)} ${done ?? goal}`)
}

/**
 * Creates a link that npm 10 forgets. Without it, npm would replace the Node of a running server
 * when it adds packages.
 */
function linkNode(modules) {
  const name = `node-${process.platform}-${process.arch}`
  const link = join(modules, '.bin', 'node')
  if (!existsSync(join(modules, name, 'bin', 'node')) || existsSync(link)) return
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(`../${name}/bin/node`, link)
}

function npm(root, command) {
  process.stderr.write('tollmark: installing packages (once) …\n')
  // Hides warnings about the Node version: the packages run under the newer Node, not under the one
  // that installs.
  const args = [...command, '--no-audit', '--no-fund', '--loglevel=error']
  // On Windows npm is a script, which needs a shell.
  const done = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: {
      // The Node from npm trusts no certificates of the machine's own, as Debian's does.
      NODE_USE_SYSTEM_CA: '1',
      ...process.env,
      PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
    },
    shell: process.platform === 'win32',
  })
  if (done.error)
    stop(`npm could not be started (${done.error.message}). Install npm 10 or newer and try again.`)
  if (done.status !== 0)
    stop(
      `npm ${command[0]} failed; its output is above. Check the connection to your package registry and try again.`,
    )
}

const POLL_MS = 100

/**
 * Waits until no other process installs into this clone, for example the background install of a
 * server. Ignores the lock of a killed process.
 *
 * @returns the lock file to delete afterwards
 */
function lockInstall(root) {
  const path = join(root, '.installing')
  for (let told = false; ; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      return path
    } catch (error) {
      if (error.code !== 'EEXIST')
        stop(`${path} cannot be written (${error.code}). Packages cannot be installed here.`)
    }
    const holder = holderOf(path)
    if (holder !== undefined && !isAlive(holder)) rmSync(path, { force: true })
    else if (!told && holder !== undefined) {
      told = true
      process.stderr.write(
        `tollmark: waiting for process ${holder}, which installs packages (if it does not, delete ${path}) …\n`,
      )
    }
  }
}

/** The process with the lock; undefined if it was just released or has no process id yet. */
function holderOf(path) {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
