// The interface of an admission back end (sqlite.ts, postgres.ts).
import { StoreError } from '../../store/store-error.ts'
import type { Reservation, Settlement } from '../settlement/row-codec.ts'

/** A request that asks to be admitted. */
export type AdmissionRequest = Omit<Reservation, 'created_at' | 'mono'>

/** The rest of a key's limit. */
export interface Remaining {
  /** Requests that could pass now. */
  readonly requests: number
  /** Milliseconds until one more can pass; 0 where none has passed. */
  readonly reset: number
}

/** Whether a caller has disconnected; read whenever its request is about to be written. */
export interface CallerState {
  readonly closed: boolean
}

/** The decision about a request. */
export type Admission =
  /**
   * `seq` is the row's place in the ledger; below 0, it stands for a row that is not in the ledger
   * yet, and is good for `settle` only. `created_at` is the row's time.
   */
  | { admitted: true; seq: number; created_at: number }
  /** `wait`: whole milliseconds until the next one can pass. */
  | { admitted: false; wait: number }

/** A request that waits for its decision. */
export interface PendingAdmission {
  readonly request: AdmissionRequest
  /** See `Ledger.admit`. */
  readonly patience: number
  /**
   * Decided elsewhere meanwhile: unless its row is on its way to the store, it is rejected with
   * `supersededError`, and no row is written.
   */
  readonly superseded: boolean
  /**
   * Its caller has disconnected: unless its row is on its way to the store, it is rejected with
   * `callerLeftError`, and no row is written.
   */
  readonly callerLeft: boolean
  resolve(admission: Admission): void
  reject(error: unknown): void
}

/** The process that admitted rows without the store, and the clock of their `mono`. */
export interface AdmissionOrigin {
  readonly instance: string
  readonly boot: number
}

/** The windows of all keys, and their admissions, in the store. */
export interface AdmissionBackend {
  submit(pending: PendingAdmission): void
  /** See `Ledger`. */
  fullFor(key: string, rpm: number): number | null
  /** See `Ledger`; null where the key's window is not in memory. */
  leftFor(key: string, rpm: number): Remaining | null
  /**
   * Completes rows, in one transaction with everything else that waits to be written to the ledger.
   */
  settle(rows: readonly Settlement[]): Promise<void>
  /**
   * Inserts rows that were admitted without the store, in the order of their `mono`. A row whose id
   * is in the ledger is left as it is. Gives the `seq` of each. Nothing may be submitted in the
   * meantime.
   *
   * @param origin who admitted them, unless it was this process
   */
  recordAdmitted(rows: Reservation[], origin?: AdmissionOrigin): Promise<number[]>
  /**
   * The admissions of the last minute by key, with their times by this process's clock. Those from
   * before the machine was started are left out.
   */
  recentAdmissions(): Promise<[key: string, times: Float64Array][]>
  /** Ends when everything submitted has its response. */
  close(): Promise<void>
}

/** The rejection of a `superseded` request. */
export function supersededError(): StoreError {
  return new StoreError('busy', 'the request was decided without the store')
}

/** The rejection when the caller disconnected before its row was sent to the store. */
export function callerLeftError(): StoreError {
  return new StoreError('busy', 'the caller has left')
}
