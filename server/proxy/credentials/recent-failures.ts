// The health of credentials before this process started, from the ledger's newest rows and the test
// calls.
import { isAboutCredential, type FailureCode } from './health.ts'
import type { Store } from '../../store/store.ts'

/** Number of newest requests that are read, by primary key. */
const MAX_ROWS = 1000

/** How a call failed, and when: milliseconds of the store's clock. */
export interface RecentFailure {
  readonly status: number | null
  readonly code: FailureCode | null
  readonly at: number
}

/** The result of one call for its credential: `failure` is null if it worked. */
interface Seen {
  readonly id: string
  readonly at: number
  readonly failure: RecentFailure | null
}

/**
 * The last failure of each credential, by its id, if nothing has succeeded since. Credentials that
 * none of the newest 1,000 requests used, and that were not tested, are left out.
 */
export async function recentFailures(store: Store): Promise<ReadonlyMap<string, RecentFailure>> {
  const [rows, tests] = await Promise.all([
    store.db
      .selectFrom('requests')
      .select(['credential_id', 'created_at', 'state', 'status', 'error'])
      .orderBy('seq', 'desc')
      .limit(MAX_ROWS)
      .execute(),
    store.db.selectFrom('credential_tests').selectAll().execute(),
  ])
  const seen: Seen[] = [
    ...rows.flatMap(({ credential_id, created_at, state, status, error }) =>
      credential_id === null || state !== 'settled'
        ? []
        : callOf(credential_id, created_at, status, failureCode(error)),
    ),
    ...tests.flatMap(({ credential_id, at, status }) => callOf(credential_id, at, status, null)),
  ]
  const newest = new Map<string, Seen>()
  for (const call of seen)
    if (call.at > (newest.get(call.id)?.at ?? -Infinity)) newest.set(call.id, call)
  return new Map(
    [...newest.values()].flatMap(({ id, failure }) => (failure === null ? [] : [[id, failure]])),
  )
}

/**
 * The result of a call for its credential; empty if it says nothing about the credential: its error
 * concerns the request, or is ours.
 */
function callOf(id: string, at: number, status: number | null, code: FailureCode | null): Seen[] {
  if (code !== null) return [{ id, at, failure: { status: null, code, at } }]
  if (status === null) return []
  if (status < 400) return [{ id, at, failure: null }]
  return isAboutCredential(status) ? [{ id, at, failure: { status, code: null, at } }] : []
}

function failureCode(error: string | null): FailureCode | null {
  return error === 'upstream_unreachable' || error === 'upstream_timeout' ? error : null
}
