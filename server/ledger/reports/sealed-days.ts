// Days of the ledger that have been read and proved, so that `verify` need not read them again. A
// day is a stretch of rows in the order of admission, up to the first row of a later day, so each
// row is in one day, even if it was late or a clock was set back. Its rows no longer change: none
// of its requests is in progress, and no row gets a number that was passed an hour ago.
import { createHash } from 'node:crypto'
import { DAY, HOUR } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import type { RequestRow, SealedDayRow } from '../../store/schema.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'

/** TABLE of the columns that a proof reads, in the digest's order. */
export const PROVED = [
  'seq',
  'key_id',
  'mono',
  'boot',
  'rpm',
  'created_at',
  'outage',
  'child_id',
  'child_rpm',
] as const satisfies (keyof RequestRow)[]

/** The columns of a row that a proof reads. */
export type ProvedRow = Pick<RequestRow, (typeof PROVED)[number]>

/** A minute in which a key, or a child with its own limit, exceeded its limit. */
export interface Violation {
  key_id: string
  child_id: string | null
  rpm: number
  count: number
  at: number
}

/** A day with more violations is not sealed, but read every time. */
const MAX_KEPT_VIOLATIONS = 1000

/** The sums of some rows, and the violations among them. */
export interface Tally {
  requests: number
  limited: number
  outage: number
  missing: number
  violations: Violation[]
}

/** How old the first row of a later day must be before a day is sealed (milliseconds). */
const SEALED_AFTER = HOUR

/** A day while its rows are read. */
export class OpenDay {
  readonly tally: Tally = { requests: 0, limited: 0, outage: 0, missing: 0, violations: [] }
  readonly #hash = createHash('sha256')
  #day: number | null = null
  #first = 0
  #last = 0

  /** @param before the digest of the day before; '' for the first day */
  constructor(before: string) {
    this.#hash.update(before)
  }

  /**
   * Whether a row is of a later day, and old enough that this one can be sealed. @param now
   * milliseconds since 1970
   */
  endsBefore({ created_at }: ProvedRow, now: number): boolean {
    return this.#day !== null && created_at >= this.#day + DAY && created_at + SEALED_AFTER <= now
  }

  /** Adds a row; its violations are added to the tally. */
  add(row: ProvedRow): void {
    this.#day ??= row.created_at - (row.created_at % DAY)
    if (this.#first === 0) this.#first = row.seq
    this.#last = row.seq
    this.tally.requests++
    if (row.outage === 1) this.tally.outage++
    if (row.rpm !== null || row.child_rpm !== null) this.tally.limited++
    this.#hash.update(`${PROVED.map((name) => row[name] ?? '').join('\t')}\n`)
  }

  /**
   * The day with its digest; no row can be added after that. Null if it has no rows. @param overlap
   * `seq` of the first row that shares minutes with later ones
   */
  seal(overlap: number): SealedDayRow | null {
    if (this.#day === null) return null
    const { violations, ...sums } = this.tally
    return {
      day: this.#day,
      first_seq: this.#first,
      last_seq: this.#last,
      overlap_seq: overlap,
      ...sums,
      violations: violations.length === 0 ? null : JSON.stringify(violations),
      digest: this.#hash.digest('hex'),
    }
  }
}

/** The sums of a sealed day. */
export function tallyOf({ requests, limited, outage, missing, violations }: SealedDayRow): Tally {
  return {
    requests,
    limited,
    outage,
    missing,
    // Written by OpenDay.seal.
    violations: violations === null ? [] : (JSON.parse(violations) as Violation[]),
  }
}

/** All sealed days, oldest first. */
export async function readSealedDays(store: Store): Promise<SealedDayRow[]> {
  return store.reports.selectFrom('sealed_days').selectAll().orderBy('last_seq').execute()
}

/** The last row up to which retention may have deleted rows. */
export async function retentionMark(store: Store): Promise<number> {
  const row = await store.reports.selectFrom('retention_mark').select('seq').executeTakeFirst()
  return row?.seq ?? 0
}

/**
 * Stores a day's digest, unless one of its requests is in progress. Another process may already
 * have done so. Returns whether the day is sealed.
 */
export async function keepSealed(
  store: Store,
  day: SealedDayRow,
  violations: number,
): Promise<boolean> {
  if (violations > MAX_KEPT_VIOLATIONS) return false
  const open = await store.reports
    .selectFrom('requests')
    .select('seq')
    .where('state', '=', RESERVED_STATE)
    .where('seq', '<=', day.last_seq)
    .limit(1)
    .executeTakeFirst()
  if (open !== undefined) return false
  await store.write(
    store.db
      .insertInto('sealed_days')
      .values(day)
      .onConflict((conflict) => conflict.column('day').doNothing()),
  )
  return true
}
