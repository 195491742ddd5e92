// The pool of worker threads: conversions never run on the thread that serves requests. A conversion that takes too long or too much memory
// ends with its thread, and takes nobody with it.
import { Worker } from 'node:worker_threads'
import { Problem } from '../errors.ts'
import type { Converted, Progress, Task } from './run.ts'

/** What a worker sends. */
export type FromWorker =
  | { readonly progress: Progress }
  | { readonly converted: Converted }
  | { readonly invalid: string }
  | { readonly failed: { readonly message: string; readonly stack: string; readonly errno: string | undefined } }

export interface ThreadLimits {
  /** Conversions at once. */
  readonly threads: number
  /** Conversions that may wait. */
  readonly queue: number
  /** Milliseconds that one conversion may run. */
  readonly deadline: number
  /** Bytes of JavaScript objects that one conversion may use. */
  readonly heap: number
}

export interface Threads extends AsyncDisposable {
  /**
   * Runs one conversion, in turn.
   *
   * @param signal ends it, also while it runs; it then rejects with the signal's reason
   * @throws Problem `invalid_file` where the file is at fault, `too_many_uploads` where too many wait
   */
  run(task: Task, more?: { signal?: AbortSignal; onProgress?: (progress: Progress) => void }): Promise<Converted>
}

interface Waiting {
  task: Task
  onMessage: (message: FromWorker) => void
  fail: (error: unknown) => void
  /** Ends the thread that it runs on; set while it runs. */
  stop?: () => void
}

/** The program of the workers. */
const PROGRAM = new URL('thread.ts', import.meta.url)
/** Seconds after which a refused caller should try again. */
const RETRY_AFTER = 5

/** Opens the pool; one thread is started at once so that the first conversion does not wait for it. */
export function openThreads({ threads, queue, deadline, heap }: ThreadLimits, program: URL = PROGRAM): Threads {
  const waiting: Waiting[] = []
  const idle: Worker[] = []
  const all = new Set<Worker>()
  let closed = false

  const start = (): Worker => {
    const worker = new Worker(program, { name: 'convert', resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heap / 1_048_576) } })
    all.add(worker)
    worker.unref()
    worker.on('error', () => {}) // told to the conversion that it ends, if there is one
    worker.once('exit', () => {
      all.delete(worker)
      const place = idle.indexOf(worker)
      if (place >= 0) idle.splice(place, 1)
      next()
    })
    return worker
  }

  const next = (): void => {
    if (closed) return
    while (waiting.length > 0 && (idle.length > 0 || all.size < threads)) perform(waiting.shift()!, idle.pop() ?? start())
  }

  const perform = (item: Waiting, worker: Worker): void => {
    const onMessage = (message: FromWorker): void => {
      item.onMessage(message)
      if ('progress' in message) return
      leave()
      idle.push(worker)
      next()
    }
    const onError = (error: Error): void => {
      leave()
      item.fail(outOfMemory(error) ?? error)
    }
    const onExit = (): void => {
      leave()
      item.fail(new Error('the conversion thread has ended'))
    }
    const leave = (): void => {
      clearTimeout(timer)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
    item.stop = () => {
      leave()
      void worker.terminate()
    }
    const timer = setTimeout(() => {
      item.stop?.()
      item.fail(new Problem('invalid_file', `The file takes longer than ${deadline / 1000} seconds to convert. Export it in smaller parts.`))
    }, deadline)
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    worker.postMessage(item.task)
  }

  idle.push(start())

  return {
    run: (task, { signal, onProgress } = {}) => {
      signal?.throwIfAborted()
      if (closed || (waiting.length >= queue && idle.length === 0 && all.size >= threads)) {
        throw new Problem('too_many_uploads', 'Too many conversions are waiting. Try again in a moment.', { retryAfter: RETRY_AFTER })
      }
      return new Promise<Converted>((resolve, reject) => {
        const abort = (): void => {
          const place = waiting.indexOf(item)
          if (place >= 0) waiting.splice(place, 1)
          item.stop?.()
          item.fail(signal?.reason)
        }
        const done = (): void => signal?.removeEventListener('abort', abort)
        const item: Waiting = {
          task,
          onMessage: (message) => {
            if ('progress' in message) return onProgress?.(message.progress)
            done()
            if ('converted' in message) resolve(message.converted)
            else if ('invalid' in message) reject(new Problem('invalid_file', message.invalid))
            else reject(rebuilt(message.failed))
          },
          fail: (error) => {
            done()
            reject(error)
          },
        }
        signal?.addEventListener('abort', abort)
        waiting.push(item)
        next()
      })
    },
    [Symbol.asyncDispose]: async () => {
      closed = true
      for (const item of waiting.splice(0)) item.fail(new Error('the server is shutting down'))
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}

function outOfMemory(error: Error): Problem | undefined {
  const out = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return out ? new Problem('invalid_file', 'The file needs more memory to convert than is allowed. Export it in smaller parts.', { cause: error }) : undefined
}

/** An error that was thrown in a worker, with its own stack and the system's error code. */
function rebuilt({ message, stack, errno }: { message: string; stack: string; errno: string | undefined }): Error {
  return Object.assign(new Error(message), { stack, ...(errno === undefined ? {} : { code: errno }) })
}
