// Enters new jobs, and gives each its turn.
import type { JobRow } from '../../store/schema.ts'
import { FOR_NOW, takeBlob } from '../../store/blobs/blobs.ts'
import { first, run, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'
import type { JobStatus } from './states.ts'

/**
 * Enters a new job inside a procedure, and takes over its archive, which `instance` has stored.
 */
export function* enterJob(db: QueryBuilder, job: ClaimableJob, instance: string): Steps<void> {
  yield* takeBlob(db, job.upload_blob, instance, FOR_NOW)
  yield* run(db.insertInto('jobs').values({ ...job, turn: yield* nextTurn(db, job.account_id) }))
}

/**
 * The turn of an account's next job (start-time fair queuing: Goyal, Vin and Cheng, 1996): one
 * after the account's last turn, and not before the last turn that has started. So accounts take
 * turns job by job, however many jobs each has and whenever they arrive.
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

/** States of jobs that have started. A job that ends before it runs loses its turn. */
const STARTED_STATES = [
  'running',
  'succeeded',
  'failed',
  'canceled',
  'expired',
] as const satisfies JobStatus[]

/** A job that has just been accepted. */
export type ClaimableJob = JobRow & { readonly upload_blob: string }

/** TABLE of a job's column `certify`: not at all, for the job alone, for the job and its JSON. */
export const CERTIFY = { no: 0, apart: 1, shown: 2 } as const

/** How a job is certified. @param asked what its form says; undefined for nothing */
export function certifyOf(asked: boolean | undefined): number {
  return asked === undefined ? CERTIFY.apart : asked ? CERTIFY.shown : CERTIFY.no
}

/** Makes the row of a new job. */
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
    Partial<Pick<ClaimableJob, 'flavor' | 'certify'>>,
  now: number,
): ClaimableJob {
  const defaults = { flavor: null, certify: CERTIFY.no }
  return { ...defaults, ...upload, ...INITIAL_COLUMNS, created_at: now, claimable_at: now }
}

/** The job as it was when it was accepted. */
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
  certificate: null,
} as const satisfies Partial<JobRow>
