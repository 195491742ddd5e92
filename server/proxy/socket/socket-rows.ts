// The ledger's rows of one socket. One is reserved ahead: whatever the provider begins by itself is
// in the ledger before it begins.
import type { Clock } from '../../common/clock.ts'
import { newId } from '../../common/ids.ts'
import type { Admission, AdmissionRequest, Ledger } from '../../ledger/ledger.ts'
import type { Credential } from '../credentials/pool.ts'
import type { GatewayErrorCode } from '../error-response.ts'
import { UNKNOWN, type Usage } from '../usage/usage.ts'

/** How long one row of a socket is that counts minutes. */
const MINUTE_MS = 60_000
/** How long what was asked for may take to begin before the next may ask (milliseconds). */
const CLAIM_MS = 30_000
/** The status of a socket's rows. */
const SWITCHED = 101

/** Why no further row could be reserved. */
export type RowRefusal =
  | { readonly code: 'rate_limit_exceeded'; readonly wait: number }
  | { readonly code: 'service_unavailable' }

/** What the rows of a socket have in common. */
export interface RowsOf {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly request: AdmissionRequest
  readonly credential: Credential
  readonly counts: 'responses' | 'minutes'
  /** The session's model now, as the ledger has it. */
  model(): string | null
  /**
   * No further row could be reserved, and none is in use: the socket has to be closed; at once where
   * a response has begun without.
   */
  onRefused(refusal: RowRefusal, isUnpaid: boolean): void
}

type Reserved = Extract<Admission, { admitted: true }>

/** A row in use. */
interface OpenRow {
  readonly row: Reserved
  /** Monotonic milliseconds. */
  readonly since: number
  usage: Usage
  /** It has ended, and its usage may still come. */
  isOver: boolean
}

/** Bytes of messages, with the heads of their frames. */
interface Passed {
  up: number
  down: number
}

export class SocketRows {
  readonly #of: RowsOf
  /** Reserved and not used. */
  #ahead: Reserved | null
  /** A message that starts a response has gone up, and nothing has come of it yet. */
  #isClaimed = false
  #claimTimer: NodeJS.Timeout | null = null
  /** Resolves when the reservation is free again, or there will be none. */
  #waiting: PromiseWithResolvers<void> | null = null
  #isReserving = false
  #refusal: RowRefusal | null = null
  /** Responses under way, or the minute, by their id. */
  readonly #open = new Map<string, OpenRow>()
  /** Responses that began while their row was being reserved. */
  readonly #owed: string[] = []
  #isClosed = false
  #minute: NodeJS.Timeout | null = null
  readonly #passed: Passed = { up: 0, down: 0 }
  readonly #all: Passed = { up: 0, down: 0 }
  /** Of all rows that are settled. */
  #total: Usage = UNKNOWN

  /** @param first the reservation that was made before the socket was opened */
  constructor(of: RowsOf, first: Reserved) {
    this.#of = of
    this.#ahead = first
    if (of.counts === 'minutes') this.#beginMinute()
  }

  get total(): Usage {
    return this.#total
  }

  /** Why the socket has to be closed; null while it need not. */
  get refusal(): RowRefusal | null {
    return this.#refusal
  }

  /** Bytes of both directions. */
  get passed(): number {
    return this.#all.up + this.#all.down
  }

  /** Bytes that went up, and came down. */
  get bytes(): Readonly<Passed> {
    return this.#all
  }

  countUp(bytes: number): void {
    this.#passed.up += bytes
    this.#all.up += bytes
  }

  countDown(bytes: number): void {
    this.#passed.down += bytes
    this.#all.down += bytes
  }

