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
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import { TurnBudget } from '../../common/fairness/turn-budget.ts'
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
/** Names of no coding: `identity`, and others that servers write although nothing is encoded. */
const NOT_ENCODED: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8', 'utf8'])

/** A body's codings, the last applied first; empty for none, null if one of them is unknown. */
export function codingsOf(headers: readonly string[]): readonly string[] | null {
  const named = valuesOf(headers, 'content-encoding').join(',')
  if (named === '') return NONE
  const codings = named
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => !NOT_ENCODED.has(coding))
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

/** Maximum bytes that are read from a decoder at once: they may be a hundred events with usage. */
const PIECE = 4 * 1024
/** The cost of a piece in addition to its bytes, in bytes: a small one takes a few microseconds. */
const PIECE_COST = 512
/**
 * The pieces of all bodies that are read in one turn of the event loop: a few kilobytes may decode
 * to gigabytes, and each response of a key may.
 */
const turns = new TurnBudget(2 * PIECE)

/** Maximum bytes that may wait for a decoder, rather than unbounded memory. */
const MAX_WAITING = 8 * 1024 * 1024
/**
 * A decoder may produce this many bytes, and in addition this many for each byte of the body; more
 * is a bomb. Events and JSON compress to a fiftieth at most.
 */
const FREE_BYTES = 16 * 1024 * 1024
const MAX_RATIO = 64

/** One decoder of a chain. */
interface Stage {
  readonly decoder: Transform
  /** Bytes that it has produced. */
  produced: number
  /** Whether a piece of it waits to be read. */
  isWaiting: boolean
}

/**
 * A chain of decoders for one body. If the body is truncated or malformed, they produce the part
 * that they could decode; of one that decodes to far more than is plausible, the beginning.
 */
export class Decoding {
  readonly #codings: readonly string[]
  readonly #owner: Owner
  readonly #onData: (bytes: Buffer) => void
  readonly #onEnd: () => void
  /** Each is created when its first byte arrives. */
  readonly #stages: Stage[] = []
  #encoded = 0
  #over = false
  /** Whether the body is malformed or truncated, or was not decoded to its end. */
  hasFailed = false

  /**
   * @param codings as returned by `codingsOf`
   * @param owner the owner in whose turns decoded bytes are read
   * @param onData receives decoded bytes, asynchronously
   * @param onEnd called once, after the last bytes
   */
  constructor(
    codings: readonly string[],
    owner: Owner,
    onData: (bytes: Buffer) => void,
    onEnd: () => void,
  ) {
    this.#codings = codings
    this.#owner = owner
    this.#onData = onData
    this.#onEnd = onEnd
  }

  /** Takes the next bytes, which it keeps. */
  write(bytes: Buffer): void {
    this.#encoded += bytes.length
    this.#feed(0, bytes)
  }

  end(): void {
    this.#endStage(0)
  }

  /** Stops decoding. */
  stop(): void {
    for (const { decoder } of this.#stages) decoder.destroy()
    this.#finish()
  }

  #feed(at: number, bytes: Buffer): void {
    if (this.#over || bytes.length === 0) return
    if (at === this.#codings.length) return this.#onData(bytes)
    const { decoder } = (this.#stages[at] ??= this.#createStage(at, bytes[0] ?? 0))
    if (decoder.destroyed || decoder.writableEnded) return
    decoder.write(bytes)
    if (decoder.writableLength > MAX_WAITING) this.#giveUp()
  }

  #createStage(at: number, first: number): Stage {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- codingsOf gives known codings only
    const decoder = CODINGS.get(this.#codings[at]!)!.stream(first)
    const stage: Stage = { decoder, produced: 0, isWaiting: false }
    const next = (): void => this.#endStage(at + 1)
    decoder
      .on('readable', () => this.#schedule(at, stage))
      .on('end', next)
      .on('error', () => {
        this.hasFailed = true
        for (;;) {
          const rest = decoder.read() as Buffer | null
          if (rest === null) break
          this.#feed(at + 1, rest)
        }
        next()
      })
      .on('close', next)
    return stage
  }

  /** Reads a piece from a decoder, at once unless enough has been read in this turn. */
  #schedule(at: number, stage: Stage): void {
    if (stage.isWaiting) return
    if (!turns.isBusy) return this.#read(at, stage)
    stage.isWaiting = true
    turns.defer(
      this.#owner,
      () => {
        stage.isWaiting = false
        this.#read(at, stage)
      },
      0,
    )
  }

  #read(at: number, stage: Stage): void {
    const { decoder } = stage
    const piece = decoder.read(Math.min(decoder.readableLength, PIECE)) as Buffer | null
    if (piece === null) return
    turns.spend(PIECE_COST + piece.length)
    stage.produced += piece.length
    if (stage.produced > FREE_BYTES + MAX_RATIO * this.#encoded) return this.#giveUp()
    this.#feed(at + 1, piece)
    if (decoder.destroyed) return
    if (decoder.readableLength > 0) this.#schedule(at, stage)
    // Makes an ended decoder say so.
    else decoder.read(0)
  }

  #giveUp(): void {
    this.hasFailed = true
    this.stop()
  }

  /** Ends the input of a stage. Ending it twice does nothing. */
  #endStage(at: number): void {
    const decoder = this.#stages[at]?.decoder
    if (decoder === undefined) this.#finish()
    else if (!decoder.destroyed && !decoder.writableEnded) decoder.end()
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#onEnd()
  }
}
