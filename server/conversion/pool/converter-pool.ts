// The pool of converter processes. Conversions never run in the process that serves requests, and
// one that exceeds its time or memory is killed with its process alone.
//
// Processes, not threads: a thread that runs out of memory takes the whole process down unless V8
// reaches a check in time. Measured with Node 24.21, limits of 64 and 256 MB and eleven ways to
// exhaust memory (arrays, strings, maps, JSON, split, regular expressions): 26 of 44 runs crashed
// the process. Processes also keep secrets away from code that reads untrusted files, and let the
// kernel prefer the server.
import { fork, type ChildProcess } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ArchiveLimits, Converted } from '@tollmark/notion-markdown/archive'
import { Problem } from '../../common/errors.ts'
import { deserializeError, type SerializedError } from '../serialized-error.ts'
import { IGNORED_SIGNALS } from './ignored-signals.ts'
import { guardAgainstStarvation, lowerPriority } from './process-priority.ts'
import type { ConversionProgress, ConversionStep, ConversionTask } from './conversion-step.ts'

/** A message from a converter. */
export type ConverterMessage =
  | { readonly progress: ConversionProgress }
  | { readonly done: true; readonly converted?: Converted | undefined }
  | { readonly invalid: string }
  | { readonly failed: SerializedError }

/** Limits of a converter pool. */
export interface ConverterLimits {
  /** Converters that run at the same time. */
  readonly atOnce: number
  /** Milliseconds that one step may take. */
  readonly deadline: number
  /** Bytes of JavaScript heap of one converter. */
  readonly heap: number
  /** Whether to start a converter in advance, for the first conversion (the default). */
  readonly warm?: boolean
  /** Archive limits for tasks that have none of their own. Default: the engine's. */
  readonly archive?: Partial<ArchiveLimits>
}

/** Runs conversion steps in child processes. One per process; dispose it at shutdown. */
export interface ConverterPool extends AsyncDisposable {
  /** The largest number of converters. */
  readonly size: number
  /** Steps that are running and waiting. */
  load(): { running: number; waiting: number }
  /**
   * Runs one step, first in, first out.
   *
   * @param options `signal` cancels it, also while it runs; the promise then rejects with the
   *   signal's reason
   * @returns what the conversion produced; zeros for a step without a document
   * @throws Problem `invalid_file` if the file is at fault
   */
  run(
    task: ConversionTask,
    step: ConversionStep,
    options?: { signal?: AbortSignal; onProgress?: (progress: ConversionProgress) => void },
  ): Promise<Converted>
}

/** A step that is waiting or running. */
interface QueuedStep {
  readonly task: ConversionTask
  readonly step: ConversionStep
  readonly progress: (progress: ConversionProgress) => void
  readonly resolve: (converted: Converted) => void
  readonly reject: (error: unknown) => void
  /** Kills its process; set while it runs. */
  stop?: () => void
}

/** The result of a step that writes no document. */
const EMPTY_RESULT: Converted = { pages: 0, failed: 0, warnings: 0, notices: [] }
/** The converters' program. */
const PROGRAM = new URL('converter-process.ts', import.meta.url)
/** Milliseconds after which an idle converter is stopped, except the last one. */
const IDLE_TIMEOUT_MS = 60_000
/**
 * Size of V8's young generation in MB: a page's tree is short-lived, and a larger space only takes
 * longer to fill.
 */
const YOUNG_GENERATION_MB = 4
/** Characters of a converter's stderr that are kept for the log. */
const MAX_STDERR_CHARS = 4000

