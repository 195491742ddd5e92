// Writes the rows of one socket to the ledger.
import type { Clock } from '../../common/clock.ts'
import { newId } from '../../common/ids.ts'
import type { Admission, AdmissionRequest, Ledger } from '../../ledger/ledger.ts'
import type { Credential } from '../credentials/pool.ts'
import type { GatewayErrorCode } from '../error-response.ts'
import type { Usage } from '../usage/usage.ts'

/** The status of a socket's rows. */
const SWITCHED = 101

/** A reserved row. */
export type Reserved = Extract<Admission, { admitted: true }>

/** How a row ends. */
export interface RowEnd {
  /** Monotonic milliseconds at which it was first used. */
  readonly since: number
  readonly usage: Usage
  readonly state: 'settled' | 'aborted'
  readonly error: GatewayErrorCode | null
  readonly bytesIn: number
  readonly bytesOut: number
}

/** The common fields of a socket's rows. */
export interface RowsOf {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly request: AdmissionRequest
  readonly credential: Credential
  /** The provider's id of the handshake; null if its response had none. */
  readonly upstreamRequestId: string | null
  /** The session's current model, as in the ledger. */
  model(): string | null
}

/** Writes the ledger's rows of one socket. */
export class RowWriter {
  readonly #of: RowsOf

  constructor(of: RowsOf) {
    this.#of = of
  }

  now(): number {
    return this.#of.clock.mono()
  }

  /** The number of further rows that the key may have now, as far as this process knows. */
  left(): number {
    const { ledger, request } = this.#of
    const { rpm, child_id, child_rpm } = request
    const own = rpm === null ? Infinity : ledger.leftFor(request.key_id, rpm).requests
    return child_id === null || child_rpm === null
      ? own
      : Math.min(own, ledger.leftFor(child_id, child_rpm).requests)
  }

  /**
   * Reserves one more row.
   * @param isLeft whether it is no longer needed
   * @returns null if the ledger cannot be written
   */
  reserve(isLeft: () => boolean): Promise<Admission | null> {
    const caller = {
      get closed(): boolean {
        return isLeft()
      },
    }
    return this.#admit(this.#of.request, caller)
  }

  /** Reserves a row for a response that has already begun, regardless of the limit. */
  async force(): Promise<Reserved | null> {
    const unlimited = { ...this.#of.request, rpm: null, child_rpm: null }
    const admission = await this.#admit(unlimited, undefined)
    return admission?.admitted === true ? admission : null
  }

  settle(
    { seq, created_at }: Reserved,
    { since, usage, state, error, bytesIn, bytesOut }: RowEnd,
  ): void {
    const { ledger, request, credential, upstreamRequestId, model } = this.#of
    ledger.settle({
      seq,
      created_at,
      account_id: request.account_id,
      key_id: request.key_id,
      provider: request.provider,
      state,
      model: model(),
      status: SWITCHED,
      error,
      credential_id: credential.id,
      first_byte_ms: null,
      total_ms: Math.round(this.now() - since),
      bytes_in: bytesIn,
      bytes_out: bytesOut,
      ...usage,
      upstream_request_id: upstreamRequestId,
    })
  }

  async #admit(
    request: AdmissionRequest,
    caller: { readonly closed: boolean } | undefined,
  ): Promise<Admission | null> {
    const { ledger, clock, model } = this.#of
    try {
      return await ledger.admit(
        { ...request, id: newId('req', clock.now()), model: model() },
        caller,
      )
    } catch {
      return null
    }
  }
}
