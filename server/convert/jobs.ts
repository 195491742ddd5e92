// Jobs: conversions in the background. Their states, and everything that changes one.
//
// A worker holds a job while the row names its claim and its instance lives. When the process dies, its instance is cleared away
// (store/instance.ts), the row's `instance_id` becomes null with it, and the job can be claimed again, under a new claim. Whoever still
// works under an old one can no longer report, finish or hand back anything: so a job is done once.
import { DAY, HOUR } from '../clock.ts'
import type { JobRow } from '../store/schema.ts'
import { FOR_NOW, releaseBlob, takeBlob } from '../store/blobs/blobs.ts'
import type { Store } from '../store/open.ts'
import { first, procedure, run, type Steps } from '../store/procedure.ts'
import type { QueryBuilder } from '../store/statement.ts'

export type JobStatus = JobRow['status']

/** TABLE of what can happen to a job: in which states, and what it is then. No row leads out of a state that is not named under `from`. */
export const TRANSITIONS = {
  claim: { from: ['queued', 'running'], to: 'running' },
  succeed: { from: ['running'], to: 'succeeded' },
  fail: { from: ['queued', 'running'], to: 'failed' },
  cancel: { from: ['queued', 'running'], to: 'canceled' },
  expire: { from: ['succeeded'], to: 'expired' },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus }>

type Transition = keyof typeof TRANSITIONS

const UNFINISHED = TRANSITIONS.cancel.from

/** Times that a job is claimed. More means that it takes its processes with it, or that the store for files has been away for an hour. */
const MOST_CLAIMS = 100
/** A stored answer outlives the row that names it by this, so that no row ever names an answer that is gone. */
export const GRACE = HOUR
/** Milliseconds before a job is begun again, at most. */
export const WAIT_MOST = 30_000
/** How long a finished job can still be looked up. */
const KEPT = 30 * DAY

/** Whether nothing will happen to the job any more, but that its result expires. */
export function isFinished(status: JobStatus): boolean {
  return !UNFINISHED.some((other) => other === status)
}

/** What a worker needs of a job that it has claimed. */
export type ClaimedJob = JobRow & { readonly claim: string; readonly upload_blob: string }

/** Moves a job, where it is in a state that the transition leads out of and (with `claim`) still held under that claim; tells whether it was. */
function* move(db: QueryBuilder, transition: Transition, id: string, changes: Partial<JobRow>, claim?: string | null): Steps<boolean> {
  const { from, to } = TRANSITIONS[transition]
  const moved = db.updateTable('jobs').set({ ...changes, status: to }).where('id', '=', id).where('status', 'in', from)
  return (yield* run(claim === undefined ? moved : moved.where('claim', claim === null ? 'is' : '=', claim))) === 1
}

/** What a job that nobody works on any more lets go. */
const DONE = { claim: null, instance_id: null, upload_blob: null } as const

/** Enters a new job, as part of a procedure, together with its archive, which `instance` has just stored. */
export function* enterJob(db: QueryBuilder, job: ClaimableJob, instance: string): Steps<void> {
  yield* takeBlob(db, job.upload_blob, instance, FOR_NOW)
  yield* run(db.insertInto('jobs').values(job))
}

/** A job that has just been accepted. */
export type ClaimableJob = JobRow & { readonly upload_blob: string }

/** A new job as it is entered. */
export function newJob(given: Pick<ClaimableJob, 'id' | 'account_id' | 'format' | 'include_metadata' | 'file_name' | 'file_size' | 'upload_blob'>, now: number): ClaimableJob {
  return { ...given, ...AT_FIRST, created_at: now, claimable_at: now }
}

/** A job as it was when it was accepted. */
export function asAccepted(job: JobRow): JobRow {
  return { ...job, ...AT_FIRST }
}

const AT_FIRST = {
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
} as const satisfies Partial<JobRow>

/**
 * Jobs that nobody holds. A clock may be set back, and machines need not agree: no job waits until a time but between two tries, and for no longer
 * than that takes. Who asks for one holds none: what its row says otherwise is from a time when the store did not take that it was over.
 */
function claimable(db: QueryBuilder, instance: string, now: number) {
  const jobs = db.selectFrom('jobs').where('status', 'in', UNFINISHED)
  return jobs
    .where((e) => e.or([e('claimable_at', '<=', now), e('claimable_at', '<=', e.ref('created_at')), e('claimable_at', '>', now + WAIT_MOST)]))
    .where((e) => e.or([e('instance_id', 'is', null), e('instance_id', '=', instance)]))
}

/** Claims the job that has waited longest, under the new id `claim`; undefined where none waits. */
export const claimJob = procedure(
  import.meta.url,
  'claimJob',
  function* (db, { claim, instance, now }: { claim: string; instance: string; now: number }): Steps<JobRow | undefined> {
    for (;;) {
      const job = yield* first(claimable(db, instance, now).selectAll().orderBy('claimable_at').orderBy('id').limit(1).forUpdate().skipLocked())
      if (!job) return undefined
      if (job.claims >= MOST_CLAIMS) {
        yield* failSteps(db, job, 'internal_error', `The conversion was begun ${MOST_CLAIMS} times and never ended. Tell the server's operator the job's id.`, now)
        continue
      }
      const held = { claim, instance_id: instance, claims: job.claims + 1, started_at: job.started_at ?? now }
      if (yield* move(db, 'claim', job.id, held, job.claim)) return { ...job, ...held, status: TRANSITIONS.claim.to }
    }
  },
  'rows',
)

