// A worker thread of the pool: takes one task after the other, reports progress, answers.
import { parentPort } from 'node:worker_threads'
import { run } from './run.ts'
import type { Task } from './run.ts'
import type { FromWorker } from './threads.ts'

const port = parentPort!
const send = (message: FromWorker): void => port.postMessage(message)

/** The sentence of an error that is about the file, not about us: the engine's InvalidArchive. */
function faultOfFile(error: unknown): string | undefined {
  const known = error instanceof Error && 'code' in error && error.code === 'invalid_file' && 'detail' in error
  return known ? String(error.detail) : undefined
}

port.on('message', (task: Task) => {
  run(task, (progress) => send({ progress })).then(
    (converted) => send({ converted }),
    (error: unknown) => {
      const invalid = faultOfFile(error)
      if (invalid !== undefined) return send({ invalid })
      const { stack, message } = error instanceof Error ? error : new Error('something that is not an Error was thrown')
      const errno = error instanceof Error && 'code' in error ? String(error.code) : undefined
      return send({ failed: { message, stack: stack ?? message, errno } })
    },
  )
})