/** Opens a pool. */
export function openConverterPool(
  { atOnce, deadline, heap, warm = true, archive = {} }: ConverterLimits,
  program: URL = PROGRAM,
): ConverterPool {
  const waiting: QueuedStep[] = []
  const idle = new Map<ChildProcess, NodeJS.Timeout>()
  const all = new Set<ChildProcess>()
  let closed = false

  const startProcess = (): ChildProcess => {
    const converter = startConverter(program, heap)
    if (converter.pid === undefined) return converter
    all.add(converter)
    converter.once('exit', () => {
      remove(converter)
      dispatch()
    })
    return converter
  }

  const remove = (converter: ChildProcess): void => {
    all.delete(converter)
    clearTimeout(idle.get(converter))
    idle.delete(converter)
  }

  const markIdle = (converter: ChildProcess): void => {
    const stopIdle = (): void => {
      if (all.size === 1) return
      // At once: it is gone before it is seen to have ended.
      remove(converter)
      converter.kill('SIGKILL')
    }
    idle.set(converter, setTimeout(stopIdle, IDLE_TIMEOUT_MS).unref())
  }

  const acquireIdle = (): ChildProcess | undefined => {
    const [converter] = idle.keys()
    if (!converter) return undefined
    clearTimeout(idle.get(converter))
    idle.delete(converter)
    return converter
  }

  const dispatch = (): void => {
    if (closed) return
    while (waiting.length > 0 && (idle.size > 0 || all.size < atOnce)) {
      const item = waiting.shift()!
      try {
        runOn(item, acquireIdle() ?? startProcess())
      } catch (error) {
        item.reject(error)
      }
    }
  }

  const runOn = (item: QueuedStep, converter: ChildProcess): void => {
    // It could not be started, for want of processes, memory or files: such a one never exits.
    if (converter.pid === undefined) return void converter.once('error', item.reject)
    let stderr = ''
    const onStderr = (text: string): void => {
      stderr = (stderr + text).slice(-MAX_STDERR_CHARS)
    }
    const onMessage = (message: ConverterMessage): void => {
      if ('progress' in message) return item.progress(message.progress)
      detach()
      markIdle(converter)
      if ('done' in message) item.resolve(message.converted ?? EMPTY_RESULT)
      else if ('invalid' in message) item.reject(new Problem('invalid_file', message.invalid))
      else item.reject(deserializeError('a conversion has failed', message.failed))
      return dispatch()
    }
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      detach()
      if (diedBeforeWork(signal) && !closed) {
        waiting.unshift(item)
        return dispatch()
      }
      item.reject(exitError(code, signal, stderr))
    }
    const detach = (): void => {
      clearTimeout(timer)
      starvationGuard[Symbol.dispose]()
      converter.off('message', onMessage).off('exit', onExit)
      converter.stderr?.off('data', onStderr)
    }
    item.stop = () => {
      detach()
      converter.kill('SIGKILL')
    }
    const timer = setTimeout(() => {
      item.stop?.()
      item.reject(
        new Problem(
          'invalid_file',
          `The file takes longer than ${deadline / 1000} seconds to convert. Export it in smaller parts.`,
        ),
      )
    }, deadline)
    const starvationGuard = guardAgainstStarvation(converter.pid)
    converter.on('message', onMessage).on('exit', onExit)
    converter.stderr?.on('data', onStderr)
    converter.send({ task: item.task, step: item.step })
  }

  if (warm) {
    const first = startProcess()
    if (first.pid !== undefined) markIdle(first)
  }

  return {
    size: atOnce,
    load: () => ({ running: all.size - idle.size, waiting: waiting.length }),
    run: async (task, step, { signal, onProgress = () => {} } = {}) => {
      signal?.throwIfAborted()
      if (closed) throw new Error('the server is shutting down')
      const { promise, resolve, reject } = Promise.withResolvers<Converted>()
      const limits = { ...archive, ...task.limits }
      const item: QueuedStep = {
        task: { ...task, limits },
        step,
        progress: onProgress,
        resolve,
        reject,
      }
      const abort = (): void => {
        const index = waiting.indexOf(item)
        if (index >= 0) waiting.splice(index, 1)
        item.stop?.()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      waiting.push(item)
      dispatch()
      return promise.finally(() => signal?.removeEventListener('abort', abort))
    },
    [Symbol.asyncDispose]: async () => {
      closed = true
      for (const item of waiting.splice(0)) item.reject(new Error('the server is shutting down'))
      await Promise.all([...all].map(terminate))
    },
  }
}

/**
 * V8's helper threads would occupy other processors and delay requests there: an idle-priority task
 * inside the kernel is not preempted.
 */
const SINGLE_THREADED_FLAGS = ['--single-threaded-gc', '--v8-pool-size=1']

function startConverter(program: URL, heap: number): ChildProcess {
  const cache = getCompileCacheDir() // this Node's folder in the one that the environment named
  const converter = fork(fileURLToPath(program), {
    execArgv: [
      '--conditions=tollmark',
      '--disable-warning=ExperimentalWarning',
      '--expose-gc',
      ...SINGLE_THREADED_FLAGS,
      `--max-old-space-size=${Math.ceil(heap / 1_048_576)}`,
      `--max-semi-space-size=${YOUNG_GENERATION_MB}`,
    ],
    // Nothing of the server's environment: it holds secrets. The time zone of the machine must not
    // show in a document.
    env: { TZ: 'UTC', ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  converter.stderr?.setEncoding('utf8').resume()
  // A converter that dies while it is sent something is told by its exit.
  converter.on('error', () => {})
  if (converter.pid !== undefined) lowerPriority(converter.pid)
  return converter
}

/**
 * Whether a converter died of a signal that it ignores once it runs (ignored-signals.ts): then it
 * was still starting, and its step can be given to another.
 */
function diedBeforeWork(signal: NodeJS.Signals | null): boolean {
  return IGNORED_SIGNALS.some((one) => one === signal)
}

/** Kills a converter; resolves when it has exited. */
function terminate(converter: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    converter.once('exit', () => resolve())
    converter.kill('SIGKILL')
  })
}

/** Why a converter exited by itself. V8 aborts when the heap is full. */
function exitError(code: number | null, signal: string | null, stderr: string): Error {
  const cause = new Error(`the converter ended with ${signal ?? code}: ${stderr}`)
  if (signal !== 'SIGABRT' && !/heap out of memory/.test(stderr)) return cause
  return new Problem(
    'invalid_file',
    'The file needs more memory to convert than is allowed. Export it in smaller parts.',
    { cause },
  )
}
