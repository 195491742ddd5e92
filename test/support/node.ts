// What runs our sources in a process of its own.
import { join } from 'node:path'

/** Node's flags, as the launcher sets them. */
export const NODE_FLAGS = [
  '--conditions=tollmark',
  '--disable-warning=ExperimentalWarning',
  '--expose-gc',
]

/** The command line; with `serve`, the server. */
export const MAIN = join(import.meta.dirname, '../../server/cli/main.ts')

/** The launcher of a clone. */
export const LAUNCHER = join(import.meta.dirname, '../../scripts/launch.mjs')

/**
 * For the processes of tests, which live for seconds: room for young objects from the start
 * (megabytes), where the default begins with 1 MB and a server's start alone is collected twenty
 * times.
 */
export const TEST_FLAGS = ['--min-semi-space-size=16']
