// Installs what the lockfile names, as much of it as a program needs. Plain JavaScript, standard
// library only: it runs before anything is installed, on any Node ≥ 20.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stop } from './hand-over.mjs'
import { checkNodeBinary } from './node-binary.mjs'

/**
 * TABLE of how much is installed, least first, and what npm is told. The server needs neither the
 * dashboard's packages nor those of the client packages: half the files, so that it listens sooner.
 */
const SETS = {
  serve: ['--omit=dev', '--workspace=server'],
  build: ['--omit=dev'],
  // Not as NODE_ENV=production would have it.
  dev: ['--include=dev'],
}
const ORDER = Object.keys(SETS)

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
 * Installs the packages of the lockfile unless they are there. More are added to fewer without
 * removing anything: a server may be running from this very folder. Those for development stay.
 *
 * @param {string} root the clone
 * @param {'serve' | 'build' | 'dev'} set what the program needs
 */
export function install(root, set) {
  if (has(root, set)) return
  const locked = lockInstall(root)
  try {
    // Another process may just have done it.
    if (!has(root, set)) addPackages(root, set)
  } finally {
    rmSync(locked, { force: true })
  }
}

/** Says which lockfile was installed, and how much of it. */
const stampOf = (root) => join(root, 'node_modules', '.tollmark-lock')
const lockOf = (root) =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')

/** The set of this lockfile that is installed, as the stamp says; undefined without one. */
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
 * Makes the link that npm 10 forgets, for want of which it would replace the Node that a server
 * runs from as soon as it adds packages.
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

const POLL_MS = 100

/**
 * Waits until no other process installs into this clone: the server's install is followed by one
 * beside the running server. Gives the file to delete afterwards; one that a killed process left
 * behind does not count.
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

/** The process that holds the lock; undefined where it has just given it up, or not yet signed it. */
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
