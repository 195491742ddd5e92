// The frames of a WebSocket (RFC 6455, section 5), read from whatever pieces the connection
// delivers and written for a client or a server. Extensions are never negotiated, so no reserved
// bit is set.
import { randomBytes } from 'node:crypto'

/** The type of a frame (section 5.2). */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Why a connection is closed (section 7.4.1, and IANA's registry). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  noStatus: 1005,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  tryAgain: 1013,
  badGateway: 1014,
} as const

/** The head of a frame. */
export interface FrameHead {
  readonly opcode: number
  readonly isFinal: boolean
  /** Of the payload, in bytes. */
  readonly length: number
  /** The mask, as a 32-bit number of its bytes in little-endian order; null where there is none. */
  readonly mask: number | null
}

/** Receives frames. */
export interface FrameSink {
  /** @param raw the bytes of the head as received */
  onFrame(head: FrameHead, raw: Buffer): void
  /** A part of the payload as received. @param at where it begins in the payload */
  onPayload(raw: Buffer, at: number): void
  onFrameEnd(): void
  /**
   * Called instead of the other three for a frame that arrived whole, as most do. If missing, such
   * frames are reported in parts, too.
   * @param raw the frame with its head @param at where its payload begins
   */
  onWholeFrame?(head: FrameHead, raw: Buffer, at: number): void
}

/**
 * The bytes are not valid frames, or not allowed here. The message is the reason of a close frame.
 */
export class FrameError extends Error {
  /** The code to close with. */
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const [FIN, RESERVED, OPCODE_BITS, MASKED, LENGTH_BITS] = [0x80, 0x70, 0x0f, 0x80, 0x7f]
const [LENGTH_16, LENGTH_64] = [126, 127]
const MAX_CONTROL_BYTES = 125
const MAX_HEAD_BYTES = 14
const MASK_BYTES = 4
const NO_BYTES = Buffer.alloc(0)

/** Reads the frames of one direction. It buffers at most the beginning of a frame header. */
export class FrameReader {
  readonly #sink: FrameSink
  readonly #isMasked: boolean
  #pending: Buffer = NO_BYTES
  /** The frame whose payload is being read; null between two. */
  #frame: FrameHead | null = null
  #read = 0
  /** Whether a message has begun and not ended. */
  #inMessage = false

  /**
   * @param isMasked whether frames come from a client: all of a client's must be masked, none of a
   *   server's
   */
  constructor(sink: FrameSink, isMasked: boolean) {
    this.#sink = sink
    this.#isMasked = isMasked
  }

  /** Whether the bytes so far end with a whole frame. */
  get isBetweenFrames(): boolean {
    return this.#frame === null && this.#pending.length === 0
  }

  /** Whether they end with a whole message, control frames aside. */
  get isBetweenMessages(): boolean {
    return this.isBetweenFrames && !this.#inMessage
  }

