// Decodes a compressed request body, for looking at only: what goes upstream is what came.
import { promisify } from 'node:util'
import { brotliDecompress, crc32, inflate, inflateRaw, type InputType, zstdDecompress } from 'node:zlib'

/** What the decoders say with `info: true`, which their types leave out: how many bytes of the input were one whole stream. */
type Decoder = (input: InputType, options: { maxOutputLength: number; info: true }) => Promise<{ buffer: Buffer; engine: { bytesWritten: number } }>

/** TABLE of decoders. A map, because callers name what they like: an object knows a `constructor` too. */
const DECODERS: ReadonlyMap<string, (body: Buffer, limit: number) => Promise<Buffer | null>> = new Map([
  ['identity', (body: Buffer) => Promise.resolve(body)],
  ['gzip', decodeGzip],
  ['x-gzip', decodeGzip],
  ['deflate', whole(inflate)],
  ['br', whole(brotliDecompress)],
  ['zstd', whole(zstdDecompress)],
])

/**
 * The decoded body, or null when it is in no known encoding, broken, larger than `limit` bytes, or not exactly one compressed
 * stream: servers disagree about what follows the first one (RFC 9110 §8.4).
 */
export async function decodeBody(body: Buffer, encoding: string, limit: number): Promise<Buffer | null> {
  const decode = DECODERS.get(encoding.trim().toLowerCase())
  if (!decode) return null
  try {
    return await decode(body, limit)
  } catch {
    return null
  }
}

/** One stream and nothing behind it. */
function whole(decoder: typeof inflate | typeof brotliDecompress | typeof zstdDecompress): (body: Buffer, limit: number) => Promise<Buffer | null> {
  const run = promisify(decoder) as unknown as Decoder
  return async (body, limit) => {
    const { buffer, engine } = await run(body, { maxOutputLength: limit, info: true })
    return engine.bytesWritten === body.length ? buffer : null
  }
}

/** One gzip member (RFC 1952), header and trailer read here, because Node's own decoder joins several members silently. */
async function decodeGzip(body: Buffer, limit: number): Promise<Buffer | null> {
  if (body.length < 18 || body[0] !== 0x1f || body[1] !== 0x8b || body[2] !== 8) return null
  const flags = body[3]!
  let at = 10
  if (flags & 4) at += 2 + body.readUInt16LE(at)
  for (const flag of [8, 16]) {
    if (!(flags & flag)) continue
    const end = body.indexOf(0, at)
    if (end < 0) return null
    at = end + 1
  }
  if (flags & 2) at += 2
  const run = promisify(inflateRaw) as unknown as Decoder
  const { buffer, engine } = await run(body.subarray(at), { maxOutputLength: limit, info: true })
  const trailer = at + engine.bytesWritten
  if (trailer + 8 !== body.length) return null
  return body.readUInt32LE(trailer) === crc32(buffer) && body.readUInt32LE(trailer + 4) === buffer.length % 2 ** 32 ? buffer : null
}
