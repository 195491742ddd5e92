// Proves from the ledger alone that no key or child key ever exceeded its limit.
import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'
import type { SealedDayRow } from '../../store/schema.ts'
import { flushJournal } from '../settlement/journal.ts'
import { RESERVED_STATE } from '../settlement/row-statements.ts'
import { CheckedWindows, RecentRows } from './checked-window.ts'
import {
  OpenDay,
  PROVED,
  keepSealed,
  readSealedDays,
  retentionMark,
  tallyOf,
  type ProvedRow,
  type Tally,
} from './sealed-days.ts'

export type { Violation } from './sealed-days.ts'

/**
 * The result of a proof. `requests` counts all rows, `limited` those under a limit, `outage` those
 * admitted in an outage. Windows count all of them. `missing` counts gaps between the numbers of
 * rows on SQLite, where only retention causes any. `sealed` requests are of days that an earlier
 * proof has read, and were not read again. `changed` days (milliseconds since 1970) were read
 * again, and their rows differ from those of the earlier proof.
 */
export interface Proof extends Tally {
  keys: number
  sealed: number
  changed: number[]
}

/** Options for sealing the days that are over. */
export interface Sealing {
  /** Milliseconds since 1970. */
  now: number
  /** Whether to read sealed days again and compare them with their digests. */
  again: boolean
}

const PAGE = 20_000

/**
 * Reads the ledger in the order of admission, in bounded memory, from the last sealed day on, and
 * seals the days that are over. Two admissions are compared only if the same monotonic clock
 * measured both.
 *
 * @param sealing null: reads everything and seals nothing
 */
export async function verifyWindows(store: Store, sealing: Sealing | null = null): Promise<Proof> {
  await store.run(flushJournal, null)
  const proof = new RunningProof(store, sealing?.now ?? null, await retentionMark(store))
  const days = sealing === null ? [] : await readSealedDays(store)
  const newest = days.at(-1)
  if (sealing?.again === true) proof.compareWith(days)
  else if (newest !== undefined) {
    const overlap = store.reports.selectFrom('requests').select(PROVED)
    const rows = overlap.where('seq', '>=', newest.overlap_seq).where('seq', '<=', newest.last_seq)
    proof.goOnAfter(days, await rows.orderBy('seq').execute())
  }
  for (let isMore = true; isMore;) {
    const rows = await store.reports
      .selectFrom('requests')
      .select(PROVED)
      .where('seq', '>', proof.last)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    for (const row of rows) {
      if (proof.endsDay(row)) await proof.endDay(row.seq)
      proof.add(row)
    }
    isMore = rows.length === PAGE
  }
  return { keys: await countKeys(store), ...(await proof.result()) }
}

/**
 * The number of keys in the ledger: of those with an hour in the roll-ups, among which one
 * statement jumps from key to key along an index, and those with a request in progress.
 */
async function countKeys(store: Store): Promise<number> {
  const { rows } = await sql<{ keys: number }>`
    with recursive found (key_id) as (
      select min(key_id) from usage_hours
      union all select (select min(key_id) from usage_hours where key_id > found.key_id) from found where found.key_id is not null
    ) select count(*) as keys from (
      select key_id from found where key_id is not null union select key_id from requests where state = ${RESERVED_STATE}
    ) as used`.execute(store.reports)
  return Number(rows[0]?.keys ?? 0)
}

/** A proof while its rows are read. */
class RunningProof {
  readonly #store: Store
  /** The time at which days are sealed (milliseconds since 1970); null if they are not. */
  #sealAt: number | null
  /** Rows up to here may have been deleted by the retention. */
  readonly #mark: number
  readonly #keys = new CheckedWindows()
  readonly #children = new CheckedWindows()
  readonly #recent = new RecentRows()
  /** Days to read again, oldest first. */
  #sealed: SealedDayRow[] = []
  #day = new OpenDay('')
  readonly #sum: Tally & { sealed: number; changed: number[] } = {
    requests: 0,
    limited: 0,
    outage: 0,
    missing: 0,
    violations: [],
    sealed: 0,
    changed: [],
  }
  /** `seq` of the last row read. */
  last = 0

  constructor(store: Store, sealAt: number | null, mark: number) {
    this.#store = store
    this.#sealAt = sealAt
    this.#mark = mark
  }

  /** Schedules these days to be read again. */
  compareWith(days: SealedDayRow[]): void {
    this.#sealed = days
  }

  /** Skips days. @param overlap rows of the last one that share minutes with later rows */
  goOnAfter(days: readonly SealedDayRow[], overlap: readonly ProvedRow[]): void {
    for (const day of days) {
      this.#addUp(tallyOf(day))
      this.#sum.sealed += day.requests
      this.#day = new OpenDay(day.digest)
      this.last = day.last_seq
    }
    for (const row of overlap) this.#count(row)
  }

  /** Whether a row begins a later day than the row before it. */
  endsDay(row: ProvedRow): boolean {
    const [sealed] = this.#sealed
    if (sealed !== undefined) return row.seq > sealed.last_seq
    return this.#sealAt !== null && this.#day.endsBefore(row, this.#sealAt)
  }

  /**
   * Seals a day, or compares it with its earlier seal. @param next `seq` of the first row after it
   */
  async endDay(next: number): Promise<void> {
    const { tally } = this.#day
    this.#addUp(tally)
    const day = this.#day.seal(this.#recent.first())
    if (this.#sealed.length === 0) {
      if (day !== null && !(await keepSealed(this.#store, day, tally.violations.length)))
        this.#sealAt = null
      this.#day = new OpenDay(day?.digest ?? '')
      return
    }
    let digest = day?.digest
    for (;;) {
      const [sealed, ...later] = this.#sealed
      if (sealed === undefined || sealed.last_seq >= next) return
      this.#sealed = later
      if (sealed.first_seq > this.#mark && digest !== sealed.digest)
        this.#sum.changed.push(sealed.day)
      this.#day = new OpenDay(sealed.digest)
      digest = undefined
    }
  }

  add(row: ProvedRow): void {
    if (this.#store.dialect === 'sqlite' && row.seq > this.#mark)
      this.#day.tally.missing += row.seq - Math.max(this.last, this.#mark) - 1
    this.last = row.seq
    this.#day.add(row)
    const { key_id, child_id, rpm, child_rpm, created_at: at } = row
    const { violations } = this.#day.tally
    const [count, ofChild] = this.#count(row)
    if (rpm !== null && count > rpm) violations.push({ key_id, child_id: null, rpm, count, at })
    if (child_rpm !== null && ofChild > child_rpm)
      violations.push({ key_id, child_id, rpm: child_rpm, count: ofChild, at })
  }

  async result(): Promise<Tally & { sealed: number; changed: number[] }> {
    if (this.#sealed.length > 0) await this.endDay(Infinity)
    this.#addUp(this.#day.tally)
    return this.#sum
  }

  /**
   * The most admissions in a one-minute window that contains this one: of its key, and of its child
   * key.
   */
  #count({ seq, key_id, child_id, child_rpm, rpm, mono, boot }: ProvedRow): [number, number] {
    this.#recent.add(seq, mono, boot)
    return [
      this.#keys.add(key_id, mono, boot, rpm !== null),
      child_id === null || child_rpm === null ? 0 : this.#children.add(child_id, mono, boot, true),
    ]
  }

  #addUp({ requests, limited, outage, missing, violations }: Tally): void {
    this.#sum.requests += requests
    this.#sum.limited += limited
    this.#sum.outage += outage
    this.#sum.missing += missing
    for (const one of violations) this.#sum.violations.push(one)
  }
}
