// Runs jobs, one at a time: claim → fetch → convert → store → finish. One job has all converters of
// the process.
import { newId } from '../../common/ids.ts'
import { Problem } from '../../common/errors.ts'
import { dropBlobs, keepBlob } from '../../store/blobs/blobs.ts'
import type { Store } from '../../store/open.ts'
import { transientProblem } from '../../store/transient-errors.ts'
import { nextChange, type JobChanges } from './notifications.ts'
import type { ConversionQueue } from '../queue.ts'
import { convert, type ConversionParts } from '../run-conversion.ts'
import type { Faults } from '../document-headers.ts'
import {
  WAIT_MOST,
  claimJob,
  failJob,
  handBack,
  isHeld,
  jobWaits,
  reportProgress,
  succeedJob,
  type ClaimedJob,
} from './jobs.ts'
import type { Progress } from '../pool/conversion-step.ts'

/** Milliseconds between two looks for a job where nobody tells of one. */
const LOOK = 1000
/**
 * Milliseconds between two reports of progress, and between two looks whether the job is still
 * ours.
 */
const REPORT = 300
/**
 * Conversions that may fail for no reason of their own (a converter that ended, say) before the job
 * does.
 */
const MOST_FAILURES = 3
/** Milliseconds before a job is begun again for the first time. */
const WAIT_FIRST = 500

/** What a worker works with. */
export interface WorkerParts extends ConversionParts {
  /** Conversions that are no jobs. */
  queue: Pick<ConversionQueue, 'beginJob' | 'running'>
  /** Milliseconds that a result is kept. */
  retention: number
}

/** Why a conversion is given up without an outcome. */
const LOST = new Error('the job was canceled, or is held by another process')
const STOPPED = new Error('the worker is stopping')

/**
 * Starts to run jobs. Disposing of it claims no more, and hands back the job that runs: another
 * process can claim it at once.
 */
export function openWorker(parts: WorkerParts): AsyncDisposable {
  const { changes, log } = parts
  const stopping = new AbortController()
  const stopped = stopping.signal

  const work = async (): Promise<void> => {
    while (!stopped.aborted) {
      const job = await claim(parts).catch((error: unknown) =>
        log.error('no job can be claimed', error),
      )
      if (job)
        await performInTurn(parts, job, stopped).catch((error: unknown) =>
          log.error('a job cannot be ended', error, { job: job.id }),
        )
      else await nextChange(changes, stopped, LOOK)
    }
  }
  const working = work()
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort(STOPPED)
      await working
    },
  }
}

async function claim({
  store,
  instance,
  clock,
  changes,
  queue,
}: WorkerParts): Promise<ClaimedJob | undefined> {
  const now = clock()
  const claimant = { instance: instance.id, now, running: queue.running() }
  if (!(await jobWaits(store, claimant))) return undefined
  const claim = newId('clm', now)
  const job = await store.run(claimJob, { claim, ...claimant })
  if (!job) return undefined
  changes.tell()
  if (job.upload_blob === null) throw new Error(`the job ${job.id} has no archive`)
  return { ...job, claim, upload_blob: job.upload_blob }
}

/** The same, unless a conversion of the account began while the job was claimed. */
async function performInTurn(
  parts: WorkerParts,
  job: ClaimedJob,
  stopped: AbortSignal,
): Promise<void> {
  using place = parts.queue.beginJob(job.account_id)
  if (place === null) await handBack(parts.store, job, job.created_at, { claims: job.claims - 1 })
  else await perform(parts, job, stopped)
}

