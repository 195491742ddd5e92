// Limits on waiting jobs.
import type { RejectReason } from '../../common/fairness/shares.ts'
import type { Store } from '../../store/store.ts'
import { first, type Steps } from '../../store/procedure.ts'
import type { QueryBuilder } from '../../store/statement.ts'

/** Jobs of one account that may wait. */
const MAX_WAITING_PER_ACCOUNT = 20

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
 * Why another job of this account is refused, or null. An account's first job is accepted even if
 * the queue is full, up to twice its length.
 */
function refusalReason(
  { all, own }: { all: number | null; own: number | null },
  most: number,
): RejectReason | null {
  if ((own ?? 0) >= MAX_WAITING_PER_ACCOUNT) return 'share'
  return (all ?? 0) < ((own ?? 0) === 0 ? most * 2 : most) ? null : 'full'
}

/** The same check, before the archive is stored. */
export async function jobQueueRefusal(
  store: Store,
  account: string,
  most: number,
): Promise<RejectReason | null> {
  return refusalReason(await queueLengths(store.db, account).executeTakeFirstOrThrow(), most)
}

/** The same check, inside a procedure. */
export function* jobQueueRefusalSteps(
  db: QueryBuilder,
  account: string,
  most: number,
): Steps<RejectReason | null> {
  return refusalReason((yield* first(queueLengths(db, account))) ?? { all: 0, own: 0 }, most)
}
