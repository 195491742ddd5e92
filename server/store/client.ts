// This side of a thread of the store: sends units in bunches, hands each answer to who waits for it.
import { Worker } from 'node:worker_threads'
import { StoreError } from './error.ts'
import type { Answer, FromThread, ToThread, Unit, Work } from './units.ts'

/** Units that may wait for their answer. More means that the disk cannot follow: refusing is better than a queue without bound. */
const MOST_WAITING = 50_000

/** Who has sent a unit. */
interface Waiting {
  readonly id: number
  resolve(value: unknown): void
  reject(error: Error): void
}

export interface ThreadClient {
  /** Resolves to the unit's value when it is durable. @throws StoreError */
  send(work: Work): Promise<unknown>
  /** Resolves when all that was sent is answered and the files are closed. */
  close(): Promise<void>
}

/**
 * Starts a thread of the store on an existing SQLite file.
 *
 * @param onChange called when another process has written to the file
 * @param onFailure called when the thread has died, which only a bug or a broken machine can cause; everything sent is rejected
 */
export async function startThread(
  path: string,
  mode: 'read' | 'write',
  onChange: () => void,
  onFailure: (error: Error) => void,
): Promise<ThreadClient> {
  const worker = new Worker(new URL('thread.ts', import.meta.url), { workerData: { path, mode }, name: `store-${mode}` })
  // In the order in which they were sent, and so are the answers. A map would keep what was in each of its tables alive from one to the next.
  const waiting: Waiting[] = []
  let bunch: Unit[] = []
  let lastId = 0
  let closed = false

  const post = (message: ToThread): void => worker.postMessage(message)
  const flush = (): void => {
    if (bunch.length > 0) post({ units: bunch })
    bunch = []
  }
  const settle = (answer: Answer): void => {
    const at = waiting.findIndex(({ id }) => id === answer.id)
    const caller = waiting[at]
    if (caller === undefined) return
    waiting.splice(at, 1)
    if ('error' in answer) caller.reject(new StoreError(answer.error.code, answer.error.message))
    else caller.resolve(answer.value)
  }

  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      for (const { reject } of waiting.splice(0)) reject(new StoreError('closed', 'the thread of the store has ended'))
      closed = true
      resolve()
    })
  })
  await new Promise<void>((resolve, reject) => {
    worker.once('error', (error: Error) => {
      reject(error)
      onFailure(error)
    })
    worker.on('message', (message: FromThread) => {
      if ('answers' in message) message.answers.forEach(settle)
      else if ('changed' in message) onChange()
      else resolve()
    })
  })

  return {
    send: (work) => {
      if (closed) return Promise.reject(new StoreError('closed', 'the store is closed'))
      if (waiting.length >= MOST_WAITING) return Promise.reject(new StoreError('busy', 'too many writes wait for the store'))
      // All units of this turn of the event loop travel in one message.
      if (bunch.length === 0) setImmediate(flush)
      const id = ++lastId
      bunch.push({ ...work, id })
      return new Promise((resolve, reject) => waiting.push({ id, resolve, reject }))
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
