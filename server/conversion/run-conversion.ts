// A conversion: its steps, on the pool's converters.
import { stat } from 'node:fs/promises'
import type { Converted } from '@tollmark/notion-markdown/archive'
import type { Log } from '../common/log.ts'
import type { BlobStore } from '../store/blobs/blobs.ts'
import type { Instance } from '../store/instance.ts'
import type { Store } from '../store/open.ts'
import type { Scratch } from '../store/scratch.ts'
import type { JobChanges } from './jobs/notifications.ts'
import type { Converters } from './pool/converter-pool.ts'
import type { Progress, Task } from './pool/conversion-step.ts'

/** What whoever converts works with, for a request or for a job. */
export interface ConversionParts {
  store: Store
  blobs: BlobStore
  scratch: Scratch
  converters: Converters
  changes: JobChanges
  instance: Instance
  clock: () => number
  log: Log
}

/**
 * From this size on an archive is worth more than one converter: opening it once more costs less
 * than half of its pages.
 */
const DIVIDED = 512 * 1024

/** From this size on an archive may have parts that are worth unpacking once for all converters. */
const UNPACKED = 8 * 1024 * 1024

/**
 * Converts one file. The parts, and then the pages, of a large archive are shared out to all
 * converters.
 *
 * @param more `signal` ends it, also while it runs; it then rejects with the signal's reason
 * @throws Problem `invalid_file` where the file is at fault
 */
export async function convert(
  task: Task,
  converters: Converters,
  more: { signal?: AbortSignal; onProgress?: (progress: Progress) => void } = {},
): Promise<Converted> {
  const size = task.kind === 'zip' ? (await stat(task.path)).size : 0
  if (converters.size === 1 || size < DIVIDED) return converters.run(task, { whole: true }, more)

  // One step that fails ends the others.
  const failed = new AbortController()
  const signal = more.signal ? AbortSignal.any([more.signal, failed.signal]) : failed.signal
  const onEach = async (run: (index: number) => Promise<Converted>): Promise<void> => {
    const running = Array.from({ length: converters.size }, (_, index) => run(index))
    try {
      await Promise.all(running)
    } catch (error) {
      failed.abort(error)
      await Promise.allSettled(running)
      throw error
    }
  }

  const isUnpacked = size >= UNPACKED
  if (isUnpacked) await onEach(() => converters.run(task, { unpack: true }, { signal }))
  const done = Array.from({ length: converters.size }, () => 0)
  await onEach((index) =>
    converters.run(
      task,
      { share: { index, of: converters.size, isUnpacked } },
      {
        signal,
        onProgress: ({ pagesDone, pagesTotal }) => {
          done[index] = pagesDone
          more.onProgress?.({ pagesDone: done.reduce((all, pages) => all + pages, 0), pagesTotal })
        },
      },
    ),
  )
  return converters.run(task, { join: converters.size }, { signal })
}
