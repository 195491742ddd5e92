// Reads archives in browsers and workers: bytes of a Blob, inflated by the platform.
import { checkRange, type ByteSource } from '../archive/byte-source.ts'
import { crc32 } from '../archive/crc32.ts'
import { METHOD } from '../archive/format.ts'
import { InvalidArchive } from '../archive/invalid-archive.ts'
import type { ZipEntry } from '../archive/layout.ts'

/** The bytes of a Blob, read on demand. */
export function blobSource(blob: Blob): ByteSource {
  return {
    size: blob.size,
    async read(offset, length) {
      checkRange(blob.size, offset, length)
      return new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer())
    },
  }
}

/**
 * The whole content of an entry.
 *
 * @throws InvalidArchive if it differs from the declared content
 */
export async function readEntry(source: ByteSource, entry: ZipEntry): Promise<Uint8Array> {
  const packed = await source.read(entry.dataAt, entry.packedSize)
  const content =
    entry.method === METHOD.deflated
      ? new Uint8Array(
          await (await inflate(new Blob([new Uint8Array(packed)]), entry)).arrayBuffer(),
        )
      : packed
  if (crc32(content) !== entry.crc) throw new InvalidArchive('crc', { name: entry.path })
  return content
}

/** The content of an entry as `readEntry` gives it, in one piece. */
export async function* streamEntry(
  source: ByteSource,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array> {
  yield await readEntry(source, entry)
}

/** Bytes of a part that are read into memory at a time. */
const PIECE_BYTES = 4 * 1024 * 1024

/**
 * The content of an archive inside an archive, as a Blob, because browsers keep large ones outside
 * memory.
 */
export async function partOf(archive: Blob, part: ZipEntry): Promise<Blob> {
  const packed = archive.slice(part.dataAt, part.dataAt + part.packedSize)
  const content = part.method === METHOD.deflated ? await inflate(packed, part) : packed
  let crc = 0
  for (let at = 0; at < content.size; at += PIECE_BYTES)
    crc = crc32(new Uint8Array(await content.slice(at, at + PIECE_BYTES).arrayBuffer()), crc)
  if (crc !== part.crc) throw new InvalidArchive('crc', { name: part.path })
  return content
}

/** Inflates an entry's content, and never more than its declared size. */
async function inflate(packed: Blob, { path, size }: ZipEntry): Promise<Blob> {
  const facts = { name: path, n: size }
  let done = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      done += piece.length
      if (done > size) throw new InvalidArchive('longer_than_declared', facts)
      controller.enqueue(piece)
    },
  })
  const inflated = packed.stream().pipeThrough(new DecompressionStream('deflate-raw'))
  try {
    const content = await new Response(inflated.pipeThrough(counted)).blob()
    if (content.size === size) return content
  } catch (error) {
    throw error instanceof InvalidArchive ? error : new InvalidArchive('damaged_data', facts)
  }
  throw new InvalidArchive('shorter_than_declared', facts)
}
