// The pool of converter processes. Conversions never run in the process that serves requests, and
// one that exceeds its time or memory is killed with its process alone.
//
// Processes, not threads: a thread that runs out of memory takes the whole process down unless V8
// reaches a check in time. Measured with Node 24.21, limits of 64 and 256 MB and eleven ways to
// exhaust memory (arrays, strings, maps, JSON, split, regular expressions): 26 of 44 runs crashed
// the process. Processes also keep secrets away from code that reads untrusted files, and let the
// kernel prefer the server.
import type { ChildProcess } from 'node:child_process'
import type { ArchiveLimits, Converted } from '@tollmark/notion-markdown/archive'
import { Problem } from '../../common/errors.ts'
import { deserializeError, type SerializedError } from '../serialized-error.ts'
import { diedBeforeWork, exitError, memoryProblem, startConverter, terminate } from './converter.ts'
import { guardAgainstStarvation } from './process-priority.ts'
import type { ConversionProgress, ConversionStep, ConversionTask } from './conversion-step.ts'

/** A message from a converter. */
export type ConverterMessage =
  | { readonly progress: ConversionProgress }
  | { readonly done: true; readonly converted?: Converted | undefined }
  | { readonly invalid: string }
  | { readonly tooLong: SerializedError }
  | { readonly failed: SerializedError }

/** Limits of a converter pool. */
export interface ConverterLimits {
  /** Converters that run at the same time. */
  readonly atOnce: number
  /** Additional converters, each for an account with no running step. Default: none. */
  readonly beyond?: number
  /** Milliseconds that one step may take. */
  readonly deadline: number
  /** Bytes of JavaScript heap of one converter. */
  readonly heap: number
  /** Whether to have a converter ready before a conversion needs it (the default). */
  readonly warm?: boolean
  /** Archive limits for tasks that have none of their own. Default: the engine's. */
  readonly archive?: Partial<ArchiveLimits>
}

/** Runs conversion steps in child processes. One per process; dispose it at shutdown. */
export interface ConverterPool extends AsyncDisposable {
  /** The number of converters that every account can use. */
  readonly size: number
  /** Steps that are running and waiting. */
  load(): { running: number; waiting: number }
  /**
   * Runs one step, first in, first out.
   *
   * @param options `account`: the owner of the step; `isLarge`: its converter runs no other step,
   *   so that its memory is free; `signal` cancels it, even while it runs; the promise then rejects
   *   with the signal's reason
   * @returns what the conversion produced; zeros for a step without a document
   * @throws Problem `invalid_file` if the file is at fault
   */
  run(
    task: ConversionTask,
    step: ConversionStep,
    options?: {
      account?: string | undefined
      isLarge?: boolean
      signal?: AbortSignal
      onProgress?: (progress: ConversionProgress) => void
    },
  ): Promise<Converted>
}

/** A step that is waiting or running. */
interface QueuedStep {
  readonly task: ConversionTask
  readonly step: ConversionStep
  readonly account: string | undefined
  readonly isLarge: boolean
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
/**
 * Delay before an empty pool starts a converter in advance, so that it does not compete with the
 * server's own start (milliseconds).
 */
const WARM_AFTER_MS = 2_000
/** Milliseconds after which an idle converter is stopped, except the last one. */
const IDLE_TIMEOUT_MS = 60_000
/** Characters of a converter's stderr that are kept for the log. */
const MAX_STDERR_CHARS = 4000

/** Opens a pool. */
export function openConverterPool(limits: ConverterLimits, program: URL = PROGRAM): ConverterPool {
  return new ProcessPool(limits, program)
}

/** A pool of processes: idle, or each with one step. */
class ProcessPool implements ConverterPool {
  readonly size: number
  readonly #limits: ConverterLimits
  readonly #program: URL
  readonly #waiting: QueuedStep[] = []
  readonly #running = new Set<QueuedStep>()
  /** Idle converters, and the timers that stop them. */
  readonly #idle = new Map<ChildProcess, NodeJS.Timeout>()
  readonly #all = new Set<ChildProcess>()
  #warming: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(limits: ConverterLimits, program: URL) {
    this.size = limits.atOnce
    this.#limits = limits
    this.#program = program
    this.#warmSoon()
  }

