// Rows that were admitted without the store, kept from their admission until they and their
// settlements are in the ledger or on their way.
import type { Reservation, Settlement } from '../settlement/row-codec.ts'
import type { BacklogRow } from './outage-log.ts'

/** A row that was admitted without the store. */
export interface BacklogEntry extends BacklogRow {
  /** Used as its `seq` until it has one; below 0. */
  readonly number: number
  settlement: Settlement | null
  /** Its position in the ledger; null while it is not there. */
  seq: number | null
}

/** The result of a settlement. */
export type SettleOutcome =
  /** The row is in the ledger, so the settlement can be written. */
  | { readonly kind: 'recorded'; readonly settlement: Settlement }
  /** The settlement is kept until the row is in the ledger. `id`: the request's. */
  | { readonly kind: 'waiting'; readonly id: string }
  /** The row does not exist, or was abandoned. */
  | { readonly kind: 'dropped' }

/** The rows that were admitted without the store. One per process. */
export class Backlog {
  /** Rows that are not in the ledger yet, oldest first; the writer removes them from the front. */
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

  /** Adds a row; returns the number used as its `seq`. */
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

  /** A row is now in the ledger; if it has ended, the code that recorded it settles it. */
  recorded(entry: BacklogEntry, seq: number): void {
    entry.seq = seq
    if (entry.settlement !== null) this.#byNumber.delete(entry.number)
  }

  /** The store will never accept this row. */
  giveUp(entry: BacklogEntry): void {
    this.#byNumber.delete(entry.number)
  }
}
