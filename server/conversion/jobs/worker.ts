// Runs jobs one at a time: claim → fetch → convert → store → finish. Each job may use every
// converter of the process.
import { newId } from '../../common/ids.ts'
import { Problem } from '../../common/errors.ts'
import { dropBlobs, keepBlob } from '../../store/blobs/blobs.ts'
import type { Store } from '../../store/store.ts'
import { StoreError } from '../../store/store-error.ts'
import { transientProblem } from '../../store/transient-errors.ts'
import { nextNotification, type JobNotifications } from './notifications.ts'
import type { ConversionQueue } from '../queue.ts'
import { runConversion, type ConversionDependencies } from '../run-conversion.ts'
import type { ConversionIssues } from '../document-headers.ts'
import {
  FILE_GONE,
  MAX_RETRY_DELAY_MS,
  claimJob,
  requeueJob,
  isClaimed,
  hasClaimableJob,
  reportProgress,
  type ClaimedJob,
} from './claim-job.ts'
import { failJob, succeedJob } from './end-job.ts'
import { CERTIFY } from './enter-job.ts'
import type { EndedJobs } from './waiting-jobs.ts'
import type { ConversionProgress } from '../pool/conversion-step.ts'

/** Milliseconds between two polls without a notification. */
const POLL_MS = 1000
/** Milliseconds between two progress reports, which also check that the claim is still valid. */
const REPORT_MS = 300
/**
 * Attempts that may fail through no fault of the file (such as a crashed converter) before the job
 * fails.
 */
const MAX_FAILURES = 3
/** Delay before the first retry. */
const RETRY_DELAY_MS = 500

/** What a worker depends on. */
export interface WorkerDependencies extends ConversionDependencies {
  /** The queue of conversions that are not jobs. */
  queue: Pick<ConversionQueue, 'beginJob' | 'running'>
  /** How long a result is kept. */
  retentionMs: number
  /** Counts the jobs that this worker ends. */
  ended: EndedJobs
}

/** Reasons to abort a conversion without an outcome. */
const CLAIM_LOST = new Error('the job was canceled or claimed by another process')
const WORKER_STOPPED = new Error('the worker is stopping')

/**
 * Starts running jobs. Disposing it stops claiming and requeues the running job, which another
 * process can claim at once.
 */
