// How a request ended, in one word, derived from `state`, `status` and `error` of its row.
import { sql, type RawBuilder } from 'kysely'
import type { RequestRow } from '../store/schema.ts'

/**
 * `failed`: status 400 or above, or no complete response. `aborted`: the caller left. `unknown`:
 * the process that served it died. The roll-ups count `failed` as errors (hourly.ts).
 */
export const OUTCOMES = ['in_progress', 'succeeded', 'failed', 'aborted', 'unknown'] as const

/** The outcome of a request in reports. */
export type Outcome = (typeof OUTCOMES)[number]

/** TABLE of outcomes and the state that each implies. */
export const STATE_OF: Readonly<Record<Outcome, RequestRow['state']>> = {
  in_progress: 'reserved',
  succeeded: 'settled',
  failed: 'settled',
  aborted: 'aborted',
  unknown: 'unknown',
}

/** How a row of the ledger ended. */
export function outcomeOf({
  state,
  status,
  error,
}: Pick<RequestRow, 'state' | 'status' | 'error'>): Outcome {
  if (state === 'reserved') return 'in_progress'
  if (state !== 'settled') return state
  return status === null || status >= 400 || error !== null ? 'failed' : 'succeeded'
}

/**
 * The condition of the index `requests_odd`, verbatim: a query that contains it uses that index.
 */
export const isOdd: RawBuilder<boolean> = sql<boolean>`(status >= 300 or error is not null or state = 'aborted' or state = 'unknown')`

/** The condition of a failed request among settled rows. */
export const isFailed: RawBuilder<boolean> = sql<boolean>`(status is null or status >= 400 or error is not null)`
