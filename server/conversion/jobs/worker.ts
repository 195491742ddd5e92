// Runs jobs, one at a time: claim → fetch → convert → store → finish. One job has all converters of
// the process.
import { newId } from '../../common/ids.ts'
import { Problem } from '../../common/errors.ts'
import { dropBlobs, keepBlob } from '../../store/blobs/blobs.ts'
import type { Store } from '../../store/open.ts'
import { transientProblem } from '../../store/transient-errors.ts'
import { nextNotification, type JobNotifications } from './notifications.ts'
import type { ConversionQueue } from '../queue.ts'
import { runConversion, type ConversionDependencies } from '../run-conversion.ts'
import type { ConversionIssues } from '../document-headers.ts'
import {
  MAX_RETRY_DELAY_MS,
  claimJob,
  failJob,
  requeueJob,
  isClaimed,
  hasClaimableJob,
  reportProgress,
  succeedJob,
  type ClaimedJob,
} from './jobs.ts'
import type { ConversionProgress } from '../pool/conversion-step.ts'

/** Milliseconds between two looks for a job where nobody tells of one. */
const POLL_MS = 1000
/**
 * Milliseconds between two reports of progress, and between two looks whether the job is still
 * ours.
 */
const REPORT_MS = 300
/**
 * Conversions that may fail for no reason of their own (a converter that ended, say) before the job
 * does.
 */
const MAX_FAILURES = 3
/** Milliseconds before a job is begun again for the first time. */
const RETRY_DELAY_MS = 500

/** What a worker works with. */
export interface WorkerDependencies extends ConversionDependencies {
  /** Conversions that are no jobs. */
  queue: Pick<ConversionQueue, 'beginJob' | 'running'>
  /** Milliseconds that a result is kept. */
  retentionMs: number
}

/** Why a conversion is given up without an outcome. */
const CLAIM_LOST = new Error('the job was canceled, or is held by another process')
const WORKER_STOPPED = new Error('the worker is stopping')

/**
 * Starts to run jobs. Disposing of it claims no more, and hands back the job that runs: another
 * process can claim it at once.
 */
export function startWorker(deps: WorkerDependencies): AsyncDisposable {
  const { notifications, log } = deps
  const stopping = new AbortController()
  const stopped = stopping.signal

  const runJobs = async (): Promise<void> => {
    while (!stopped.aborted) {
      const job = await claim(deps).catch((error: unknown) =>
        log.error('no job can be claimed', error),
      )
      if (job)
        await runIfAllowed(deps, job, stopped).catch((error: unknown) =>
          log.error('a job cannot be ended', error, { job: job.id }),
        )
      else await nextNotification(notifications, stopped, POLL_MS)
    }
  }
  const finished = runJobs()
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort(WORKER_STOPPED)
      await finished
    },
  }
}

async function claim({
  store,
  instance,
  clock,
  notifications,
  queue,
}: WorkerDependencies): Promise<ClaimedJob | undefined> {
  const now = clock()
  const claimant = { instance: instance.id, now, running: queue.running() }
  if (!(await hasClaimableJob(store, claimant))) return undefined
  const claim = newId('clm', now)
  const job = await store.run(claimJob, { claim, ...claimant })
  if (!job) return undefined
  notifications.notify()
  if (job.upload_blob === null) throw new Error(`the job ${job.id} has no archive`)
  return { ...job, claim, upload_blob: job.upload_blob }
}

/** The same, unless a conversion of the account began while the job was claimed. */
async function runIfAllowed(
  deps: WorkerDependencies,
  job: ClaimedJob,
  stopped: AbortSignal,
): Promise<void> {
  using slot = deps.queue.beginJob(job.account_id)
  if (slot === null) await requeueJob(deps.store, job, job.created_at, { claims: job.claims - 1 })
  else await runJob(deps, job, stopped)
}