  #warmSoon(): void {
    if (this.#limits.warm === false) return
    clearTimeout(this.#warming)
    this.#warming = setTimeout(() => this.#warm(), WARM_AFTER_MS).unref()
  }

  /** Starts a converter in advance. */
  #warm(): void {
    if (this.#all.size > 0 || this.#isClosed) return
    const first = this.#start()
    if (first.pid !== undefined) this.#markIdle(first)
  }

  load(): { running: number; waiting: number } {
    return { running: this.#all.size - this.#idle.size, waiting: this.#waiting.length }
  }

  async run(
    task: ConversionTask,
    step: ConversionStep,
    {
      account,
      isLarge = false,
      signal,
      onProgress = () => {},
    }: Parameters<ConverterPool['run']>[2] = {},
  ): Promise<Converted> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw new Error(SHUTTING_DOWN)
    const { promise, resolve, reject } = Promise.withResolvers<Converted>()
    const limits = { ...this.#limits.archive, ...task.limits }
    const item: QueuedStep = {
      task: { ...task, limits },
      step,
      account,
      isLarge,
      progress: onProgress,
      resolve,
      reject,
    }
    const abort = (): void => {
      const index = this.#waiting.indexOf(item)
      if (index >= 0) this.#waiting.splice(index, 1)
      item.stop?.()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort)
    this.#waiting.push(item)
    this.#dispatch()
    return promise.finally(() => signal?.removeEventListener('abort', abort))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#warming)
    for (const item of this.#waiting.splice(0)) item.reject(new Error(SHUTTING_DOWN))
    await Promise.all([...this.#all].map(terminate))
  }

  #start(): ChildProcess {
    const converter = startConverter(this.#program, this.#limits.heap)
    if (converter.pid === undefined) return converter
    this.#all.add(converter)
    converter.once('exit', () => {
      this.#remove(converter)
      this.#dispatch()
    })
    return converter
  }

  #remove(converter: ChildProcess): void {
    this.#all.delete(converter)
    clearTimeout(this.#idle.get(converter))
    this.#idle.delete(converter)
  }

  #markIdle(converter: ChildProcess): void {
    const stop = (): void => {
      if (this.#all.size > 1) this.#stop(converter)
    }
    this.#idle.set(converter, setTimeout(stop, IDLE_TIMEOUT_MS).unref())
  }

  /** Stops a converter without a step. */
  #stop(converter: ChildProcess): void {
    // Remove it now, because its exit event comes later.
    this.#remove(converter)
    converter.kill('SIGKILL')
  }

  /** Stops a converter after a large step; later there is a new one. */
  #retire(converter: ChildProcess): void {
    this.#stop(converter)
    this.#warmSoon()
  }

  #acquireIdle(): ChildProcess | undefined {
    const [converter] = this.#idle.keys()
    if (!converter) return undefined
    clearTimeout(this.#idle.get(converter))
    this.#idle.delete(converter)
    return converter
  }

  /** Starts waiting steps while there are free converters. */
  #dispatch(): void {
    if (this.#isClosed) return
    for (let item = this.#takeNext(); item !== undefined; item = this.#takeNext()) {
      try {
        this.#runOn(item, this.#acquireIdle() ?? this.#start())
      } catch (error) {
        item.reject(error)
      }
    }
  }

  /** The next step that a converter is free for. */
  #takeNext(): QueuedStep | undefined {
    const { running } = this.load()
    if (running < this.size) return this.#waiting.shift()
    if (running >= this.size + (this.#limits.beyond ?? 0)) return undefined
    const busy = new Set(Array.from(this.#running, ({ account }) => account))
    const next = this.#waiting.find(({ account }) => account !== undefined && !busy.has(account))
    if (next) this.#waiting.splice(this.#waiting.indexOf(next), 1)
    return next
  }

  #runOn(item: QueuedStep, converter: ChildProcess): void {
    // It could not be started, for lack of processes, memory or files, so it never emits `exit`.
    if (converter.pid === undefined) return void converter.once('error', item.reject)
    this.#running.add(item)
    let stderr = ''
    const onStderr = (text: string): void => {
      stderr = (stderr + text).slice(-MAX_STDERR_CHARS)
    }
    const onMessage = (message: ConverterMessage): void => {
      if ('progress' in message) return item.progress(message.progress)
      detach()
      if (item.isLarge) this.#retire(converter)
      else this.#markIdle(converter)
      settle(item, message)
      return this.#dispatch()
    }
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      detach()
      if (diedBeforeWork(signal) && !this.#isClosed) {
        this.#waiting.unshift(item)
        return this.#dispatch()
      }
      item.reject(exitError(code, signal, stderr))
    }
    const detach = (): void => {
      this.#running.delete(item)
      clearTimeout(timer)
      starvationGuard[Symbol.dispose]()
      converter.off('message', onMessage).off('exit', onExit)
      converter.stderr?.off('data', onStderr)
    }
    item.stop = () => {
      detach()
      converter.kill('SIGKILL')
    }
    const { deadline } = this.#limits
    const timer = setTimeout(() => {
      item.stop?.()
      item.reject(deadlineProblem(deadline))
    }, deadline)
    const starvationGuard = guardAgainstStarvation(converter.pid)
    converter.on('message', onMessage).on('exit', onExit)
    converter.stderr?.on('data', onStderr)
    converter.send({ task: item.task, step: item.step })
  }
}

const SHUTTING_DOWN = 'the server is shutting down'

/** Ends a step with the last message of its converter. */
function settle(
  item: QueuedStep,
  message: Exclude<ConverterMessage, { readonly progress: ConversionProgress }>,
): void {
  if ('done' in message) item.resolve(message.converted ?? EMPTY_RESULT)
  else if ('invalid' in message) item.reject(new Problem('invalid_file', message.invalid))
  else if ('tooLong' in message)
    item.reject(memoryProblem(deserializeError('a text was too long', message.tooLong)))
  else item.reject(deserializeError('a conversion failed', message.failed))
}

function deadlineProblem(deadline: number): Problem {
  return new Problem(
    'invalid_file',
    `The file takes longer than ${deadline / 1000} seconds to convert. Export it in smaller parts.`,
  )
}