/** Whether any job waits to be claimed: a small read, so that only who finds one asks the writer. */
export async function jobWaits(store: Store, instance: string, now: number): Promise<boolean> {
  return (await claimable(store.db, instance, now).select('id').limit(1).executeTakeFirst()) !== undefined
}

function waiting(db: QueryBuilder) {
  return db.selectFrom('jobs').select((e) => e.fn.countAll<number>().as('count')).where('status', '=', 'queued')
}

/** Jobs that wait for a worker. */
export async function waitingJobs(store: Store): Promise<number> {
  return (await waiting(store.db).executeTakeFirstOrThrow()).count
}

/** Whether so many jobs wait for a worker, as part of a procedure. */
export function* isQueueFull(db: QueryBuilder, most: number): Steps<boolean> {
  return ((yield* first(waiting(db)))?.count ?? 0) >= most
}

/** Whether the job is still held under this claim. */
export async function isHeld(store: Store, { id, claim }: ClaimedJob): Promise<boolean> {
  const row = await store.db.selectFrom('jobs').select('claim').where('id', '=', id).executeTakeFirst()
  return row?.claim === claim
}

/** Writes down how far the job is; tells whether it is still held under this claim. */
export async function reportProgress(store: Store, { id, claim }: ClaimedJob, done: number, total: number): Promise<boolean> {
  const report = store.db.updateTable('jobs').set({ pages_done: done, pages_total: total }).where('id', '=', id).where('claim', '=', claim)
  return (await report.executeTakeFirst()).numUpdatedRows === 1n
}

/** Ends a job with its document, which `instance` has just stored; false where the job is no longer held. */
export const succeedJob = procedure(
  import.meta.url,
  'succeedJob',
  function* (db, { job, result, instance, expiresAt, now }: { job: ClaimedJob; result: string; instance: string; expiresAt: number; now: number }) {
    const changes = { ...DONE, result_blob: result, finished_at: now, expires_at: expiresAt }
    if (!(yield* move(db, 'succeed', job.id, changes, job.claim))) return false
    yield* takeBlob(db, result, instance, expiresAt + GRACE)
    yield* releaseBlob(db, job.upload_blob)
    return true
  },
)

function* failSteps(db: QueryBuilder, { id, claim, upload_blob }: JobRow, code: string, detail: string, now: number): Steps<boolean> {
  if (!(yield* move(db, 'fail', id, { ...DONE, error_code: code, error_detail: detail, finished_at: now }, claim))) return false
  if (upload_blob !== null) yield* releaseBlob(db, upload_blob)
  return true
}

/** Ends a job with an error; false where the job is no longer held. */
export const failJob = procedure(
  import.meta.url,
  'failJob',
  function* (db, { job, code, detail, now }: { job: ClaimedJob; code: string; detail: string; now: number }) {
    return yield* failSteps(db, job, code, detail, now)
  },
)

/** Lets a job go, to be claimed again from `claimableAt` on. `counts` are what its row then says of claims and failures. */
export async function handBack(store: Store, { id, claim }: ClaimedJob, claimableAt: number, counts: { claims?: number; failures?: number }): Promise<void> {
  const back = store.db.updateTable('jobs').set({ ...counts, claim: null, instance_id: null, claimable_at: claimableAt })
  await back.where('id', '=', id).where('claim', '=', claim).execute()
}

/** Cancels what is not finished, and lets go what is stored of a job. Gives the ids of those blobs; undefined where the account has no such job. */
export const cancelJob = procedure(
  import.meta.url,
  'cancelJob',
  function* (db, { id, account, now }: { id: string; account: string; now: number }): Steps<string[] | undefined> {
    const job = yield* first(db.selectFrom('jobs').selectAll().where('id', '=', id).where('account_id', '=', account))
    if (!job) return undefined
    const canceled = yield* move(db, 'cancel', id, { ...DONE, finished_at: now })
    if (!canceled) yield* move(db, 'expire', id, { result_blob: null, expires_at: now })
    const blobs = [job.upload_blob, job.result_blob].filter((blob) => blob !== null)
    for (const blob of blobs) yield* releaseBlob(db, blob)
    return blobs
  },
)

/** Lets results expire, and forgets jobs that finished long ago. Their blobs have an expiry of their own. */
export const sweepJobs = procedure(import.meta.url, 'sweepJobs', function* (db, { now }: { now: number }) {
  const { from, to } = TRANSITIONS.expire
  yield* run(db.updateTable('jobs').set({ status: to, result_blob: null }).where('status', 'in', from).where('expires_at', '<=', now))
  yield* run(db.deleteFrom('jobs').where('finished_at', '<', now - KEPT))
})

/** An account's job. */
export function findJob(store: Store, id: string, account: string): Promise<JobRow | undefined> {
  return store.db.selectFrom('jobs').selectAll().where('id', '=', id).where('account_id', '=', account).executeTakeFirst()
}

/** An account's jobs, newest first, after `cursor` (the id of the last one seen). */
export function listJobs(store: Store, account: string, limit: number, cursor: string | undefined): Promise<JobRow[]> {
  const jobs = store.db.selectFrom('jobs').selectAll().where('account_id', '=', account).orderBy('id', 'desc').limit(limit)
  return (cursor === undefined ? jobs : jobs.where('id', '<', cursor)).execute()
}
