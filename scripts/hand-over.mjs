// Runs the command line in a recent Node. Plain JavaScript with the standard library only, so that
// any Node ≥ 20 runs it before anything is installed.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/** The oldest Node that our code runs on: type stripping without a flag, node:sqlite, argon2. */
const OLDEST = [24, 7]

/** Ends the process with one sentence that a person can act on. */
export function stop(sentence) {
  process.stderr.write(`tollmark: ${sentence}\n`)
  process.exit(1)
}

/** Whether this Node can run our code. */
export function isRecentNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}

/**
 * The path of a recent Node: this one, or the one that npm installed with the other packages.
 *
 * @param {(name: string) => string | undefined} find gives the path of `bin/node` in a package,
 *   where it is installed
 */
export function findNode(find) {
  const { versions, platform, arch, execPath } = process
  if (isRecentNode()) return execPath
  return (
    find(`node-${platform}-${arch}`) ??
    stop(
      `this machine has Node ${versions.node}, and on ${platform}-${arch} no newer one comes with the packages. ` +
        `Install Node ${OLDEST.join('.')} or newer and try again.`,
    )
  )
}

// A larger young generation saves nothing and takes more memory: 280 MB at 2,000 open streams
// instead of 240. With half of it, a request costs a tenth more. Buffers that were read count as
// heap memory until a young collection; without room for them every 20 MB of bodies cause a full
// collection: 3.0 ms instead of 1.7 for a body of 300 KB.
const flags = [
  '--conditions=tollmark',
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=16',
  '--initial-old-space-size=128',
]

/**
 * Runs a program in place of this process where Node can do that (22.15 or newer, not on Windows):
 * a supervisor then sees the program itself, whatever signal it sends, and it takes 12 MB less.
 * Elsewhere, or if this process `stays`, runs it as a child, passes signals on, and exits with its
 * exit code, or, as shells do, with 128 + the number of the signal that ended it.
 *
 * @param {string} node path of the Node that runs it
 * @param {string[]} args the program and its arguments
 * @param {string} cache a folder for compiled code, which saves a third of the start time
 * @param {{ more?: string[], stays?: boolean }} options further flags for that Node; whether this
 *   process has work of its own
 */
export function handOver(node, args, cache, { more = [], stays = false } = {}) {
  const line = [...flags, ...more, ...args]
  const env = { NODE_COMPILE_CACHE: cache, ...process.env }
  if (!stays) replaceProcess(node, line, env)
  const child = spawn(node, line, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => stop(`${node} could not be started (${error.message}).`))
  child.on('exit', (code, signal) =>
    process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)),
  )
}

/** Returns only where that is not possible. Its warning that it is experimental is not printed. */
function replaceProcess(node, args, env) {
  try {
    process.execve?.(node, [node, ...args], env)
  } catch {
    // It runs as a child.
  }
}
