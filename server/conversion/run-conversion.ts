// Runs a conversion as steps on the converter pool.
import { stat } from 'node:fs/promises'
import type { Converted } from '@tollmark/notion-markdown/archive'
import type { Log } from '../common/log.ts'
import type { BlobStore } from '../store/blobs/blobs.ts'
import type { Instance } from '../store/instance.ts'
import type { Store } from '../store/open.ts'
import type { Scratch } from '../store/scratch.ts'
import type { JobNotifications } from './jobs/notifications.ts'
import type { ConverterPool } from './pool/converter-pool.ts'
import type { ConversionProgress, ConversionTask } from './pool/conversion-step.ts'

/** What a conversion needs, in a request or in a job. */
export interface ConversionDependencies {
  store: Store
  blobs: BlobStore
  scratch: Scratch
  converterPool: ConverterPool
  notifications: JobNotifications
  instance: Instance
  clock: () => number
  log: Log
}

/**
 * Archives from this size are divided among converters: opening one again costs less than
 * converting half of its pages.
 */
const MIN_PARTITIONED_BYTES = 512 * 1024

/** Archives from this size may have parts worth unpacking once for all converters. */
const MIN_UNPACKED_BYTES = 8 * 1024 * 1024

/**
 * Converts one file. Divides the parts, then the pages, of a large archive among all converters.
 *
 * @param options `signal` cancels it, also while it runs; the promise then rejects with the
 *   signal's reason
 * @throws Problem `invalid_file` if the file is at fault
 */
export async function runConversion(
  task: ConversionTask,
  converterPool: ConverterPool,
  options: { signal?: AbortSignal; onProgress?: (progress: ConversionProgress) => void } = {},
): Promise<Converted> {
  const size = task.kind === 'zip' ? (await stat(task.path)).size : 0
  if (converterPool.size === 1 || size < MIN_PARTITIONED_BYTES)
    return converterPool.run(task, { whole: true }, options)

  // One step that fails ends the others.
  const failed = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal
  const onEveryConverter = async (run: (index: number) => Promise<Converted>): Promise<void> => {
    const running = Array.from({ length: converterPool.size }, (_, index) => run(index))
    try {
      await Promise.all(running)
    } catch (error) {
      failed.abort(error)
      await Promise.allSettled(running)
      throw error
    }
  }

  const isUnpacked = size >= MIN_UNPACKED_BYTES
  if (isUnpacked)
    await onEveryConverter(() => converterPool.run(task, { unpack: true }, { signal }))
  const done = Array.from({ length: converterPool.size }, () => 0)
  await onEveryConverter((index) =>
    converterPool.run(
      task,
      { share: { index, of: converterPool.size, isUnpacked } },
      {
        signal,
        onProgress: ({ pagesDone, pagesTotal }) => {
          done[index] = pagesDone
          options.onProgress?.({
            pagesDone: done.reduce((all, pages) => all + pages, 0),
            pagesTotal,
          })
        },
      },
    ),
  )
  return converterPool.run(task, { join: converterPool.size }, { signal })
}
