// How a worker takes a job, holds it, and lets it go.
//
// A worker holds a job while the row names its claim and its instance lives. When the process dies,
// its instance is cleared away (store/instance.ts), the row's `instance_id` becomes null with it,
// and the job can be claimed again, under a new claim. Whoever still works under an old one can no
// longer report, finish or hand back anything: so a job is done once.
import type { JobRow } from '../../store/schema.ts'
import type { Store } from '../../store/open.ts'
import { first, procedure, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { MAX_RUNNING_PER_ACCOUNT } from '../queue.ts'
import { TRANSITIONS, UNFINISHED, applyTransition, failSteps } from './states.ts'

/**
 * Times that a job is claimed. More means that it takes its processes with it, or that the store
 * for files has been away for an hour.
 */
const MAX_CLAIMS = 100

/** Milliseconds before a job is begun again, at most. */
export const MAX_RETRY_DELAY_MS = 30_000

/** What a worker needs of a job that it has claimed. */
export type ClaimedJob = JobRow & { readonly claim: string; readonly upload_blob: string }

/** Who asks for a job. */
export interface JobClaimant {
  /** Id of its process. */
  readonly instance: string
  readonly now: number
  /** How many conversions of each account run in its process beside jobs. */
  readonly running: readonly (readonly [account: string, conversions: number])[]
}

/**
 * Jobs that nobody holds. A clock may be set back, and machines need not agree: no job waits until
 * a time but between two tries, and for no longer than that takes. Who asks for one holds none:
 * what its row says otherwise is from a time when the store did not take that it was over. An
 * account of which two jobs are held waits with the others.
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
  // With `here` conversions that run in this process, so many jobs of others are enough.
  const full = Array.from({ length: MAX_RUNNING_PER_ACCOUNT + 1 }, (_, here) => ({
    accounts: accountsRunning(here),
    jobs: MAX_RUNNING_PER_ACCOUNT - here,
  }))
  // One condition, which no index and no estimate of PostgreSQL's knows: else, before its first
  // ANALYZE, it sorts all that wait (200 ms for 100,000 jobs).
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
 * The claimable job whose turn it is. Each state is asked by itself: one index then gives the order
 * of its jobs, however many wait.
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

/**
 * Claims the job whose turn it is, under the new id `claim`; undefined where none may begin. One
 * claim at a time, so that its account's jobs are counted.
 */
export const claimJob = procedure(
  import.meta.url,
  'claimJob',
  function* (
    db,
    { claim, ...claimant }: JobClaimant & { claim: string },
  ): Steps<JobRow | undefined> {
    const { instance, now } = claimant
    for (;;) {
      const job = yield* nextJob(db, claimant)
      if (!job) return undefined
      if (job.claims >= MAX_CLAIMS) {
        yield* failSteps(
          db,
          job,
          'internal_error',
          `The conversion was begun ${MAX_CLAIMS} times and never ended. Tell the server's operator the job's id.`,
          now,
        )
        continue
      }
      const held = {
        claim,
        instance_id: instance,
        claims: job.claims + 1,
        started_at: job.started_at ?? now,
      }
      if (yield* applyTransition(db, 'claim', job.id, held, job.claim))
        return { ...job, ...held, status: TRANSITIONS.claim.to }
    }
  },
  () => 'claim jobs',
)

/**
 * Whether any job waits to be claimed: a small read, so that only who finds one asks the writer.
 */
export async function hasClaimableJob(store: Store, claimant: JobClaimant): Promise<boolean> {
  // Mostly there is none: to build the whole question takes a millisecond, once a second.
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

/** Whether the job is still held under this claim. */
export async function isClaimed(store: Store, { id, claim }: ClaimedJob): Promise<boolean> {
  const row = await store.db
    .selectFrom('jobs')
    .select('claim')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.claim === claim
}

/** Writes down how far the job is; tells whether it is still held under this claim. */
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
 * Lets a job go, to be claimed again from `claimableAt` on. `counts` are what its row then says of
 * claims and failures.
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
