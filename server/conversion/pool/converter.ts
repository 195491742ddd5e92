// A converter: a child process with limits of its own.
import { fork, type ChildProcess } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../common/errors.ts'
import { IGNORED_SIGNALS } from './ignored-signals.ts'
import { lowerPriority } from './process-priority.ts'

/**
 * Size of V8's young generation in MB: a page's tree is short-lived, and a larger space only takes
 * longer to fill.
 */
const YOUNG_GENERATION_MB = 4
/**
 * V8's helper threads would occupy other processors and delay requests there: an idle-priority task
 * inside the kernel is not preempted.
 */
const SINGLE_THREADED_FLAGS = ['--single-threaded-gc', '--v8-pool-size=1']

/**
 * The server's preloaded modules: a launcher that has bundled the packages (scripts/prebundled.mjs)
 * preloads what finds them, and a converter starts in 90 instead of 145 ms of CPU.
 */
const PRELOADS = process.execArgv.filter((flag) => flag.startsWith('--import='))

/**
 * Starts a converter of low priority.
 *
 * @param heap bytes of its JavaScript heap
 * @returns a process without a `pid` if the system could not start it
 */
export function startConverter(program: URL, heap: number): ChildProcess {
  const cache = getCompileCacheDir() // this Node version's subfolder of the configured one
  const converter = fork(fileURLToPath(program), {
    execArgv: [
      '--conditions=tollmark',
      '--disable-warning=ExperimentalWarning',
      '--expose-gc',
      ...PRELOADS,
      ...SINGLE_THREADED_FLAGS,
      `--max-old-space-size=${Math.ceil(heap / 1_048_576)}`,
      `--max-semi-space-size=${YOUNG_GENERATION_MB}`,
    ],
    // The server's environment has secrets. The machine's time zone must not affect documents.
    env: { TZ: 'UTC', ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  converter.stderr?.setEncoding('utf8').resume()
  // If a converter dies during a send, its exit event reports it.
  converter.on('error', () => {})
  if (converter.pid !== undefined) lowerPriority(converter.pid)
  return converter
}

/**
 * Whether a converter died from a signal that it ignores once it runs (ignored-signals.ts): then it
 * was still starting, and another converter can take its step.
 */
export function diedBeforeWork(signal: NodeJS.Signals | null): boolean {
  return IGNORED_SIGNALS.some((one) => one === signal)
}

/** Kills a converter; resolves when it has exited. */
export function terminate(converter: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    converter.once('exit', () => resolve())
    converter.kill('SIGKILL')
  })
}

/** Why a converter exited by itself. V8 aborts when the heap is full. */
export function exitError(code: number | null, signal: string | null, stderr: string): Error {
  const cause = new Error(`the converter ended with ${signal ?? code}: ${stderr}`)
  return signal === 'SIGABRT' || /heap out of memory/.test(stderr) ? memoryProblem(cause) : cause
}

/** The problem of a file whose conversion does not fit in memory. */
export function memoryProblem(cause: Error): Problem {
  return new Problem(
    'invalid_file',
    'The file needs more memory to convert than is allowed. Export it in smaller parts.',
    { cause },
  )
}
