// A conversion program for the tests of the pool: does what the file's name says.
import { parentPort } from 'node:worker_threads'
import type { Task } from '../../server/convert/run.ts'

const port = parentPort!

const DEEDS: Record<string, () => unknown> = {
  convert: () => ({ done: true }),
  refuse: () => ({ invalid: 'The archive is broken.' }),
  fail: () => ({ failed: { message: 'on purpose', stack: 'on purpose\n    at somewhere', errno: 'ENOSPC' } }),
  progress: () => {
    port.postMessage({ progress: { pagesDone: 1, pagesTotal: 2 } })
    return { done: true }
  },
  'wait a little': () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    return { done: true }
  },
  'run for ever': () => {
    for (;;);
  },
  'eat memory': () => {
    const eaten: unknown[] = []
    for (;;) eaten.push(Array.from({ length: 10_000 }, (_, index) => ({ index })))
  },
  throw: () => {
    setImmediate(() => {
      throw new Error('thrown where nobody waits')
    })
  },
  exit: () => process.exit(3),
}

port.on('message', ({ task }: { task: Task }) => {
  const message = DEEDS[task.fileName]?.()
  if (message !== undefined) port.postMessage(message)
})
