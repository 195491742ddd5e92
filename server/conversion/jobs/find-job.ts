// Jobs as their account looks them up.
import type { JobRow } from '../../store/schema.ts'
import type { Store } from '../../store/open.ts'

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
