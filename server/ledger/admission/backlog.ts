// Rows that were admitted without the store, from their admission until both they and their
// settlements are in the ledger or on their way.
import type { Reservation, Settlement } from '../settlement/row-codec.ts'
import type { BacklogRow } from './outage-log.ts'

/** A row that was admitted without the store. */
export interface BacklogEntry extends BacklogRow {
  /** Stands for its `seq` until it has one; below 0. */
  readonly number: number
  settlement: Settlement | null
  /** Its place in the ledger; null while it is not there. */
  seq: number | null
}

/** The result of a settlement. */
export type SettleOutcome =
  /** The row is in the ledger: this completes it. */
  | { readonly kind: 'recorded'; readonly settlement: Settlement }
  /** It is kept until the row is in the ledger. `id`: the request's. */
  | { readonly kind: 'waiting'; readonly id: string }
  /** The row does not exist, or was given up. */
  | { readonly kind: 'dropped' }

/** The rows that were admitted without the store, in memory. One per process. */
export class Backlog {
  /** Rows that are not in the ledger, oldest first; the writer removes them from the front. */
  readonly unwritten: BacklogEntry[] = []
  readonly #byNumber = new Map<number, BacklogEntry>()
  #lastNumber = 0

  /** Rows that are not in the ledger. */
  get size(): number {
    return this.unwritten.length
  }

  get isWritten(): boolean {
    return this.unwritten.length === 0
  }

  /** Adds a row; returns the number that stands for its `seq`. */
  add(row: Reservation): number {
    const number = --this.#lastNumber
    const entry: BacklogEntry = { number, row, settlement: null, seq: null }
    this.unwritten.push(entry)
    this.#byNumber.set(number, entry)
    return number
  }

  settle(settlement: Settlement): SettleOutcome {
    const entry = this.#byNumber.get(settlement.seq)
    if (entry === undefined) return { kind: 'dropped' }
    if (entry.seq === null) {
      entry.settlement = settlement
      return { kind: 'waiting', id: entry.row.id }
    }
    this.#byNumber.delete(entry.number)
    const { seq, row } = entry
    return { kind: 'recorded', settlement: { ...settlement, seq, created_at: row.created_at } }
  }

  /** A row is in the ledger; one that has ended is settled by whoever recorded it. */
  recorded(entry: BacklogEntry, seq: number): void {
    entry.seq = seq
    if (entry.settlement !== null) this.#byNumber.delete(entry.number)
  }

  /** The store will never take this row. */
  giveUp(entry: BacklogEntry): void {
    this.#byNumber.delete(entry.number)
  }
}