/** Brings a job to its end, or hands it back. */
async function perform(parts: WorkerParts, job: ClaimedJob, stopped: AbortSignal): Promise<void> {
  const { store, blobs, clock, changes, log, instance, retention } = parts
  try {
    const { result, faults } = await convertJob(parts, job, stopped)
    const now = clock()
    const done = await store.run(succeedJob, {
      job,
      result,
      faults,
      instance: instance.id,
      expiresAt: now + retention,
      now,
    })
    // then the sweep does it
    await dropBlobs(store, blobs, [done ? job.upload_blob : result]).catch(() => {})
  } catch (error) {
    const trouble = transientProblem(error)
    const fault = error instanceof Problem && error.status < 500 ? error : undefined
    if (error === LOST) return
    if (error === STOPPED) await handBack(store, job, job.created_at, { claims: job.claims - 1 })
    else if (fault) await fail(parts, job, fault)
    else if (trouble) {
      log.error('a job cannot go on for now', error, { job: job.id })
      await handBack(store, job, clock() + waitOf(job.claims), {})
    } else {
      log.error('a conversion has failed', error, { job: job.id })
      const failures = job.failures + 1
      if (failures >= MOST_FAILURES)
        await fail(
          parts,
          job,
          new Problem(
            'internal_error',
            `The conversion ended ${failures} times without a result. Tell the server's operator the job's id.`,
          ),
        )
      else await handBack(store, job, clock() + waitOf(failures), { failures })
    }
  } finally {
    changes.tell()
  }
}

/** Milliseconds until what has been tried so often is tried again. */
function waitOf(tries: number): number {
  return Math.min(WAIT_MOST, WAIT_FIRST * 2 ** Math.min(tries - 1, 16))
}

async function fail(
  { store, blobs, clock }: WorkerParts,
  job: ClaimedJob,
  { code, detail }: Problem,
): Promise<void> {
  const failed = await store.run(failJob, { job, code, detail, now: clock() })
  // then the sweep does it
  if (failed) await dropBlobs(store, blobs, [job.upload_blob]).catch(() => {})
}

/** A job's document: the id of its blob. */
interface JobDocument {
  readonly result: string
  readonly faults: Faults
}

/** Converts a job's archive. @throws LOST, STOPPED, and whatever the conversion does */
async function convertJob(
  { store, blobs, scratch, converters, instance, clock, changes }: WorkerParts,
  job: ClaimedJob,
  stopped: AbortSignal,
): Promise<JobDocument> {
  const giveUp = new AbortController()
  const signal = AbortSignal.any([stopped, giveUp.signal])
  const reporter = reportRegularly(store, job, changes, () => giveUp.abort(LOST))
  try {
    await using end = new AsyncDisposableStack()
    const source = end.use(await blobs.file(job.upload_blob))
    const [output, workspace] = [end.use(scratch.place()), end.use(scratch.place())]
    const task = {
      path: source.path,
      kind: 'zip',
      fileName: job.file_name,
      uploadedAt: job.created_at,
      format: job.format,
      includeMetadata: job.include_metadata === 1,
      scratch: workspace.path,
      output: output.path,
    } as const
    const { warnings, failed } = await convert(task, converters, {
      signal,
      onProgress: reporter.note,
    })
    await reporter.end()
    signal.throwIfAborted()
    const result = await keepBlob(store, blobs, output.path, instance.id, clock())
    return { result, faults: { warnings, failedPages: failed } }
  } finally {
    await reporter.end()
  }
}

/**
 * Writes down progress now and then, the first at once; calls `onLost` as soon as the job is no
 * longer ours.
 */
function reportRegularly(
  store: Store,
  job: ClaimedJob,
  changes: JobChanges,
  onLost: () => void,
): { note(progress: Progress): void; end(): Promise<void> } {
  let latest: Progress | undefined
  let written: Progress | undefined
  let writing: Promise<void> | undefined
  const write = async (): Promise<void> => {
    const progress = latest === written ? undefined : latest
    written = latest
    // Where the store does not answer, the end of the job finds out.
    const held = await (
      progress
        ? reportProgress(store, job, progress.pagesDone, progress.pagesTotal)
        : isHeld(store, job)
    ).catch(() => true)
    if (!held) onLost()
    else if (progress) changes.tell()
    writing = undefined
  }
  const report = (): void => void (writing ??= write())
  const timer = setInterval(report, REPORT)
  return {
    note: (progress) => {
      latest = progress
      if (!written) report()
    },
    end: async () => {
      clearInterval(timer)
      await writing
      if (latest !== written) await write()
    },
  }
}
