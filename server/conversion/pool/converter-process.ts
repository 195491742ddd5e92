// A converter process of the pool: takes one task after the other, reports progress, answers.
import { flushCompileCache } from 'node:module'
import { codeOf } from '../../common/errors.ts'
import { carry } from '../serialized-error.ts'
import { run, type Step, type Task } from './conversion-step.ts'
import type { FromConverter } from './converter-pool.ts'

function send(message: FromConverter): void {
  process.send?.(message)
}

/** The sentence of an error that is about the file, not about us: the engine's InvalidArchive. */
function faultOfFile(error: unknown): string | undefined {
  const known = error instanceof Error && codeOf(error) === 'invalid_file' && 'detail' in error
  return known ? String(error.detail) : undefined
}

async function answer(task: Task, step: Step): Promise<FromConverter> {
  try {
    const converted = await run(task, step, (progress) => send({ progress }))
    return { done: true, converted }
  } catch (error) {
    const invalid = faultOfFile(error)
    if (invalid !== undefined) return { invalid }
    return { failed: carry(error) }
  }
}

let kept = false

/**
 * Converters are killed, and Node keeps what it has compiled at an orderly end only: so it is kept
 * after the first step, for those that start later.
 */
function keepCompiled(): void {
  if (!kept) flushCompileCache()
  kept = true
}

/**
 * What a step of a large archive leaves is garbage, and an idle converter would keep it: 127 MB
 * instead of 90 after a share of 170 MB of pages.
 */
function letGo(step: Step): void {
  if (!('whole' in step))
    globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}

process.on('message', ({ task, step }: { task: Task; step: Step }) => {
  void answer(task, step)
    .then(send)
    .then(keepCompiled)
    .then(() => letGo(step))
})
// The server is gone: nobody wants the result.
process.on('disconnect', () => process.exit(0))
