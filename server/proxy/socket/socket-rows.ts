// Manages the ledger's rows of one socket. One is reserved in advance, so that a response that the
// provider starts by itself is in the ledger before it begins.
import { eachToken } from '../../common/token-kinds.ts'
import type { Admission } from '../../ledger/ledger.ts'
import type { GatewayErrorCode } from '../error-response.ts'
import { UNKNOWN, type Usage } from '../usage/usage.ts'
import type { Reserved, RowEnd, RowWriter } from './row-writer.ts'

/** The length of one row, for a socket that counts minutes (milliseconds). */
const MINUTE_MS = 60_000
/** How long a requested response may take to begin before the next request (milliseconds). */
const AWAITED_MS = 30_000
/**
 * How long the provider may take to start a response after one piece of audio before it gets the
 * next (milliseconds), and the number of remaining rows of the key below which this applies: if
 * audio is sent without pauses, it could start several before we see the first.
 */
const PACE_MS = 10
/** Minimum number of turns of the event loop to wait. */
const PACE_TURNS = 4
const PACED_BELOW = 256
/** How long the last response that the limit allows may take (milliseconds). */
const LAST_MS = 5 * 60_000
/** Maximum number of rows kept for requested responses that may have failed. */
const MAX_SPARES = 4

/** Why no further row could be reserved. */
export type RowRefusal =
  | { readonly code: 'rate_limit_exceeded'; readonly wait: number }
  | { readonly code: 'service_unavailable' }

/**
 * Called when no further row could be reserved: the socket has to be closed when no response is in
 * progress, or immediately if one has begun without a row.
 */
export type OnRefused = (refusal: RowRefusal, isUnpaid: boolean) => void

/** A response in progress, or a minute. */
interface OpenRow {
  /** Null while it is being reserved. */
  row: Reserved | null
  /** When it began, in monotonic milliseconds. */
  readonly since: number
  usage: Usage
  /** Whether it has ended; it is settled as soon as it has its row and all of its usage. */
  isOver: boolean
}

/** A row kept for a response that may still begin. */
interface Spare {
  readonly row: Reserved
  /** Since when it is kept, in monotonic milliseconds. */
  readonly since: number
}

/** Bytes of messages, with the heads of their frames. */
interface Passed {
  up: number
  down: number
}

/** Shared by all sockets that have had no response yet: most of them idle. */
const NONE_OPEN: Map<string, OpenRow> = new Map()

/** Decides which messages of one socket have a row and may be forwarded. */
export class SocketRows {
  readonly #writer: RowWriter
  readonly #counts: 'responses' | 'minutes'
  readonly #onRefused: OnRefused
  /** The reserved row that is not used yet. */
  #ahead: Reserved | null
  readonly #spares: Spare[] = []
  /** Whether a message that asks for a response was forwarded, and the response has not begun. */
  #isAwaited = false
  #awaitedTimer: NodeJS.Timeout | undefined
  #isPaced = false
  /** Resolves when a reservation is free, or there will be none. */
  #waiting: PromiseWithResolvers<void> | null = null
  #isReserving = false
  #refusal: RowRefusal | null = null
  #lastTimer: NodeJS.Timeout | undefined
  /** Open rows, by the id of their response. */
  #open: Map<string, OpenRow> = NONE_OPEN
  #isClosed = false
  #minute: NodeJS.Timeout | undefined
  readonly #passed: Passed = { up: 0, down: 0 }
  readonly #all: Passed = { up: 0, down: 0 }
  /** The usage of all settled rows. */
  #total: Usage = UNKNOWN
  #settled = 0

  /** @param first the reservation made before the socket was opened */
  constructor(
    writer: RowWriter,
    counts: 'responses' | 'minutes',
    first: Reserved,
    onRefused: OnRefused,
  ) {
    this.#writer = writer
    this.#counts = counts
    this.#onRefused = onRefused
    this.#ahead = first
    if (counts === 'minutes') this.#beginMinute(first)
  }

  get total(): Usage {
    return this.#total
  }

  /** Number of settled rows, without unused reservations. */
  get settled(): number {
    return this.#settled
  }

  /** Why the socket has to be closed; null if it need not. */
  get refusal(): RowRefusal | null {
    return this.#refusal
  }

