// Tracks one request between its caller and the store, or this process if it decides.
import { UNKNOWN_TOKENS } from '../../common/token-kinds.ts'
import type { Settlement } from '../settlement/row-codec.ts'
import type { Admission, AdmissionRequest, CallerState, PendingAdmission } from './backend.ts'

/** A call of `Ledger.admit`. */
export interface AdmitCall {
  readonly request: AdmissionRequest
  readonly caller: CallerState
  readonly patience: number
  readonly resolve: (admission: Admission) => void
  readonly reject: (error: unknown) => void
}

/** Receives the store's decision. */
export interface DecisionListener {
  decided(one: TrackedAdmission, isAdmitted: boolean): void
  /** Returns whether it has handled the failure, so that the caller must not get it. */
  rejected(one: TrackedAdmission, error: unknown): boolean
}

/** A row in the store. */
interface AdmittedRow {
  readonly seq: number
  readonly created_at: number
}

/**
 * A request between its caller and the store. It lives until the caller has its decision, and the
 * store has responded.
 */
export class TrackedAdmission implements PendingAdmission {
  readonly #call: AdmitCall
  readonly #listener: DecisionListener
  /** Whether it was decided without the store. */
  superseded = false
  /** Whether the store has responded. */
  hasResponded = false
  /** Whether it was admitted without the store. */
  isAdmittedHere = false
  /** Whether it uses its key's share while the store decides. */
  hasShare = false
  /** Its row in the store, if the store admitted it. */
  #row: AdmittedRow | null = null

  constructor(call: AdmitCall, listener: DecisionListener) {
    this.#call = call
    this.#listener = listener
  }

  get request(): AdmissionRequest {
    return this.#call.request
  }

  get patience(): number {
    return this.#call.patience
  }

  get callerLeft(): boolean {
    return this.#call.caller.closed
  }

  /** Whether the store has admitted it too, after it was decided without the store. */
  get isAdmittedLate(): boolean {
    return this.superseded && this.#row !== null
  }

  /** The store's decision. */
  resolve(admission: Admission): void {
    this.hasResponded = true
    if (admission.admitted) this.#row = admission
    this.#listener.decided(this, admission.admitted)
    if (!this.superseded) this.#call.resolve(admission)
  }

  /** The store's failure. */
  reject(error: unknown): void {
    this.hasResponded = true
    if (!this.#listener.rejected(this, error) && !this.superseded) this.#call.reject(error)
  }

  /** Admitted without the store. */
  admit(admission: Admission): void {
    this.#call.resolve(admission)
  }

  /** Refused without the store. @param wait whole milliseconds until the next one can pass */
  refuse(wait: number): void {
    this.#call.resolve({ admitted: false, wait })
  }

  fail(error: unknown): void {
    this.#call.reject(error)
  }

  /**
   * The settlement of a request that the store admitted after its caller had been refused. @param
   * row if the store's response was lost, and the row was found later
   */
  unsent(row: AdmittedRow | null = this.#row): Settlement {
    const { account_id, key_id, provider, model } = this.request
    const { seq, created_at } = row ?? { seq: 0, created_at: 0 }
    return {
      seq,
      account_id,
      key_id,
      provider,
      model,
      created_at,
      state: 'aborted',
      status: null,
      error: null,
      credential_id: null,
      first_byte_ms: null,
      total_ms: null,
      bytes_in: 0,
      bytes_out: 0,
      ...UNKNOWN_TOKENS,
      upstream_request_id: null,
    }
  }
}
