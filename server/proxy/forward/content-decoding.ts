// Decodes the content codings of a response's body (RFC 9110, section 8.4).
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzip,
  inflate,
  inflateRaw,
  zstdDecompress,
} from 'node:zlib'
import { valuesOf } from '../../http1/header-fields.ts'

interface Coding {
  /** Decodes a body as it arrives. */
  readonly stream: (first: number) => Transform
  /**
   * Decodes a whole body, in another thread. Rejects if it is malformed, or longer than
   * `maxOutputLength`.
   */
  readonly whole: (body: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>
}

const GZIP: Coding = { stream: () => createGunzip(), whole: promisify(gunzip) }
/**
 * Some servers omit zlib's header (RFC 9110, section 8.4.1.2), whose first byte has an 8 in its
 * lower half (RFC 1950).
 */
const hasZlibHeader = (first: number): boolean => (first & 0x0f) === 8

/** TABLE of codings. A map, because providers may send any name. */
const CODINGS: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  [
    'deflate',
    {
      stream: (first) => (hasZlibHeader(first) ? createInflate() : createInflateRaw()),
      whole: (body, limits) =>
        promisify(hasZlibHeader(body[0] ?? 0) ? inflate : inflateRaw)(body, limits),
    },
  ],
  ['br', { stream: () => createBrotliDecompress(), whole: promisify(brotliDecompress) }],
  ['zstd', { stream: () => createZstdDecompress(), whole: promisify(zstdDecompress) }],
])

/** More codings than any real body has. */
const MOST_CODINGS = 4
const NONE: readonly string[] = []

/** A body's codings, the last applied first; empty for none, null if one of them is unknown. */
export function codingsOf(headers: readonly string[]): readonly string[] | null {
  const named = valuesOf(headers, 'content-encoding').join(',')
  if (named === '') return NONE
  const codings = named
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  return codings.length <= MOST_CODINGS && codings.every((coding) => CODINGS.has(coding))
    ? codings.toReversed()
    : null
}

/**
 * A whole decoded body; null if it is malformed, truncated, or longer than `most` bytes when
 * decoded.
 */
export async function decodeWhole(
  codings: readonly string[],
  body: Buffer,
  most: number,
): Promise<Buffer | null> {
  try {
    let decoded = body
    for (const coding of codings)
      if (decoded.length > 0)
        // oxlint-disable-next-line typescript/no-non-null-assertion -- codingsOf gives known codings only
        decoded = await CODINGS.get(coding)!.whole(decoded, { maxOutputLength: most })
    return decoded
  } catch {
    return null
  }
}

/**
 * A chain of decoders for one body. If the body is truncated or malformed, they produce the part
 * that they could decode.
 */
export class Decoding {
  readonly #codings: readonly string[]
  readonly #onData: (bytes: Buffer) => void
  readonly #onEnd: () => void
  /** Each is created when its first byte arrives. */
  readonly #stages: Transform[] = []
  #over = false
  /** Whether the body is malformed or truncated. */
  hasFailed = false

  /**
   * @param codings as returned by `codingsOf`
   * @param onData receives decoded bytes, asynchronously
   * @param onEnd called once, after the last bytes
   */
  constructor(codings: readonly string[], onData: (bytes: Buffer) => void, onEnd: () => void) {
    this.#codings = codings
    this.#onData = onData
    this.#onEnd = onEnd
  }

  /** Number of bytes that wait to be decoded. */
  get waiting(): number {
    return this.#stages.reduce((sum, stage) => sum + stage.writableLength, 0)
  }

  /** Takes the next bytes, which it keeps. */
  write(bytes: Buffer): void {
    this.#feed(0, bytes)
  }

  end(): void {
    this.#endStage(0)
  }

  /** Stops decoding. */
  stop(): void {
    for (const stage of this.#stages) stage.destroy()
    this.#finish()
  }

  #feed(at: number, bytes: Buffer): void {
    if (this.#over || bytes.length === 0) return
    if (at === this.#codings.length) return this.#onData(bytes)
    let stage = this.#stages[at]
    if (stage === undefined) {
      const next = (): void => this.#endStage(at + 1)
      const fail = (): void => {
        this.hasFailed = true
        next()
      }
      // oxlint-disable-next-line typescript/no-non-null-assertion -- codingsOf gives known codings only
      stage = CODINGS.get(this.#codings[at]!)!.stream(bytes[0]!)
      stage
        .on('data', (decoded: Buffer) => this.#feed(at + 1, decoded))
        .on('end', next)
        .on('error', fail)
        .on('close', next)
      this.#stages[at] = stage
    }
    if (!stage.destroyed && !stage.writableEnded) stage.write(bytes)
  }

  /** Ends the input of a stage. Ending it twice does nothing. */
  #endStage(at: number): void {
    const stage = this.#stages[at]
    if (stage === undefined) this.#finish()
    else if (!stage.destroyed && !stage.writableEnded) stage.end()
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#onEnd()
  }
}
