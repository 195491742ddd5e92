// Jobs: conversions in the background. Their states, and everything that changes one.
//
// A worker holds a job while the row names its claim and its instance lives. When the process dies,
// its instance is cleared away (store/instance.ts), the row's `instance_id` becomes null with it,
// and the job can be claimed again, under a new claim. Whoever still works under an old one can no
// longer report, finish or hand back anything: so a job is done once.
import { quotaLock, refund } from '../../accounts/quota.ts'
import { DAY, HOUR } from '../../common/clock.ts'
import type { RejectReason } from '../../common/fairness/shares.ts'
import type { JobRow } from '../../store/schema.ts'
import { FOR_NOW, releaseBlob, takeBlob } from '../../store/blobs/blobs.ts'
import type { Store } from '../../store/open.ts'
import { first, procedure, run, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import { MAX_RUNNING_PER_ACCOUNT } from '../queue.ts'
import type { ConversionIssues } from '../document-headers.ts'

/** The state of a job, as stored and as the API shows it. */
export type JobStatus = JobRow['status']

/**
 * TABLE of what can happen to a job: in which states, and what it is then. No row leads out of a
 * state that is not named under `from`.
 */
export const TRANSITIONS = {
  claim: { from: ['queued', 'running'], to: 'running' },
  succeed: { from: ['running'], to: 'succeeded' },
  fail: { from: ['queued', 'running'], to: 'failed' },
  cancel: { from: ['queued', 'running'], to: 'canceled' },
  expire: { from: ['succeeded'], to: 'expired' },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus }>

type Transition = keyof typeof TRANSITIONS

const UNFINISHED = TRANSITIONS.cancel.from

/** Jobs of one account that may wait. */
const MAX_WAITING_PER_ACCOUNT = 20
/**
 * Times that a job is claimed. More means that it takes its processes with it, or that the store
 * for files has been away for an hour.
 */
const MAX_CLAIMS = 100
/**
 * A stored answer outlives the row that names it by this, so that no row ever names an answer that
 * is gone.
 */
export const RESULT_GRACE_MS = HOUR
/** Milliseconds before a job is begun again, at most. */
export const MAX_RETRY_DELAY_MS = 30_000
/** How long a finished job can still be looked up. */
const HISTORY_MS = 30 * DAY

/** Whether nothing will happen to the job any more, but that its result expires. */
export function isFinished(status: JobStatus): boolean {
  return !UNFINISHED.some((other) => other === status)
}

/** What a worker needs of a job that it has claimed. */
export type ClaimedJob = JobRow & { readonly claim: string; readonly upload_blob: string }

/**
 * Moves a job, where it is in a state that the transition leads out of and (with `claim`) still
 * held under that claim; tells whether it was.
 */
function* applyTransition(
  db: QueryBuilder,
  transition: Transition,
  id: string,
  changes: Partial<JobRow>,
  claim?: string | null,
): Steps<boolean> {
  const { from, to } = TRANSITIONS[transition]
  const update = db
    .updateTable('jobs')
    .set({ ...changes, status: to })
    .where('id', '=', id)
    .where('status', 'in', from)
  return (
    (yield* run(
      claim === undefined ? update : update.where('claim', claim === null ? 'is' : '=', claim),
    )) === 1
  )
}

/** What a job that nobody works on any more lets go. */
const CLEARED_CLAIM = { claim: null, instance_id: null, upload_blob: null } as const

/**
 * Enters a new job, as part of a procedure, together with its archive, which `instance` has just
 * stored.
 */
export function* enterJob(db: QueryBuilder, job: ClaimableJob, instance: string): Steps<void> {
  yield* takeBlob(db, job.upload_blob, instance, FOR_NOW)
  yield* run(db.insertInto('jobs').values({ ...job, turn: yield* nextTurn(db, job.account_id) }))
}

/**
 * The turn of an account's next job (start-time fair queuing: Goyal, Vin and Cheng, 1996): one
 * behind the account's last one, and not before the last one of all that was begun. So the jobs of
 * one account stand in line with those of the others one by one, however many it has and however
 * they come.
 */
function* nextTurn(db: QueryBuilder, account: string): Steps<number> {
  const turns = yield* first(
    db.selectNoFrom((e) => {
      const last = e.selectFrom('jobs').select((job) => job.fn.max('turn').as('turn'))
      return [
        last.where('account_id', '=', account).as('own'),
        ...STARTED_STATES.map((status) => last.where('status', '=', status).as(status)),
      ]
    }),
  )
  const { own = null, ...started } = turns ?? {}
  return Math.max(0, (own ?? -1) + 1, ...Object.values(started).map((turn) => turn ?? 0))
}

/** States of jobs that were begun. A job that never ran has no turn any more when it ends. */
const STARTED_STATES = [
  'running',
  'succeeded',
  'failed',
  'canceled',
  'expired',
] as const satisfies JobStatus[]
/** The turn of a job that ended before it ran: it counts for nobody's place. */
const NO_TURN = -1

/** A job that has just been accepted. */
export type ClaimableJob = JobRow & { readonly upload_blob: string }

/** A new job as it is entered. */
export function newJob(
  upload: Pick<
    ClaimableJob,
    | 'id'
    | 'account_id'
    | 'format'
    | 'include_metadata'
    | 'source_map'
    | 'file_name'
    | 'file_size'
    | 'upload_blob'
  > &
    Partial<Pick<ClaimableJob, 'flavor'>>,
  now: number,
): ClaimableJob {
  return { flavor: null, ...upload, ...INITIAL_COLUMNS, created_at: now, claimable_at: now }
}

/** A job as it was when it was accepted. */
export function initialJob(job: JobRow): JobRow {
  return { ...job, ...INITIAL_COLUMNS }
}

const INITIAL_COLUMNS = {
  status: 'queued',
  result_blob: null,
  pages_done: 0,
  pages_total: null,
  started_at: null,
  finished_at: null,
  expires_at: null,
  error_code: null,
  error_detail: null,
  instance_id: null,
  claim: null,
  claims: 0,
  failures: 0,
  turn: 0,
  counted_day: null,
  quota_limit: null,
  warnings: null,
  failed_pages: null,
} as const satisfies Partial<JobRow>

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

/** Jobs that wait for a worker: of all accounts, and of one. */
function queueLengths(db: QueryBuilder, account: string) {
  return db.selectNoFrom((e) => {
    const queued = e
      .selectFrom('jobs')
      .select(e.fn.countAll<number>().as('count'))
      .where('status', '=', 'queued')
    return [queued.as('all'), queued.where('account_id', '=', account).as('own')]
  })
}

/**
 * Why no job more of this account may wait, or null. The first one of an account waits also where
 * the queue is full, up to twice its length.
 */
function refusalReason(
  { all, own }: { all: number | null; own: number | null },
  most: number,
): RejectReason | null {
  if ((own ?? 0) >= MAX_WAITING_PER_ACCOUNT) return 'share'
  return (all ?? 0) < ((own ?? 0) === 0 ? most * 2 : most) ? null : 'full'
}

/** The same, before the archive is stored. */
export async function jobQueueRefusal(
  store: Store,
  account: string,
  most: number,
): Promise<RejectReason | null> {
  return refusalReason(await queueLengths(store.db, account).executeTakeFirstOrThrow(), most)
}

/** The same, as part of a procedure. */
export function* jobQueueRefusalSteps(
  db: QueryBuilder,
  account: string,
  most: number,
): Steps<RejectReason | null> {
  return refusalReason((yield* first(queueLengths(db, account))) ?? { all: 0, own: 0 }, most)
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

/** How a job succeeded. */
interface Success {
  readonly job: ClaimedJob
  /** The blob of its document, which `instance` has just stored. */
  readonly result: string
  readonly issues: ConversionIssues
  readonly instance: string
  readonly expiresAt: number
  readonly now: number
}

/** Ends a job with its document; false where the job is no longer held. */
export const succeedJob = procedure(
  import.meta.url,
  'succeedJob',
  function* (db, { job, result, issues, instance, expiresAt, now }: Success) {
    const { warnings, failedPages: failed_pages } = issues
    const changes = {
      ...CLEARED_CLAIM,
      result_blob: result,
      warnings,
      failed_pages,
      finished_at: now,
      expires_at: expiresAt,
    }
    if (!(yield* applyTransition(db, 'succeed', job.id, changes, job.claim))) return false
    yield* takeBlob(db, result, instance, expiresAt + RESULT_GRACE_MS)
    yield* releaseBlob(db, job.upload_blob)
    return true
  },
)

/** Gives back what the job counted, where it may still be. */
function* refundConversion(
  db: QueryBuilder,
  { account_id, counted_day, quota_limit }: JobRow,
): Steps<void> {
  if (counted_day !== null)
    yield* refund(db, { account: account_id, day: counted_day, limit: quota_limit })
}

function* failSteps(
  db: QueryBuilder,
  job: JobRow,
  code: string,
  detail: string,
  now: number,
): Steps<boolean> {
  const { id, claim, upload_blob } = job
  if (
    !(yield* applyTransition(
      db,
      'fail',
      id,
      { ...CLEARED_CLAIM, error_code: code, error_detail: detail, finished_at: now },
      claim,
    ))
  )
    return false
  yield* refundConversion(db, job)
  if (upload_blob !== null) yield* releaseBlob(db, upload_blob)
  return true
}

/** Ends a job with an error; false where the job is no longer held. */
export const failJob = procedure(
  import.meta.url,
  'failJob',
  function* (
    db,
    { job, code, detail, now }: { job: ClaimedJob; code: string; detail: string; now: number },
  ) {
    return yield* failSteps(db, job, code, detail, now)
  },
  ({ job }) => quotaLock(job.account_id),
)

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

/**
 * Cancels what is not finished, and lets go what is stored of a job; one that never ran gives its
 * conversion back. Gives the ids of those blobs; undefined where the account has no such job.
 */
export const cancelJob = procedure(
  import.meta.url,
  'cancelJob',
  function* (
    db,
    { id, account, now }: { id: string; account: string; now: number },
  ): Steps<string[] | undefined> {
    const job = yield* first(
      db
        .selectFrom('jobs')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', account)
        .forUpdate(),
    )
    if (!job) return undefined
    const canceled = yield* applyTransition(db, 'cancel', id, {
      ...CLEARED_CLAIM,
      finished_at: now,
      turn: job.status === 'queued' ? NO_TURN : job.turn,
    })
    if (canceled && job.status === 'queued') yield* refundConversion(db, job)
    if (!canceled) yield* applyTransition(db, 'expire', id, { result_blob: null, expires_at: now })
    const blobs = [job.upload_blob, job.result_blob].filter((blob) => blob !== null)
    for (const blob of blobs) yield* releaseBlob(db, blob)
    return blobs
  },
  ({ account }) => quotaLock(account),
)

/**
 * Lets results expire, and forgets jobs that finished long ago. Their blobs have an expiry of their
 * own.
 */
export const sweepJobs = procedure(
  import.meta.url,
  'sweepJobs',
  function* (db, { now }: { now: number }) {
    const { from, to } = TRANSITIONS.expire
    yield* run(
      db
        .updateTable('jobs')
        .set({ status: to, result_blob: null })
        .where('status', 'in', from)
        .where('expires_at', '<=', now),
    )
    yield* run(db.deleteFrom('jobs').where('finished_at', '<', now - HISTORY_MS))
  },
)

/** An account's job; with null, whosever it is. */
export function findJob(
  store: Store,
  id: string,
  account: string | null,
): Promise<JobRow | undefined> {
  const jobs = store.db.selectFrom('jobs').selectAll().where('id', '=', id)
  return (account === null ? jobs : jobs.where('account_id', '=', account)).executeTakeFirst()
}

/**
 * An account's jobs, or with null those of all, newest first, after `cursor` (the id of the last
 * one seen).
 */
export function listJobs(
  store: Store,
  account: string | null,
  limit: number,
  cursor: string | undefined,
): Promise<JobRow[]> {
  const jobs = store.db.selectFrom('jobs').selectAll().orderBy('id', 'desc').limit(limit)
  const filtered = account === null ? jobs : jobs.where('account_id', '=', account)
  return (cursor === undefined ? filtered : filtered.where('id', '<', cursor)).execute()
}
