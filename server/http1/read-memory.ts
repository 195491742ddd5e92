// Frees the memory of bytes read from sockets before V8 marks the whole heap for it.
//
// Each piece that is read is memory outside V8's heap. It dies young, but V8 counts it as old and
// marks the whole heap when there is too much (server/common/external-memory.ts): with bodies of
// 300 KB, that was a quarter of a request's CPU. A young collection frees the same memory in 1 to 2
// ms.
import type { Socket } from 'node:net'
import { collectGarbage } from '../common/collect-garbage.ts'

/**
 * Bytes read between two collections: half of V8's default threshold, because some pieces survive
 * one.
 */
const COLLECT_BYTES = 32 * 1024 * 1024

/**
 * Freeing a smaller piece is not worth the call: it takes 4 µs for 64 KB, where a collection takes
 * 16.
 */
const MIN_FREED_BYTES = 16 * 1024

let uncollected = 0

/** Memory of which only the end is still used, by one body. */
const bodyMemory = new WeakSet<ArrayBufferLike>()

/** Counts bytes that were read into memory of their own, and frees them now and then. */
export function countRead(bytes: number): void {
  uncollected += bytes
  if (uncollected < COLLECT_BYTES) return
  uncollected = 0
  collectGarbage({ type: 'minor', execution: 'sync' })
}

/**
 * Frees the memory of a piece that is no longer needed, without waiting for a collection: the next
 * read gets memory that is still in the CPU's caches. All views of it are empty afterwards. A part
 * of a larger buffer is left to the collector, unless {@link ownMemory} was told about it.
 */
export function freeRead(piece: Buffer): void {
  const { buffer, byteLength } = piece
  if (!isFreeable(piece) || !(buffer instanceof ArrayBuffer)) return
  uncollected = Math.max(0, uncollected - byteLength)
  // Transferring to a buffer of no bytes frees the memory
  // (https://tc39.es/ecma262/#sec-arraybuffer.prototype.transfer).
  buffer.transfer(0)
}

/**
 * Writes a piece that nothing else needs, and frees its memory once the system has taken it. After
 * a failed write, the system may still be reading it.
 *
 * @returns as `write` of a stream
 */
export function writeFreed(socket: Socket, piece: Buffer): boolean {
  if (!isFreeable(piece)) return socket.write(piece)
  return socket.write(piece, (error) => {
    if (!error) freeRead(piece)
  })
}

/** Notes that only a body needs these bytes, and that nothing needs the rest of their memory. */
export function ownMemory({ buffer, byteLength }: Buffer): void {
  if (byteLength >= MIN_FREED_BYTES) bodyMemory.add(buffer)
}

/** Whether a piece is large, and all that is still needed of its memory. */
const isFreeable = ({ buffer, byteOffset, byteLength }: Buffer): boolean =>
  byteLength >= MIN_FREED_BYTES &&
  (byteLength === buffer.byteLength ||
    (byteOffset + byteLength === buffer.byteLength && bodyMemory.has(buffer)))