  /**
   * Reads the next bytes up to the end of a frame.
   * @param from where they begin in `bytes`
   * @returns the start of the rest; the length of `bytes` if no frame ends in it
   * @throws FrameError the connection can no longer be read
   */
  next(bytes: Buffer, from: number): number {
    let at = from
    if (this.#frame === null) {
      const whole = this.#pending.length === 0 ? this.#readWhole(bytes, from) : from
      if (whole > from) return whole
      at = this.#readHead(bytes, at)
      if (this.#frame === null) return at
    }
    const frame: FrameHead = this.#frame
    const part = Math.min(frame.length - this.#read, bytes.length - at)
    if (part > 0) this.#sink.onPayload(bytes.subarray(at, at + part), this.#read)
    this.#read += part
    at += part
    if (this.#read === frame.length) {
      this.#frame = null
      if (frame.opcode < OPCODE.close) this.#inMessage = !frame.isFinal
      this.#sink.onFrameEnd()
    }
    return at
  }

  /** Reads a frame that has arrived whole. @returns its end; `from` if it has not */
  #readWhole(bytes: Buffer, from: number): number {
    if (this.#sink.onWholeFrame === undefined) return from
    const at = from + headLength(bytes, from, this.#isMasked)
    if (at > bytes.length) return from
    const frame = this.#parseHead(bytes, from, at)
    const end = at + frame.length
    if (end > bytes.length) return from
    if (frame.opcode < OPCODE.close) this.#inMessage = !frame.isFinal
    const raw = from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end)
    this.#sink.onWholeFrame(frame, raw, at - from)
    return end
  }

  #readHead(bytes: Buffer, from: number): number {
    const had = this.#pending.length
    const rest = bytes.subarray(from, from + MAX_HEAD_BYTES - had)
    const raw = had === 0 ? rest : Buffer.concat([this.#pending, rest])
    const length = headLength(raw, 0, this.#isMasked)
    if (raw.length < length) {
      this.#pending = Buffer.from(raw)
      return from + rest.length
    }
    this.#pending = NO_BYTES
    this.#frame = this.#parseHead(raw, 0, length)
    this.#read = 0
    this.#sink.onFrame(this.#frame, raw.subarray(0, length))
    return from + length - had
  }

  /** @param end where it ends, and its payload begins */
  #parseHead(bytes: Buffer, from: number, end: number): FrameHead {
    const first = bytes.readUInt8(from)
    const opcode = first & OPCODE_BITS
    const isFinal = (first & FIN) !== 0
    const isControl = opcode >= OPCODE.close
    if (opcode > OPCODE.pong || (opcode > OPCODE.binary && !isControl))
      throw new FrameError(CLOSE.protocolError, 'A frame has an unknown opcode.')
    const length = payloadLength(bytes, from)
    if (isControl && (!isFinal || length > MAX_CONTROL_BYTES))
      throw new FrameError(CLOSE.protocolError, 'A control frame is fragmented or too long.')
    if (!isControl && this.#inMessage !== (opcode === OPCODE.continuation))
      throw new FrameError(CLOSE.protocolError, 'The fragments of a message are out of order.')
    if (opcode === OPCODE.close && length === 1)
      throw new FrameError(CLOSE.protocolError, 'The payload of a close frame is too short.')
    return {
      opcode,
      isFinal,
      length,
      mask: this.#isMasked ? bytes.readInt32LE(end - MASK_BYTES) : null,
    }
  }
}

/**
 * The length of the head that begins at `from`; 2 while that is not known.
 * @throws FrameError as soon as it is invalid
 */
function headLength(bytes: Buffer, from: number, isMasked: boolean): number {
  const came = bytes.length - from
  if (came > 0 && (bytes.readUInt8(from) & RESERVED) !== 0)
    throw new FrameError(CLOSE.protocolError, 'A frame uses an extension. None was negotiated.')
  if (came < 2) return 2
  const second = bytes.readUInt8(from + 1)
  if (((second & MASKED) !== 0) !== isMasked)
    throw new FrameError(
      CLOSE.protocolError,
      isMasked ? 'A frame of the client is not masked.' : 'A frame of the server is masked.',
    )
  const length = second & LENGTH_BITS
  const extended = length === LENGTH_64 ? 8 : length === LENGTH_16 ? 2 : 0
  return 2 + extended + (isMasked ? MASK_BYTES : 0)
}

/** @throws FrameError the length is not in its shortest form (section 5.2) */
function payloadLength(bytes: Buffer, from: number): number {
  const short = bytes.readUInt8(from + 1) & LENGTH_BITS
  if (short < LENGTH_16) return short
  const at = from + 2
  const length =
    short === LENGTH_16
      ? bytes.readUInt16BE(at)
      : bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
  if (length < LENGTH_16 || (short === LENGTH_64 && length < 65_536))
    throw new FrameError(CLOSE.protocolError, 'The length of a frame has leading zeros.')
  if (!Number.isSafeInteger(length)) throw new FrameError(CLOSE.tooBig, 'A frame is too long.')
  return length
}

/** A mask rotated to begin with its byte `at`, for a part of a payload. */
const turned = (mask: number, at: number): number => {
  const bits = 8 * (at % MASK_BYTES)
  // A shift by 32 bits would be a shift by 0.
  return (mask >>> bits) | (mask << (32 - bits))
}

/**
 * Takes the mask off a part of a payload, or puts it on, in place (section 5.3).
 * @param mask as in a head
 * @param at where the part begins in the payload
 */
export function applyMask(bytes: Buffer, mask: number, at: number): void {
  const { length } = bytes
  // Four bytes per step, from the first multiple of four, in little-endian order, as on every
  // machine that runs Node.
  const first = Math.min(-bytes.byteOffset & 3, length)
  const count = (length - first) >> 2
  applyBytes(bytes, mask, at, 0, first)
  if (count > 0) {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset + first, count)
    const word = turned(mask, at + first)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- words below the length, on the data path
    for (let i = 0; i < count; i++) words[i]! ^= word
  }
  applyBytes(bytes, mask, at, first + count * 4, length)
}

function applyBytes(bytes: Buffer, mask: number, at: number, from: number, to: number): void {
  for (let i = from; i < to; i++)
    // oxlint-disable-next-line typescript/no-non-null-assertion -- bytes below the length, on the data path
    bytes[i]! ^= mask >>> (8 * ((at + i) % MASK_BYTES))
}

/** The bytes of a head; for one that was read, the same as were received. */
export function headBytes({ opcode, isFinal, length, mask }: FrameHead): Buffer {
  const extended = length < LENGTH_16 ? 0 : length < 65_536 ? 2 : 8
  const head = Buffer.allocUnsafe(2 + extended + (mask === null ? 0 : MASK_BYTES))
  head[0] = (isFinal ? FIN : 0) | opcode
  head[1] =
    (mask === null ? 0 : MASKED) |
    (extended === 0 ? length : extended === 2 ? LENGTH_16 : LENGTH_64)
  if (extended === 2) head.writeUInt16BE(length, 2)
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2)
  if (mask !== null) head.writeInt32LE(mask, 2 + extended)
  return head
}

/** A complete frame. @param isMasked whether it goes to a server */
export function frameOf(opcode: number, payload: Buffer, isMasked: boolean): Buffer {
  const mask = isMasked ? randomBytes(MASK_BYTES).readInt32LE(0) : null
  const head = headBytes({ opcode, isFinal: true, length: payload.length, mask })
  const frame = Buffer.concat([head, payload])
  if (mask !== null) applyMask(frame.subarray(head.length), mask, 0)
  return frame
}

const MAX_REASON_BYTES = MAX_CONTROL_BYTES - 2

/** A close frame; the reason is cut where it is too long. */
export function closeFrame(code: number, reason: string, isMasked: boolean): Buffer {
  let text = reason
  while (Buffer.byteLength(text) > MAX_REASON_BYTES) text = text.slice(0, -1)
  const payload = Buffer.alloc(2 + Buffer.byteLength(text))
  payload.writeUInt16BE(code, 0)
  payload.write(text, 2)
  return frameOf(OPCODE.close, payload, isMasked)
}
