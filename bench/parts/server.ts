// A server in a process of its own, as a benchmark measures one.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { bundleInstalled } from '../../scripts/prebundle.ts'
import { MAIN, NODE_FLAGS } from '../../test/support/node.ts'

/** The launcher's heap flags. */
export const HEAP_FLAGS = process.execArgv.filter((flag) => /^--(?:max|initial)-/.test(flag))

/** The launcher's flag for packages, as at each start but a clone's first. */
const BUNDLES = await bundleInstalled()

export interface Server {
  /** On 127.0.0.1. */
  port: number
  pid: number
  child: ChildProcess
}

/**
 * Starts a server with these settings, and waits until it listens. It does not outlive this
 * process.
 *
 * @param flags further Node flags
 * @param main the command line of the source tree to measure
 * @throws Error with its output if it did not start
 */
export async function startServer(
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
  main = MAIN,
): Promise<Server> {
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, ...HEAP_FLAGS, BUNDLES, ...flags, main, 'serve'],
    {
      env: {
        ...process.env,
        PORT: '0',
        HOST: '127.0.0.1',
        LOG_LEVEL: 'silent',
        TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS: '0',
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const kill = (): void => void child.kill('SIGKILL')
  process.on('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let said = ''
  for await (const piece of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += piece as string
    const port = /http:\/\/[^\s:]+:(\d+)/.exec(said)?.[1]
    if (port === undefined) continue
    // Discard further output, so that it does not block.
    child.stderr.resume()
    return { port: Number(port), pid: child.pid!, child }
  }
  throw new Error(`the server did not start: ${said}`)
}

/** Stops a server. @returns its exit code; null after a signal */
export async function stopServer(
  { child }: Server,
  signal: NodeJS.Signals = 'SIGINT',
): Promise<number | null> {
  const ended = once(child, 'exit')
  child.kill(signal)
  const [code] = (await ended) as [number | null]
  return code
}
