// A conversion program for the tests of the pool: does what the file's name says.
import { writeFileSync } from 'node:fs'
import type { ConversionTask } from '../../server/conversion/pool/conversion-step.ts'

const DONE = { done: true }

/** Eats memory in steps; keeps what it has eaten. */
function eat(step: () => unknown): never {
  const eaten: unknown[] = []
  for (;;) eaten.push(step())
}

/** TABLE of deeds; the result is sent. */
const DEEDS: Record<string, (task: ConversionTask) => unknown> = {
  convert: () => DONE,
  'write a document': ({ output }) => {
    writeFileSync(output, 'the document')
    return DONE
  },
  refuse: () => ({ invalid: 'The archive is broken.' }),
  fail: () => ({ failed: { stack: 'Error: on purpose\n    at somewhere', errno: 'ENOSPC' } }),
  progress: () => {
    process.send?.({ progress: { pagesDone: 1, pagesTotal: 2 } })
    return DONE
  },
  environment: () => ({ invalid: Object.keys(process.env).join(' ') }),
  'tell its process': () => ({ invalid: String(process.pid) }),
  'wait a little': () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    return DONE
  },
  // Blocked rather than busy: it responds to nothing either way, and this costs no CPU.
  'run for ever': () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  'eat memory in small objects': () =>
    eat(() => Array.from({ length: 10_000 }, (_, index) => ({ index }))),
  'eat memory in one array': () => eat(() => Array.from({ length: 60_000_000 }).fill(1.5)),
  'eat memory in strings': () => eat(() => 'a b '.repeat(5_000_000).split(' ')),
  throw: () => {
    setImmediate(() => {
      throw new Error('thrown where nobody waits')
    })
  },
  exit: () => process.exit(3),
}

process.on('message', ({ task }: { task: ConversionTask }) => {
  const message = DEEDS[task.fileName]?.(task)
  if (message !== undefined) process.send?.(message)
})
process.on('disconnect', () => process.exit(0))
