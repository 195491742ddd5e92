// The states of a job, and the only statement that moves a job from one to another.
import { refund } from '../../accounts/quota.ts'
import type { JobRow } from '../../store/schema.ts'
import { releaseBlob } from '../../store/blobs/blobs.ts'
import { run, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'

/** The state of a job, as stored and as the API shows it. */
export type JobStatus = JobRow['status']

/**
 * TABLE of transitions: the states that each starts from, and the new state. A state that no `from`
 * lists is final.
 */
export const TRANSITIONS = {
  claim: { from: ['queued', 'running'], to: 'running' },
  succeed: { from: ['running'], to: 'succeeded' },
  fail: { from: ['queued', 'running'], to: 'failed' },
  cancel: { from: ['queued', 'running'], to: 'canceled' },
  expire: { from: ['succeeded'], to: 'expired' },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus }>

type Transition = keyof typeof TRANSITIONS

/** The states of jobs that are not finished. */
export const UNFINISHED = TRANSITIONS.cancel.from

/** Whether the job has ended; only its result can still expire. */
export function isFinished(status: JobStatus): boolean {
  return !UNFINISHED.some((other) => other === status)
}

/**
 * Moves a job if its state allows the transition and (with `claim`) the claim is still valid.
 * @returns whether it moved
 */
export function* applyTransition(
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

/** The columns that are cleared when nobody works on a job any more. */
export const CLEARED_CLAIM = { claim: null, instance_id: null, upload_blob: null } as const

/** Refunds the job's conversion, if that is still allowed. */
export function* refundConversion(
  db: QueryBuilder,
  { account_id, counted_day, quota_limit }: JobRow,
): Steps<void> {
  if (counted_day !== null)
    yield* refund(db, { account: account_id, day: counted_day, limit: quota_limit })
}

/** Ends a job with an error, inside a procedure; false if the claim is no longer valid. */
export function* failSteps(
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
