// How workers claim jobs, keep them and requeue them.
//
// A worker owns a job while the row has its claim and its instance is alive. When the process dies,
// its instance is deleted (store/instance.ts), which sets the row's `instance_id` to null, and the
// job can be claimed again, with a new claim. A worker with an old claim can no longer report,
// finish or requeue the job, so each job finishes once.
import type { JobRow } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import { first, procedure, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { MAX_RUNNING_PER_ACCOUNT } from '../queue.ts'
import { TRANSITIONS, UNFINISHED, applyTransition, failSteps } from './states.ts'

/**
 * Claims after which a job fails instead of being claimed again: it kills the processes that run
 * it, or the blob store has been down for almost an hour.
 */
const MAX_CLAIMS = 100

/** Longest delay before a job is retried, in milliseconds. */
export const MAX_RETRY_DELAY_MS = 30_000

/** A job claimed by a worker. */
export type ClaimedJob = JobRow & { readonly claim: string; readonly upload_blob: string }

/** The worker that asks for a job. */
export interface JobClaimant {
  /** Id of its process. */
  readonly instance: string
  readonly now: number
  /** Running conversions of each account in its process, besides jobs. */
  readonly running: readonly (readonly [account: string, conversions: number])[]
}

/**
 * The jobs with this status that can be claimed. Only a retry waits for a time, and never longer
 * than the longest delay, because clocks may be set back and differ between machines. A job of the
 * asking process can be claimed too: as its worker runs none, the end of that job could not be
 * written. The jobs of an account wait while MAX_RUNNING_PER_ACCOUNT of its conversions run.
 */
function claimableJobs(
  db: QueryBuilder,
  status: (typeof UNFINISHED)[number],
  { instance, now, running }: JobClaimant,
) {
  const held = db
    .selectFrom('jobs')
    .select('account_id')
    .where('status', '=', 'running')
    .where('instance_id', 'is not', null)
    .where('instance_id', '!=', instance)
  const accountsWithJobs = (least: number) =>
    held.groupBy('account_id').having((e) => e(e.fn.countAll<number>(), '>=', least))
  const accountsRunning = (count: number): string[] =>
    running.flatMap(([account, conversions]) => (conversions >= count ? [account] : []))
  // An account with `here` conversions in this process may start another job if fewer than `jobs`
  // of its jobs are running.
  const full = Array.from({ length: MAX_RUNNING_PER_ACCOUNT + 1 }, (_, here) => ({
    accounts: accountsRunning(here),
    jobs: MAX_RUNNING_PER_ACCOUNT - here,
  }))
  // One opaque condition: otherwise PostgreSQL, before its first ANALYZE, sorts all waiting jobs
  // (200 ms for 100,000 jobs).
  return db
    .selectFrom('jobs')
    .where('status', '=', status)
    .where((e) =>
      e
        .case()
        .when(
          e.or(
            full.flatMap(({ accounts, jobs }, here) => {
              if (here > 0 && accounts.length === 0) return []
              return [
                e.and([
                  ...(here > 0 ? [e('account_id', 'in', accounts)] : []),
                  ...(jobs > 0 ? [e('account_id', 'in', accountsWithJobs(jobs))] : []),
                ]),
              ]
            }),
          ),
        )
        .then(e.lit(false))
        .when(
          e.and([
            e('claimable_at', '>', now),
            e('claimable_at', '>', e.ref('created_at')),
            e('claimable_at', '<=', now + MAX_RETRY_DELAY_MS),
          ]),
        )
        .then(e.lit(false))
        .else(e.or([e('instance_id', 'is', null), e('instance_id', '=', instance)]))
        .end(),
    )
}

/**
 * The next claimable job. One query per state, so that an index provides the order, however many
 * jobs wait.
 */
function* nextJob(db: QueryBuilder, claimant: JobClaimant): Steps<JobRow | undefined> {
  const found: JobRow[] = []
  for (const status of UNFINISHED) {
    const job = yield* first(
      claimableJobs(db, status, claimant).selectAll().orderBy('turn').orderBy('id').limit(1),
    )
    if (job) found.push(job)
  }
  return found.sort((a, b) => a.turn - b.turn || (a.id < b.id ? -1 : 1))[0]
}

/** The result of asking for a job. */
interface Claimed {
  /** Undefined if none can start. */
  readonly job: ClaimedJob | undefined
  /** How many jobs failed instead: they had been claimed too often, or have no uploaded file. */
  readonly failed: number
}

/** The error of a job whose uploaded file does not exist. */
export const FILE_GONE = "The uploaded file is gone from the server's file store. Upload it again."

/**
 * Claims the next job with the new id `claim`. One claim at a time, so that the account's jobs are
 * counted correctly.
 */
export const claimJob = procedure(
  import.meta.url,
  'claimJob',
  function* (db, { claim, ...claimant }: JobClaimant & { claim: string }): Steps<Claimed> {
    const { instance, now } = claimant
    for (let failed = 0; ;) {
      const job = yield* nextJob(db, claimant)
      if (!job) return { job, failed }
      const { upload_blob } = job
      if (upload_blob === null || job.claims >= MAX_CLAIMS) {
        const detail =
          upload_blob === null
            ? FILE_GONE
            : `The conversion was started ${MAX_CLAIMS} times and never finished. Give the job's id to the server's operator.`
        if (yield* failSteps(db, job, 'internal_error', detail, now)) failed++
        continue
      }
      const held = {
        claim,
        instance_id: instance,
        claims: job.claims + 1,
        started_at: job.started_at ?? now,
      }
      if (yield* applyTransition(db, 'claim', job.id, held, job.claim))
        return { job: { ...job, ...held, upload_blob, status: TRANSITIONS.claim.to }, failed }
    }
  },
  () => 'claim jobs',
)

/** Whether any job can be claimed: a cheap read, so that idle workers do not use the writer. */
export async function hasClaimableJob(store: Store, claimant: JobClaimant): Promise<boolean> {
  // Usually there is none, and building the whole query takes a millisecond, once a second.
  const unfinished = store.db
    .selectFrom('jobs')
    .select('id')
    .where('status', 'in', UNFINISHED)
    .limit(1)
  if ((await unfinished.executeTakeFirst()) === undefined) return false
  for (const status of UNFINISHED) {
    if (
      (await claimableJobs(store.db, status, claimant).select('id').limit(1).executeTakeFirst()) !==
      undefined
    )
      return true
  }
  return false
}

/** Whether this claim is still valid. */
export async function isClaimed(store: Store, { id, claim }: ClaimedJob): Promise<boolean> {
  const row = await store.db
    .selectFrom('jobs')
    .select('claim')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.claim === claim
}

/** Stores the job's progress. @returns whether the claim is still valid */
export async function reportProgress(
  store: Store,
  { id, claim }: ClaimedJob,
  done: number,
  total: number,
): Promise<boolean> {
  const update = store.db
    .updateTable('jobs')
    .set({ pages_done: done, pages_total: total })
    .where('id', '=', id)
    .where('claim', '=', claim)
  return (await update.executeTakeFirst()).numUpdatedRows === 1n
}

/**
 * Gives a job's claim up, so that it can be claimed again from `claimableAt` on. Its status stays
 * `running`. `counts` are its new numbers of claims and failures.
 */
export async function requeueJob(
  store: Store,
  { id, claim }: ClaimedJob,
  claimableAt: number,
  counts: { claims?: number; failures?: number },
): Promise<void> {
  const update = store.db
    .updateTable('jobs')
    .set({ ...counts, claim: null, instance_id: null, claimable_at: claimableAt })
  await update.where('id', '=', id).where('claim', '=', claim).execute()
}
