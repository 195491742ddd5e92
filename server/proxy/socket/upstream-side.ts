// The provider's side: its bytes are forwarded as they arrive, and its messages are read in transit
// for the beginning, end and usage of responses.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { RawConnection, RawReader } from '../../http1/raw-connection.ts'
import { OPCODE, type FrameError, type FrameHead } from '../../http1/websocket/frames.ts'
import type { UsageKind } from '../providers/wire-format.ts'
import type { SocketRow } from '../providers/socket-row.ts'
import { isObject, mergeFindings, type Usage } from '../usage/usage.ts'
import { FramePump, type PumpSink } from './frame-pump.ts'
import { PieceBatch } from './piece-batch.ts'
import { oncePerRow, SignScan, SignTable } from './signs.ts'
import type { SocketRows } from './socket-rows.ts'

type ServerSign = 'begins' | 'ends' | 'fails'

/** Events of the provider's side for its session. */
export interface UpstreamListener {
  /** A response without a row has begun. */
  onUnpaid(): void
  /** The bytes are not WebSocket frames. */
  onUpstreamBroken(error: FrameError): void
  /** The provider has sent a close frame, which has been forwarded. */
  onUpstreamCloseFrame(): void
  onUpstreamEnd(): void
  onUpstreamGone(): void
  onUpstreamDrain(): void
}

const tableOf = oncePerRow<SignTable<ServerSign>>(
  ({ begins, ends, fails, responseId, usage }) =>
    new SignTable(
      { begins, ends, fails },
      [responseId, usage].filter((place) => place !== undefined),
    ),
)

/** Whether a message begins with this frame. */
const isFirst = ({ opcode }: FrameHead): boolean =>
  opcode === OPCODE.text || opcode === OPCODE.binary

/** Reads the frames of the provider. One per socket. */
export class UpstreamSide implements RawReader, PumpSink {
  readonly pump: FramePump
  readonly #client: RawConnection
  readonly #row: SocketRow
  readonly #kind: UsageKind
  readonly #rows: SocketRows
  readonly #listener: UpstreamListener
  readonly #table: SignTable<ServerSign>
  #frame: FrameHead | null = null
  /** Bytes that have been read and not sent. */
  readonly #read = new PieceBatch()
  /** Bytes that have been read and not counted. */
  #readBytes = 0
  /** The current message; null if it is not read. */
  #scan: SignScan<ServerSign> | null = null
  /** The name of the current response of a provider that does not name it. */
  #unnamed = 0
  #isUnderWay = false
  #awaitsDrain = false
  #isClosed = false
  #onBoundary: (() => void) | null = null

  constructor(
    upstream: RawConnection,
    client: RawConnection,
    row: SocketRow,
    kind: UsageKind,
    rows: SocketRows,
    owner: () => Owner,
    listener: UpstreamListener,
  ) {
    this.#client = client
    this.#row = row
    this.#kind = kind
    this.#rows = rows
    this.#listener = listener
    this.#table = tableOf(row)
    this.pump = new FramePump(upstream, this, false, owner)
  }