/** Brings a job to its end, or hands it back. */
async function runJob(
  deps: WorkerDependencies,
  job: ClaimedJob,
  stopped: AbortSignal,
): Promise<void> {
  const { store, blobs, clock, notifications, log, instance, retentionMs } = deps
  try {
    const { result, issues } = await convertJob(deps, job, stopped)
    const now = clock()
    const done = await store.run(succeedJob, {
      job,
      result,
      issues,
      instance: instance.id,
      expiresAt: now + retentionMs,
      now,
    })
    // then the sweep does it
    await dropBlobs(store, blobs, [done ? job.upload_blob : result]).catch(() => {})
  } catch (error) {
    const isTransient = transientProblem(error)
    const userError = error instanceof Problem && error.status < 500 ? error : undefined
    if (error === CLAIM_LOST) return
    if (error === WORKER_STOPPED)
      await requeueJob(store, job, job.created_at, { claims: job.claims - 1 })
    else if (userError) await fail(deps, job, userError)
    else if (isTransient) {
      log.error('a job cannot go on for now', error, { job: job.id })
      await requeueJob(store, job, clock() + retryDelay(job.claims), {})
    } else {
      log.error('a conversion has failed', error, { job: job.id })
      const failures = job.failures + 1
      if (failures >= MAX_FAILURES)
        await fail(
          deps,
          job,
          new Problem(
            'internal_error',
            `The conversion ended ${failures} times without a result. Tell the server's operator the job's id.`,
          ),
        )
      else await requeueJob(store, job, clock() + retryDelay(failures), { failures })
    }
  } finally {
    notifications.notify()
  }
}

/** Milliseconds until what has been tried so often is tried again. */
function retryDelay(tries: number): number {
  return Math.min(MAX_RETRY_DELAY_MS, RETRY_DELAY_MS * 2 ** Math.min(tries - 1, 16))
}

async function fail(
  { store, blobs, clock }: WorkerDependencies,
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
  readonly issues: ConversionIssues
}

/** Converts a job's archive. @throws LOST, STOPPED, and whatever the conversion does */
async function convertJob(
  { store, blobs, scratch, converterPool, instance, clock, notifications }: WorkerDependencies,
  job: ClaimedJob,
  stopped: AbortSignal,
): Promise<JobDocument> {
  const abandoned = new AbortController()
  const signal = AbortSignal.any([stopped, abandoned.signal])
  const reporter = startReporter(store, job, notifications, () => abandoned.abort(CLAIM_LOST))
  try {
    await using cleanup = new AsyncDisposableStack()
    const source = cleanup.use(await blobs.file(job.upload_blob))
    const [output, workspace] = [cleanup.use(scratch.place()), cleanup.use(scratch.place())]
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
    const { warnings, failed } = await runConversion(task, converterPool, {
      signal,
      onProgress: reporter.note,
    })
    await reporter.end()
    signal.throwIfAborted()
    const result = await keepBlob(store, blobs, output.path, instance.id, clock())
    return { result, issues: { warnings, failedPages: failed } }
  } finally {
    await reporter.end()
  }
}

/**
 * Writes down progress now and then, the first at once; calls `onLost` as soon as the job is no
 * longer ours.
 */
function startReporter(
  store: Store,
  job: ClaimedJob,
  notifications: JobNotifications,
  onLost: () => void,
): { note(progress: ConversionProgress): void; end(): Promise<void> } {
  let latest: ConversionProgress | undefined
  let reported: ConversionProgress | undefined
  let pendingWrite: Promise<void> | undefined
  const write = async (): Promise<void> => {
    const progress = latest === reported ? undefined : latest
    reported = latest
    // Where the store does not answer, the end of the job finds out.
    const isOurs = await (
      progress
        ? reportProgress(store, job, progress.pagesDone, progress.pagesTotal)
        : isClaimed(store, job)
    ).catch(() => true)
    if (!isOurs) onLost()
    else if (progress) notifications.notify()
    pendingWrite = undefined
  }
  const report = (): void => void (pendingWrite ??= write())
  const timer = setInterval(report, REPORT_MS)
  return {
    note: (progress) => {
      latest = progress
      if (!reported) report()
    },
    end: async () => {
      clearInterval(timer)
      await pendingWrite
      if (latest !== reported) await write()
    },
  }
}