export function startWorker(deps: WorkerDependencies): AsyncDisposable {
  const { notifications, log } = deps
  const stopping = new AbortController()
  const stopped = stopping.signal

  const runJobs = async (): Promise<void> => {
    while (!stopped.aborted) {
      const job = await claim(deps).catch((error: unknown) =>
        log.error('jobs cannot be claimed', error),
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
  ended,
}: WorkerDependencies): Promise<ClaimedJob | undefined> {
  const now = clock()
  const claimant = { instance: instance.id, now, running: queue.running() }
  if (!(await hasClaimableJob(store, claimant))) return undefined
  const claim = newId('clm', now)
  const { job, failed } = await store.run(claimJob, { claim, ...claimant })
  ended.failed += failed
  if (job) notifications.notify()
  return job
}

/** Runs a claimed job, unless a conversion of its account started in the meantime. */
async function runIfAllowed(
  deps: WorkerDependencies,
  job: ClaimedJob,
  stopped: AbortSignal,
): Promise<void> {
  using slot = deps.queue.beginJob(job.account_id)
  if (slot === null) await requeueJob(deps.store, job, job.created_at, { claims: job.claims - 1 })
  else await runJob(deps, job, stopped)
}

/** Finishes a job, or requeues it. */
async function runJob(
  deps: WorkerDependencies,
  job: ClaimedJob,
  stopped: AbortSignal,
): Promise<void> {
  const { store, blobs, clock, notifications, log, instance, retentionMs } = deps
  try {
    const { result, issues, certificate } = await convertJob(deps, job, stopped)
    const now = clock()
    const done = await store.run(succeedJob, {
      job,
      result,
      issues,
      certificate,
      instance: instance.id,
      expiresAt: now + retentionMs,
      now,
    })
    if (done) deps.ended.succeeded++
    // the sweep deletes them later
    await dropBlobs(store, blobs, [done ? job.upload_blob : result]).catch(() => {})
  } catch (error) {
    const isTransient = transientProblem(error)
    const userError = error instanceof Problem && error.status < 500 ? error : undefined
    if (error === CLAIM_LOST) return
    if (error === WORKER_STOPPED)
      await requeueJob(store, job, job.created_at, { claims: job.claims - 1 })
    else if (userError) await fail(deps, job, userError)
    else if (error instanceof StoreError && error.code === 'missing') {
      log.error('the uploaded file of a job is gone from the file store', error, { job: job.id })
      await fail(deps, job, new Problem('internal_error', FILE_GONE))
    } else if (isTransient) {
      log.error('a job failed temporarily and will be retried', error, { job: job.id })
      await requeueJob(store, job, clock() + retryDelay(job.claims), {})
    } else {
      log.error('a conversion failed', error, { job: job.id })
      const failures = job.failures + 1
      if (failures >= MAX_FAILURES)
        await fail(
          deps,
          job,
          new Problem(
            'internal_error',
            `The conversion ended ${failures} times without a result. Give the job's id to the server's operator.`,
          ),
        )
      else await requeueJob(store, job, clock() + retryDelay(failures), { failures })
    }
  } finally {
    notifications.notify()
  }
}

/** Exponential back-off, in milliseconds. */
function retryDelay(tries: number): number {
  return Math.min(MAX_RETRY_DELAY_MS, RETRY_DELAY_MS * 2 ** Math.min(tries - 1, 16))
}

async function fail(
  { store, blobs, clock, ended }: WorkerDependencies,
  job: ClaimedJob,
  { code, detail }: Problem,
): Promise<void> {
  const failed = await store.run(failJob, { job, code, detail, now: clock() })
  if (!failed) return
  ended.failed++
  // the sweep deletes them later
  await dropBlobs(store, blobs, [job.upload_blob]).catch(() => {})
}

/** A job's document, as the id of its blob. */
interface JobDocument {
  readonly result: string
  readonly issues: ConversionIssues
  /** As JSON; null for none. */
  readonly certificate: string | null
}

/**
 * Converts a job's archive.
 *
 * @throws CLAIM_LOST, WORKER_STOPPED, or what the conversion throws
 */
async function convertJob(
  {
    store,
    blobs,
    scratch,
    workspaces,
    converterPool,
    instance,
    clock,
    notifications,
  }: WorkerDependencies,
  job: ClaimedJob,
  stopped: AbortSignal,
): Promise<JobDocument> {
  const abandoned = new AbortController()
  const signal = AbortSignal.any([stopped, abandoned.signal])
  const reporter = startReporter(store, job, notifications, () => abandoned.abort(CLAIM_LOST))
  try {
    await using cleanup = new AsyncDisposableStack()
    const source = cleanup.use(await blobs.file(job.upload_blob))
    const kept = workspaces.take(job.id)
    const [output, workspace] = [cleanup.use(scratch.place()), cleanup.use(kept ?? scratch.place())]
    const task = {
      path: source.path,
      kind: 'zip',
      fileName: job.file_name,
      uploadedAt: job.created_at,
      format: job.format,
      includeMetadata: job.include_metadata === 1,
      sourceMap: job.source_map === 1,
      ...(job.flavor !== null && { layout: 'pages' as const, flavor: job.flavor }),
      certificate: job.certify > 0,
      showCertificate: job.certify === CERTIFY.shown,
      scratch: workspace.path,
      output: output.path,
    } as const
    const { warnings, failed, certificate } = await runConversion(task, converterPool, {
      signal,
      onProgress: reporter.note,
      wasChecked: kept !== undefined,
    })
    await reporter.end()
    signal.throwIfAborted()
    const result = await keepBlob(store, blobs, output.path, instance.id, clock())
    return {
      result,
      issues: { warnings, failedPages: failed },
      certificate: certificate ? JSON.stringify(certificate) : null,
    }
  } finally {
    await reporter.end()
  }
}

/**
 * Reports progress regularly, starting immediately. Calls `onLost` when the claim is no longer
 * valid.
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
    // If the store is down, ending the job will find out.
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
