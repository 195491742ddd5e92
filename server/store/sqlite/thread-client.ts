// The main thread's side of a store thread: sends tasks in batches and passes each result to its
// sender.
import { basename } from 'node:path'
import { Worker } from 'node:worker_threads'
import { StoreError } from '../store-error.ts'
import type { Reply, Changes, FromThread, ToThread, Task, Work } from './messages.ts'

/**
 * Maximum number of tasks without a result. More means that the disk cannot keep up: rejecting them
 * is better than an unbounded queue.
 */
const MOST_WAITING = 50_000

/** The sender of a task. */
interface Waiting {
  readonly id: number
  resolve(value: unknown): void
  reject(error: Error): void
}

/** A running store thread. */
export interface ThreadClient {
  /**
   * Resolves to the task's value when it is durable. @param within see `Task` @throws StoreError
   */
  send(work: Work, within?: number): Promise<unknown>
  /** The writer's changes since the last call. @throws StoreError */
  takeChanges(): Promise<Changes>
  /** Resolves when every task has its result and the files are closed. */
  close(): Promise<void>
}

/**
 * Pending tasks in the order sent; results arrive in about that order. A map would keep the entries
 * of its old tables alive.
 */
class Line {
  #waiting: (Waiting | undefined)[] = []
  #first = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  push(one: Waiting): void {
    this.#waiting.push(one)
    this.#size++
  }

  /** Removes the sender of a task. */
  take(id: number): Waiting | undefined {
    let at = this.#first
    while (at < this.#waiting.length && this.#waiting[at]?.id !== id) at++
    const found = this.#waiting[at]
    if (found === undefined) return undefined
    this.#waiting[at] = undefined
    this.#size--
    while (this.#first < this.#waiting.length && this.#waiting[this.#first] === undefined)
      this.#first++
    // The remaining senders are moved once per many removals.
    if (this.#first > 64 && 2 * this.#first > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#first)
      this.#first = 0
    }
    return found
  }

  /** Removes all senders. */
  clear(): Waiting[] {
    const all = this.#waiting.filter((one) => one !== undefined)
    this.#waiting = []
    this.#first = this.#size = 0
    return all
  }
}

/**
 * Starts a thread of the store.
 *
 * @param module the file that runs in it
 * @param source its database
 * @param onChange called when another process has written to the file
 * @param onFailure called, once or twice, when the thread has died, which only a bug or a broken
 *   machine can cause; all its tasks are rejected
 */
export async function startThread(
  module: URL,
  source: object,
  onChange: () => void,
  onFailure: (error: Error) => void,
): Promise<ThreadClient> {
  const worker = new Worker(module, {
    workerData: source,
    name: `store-${basename(module.pathname, '.ts')}`,
  })
  const waiting = new Line()
  let bunch: Task[] = []
  let lastId = 0
  let closed = false

  const post = (message: ToThread): void => worker.postMessage(message)
  const flush = (): void => {
    if (bunch.length > 0) post({ tasks: bunch })
    bunch = []
  }
  const settle = (reply: Reply): void => {
    const caller = waiting.take(reply.id)
    if (caller === undefined) return
    if ('error' in reply) caller.reject(new StoreError(reply.error.code, reply.error.message))
    else caller.resolve(reply.value)
  }

  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      const ended = new StoreError('closed', 'the database thread has ended')
      for (const { reject } of waiting.clear()) reject(ended)
      // After an error, it is the second call.
      if (!closed) onFailure(ended)
      closed = true
      resolve()
    })
  })
  await untilOpened(worker, settle, onChange, onFailure)
  const replyTo = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => waiting.push({ id, resolve, reject }))

  return {
    send: (work, within) => {
      if (closed) return Promise.reject(new StoreError('closed', 'the database is closed'))
      if (waiting.size >= MOST_WAITING)
        return Promise.reject(new StoreError('busy', 'too many writes wait for the database'))
      // All tasks of this turn of the event loop travel in one message.
      if (bunch.length === 0) setImmediate(flush)
      const id = ++lastId
      bunch.push({ ...work, id, within })
      return replyTo(id)
    },
    takeChanges: () => {
      if (closed) return Promise.reject(new StoreError('closed', 'the database is closed'))
      flush()
      post({ takeChanges: ++lastId })
      // The thread replies with nothing else.
      return replyTo(lastId) as Promise<Changes>
    },
    close: async () => {
      if (!closed) {
        closed = true
        flush()
        post({ close: true })
      }
      await exited
    },
  }
}

/** Dispatches a thread's messages; resolves when it is open. */
function untilOpened(
  worker: Worker,
  settle: (reply: Reply) => void,
  onChange: () => void,
  onFailure: (error: Error) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', (error: Error) => {
      reject(error)
      onFailure(error)
    })
    worker.once('exit', (code) => reject(new Error(`a database thread ended with ${code}`)))
    worker.on('message', (message: FromThread) => {
      if ('replies' in message) message.replies.forEach(settle)
      else if ('changed' in message) onChange()
      else resolve()
    })
  })
}
