// Runs a conversion as steps on the converter pool.
import { stat } from 'node:fs/promises'
import type { Converted } from '@tollmark/notion-markdown/archive'
import type { Log } from '../common/log.ts'
import type { BlobStore } from '../store/blobs/blobs.ts'
import type { Instance } from '../store/instance.ts'
import type { Store } from '../store/store.ts'
import type { Scratch } from '../store/scratch.ts'
import type { JobNotifications } from './jobs/notifications.ts'
import type { KeptWorkspaces } from './kept-workspaces.ts'
import type { ConverterPool } from './pool/converter-pool.ts'
import type { ConversionProgress, ConversionTask } from './pool/conversion-step.ts'

/** What a conversion depends on, in a request or in a job. */
export interface ConversionDependencies {
  store: Store
  blobs: BlobStore
  scratch: Scratch
  converterPool: ConverterPool
  notifications: JobNotifications
  workspaces: KeptWorkspaces
  instance: Instance
  clock: () => number
  log: Log
}

/** What runs the steps. */
type Converters = Pick<ConverterPool, 'size' | 'run'>

/**
 * Archives from this size are divided among converters: opening the archive again costs less than
 * converting half of its pages.
 */
const MIN_PARTITIONED_BYTES = 512 * 1024

/** Archives from this size may have parts worth unpacking once for all converters. */
const MIN_UNPACKED_BYTES = 8 * 1024 * 1024

/**
 * From this size, converters are stopped after each step: a share of 1.5 GB leaves 45 MB more in a
 * converter than a new one has, after a collection, and joining on it takes 280 MB instead of 200.
 * A new one starts in 0.1 s.
 */
const MIN_LARGE_BYTES = 256 * 1024 * 1024

/**
 * Converts one file. Divides the parts, then the pages, of a large archive among all converters.
 *
 * @param options `account`: its owner; `signal` cancels it, even while it runs; the promise then
 *   rejects with the signal's reason; `wasChecked`: the scratch folder is from `checkConversion`
 * @throws Problem `invalid_file` if the file is at fault
 */
export async function runConversion(
  task: ConversionTask,
  converterPool: Converters,
  options: {
    account?: string
    signal?: AbortSignal
    onProgress?: (progress: ConversionProgress) => void
    wasChecked?: boolean
  } = {},
): Promise<Converted> {
  const size = task.kind === 'zip' ? (await stat(task.path)).size : 0
  const { account, wasChecked = false } = options
  if (size < MIN_PARTITIONED_BYTES || (converterPool.size === 1 && !wasChecked))
    return converterPool.run(task, { whole: true }, options)

  const isUnpacked = size >= MIN_UNPACKED_BYTES
  const isLarge = size >= MIN_LARGE_BYTES
  const { signal } = options
  if (isUnpacked && !wasChecked)
    await unpack(task, converterPool, { account, isLarge, ...(signal && { signal }) })
  const done = Array.from({ length: converterPool.size }, () => 0)
  await onEveryConverter(converterPool, signal, (index, signal) =>
    converterPool.run(
      task,
      { share: { index, of: converterPool.size, isUnpacked } },
      {
        account,
        isLarge,
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
  return converterPool.run(
    task,
    { join: converterPool.size, isUnpacked },
    { account, isLarge, ...(signal && { signal }) },
  )
}

/**
 * Checks an archive as far as possible without converting it. Unpacked parts stay in the task's
 * scratch folder for `runConversion` with `wasChecked`.
 *
 * @throws Problem `invalid_file` if the file is at fault
 */
export async function checkConversion(
  task: ConversionTask,
  converterPool: Converters,
  account: string,
  signal: AbortSignal,
): Promise<void> {
  const { size } = await stat(task.path)
  const isUnpacked = size >= MIN_UNPACKED_BYTES
  const options = { account, isLarge: size >= MIN_LARGE_BYTES, signal }
  if (isUnpacked) await unpack(task, converterPool, options)
  await converterPool.run(task, { check: true, isUnpacked }, options)
}

function unpack(
  task: ConversionTask,
  converterPool: Converters,
  options: { account: string | undefined; isLarge: boolean; signal?: AbortSignal },
): Promise<void> {
  return onEveryConverter(converterPool, options.signal, (_, signal) =>
    converterPool.run(task, { unpack: true }, { ...options, signal }),
  )
}

/** Runs a step on every converter at once. If one fails, the others are canceled. */
async function onEveryConverter(
  { size }: Converters,
  canceled: AbortSignal | undefined,
  run: (index: number, signal: AbortSignal) => Promise<Converted>,
): Promise<void> {
  const failed = new AbortController()
  const signal = canceled ? AbortSignal.any([canceled, failed.signal]) : failed.signal
  const running = Array.from({ length: size }, (_, index) => run(index, signal))
  try {
    await Promise.all(running)
  } catch (error) {
    failed.abort(error)
    await Promise.allSettled(running)
    throw error
  }
}
