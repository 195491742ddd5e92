// Takes the content codings off a response's body (RFC 9110, section 8.4).
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
  /** Decodes a body as it comes. */
  readonly stream: (first: number) => Transform
  /**
   * Decodes a whole body, in a thread of its own. Rejects where it is malformed, or longer than
   * `maxOutputLength`.
   */
  readonly whole: (body: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>
}

const GZIP: Coding = { stream: () => createGunzip(), whole: promisify(gunzip) }
/**
 * Some servers leave out the header of zlib (RFC 9110, section 8.4.1.2); its first byte has an 8 in
 * the lower half (RFC 1950).
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

/**
 * A body's codings, the one that was put on last first; empty for none, null where one of them is
 * not known.
 */
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
 * A whole body without its codings; null where it is malformed, cut off, or decoded longer than
 * `most` bytes.
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
 * One body's decoders, one after the other. If it is truncated or malformed, they give the part
 * that they could decode.
 */
export class Decoding {
  readonly #codings: readonly string[]
  readonly #onData: (bytes: Buffer) => void
  readonly #onEnd: () => void
  /** Each is made when its first byte comes. */
  readonly #stages: Transform[] = []
  #over = false
  /** Whether the body is malformed or cut off. */
  hasFailed = false

  /**
   * @param codings as `codingsOf` gives them
   * @param onData takes decoded bytes, later than they were written
   * @param onEnd called once, when nothing more comes
   */
  constructor(codings: readonly string[], onData: (bytes: Buffer) => void, onEnd: () => void) {
    this.#codings = codings
    this.#onData = onData
    this.#onEnd = onEnd
  }

  /** Bytes that wait to be decoded. */
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

  /** Decodes nothing more. */
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

  /** Nothing more comes to a stage. Ending one twice does nothing. */
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