  /**
   * Whether the provider may begin a response now; false where no row could be reserved. A promise
   * where that is not known: ask again when it is resolved.
   */
  ready(): boolean | Promise<void> {
    if (this.#refusal !== null || this.#isClosed) return false
    if (!this.#isReserving && !this.#isClaimed) return true
    return (this.#waiting ??= Promise.withResolvers()).promise
  }

  /** A message that starts a response goes up: until that begins, no other one may. */
  claim(): void {
    if (this.#of.counts === 'minutes') return
    this.#isClaimed = true
    this.#claimTimer = setTimeout(() => this.release(), CLAIM_MS).unref()
  }

  /** What was asked for has begun, or will not. */
  release(): void {
    if (this.#claimTimer !== null) clearTimeout(this.#claimTimer)
    this.#isClaimed = false
    this.#wake()
  }

  /** A response has begun. @returns whether it had a row, or will have one in a moment */
  begin(id: string): boolean {
    this.#settleOver()
    if (this.#of.counts === 'minutes') return false
    if (this.#open.has(id)) return true
    if (this.#isReserving) {
      this.#owed.push(id)
      return true
    }
    if (this.#ahead === null) {
      void this.#force(id)
      return false
    }
    this.#use(id, this.#ahead)
    this.#ahead = null
    void this.#reserve()
    this.release()
    return true
  }

  /** A response has ended. @param usage null where it was said before, or comes behind */
  end(id: string, usage: Usage | null): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    if (usage !== null) open.usage = usage
    open.isOver = true
    if (open.usage !== UNKNOWN || this.#refusal !== null) this.#settleOver()
    this.#tellRefusal()
  }

  /** Counts usage under the row that is open now; of a socket that counts minutes. */
  add(usage: Usage): void {
    for (const open of this.#open.values()) open.usage = plus(open.usage, usage)
  }

  /** The last usage that a response has said of itself. */
  note(usage: Usage): void {
    for (const open of this.#open.values()) open.usage = usage
    this.#settleOver()
  }

  /** Settles what has ended. */
  #settleOver(): void {
    for (const [id, open] of this.#open) if (open.isOver) this.#settle(id, open, 'settled', null)
  }

  /**
   * The socket has ended. A response under way is settled as far as it came; a reservation that was
   * not used is aborted.
   *
   * @param state how a response ended that was under way
   */
  close(state: 'settled' | 'aborted', error: GatewayErrorCode | null): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#minute !== null) clearTimeout(this.#minute)
    this.release()
    this.#settleOver()
    for (const [id, open] of this.#open)
      this.#settle(id, open, this.#of.counts === 'minutes' ? 'settled' : state, error)
    if (this.#ahead !== null) this.#abort(this.#ahead)
    this.#ahead = null
  }

  #use(id: string, row: Reserved): void {
    this.#open.set(id, { row, since: this.#of.clock.mono(), usage: UNKNOWN, isOver: false })
  }

  async #reserve(): Promise<void> {
    this.#isReserving = true
    const admission = await this.#admit()
    this.#isReserving = false
    if (admission?.admitted !== true) this.#refuse(admission)
    else if (this.#isClosed) this.#abort(admission)
    else this.#take(admission)
    this.#wake()
  }

  #refuse(admission: Extract<Admission, { admitted: false }> | null): void {
    this.#refusal ??=
      admission === null
        ? { code: 'service_unavailable' }
        : { code: 'rate_limit_exceeded', wait: admission.wait }
    const owed = this.#owed.splice(0)
    for (const id of owed) void this.#force(id)
    this.#settleOver()
    this.#tellRefusal(owed.length > 0)
  }

  #wake(): void {
    if (this.ready() instanceof Promise) return
    this.#waiting?.resolve()
    this.#waiting = null
  }

  #take(admission: Reserved): void {
    this.#ahead = admission
    if (this.#of.counts === 'minutes') {
      for (const [id, open] of this.#open) this.#settle(id, open, 'settled', null)
      return this.#beginMinute()
    }
    const owed = this.#owed.shift()
    if (owed !== undefined) this.begin(owed)
  }

  /** Null where the ledger cannot be written. */
  async #admit(): Promise<Admission | null> {
    const { ledger, clock, request, model } = this.#of
    const row = { ...request, id: newId('req', clock.now()), model: model() }
    const isClosed = (): boolean => this.#isClosed
    const caller = {
      get closed(): boolean {
        return isClosed()
      },
    }
    try {
      return await ledger.admit(row, caller)
    } catch {
      return null
    }
  }

  /** A response that began all the same gets a row all the same. The socket is being closed. */
  async #force(id: string): Promise<void> {
    this.#refusal ??= { code: 'service_unavailable' }
    const { ledger, clock, request, model } = this.#of
    const unlimited = { ...request, rpm: null, child_rpm: null }
    const row = { ...unlimited, id: newId('req', clock.now()), model: model() }
    const admission = await ledger.admit(row).catch(() => null)
    if (admission?.admitted !== true) return
    this.#use(id, admission)
    this.#settle(id, this.#open.get(id)!, 'aborted', null)
  }

  #beginMinute(): void {
    this.#use('minute', this.#ahead!)
    this.#ahead = null
    this.#minute = setTimeout(() => void this.#reserve(), MINUTE_MS).unref()
  }

  #tellRefusal(isUnpaid = false): void {
    const isOver = isUnpaid || this.#open.size === 0 || this.#of.counts === 'minutes'
    if (this.#refusal !== null && isOver && !this.#isClosed)
      this.#of.onRefused(this.#refusal, isUnpaid)
  }

  #abort(row: Reserved): void {
    this.#write(row, this.#of.clock.mono(), UNKNOWN, 'aborted', null, { up: 0, down: 0 })
  }

  #settle(
    id: string,
    { row, since, usage }: OpenRow,
    state: 'settled' | 'aborted',
    error: GatewayErrorCode | null,
  ): void {
    this.#open.delete(id)
    this.#total = plus(this.#total, usage)
    const { up, down } = this.#passed
    this.#passed.up = this.#passed.down = 0
    this.#write(row, since, usage, state, error, { up, down })
  }

  #write(
    { seq, created_at }: Reserved,
    since: number,
    usage: Usage,
    state: 'settled' | 'aborted',
    error: GatewayErrorCode | null,
    { up, down }: Passed,
  ): void {
    const { ledger, clock, request, credential, model } = this.#of
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
      total_ms: Math.round(clock.mono() - since),
      bytes_in: up,
      bytes_out: down,
      tokens_in: usage.input,
      tokens_out: usage.output,
      tokens_cached: usage.cached,
      tokens_reasoning: usage.reasoning,
      upstream_request_id: null,
    })
  }
}

const sum = (one: number | null, other: number | null): number | null =>
  one === null ? other : other === null ? one : one + other

/** The sum of two, of what is known. */
const plus = (one: Usage, other: Usage): Usage => ({
  input: sum(one.input, other.input),
  output: sum(one.output, other.output),
  cached: sum(one.cached, other.cached),
  reasoning: sum(one.reasoning, other.reasoning),
})
