// Look-ups of an account's jobs.
import type { JobRow } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'

/** An account's job; any account's with null. */
export function findJob(
  store: Store,
  id: string,
  account: string | null,
): Promise<JobRow | undefined> {
  const jobs = store.db.selectFrom('jobs').selectAll().where('id', '=', id)
  return (account === null ? jobs : jobs.where('account_id', '=', account)).executeTakeFirst()
}

/**
 * An account's jobs (every account's with null), newest first, after `cursor` (the id of the last
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
