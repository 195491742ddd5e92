// The interface of an admission back end (sqlite.ts, postgres.ts).
import { StoreError } from '../../store/store-error.ts'
import type { Reservation, Settlement } from '../settlement/row-codec.ts'

/** A request for admission. */
export type AdmissionRequest = Omit<Reservation, 'created_at' | 'mono'>

/** The remaining part of a key's limit. */
export interface Remaining {
  /** Number of requests that could pass now. */
  readonly requests: number
  /** Milliseconds until there is room for another one; 0 if no admission counts. */
  readonly reset: number
}

/** Whether a caller has disconnected; checked when its request is about to be written. */
export interface CallerState {
  readonly closed: boolean
}

/** The decision about a request. */
export type Admission =
  /**
   * `seq` is the row's position in the ledger; below 0, it refers to a row that is not in the
   * ledger yet, and can only be passed to `settle`. `created_at` is the row's time.
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
   * Whether it was decided elsewhere meanwhile. Unless its row is on its way to the store, it is
   * then rejected with `supersededError`, and no row is written.
   */
  readonly superseded: boolean
  /**
   * Whether its caller has disconnected. Unless its row is on its way to the store, it is then
   * rejected with `callerLeftError`, and no row is written.
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
  /** See `Ledger`; null if the key's window is not in memory. */
  leftFor(key: string, rpm: number): Remaining | null
  /** Completes rows, in one transaction with all other pending writes to the ledger. */
  settle(rows: readonly Settlement[]): Promise<void>
  /**
   * Inserts rows that were admitted without the store, in the order of their `mono`. A row whose id
   * is already in the ledger is unchanged. Returns the `seq` of each. Nothing may be submitted
   * meanwhile.
   *
   * @param origin the process that admitted them; by default, this one
   */
  recordAdmitted(rows: Reservation[], origin?: AdmissionOrigin): Promise<number[]>
  /**
   * The admissions of the last minute by key, with their times by this process's clock. Admissions
   * from before the machine's boot are left out.
   */
  recentAdmissions(): Promise<[key: string, times: Float64Array][]>
  /** Resolves when everything submitted has been decided. */
  close(): Promise<void>
}

/** The rejection of a `superseded` request. */
export function supersededError(): StoreError {
  return new StoreError('busy', 'the request was decided without the database')
}

/** The rejection of a request whose caller disconnected before its row was sent to the store. */
export function callerLeftError(): StoreError {
  return new StoreError('busy', 'the caller has left')
}