  /** Calls `then` when only whole messages have been sent to the client: now, or soon. */
  atBoundary(then: () => void): void {
    if (!this.pump.frames.isBetweenMessages) return void (this.#onBoundary = then)
    this.#flush()
    then()
  }

  onClientDrain(): void {
    if (!this.#awaitsDrain) return
    this.#awaitsDrain = false
    this.pump.unblock()
  }

  onData(bytes: Buffer): void {
    this.pump.push(bytes)
  }
  onEnd(): void {
    this.pump.whenRead(() => this.#listener.onUpstreamEnd())
  }
  onClose(): void {
    this.pump.whenRead(() => this.#listener.onUpstreamGone())
  }
  onDrain(): void {
    this.#listener.onUpstreamDrain()
  }
  onShutdown(): void {}

  onWholeFrame(frame: FrameHead, raw: Buffer, at: number): void {
    // Most messages arrive whole and contain no sign, which a search of their bytes shows.
    const isMessage = frame.isFinal && isFirst(frame)
    if (!isMessage || this.#table.isMarked(raw)) {
      this.onFrame(frame, raw.subarray(0, at))
      if (frame.length > 0) this.onPayload(raw.subarray(at))
    } else {
      this.#frame = frame
      this.#scan = null
      this.#keep(raw)
    }
    this.onFrameEnd()
  }

  onFrame(frame: FrameHead, raw: Buffer): void {
    this.#frame = frame
    this.#keep(raw)
    if (isFirst(frame)) this.#scan = null
  }

  onPayload(raw: Buffer): void {
    this.#keep(raw)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a payload follows the head of its frame
    if (this.#frame!.opcode >= OPCODE.close) return
    this.#scan ??= new SignScan(this.#table)
    this.#scan.write(raw)
  }

  onFrameEnd(): void {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a payload follows the head of its frame
    const { opcode, isFinal } = this.#frame!
    if (opcode === OPCODE.close) {
      this.#flush()
      this.pump.stop()
      return this.#listener.onUpstreamCloseFrame()
    }
    if (opcode >= OPCODE.close || !isFinal) return
    const scan = this.#scan
    this.#scan = null
    if (scan !== null) this.#meter(scan)
    if (this.#onBoundary === null || this.#isClosed) return
    this.#flush()
    this.#onBoundary()
  }

  onPause(): void {
    this.#flush()
  }

  onError(error: FrameError): void {
    this.#flush()
    this.#listener.onUpstreamBroken(error)
  }

  /** The session has ended: stops sending to the client. */
  close(): void {
    this.#isClosed = true
    this.pump.stop()
    this.#read.clear()
  }

  #meter(scan: SignScan<ServerSign>): void {
    scan.end()
    // The message that ends a response belongs to it.
    this.#count()
    const usage = this.#usageIn(scan)
    if (scan.found.has('fails')) this.#rows.fail()
    if (scan.found.has('begins')) {
      if (!this.#begin(scan)) return this.#listener.onUnpaid()
    } else if (scan.found.has('ends') && !this.#isUnderWay && this.#row.responseId === undefined) {
      // It has ended without a sign of its beginning; for example, an input was transcribed.
      if (!this.#begin(scan)) return this.#listener.onUnpaid()
    }
    if (this.#row.counts === 'minutes') {
      if (usage !== null) this.#rows.add(usage)
    } else if (scan.found.has('ends')) {
      this.#isUnderWay = false
      this.#rows.end(this.#idOf(scan), usage, this.#row.responseId === undefined)
    } else if (usage !== null) this.#rows.note(usage)
  }

  #begin(scan: SignScan<ServerSign>): boolean {
    if (!this.#isUnderWay) this.#unnamed++
    this.#isUnderWay = true
    return this.#rows.begin(this.#idOf(scan))
  }

  #idOf(scan: SignScan<ServerSign>): string {
    return scan.text(this.#row.responseId) ?? String(this.#unnamed)
  }

  #usageIn(scan: SignScan<ServerSign>): Usage | null {
    const { usage: place } = this.#row
    const usage = place === undefined ? undefined : scan.values.get(place)
    return isObject(usage) ? mergeFindings([{ place: 'usage', usage }], this.#kind) : null
  }

  #keep(raw: Buffer): void {
    this.#read.add(raw)
    this.#readBytes += raw.length
  }

  #count(): void {
    this.#rows.countDown(this.#readBytes)
    this.#readBytes = 0
  }

  #flush(): void {
    if (this.#isClosed || this.#read.bytes === 0) return
    const bytes = this.#read.take()
    this.#count()
    if (this.#client.write(bytes) || this.#awaitsDrain) return
    this.#awaitsDrain = true
    this.pump.block()
  }
}
