// A reader thread on demand: it starts with the first task, and ends after it has been idle for a
// while, because an idle thread keeps 20 to 30 MB (`bench -- proxy --only memory`).
import { startThread, type ThreadClient } from './thread-client.ts'
import type { ReadSource, Work } from './messages.ts'

/** A thread that reads. It starts with its first task. */
export interface ReadingThread {
  /** Resolves to the task's value. @param within milliseconds: see `Task` @throws StoreError */
  send(work: Work, within: number): Promise<unknown>
  /** Starts the thread before its first task. */
  start(): void
  /** Resolves when every task has its result. */
  close(): Promise<void>
}

/**
 * How long an idle thread waits for the next task, so that it keeps running while a person browses.
 * Starting one takes 0.1 s.
 */
const IDLE_MS = 600_000

/**
 * Opens a thread that reads from `source`.
 *
 * @param idle milliseconds without a task after which the thread ends; Infinity: never
 */
export function openReadingThread(source: ReadSource, idle = IDLE_MS): ReadingThread {
  let thread: Promise<ThreadClient> | undefined
  /** Threads that are ending. */
  const ending = new Set<Promise<void>>()
  let underWay = 0
  let timer: NodeJS.Timeout | undefined

  function start(): Promise<ThreadClient> {
    const forget = (): void => {
      if (thread === started) thread = undefined
    }
    const started = startThread(
      new URL('reader-thread.ts', import.meta.url),
      source,
      () => {},
      forget,
    )
    return started
  }

  function end(): void {
    clearTimeout(timer)
    if (thread === undefined) return
    const ended = thread
      .then(
        (client) => client.close(),
        () => {},
      )
      .finally(() => ending.delete(ended))
    ending.add(ended)
    thread = undefined
  }

  return {
    send: async (work, within) => {
      clearTimeout(timer)
      underWay++
      try {
        // If it dies, the next task starts another one.
        return await (await (thread ??= start())).send(work, within)
      } finally {
        if (--underWay === 0 && idle < Infinity) timer = setTimeout(end, idle).unref()
      }
    },
    start: () => {
      // Its first task reports the failure.
      ;(thread ??= start()).catch(() => {})
    },
    close: async () => {
      end()
      await Promise.all(ending)
    },
  }
}
