// A converter process of the pool: takes one task after the other, reports progress, answers.
import { run } from './run.ts'
import type { Task } from './run.ts'
import type { FromConverter } from './converters.ts'

function send(message: FromConverter): void {
  process.send?.(message)
}

/** The sentence of an error that is about the file, not about us: the engine's InvalidArchive. */
function faultOfFile(error: unknown): string | undefined {
  const known = error instanceof Error && 'code' in error && error.code === 'invalid_file' && 'detail' in error
  return known ? String(error.detail) : undefined
}

async function answer(task: Task): Promise<FromConverter> {
  try {
    return { converted: await run(task, (progress) => send({ progress })) }
  } catch (error) {
    const invalid = faultOfFile(error)
    if (invalid !== undefined) return { invalid }
    const errno = error instanceof Error && 'code' in error ? String(error.code) : undefined
    return { failed: { stack: error instanceof Error ? (error.stack ?? error.message) : 'a value that is not an Error was thrown', errno } }
  }
}

process.on('message', (task: Task) => void answer(task).then(send))
// The server is gone: nobody wants the result.
process.on('disconnect', () => process.exit(0))
