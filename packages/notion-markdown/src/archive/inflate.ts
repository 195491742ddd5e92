import { createHash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { collectUsed } from './collect-garbage.ts'
import { METHOD } from './format.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ZipEntry } from './layout.ts'
import { pieces, type ByteSource } from './byte-source.ts'

/**
 * The whole content of an entry. Memory is limited to the data and the declared size, which the
 * caller has limited. Inflates on the calling thread, because a server converts in separate
 * processes.
 *
 * @throws InvalidArchive if the data, its length or its checksum differ from the declared ones
 */
export async function readEntry(source: ByteSource, entry: ZipEntry): Promise<Uint8Array> {
  const packed = await source.read(entry.dataAt, entry.packedSize)
  const content = entry.method === METHOD.deflated ? inflate(packed, entry) : packed
  check(entry, content.length, crc32(content))
  return content
}

/**
 * The content of an entry, piece by piece. The checksum is only known after the last piece, so the
 * result is valid only if the loop ends without an error.
 *
 * @throws InvalidArchive as `readEntry`
 */
export async function* streamEntry(
  source: ByteSource,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array> {
  let size = 0
  let crc = 0
  const packed = pieces(source, entry.dataAt, entry.packedSize)
  for await (const piece of entry.method === METHOD.deflated
    ? inflatePieces(packed, entry)
    : packed) {
    size += piece.length
    if (size > entry.size)
      throw new InvalidArchive('longer_than_declared', { name: entry.path, n: entry.size })
    crc = crc32(piece, crc)
    yield piece
    collectUsed(piece.length)
  }
  check(entry, size, crc)
}

/**
 * Copies an entry's data in its packed form, and checks its content on the way.
 *
 * @returns SHA-256 of the content, hexadecimal
 * @throws InvalidArchive as `readEntry`; bytes written by then are invalid
 */
export async function copyEntry(
  source: ByteSource,
  entry: ZipEntry,
  write: (piece: Uint8Array) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256')
  const copied: ByteSource = {
    size: source.size,
    async read(offset, length) {
      const bytes = await source.read(offset, length)
      await write(bytes)
      return bytes
    },
  }
  for await (const piece of streamEntry(copied, entry)) hash.update(piece)
  return hash.digest('hex')
}

function inflate(packed: Uint8Array, entry: ZipEntry): Uint8Array {
  // One byte more than declared, so that a stream that does not stop there is noticed in the first
  // and only buffer. Zlib needs at least 64.
  const chunkSize = Math.max(entry.size + 1, 64)
  let result: { buffer: Uint8Array; engine: { bytesWritten: number } }
  try {
    // With `info`, Node returns both, which its types do not declare.
    const options = { chunkSize, maxOutputLength: Math.max(entry.size, 1), info: true }
    result = inflateRawSync(packed, options) as unknown as typeof result
  } catch (error) {
    throw zlibFault(error, entry)
  }
  checkConsumed(entry, result.engine.bytesWritten)
  return result.buffer
}

async function* inflatePieces(
  packed: AsyncIterable<Uint8Array>,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array> {
  const inflating = createInflateRaw({ chunkSize: 256 * 1024 })
  // Reading errors reach `inflating`, and leaving the loop below ends the reading.
  pipeline(Readable.from(packed), inflating, () => {})
  try {
    for await (const piece of inflating) yield piece
  } catch (error) {
    throw zlibFault(error, entry)
  }
  checkConsumed(entry, inflating.bytesWritten)
}

/** Deflate ends by itself: data after its end would be invisible to most readers. */
function checkConsumed(entry: ZipEntry, consumed: number): void {
  const n = entry.packedSize - consumed
  if (n > 0) throw new InvalidArchive('data_leftover', { name: entry.path, n })
}

function check(entry: ZipEntry, size: number, crc: number): void {
  const facts = { name: entry.path, n: entry.size }
  if (size > entry.size) throw new InvalidArchive('longer_than_declared', facts)
  if (size < entry.size) throw new InvalidArchive('shorter_than_declared', facts)
  if (crc !== entry.crc) throw new InvalidArchive('crc', facts)
}

/**
 * TABLE of zlib's errors and their meaning. Other errors (an unreadable file, no memory) pass
 * through.
 */
const ZLIB_FAULTS = {
  Z_DATA_ERROR: 'damaged_data',
  Z_NEED_DICT: 'damaged_data',
  Z_BUF_ERROR: 'truncated_data',
  ERR_BUFFER_TOO_LARGE: 'longer_than_declared',
} as const

function zlibFault(error: unknown, entry: ZipEntry): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const row = Object.entries(ZLIB_FAULTS).find(([known]) => known === code)
  return row ? new InvalidArchive(row[1], { name: entry.path, n: entry.size }) : error
}
