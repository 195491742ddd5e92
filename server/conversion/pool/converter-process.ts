// A converter process of the pool: takes one task after the other, reports progress, answers.
import { flushCompileCache } from 'node:module'
import { codeOf } from '../../common/errors.ts'
import { serializeError } from '../serialized-error.ts'
import { runStep, type ConversionStep, type ConversionTask } from './conversion-step.ts'
import type { ConverterMessage } from './converter-pool.ts'

function send(message: ConverterMessage): void {
  process.send?.(message)
}

/** The sentence of an error that is about the file, not about us: the engine's InvalidArchive. */
function invalidFileDetail(error: unknown): string | undefined {
  const known = error instanceof Error && codeOf(error) === 'invalid_file' && 'detail' in error
  return known ? String(error.detail) : undefined
}

async function runTask(task: ConversionTask, step: ConversionStep): Promise<ConverterMessage> {
  try {
    const converted = await runStep(task, step, (progress) => send({ progress }))
    return { done: true, converted }
  } catch (error) {
    const invalid = invalidFileDetail(error)
    if (invalid !== undefined) return { invalid }
    return { failed: serializeError(error) }
  }
}

let isCacheFlushed = false

/**
 * Converters are killed, and Node keeps what it has compiled at an orderly end only: so it is kept
 * after the first step, for those that start later.
 */
function flushCacheOnce(): void {
  if (!isCacheFlushed) flushCompileCache()
  isCacheFlushed = true
}

/**
 * What a step of a large archive leaves is garbage, and an idle converter would keep it: 127 MB
 * instead of 90 after a share of 170 MB of pages.
 */
function collectGarbage(step: ConversionStep): void {
  if (!('whole' in step))
    globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}

process.on('message', ({ task, step }: { task: ConversionTask; step: ConversionStep }) => {
  void runTask(task, step)
    .then(send)
    .then(flushCacheOnce)
    .then(() => collectGarbage(step))
})
// The server is gone: nobody wants the result.
process.on('disconnect', () => process.exit(0))
