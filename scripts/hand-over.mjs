// Runs the command line in a Node that is new enough. Plain JavaScript, standard library only: any
// Node ≥ 20 runs it, before anything is installed.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/** The oldest Node that our code runs on: type stripping without a flag, node:sqlite, argon2. */
const OLDEST = [24, 7]

/** Ends the process with one sentence that a person can act on. */
export function stop(sentence) {
  process.stderr.write(`tollmark: ${sentence}\n`)
  process.exit(1)
}

/**
 * The path of a Node that is new enough: this one, or the one that npm installed beside the other
 * packages.
 *
 * @param {(name: string) => string | undefined} find gives the path of `bin/node` in a package,
 *   where it is installed
 */
export function findNode(find) {
  const { versions, platform, arch, execPath } = process
  const [major = 0, minor = 0] = versions.node.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return execPath
  return (
    find(`node-${platform}-${arch}`) ??
    stop(
      `this machine has Node ${versions.node}, and on ${platform}-${arch} no newer one comes with the packages. ` +
        `Install Node ${OLDEST.join('.')} or newer and try again.`,
    )
  )
}

// A larger space for young objects saves nothing and takes longer to fill: 280 MB at 2,000 open
// streams instead of 240. With half of it, a request costs a tenth more. Bytes that are read count
// as memory of the heap until young objects are collected. Without room for them each 20 MB of
// bodies cause a full collection: 3.0 ms instead of 1.7 a body of 300 KB. The collector is exposed
// so that the server collects young objects alone, and in time (server/http1/read-memory.ts).
const flags = [
  '--conditions=tollmark',
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=16',
  '--initial-old-space-size=128',
  '--expose-gc',
]

/**
 * Runs a program and ends as it ends: with its exit code, or with 128 + the number of the signal
 * that ended it, as shells have it.
 *
 * @param {string} node path of the Node that runs it
 * @param {string[]} args the program and its arguments
 * @param {string} cache a folder for what has been compiled once: it saves a third of the time to
 *   start
 * @param {string[]} more flags of that Node
 */
export function handOver(node, args, cache, more = []) {
  const child = spawn(node, [...flags, ...more, ...args], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: cache, ...process.env },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => stop(`${node} could not be started (${error.message}).`))
  child.on('exit', (code, signal) =>
    process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)),
  )
}
