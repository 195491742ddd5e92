// A converter process: runs one task after the other, and reports progress and results.
//
// It ends with its server, and not before: a signal to the whole process group (Ctrl-C, a
// supervisor) reaches it too, while the server still waits for conversions in progress.
import { flushCompileCache } from 'node:module'
import { codeOf } from '../../common/errors.ts'
import { serializeError } from '../serialized-error.ts'
import { runStep, type ConversionStep, type ConversionTask } from './conversion-step.ts'
import type { ConverterMessage } from './converter-pool.ts'
import { IGNORED_SIGNALS } from './ignored-signals.ts'

for (const signal of IGNORED_SIGNALS) process.on(signal, () => {})

function send(message: ConverterMessage): void {
  process.send?.(message)
}

/** The detail of the engine's InvalidArchive: the file is at fault, not the server. */
function invalidFileDetail(error: unknown): string | undefined {
  const known = error instanceof Error && codeOf(error) === 'invalid_file' && 'detail' in error
  return known ? String(error.detail) : undefined
}

/** Whether a text became longer than V8 allows, before the heap was full. */
const isTooLong = (error: unknown): boolean =>
  error instanceof RangeError && error.message === 'Invalid string length'

async function runTask(task: ConversionTask, step: ConversionStep): Promise<ConverterMessage> {
  try {
    const converted = await runStep(task, step, (progress) => send({ progress }))
    return { done: true, converted }
  } catch (error) {
    const invalid = invalidFileDetail(error)
    if (invalid !== undefined) return { invalid }
    const serialized = serializeError(error)
    return isTooLong(error) ? { tooLong: serialized } : { failed: serialized }
  }
}

let isCacheFlushed = false

/**
 * Node writes its compile cache only at an orderly exit, and converters are killed; so flush it
 * after the first step, for converters that start later.
 */
function flushCacheOnce(): void {
  if (!isCacheFlushed) flushCompileCache()
  isCacheFlushed = true
}

/**
 * Collects garbage after a step of a large archive, so that an idle converter is small: 90 MB
 * instead of 127 MB after a partition of 170 MB of pages.
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
// The server has exited, so the result is not needed.
process.on('disconnect', () => process.exit(0))
