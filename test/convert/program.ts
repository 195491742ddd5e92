// A conversion program for the tests of the pool: does what the file's name says.
import { parentPort } from 'node:worker_threads'
import type { Task } from '../../server/convert/run.ts'

const port = parentPort!

const DEEDS: Record<string, () => unknown> = {
  convert: () => ({ converted: { pages: 1, title: 'x', size: 1 } }),
  refuse: () => ({ invalid: 'The archive is broken.' }),
  fail: () => ({ failed: { message: 'on purpose', stack: 'on purpose\n    at somewhere', errno: 'ENOSPC' } }),
  progress: () => {
    port.postMessage({ progress: { pagesDone: 1, pagesTotal: 2 } })
    return { converted: { pages: 2, title: 'x', size: 1 } }
  },
  'wait a little': () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    return { converted: { pages: 1, title: 'x', size: 1 } }
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

port.on('message', ({ fileName }: Task) => {
  const message = DEEDS[fileName]?.()
  if (message !== undefined) port.postMessage(message)
})