  /**
   * Whether no further row could be reserved, so that the socket closes when its response ends.
   */
  get isFinishing(): boolean {
    return this.#refusal !== null && this.#open.size > 0 && !this.#isClosed
  }

  /** Bytes sent to the provider, and to the client, so far. */
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
   * Whether the provider may begin a response now; false if no row could be reserved; a promise if
   * that is not known yet: call again when it is resolved.
   */
  ready(): boolean | Promise<void> {
    if (this.#refusal !== null || this.#isClosed) return false
    if (!this.#isReserving && !this.#isAwaited && !this.#isPaced) return true
    return (this.#waiting ??= Promise.withResolvers()).promise
  }

  /**
   * A message that asks for a response is forwarded: until the response begins, no other may be.
   */
  awaitResponse(): void {
    if (this.#counts === 'minutes') return
    this.#isAwaited = true
    this.#awaitedTimer = setTimeout(() => this.#release(), AWAITED_MS).unref()
  }

  /** A message that may start a response together with others is forwarded. */
  pace(): void {
    if (this.#counts === 'minutes' || this.#writer.left() >= PACED_BELOW) return
    this.#isPaced = true
    setTimeout(() => this.#endPace(PACE_TURNS), PACE_MS).unref()
  }

  /** On a busy machine, the provider's message may have arrived but not been read yet. */
  #endPace(turns: number): void {
    if (turns > 0) return void setImmediate(() => this.#endPace(turns - 1))
    this.#isPaced = false
    this.#wake()
  }

  /**
   * The provider reports an error, so the requested response may not begin, and the next may be
   * requested. Its row is kept in case it still begins.
   */
  fail(): void {
    if (!this.#isAwaited || this.#ahead === null) return
    const now = this.#writer.now()
    const oldest = this.#spares[0]
    const isFree = oldest !== undefined && now - oldest.since > AWAITED_MS
    if (!isFree && this.#spares.length >= MAX_SPARES) return
    if (isFree) this.#spares.shift()
    this.#spares.push({ row: this.#ahead, since: now })
    this.#ahead = isFree ? oldest.row : null
    if (this.#ahead === null) void this.#reserve()
    this.#release()
  }

  /** A response has begun. @returns whether it has a row, or will soon have one */
  begin(id: string): boolean {
    this.#settleOver()
    if (this.#counts === 'minutes') return false
    if (this.#open.has(id)) return true
    const spare = this.#spares.shift()
    const row = spare?.row ?? this.#ahead
    this.#addOpen(id, row)
    if (spare !== undefined) return true
    if (row !== null) {
      this.#ahead = null
      void this.#reserve()
      this.#release()
      return true
    }
    if (this.#isReserving) return true
    void this.#forceOwed()
    return false
  }

  /** A response has ended. @param usage null if it was reported before, or may follow */
  end(id: string, usage: Usage | null, mayFollow: boolean): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    if (usage !== null) open.usage = usage
    open.isOver = true
    if (!mayFollow || open.usage !== UNKNOWN || this.#refusal !== null) this.#settleOver()
    this.#tellRefusal(false)
  }

  /** Adds usage to the open row of a socket that counts minutes. */
  add(usage: Usage): void {
    for (const open of this.#open.values()) open.usage = plus(open.usage, usage)
  }

  /** The usage so far of a response in progress. */
  note(usage: Usage): void {
    for (const open of this.#open.values()) open.usage = usage
    this.#settleOver()
  }

  /**
   * The socket has ended. A response in progress is settled with its usage so far; an unused
   * reservation is aborted.
   *
   * @param state how the response in progress ended
   */
  close(state: 'settled' | 'aborted', error: GatewayErrorCode | null): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#minute)
    clearTimeout(this.#lastTimer)
    this.#release()
    this.#settleOver()
    for (const [id, open] of this.#open) {
      open.isOver = true
      if (open.row !== null)
        this.#settle(id, open, this.#counts === 'minutes' ? 'settled' : state, error)
    }
    for (const { row } of this.#spares.splice(0)) this.#abort(row)
    if (this.#ahead !== null) this.#abort(this.#ahead)
    this.#ahead = null
  }

  /** The first response in progress without a row. */
  #owed(): OpenRow | undefined {
    return this.#open.values().find(({ row }) => row === null)
  }

  async #reserve(): Promise<void> {
    this.#isReserving = true
    const admission = await this.#writer.reserve(() => this.#isClosed && this.#owed() === undefined)
    this.#isReserving = false
    if (admission?.admitted === true) this.#take(admission)
    else this.#refuse(admission)
    this.#wake()
  }

  #take(admission: Reserved): void {
    const owed = this.#owed()
    if (owed !== undefined) {
      owed.row = admission
      if (owed.isOver) this.#settleOver()
      void this.#reserve()
    } else if (this.#isClosed) this.#abort(admission)
    else if (this.#counts === 'minutes') {
      for (const [id, open] of this.#open) this.#settle(id, open, 'settled', null)
      this.#beginMinute(admission)
    } else this.#ahead = admission
  }

  #refuse(admission: Extract<Admission, { admitted: false }> | null): void {
    this.#refusal ??=
      admission === null
        ? { code: 'service_unavailable' }
        : { code: 'rate_limit_exceeded', wait: admission.wait }
    const isUnpaid = this.#owed() !== undefined
    if (isUnpaid) void this.#forceOwed()
    this.#settleOver()
    this.#tellRefusal(isUnpaid)
  }

  /** Responses that have nevertheless begun still get rows. The socket is being closed. */
  async #forceOwed(): Promise<void> {
    this.#refusal ??= { code: 'service_unavailable' }
    for (const [id, open] of this.#open) {
      if (open.row !== null) continue
      const row = await this.#writer.force()
      if (row === null) continue
      open.row = row
      if (open.isOver || this.#isClosed) this.#settle(id, open, 'aborted', null)
    }
  }

  #beginMinute(row: Reserved): void {
    this.#ahead = null
    this.#addOpen('', row)
    this.#minute = setTimeout(() => void this.#reserve(), MINUTE_MS).unref()
  }

  #tellRefusal(isUnpaid: boolean): void {
    const isOver = isUnpaid || this.#open.size === 0 || this.#counts === 'minutes'
    const refusal = this.#refusal
    if (refusal === null || this.#isClosed) return
    if (isOver) return this.#onRefused(refusal, isUnpaid)
    this.#lastTimer ??= setTimeout(() => this.#onRefused(refusal, false), LAST_MS).unref()
  }

  #release(): void {
    clearTimeout(this.#awaitedTimer)
    this.#isAwaited = false
    this.#wake()
  }

  #wake(): void {
    if (this.#waiting === null || this.ready() instanceof Promise) return
    this.#waiting.resolve()
    this.#waiting = null
  }

  #addOpen(id: string, row: Reserved | null): void {
    if (this.#open === NONE_OPEN) this.#open = new Map()
    this.#open.set(id, { row, since: this.#writer.now(), usage: UNKNOWN, isOver: false })
  }

  /** Settles ended rows. */
  #settleOver(): void {
    for (const [id, open] of this.#open)
      if (open.isOver && open.row !== null) this.#settle(id, open, 'settled', null)
  }

  #settle(
    id: string,
    { row, since, usage }: OpenRow,
    state: 'settled' | 'aborted',
    error: GatewayErrorCode | null,
  ): void {
    this.#open.delete(id)
    if (row === null) return
    this.#total = plus(this.#total, usage)
    this.#settled++
    this.#writer.settle(row, { since, usage, state, error, ...this.#takeBytes() })
  }

  /** Ends an unused reservation; the bytes since the last response are its own. */
  #abort(row: Reserved): void {
    const end = { since: this.#writer.now(), usage: UNKNOWN, error: null, ...this.#takeBytes() }
    this.#writer.settle(row, { ...end, state: 'aborted' })
  }

  /** The bytes that are in no row yet. */
  #takeBytes(): Pick<RowEnd, 'bytesIn' | 'bytesOut'> {
    const { up, down } = this.#passed
    this.#passed.up = this.#passed.down = 0
    return { bytesIn: up, bytesOut: down }
  }
}

const sum = (one: number | null, other: number | null): number | null =>
  one === null ? other : other === null ? one : one + other

/** The sum of two usages; unknown values are ignored. */
const plus = (one: Usage, other: Usage): Usage =>
  eachToken((column) => sum(one[column], other[column]))
