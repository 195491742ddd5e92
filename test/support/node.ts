// Paths and flags for running our sources in a separate process.
import { join } from 'node:path'

/** Node's flags, as the launcher sets them. */
export const NODE_FLAGS = ['--conditions=tollmark', '--disable-warning=ExperimentalWarning']

/** The command line; with `serve`, the server. */
export const MAIN = join(import.meta.dirname, '../../server/cli/main.ts')

/** The launcher of a clone. */
export const LAUNCHER = join(import.meta.dirname, '../../scripts/launch.mjs')

/**
 * The preloaded modules of this run (scripts/test.ts), once more as flags: a server passes its own
 * flags to its converters, but not its environment.
 */
const PRELOADS = (process.env['NODE_OPTIONS'] ?? '')
  .split(' ')
  .filter((flag) => flag.startsWith('--import='))

/**
 * Flags for short-lived test processes: a larger young generation from the start (MB). With the
 * default of 1 MB, a server's start alone causes twenty collections.
 */
export const TEST_FLAGS = ['--min-semi-space-size=16', ...PRELOADS]
