// Which bytes of a ZIP archive a conversion needs, decided while the archive streams by, before its
// directory is known.
import { FIELD, FLAG, SATURATED, SIGNATURE, SIZE } from './format.ts'
import type { ZipEntry } from './layout.ts'

/** Bytes to keep, and their offset in the archive. */
export interface NeededRange {
  readonly at: number
  readonly bytes: Uint8Array
}

/** Bytes that are not kept: from `from` to `to` (exclusive). */
export interface SkippedRange {
  readonly from: number
  readonly to: number
}

/**
 * The first bytes of every entry's data are kept, because skipping less than a block of the file
 * system saves nothing.
 */
const KEPT_HEAD_BYTES = 4096

const DESCRIPTOR = Buffer.from('PK\x07\x08', 'latin1')
/** Bytes of a data descriptor's longest form (APPNOTE 4.3.9) and the signature after it. */
const DESCRIPTOR_AND_NEXT = 24 + 4

/** How much of a piece is appended to bytes that waited for it: enough for most headers. */
const JOINT_BYTES = 1024
const EMPTY: Buffer = Buffer.alloc(0)

/** The kind of the next bytes. */
type State =
  | { readonly in: 'header' }
  /** Data of an entry. `end` is unknown if a descriptor follows the data. */
  | {
      readonly in: 'data'
      readonly from: number
      readonly end: number | undefined
      readonly isNeeded: boolean
    }
  /** The directory, or anything that this reader does not recognize. */
  | { readonly in: 'rest' }

const HEADER: State = { in: 'header' }
const REST: State = { in: 'rest' }

/** One decision: the bytes up to `to` are kept or skipped, and `state` follows. */
interface Step {
  readonly to: number
  readonly isKept: boolean
  readonly state: State
}

/**
 * Follows the entries of an archive by their own headers. Notion does not write sizes there: such
 * data ends where a descriptor with its length and another header follow. From the first bytes that
 * are not recognized, everything is kept.
 *
 * Skipping is a guess that only the directory can confirm (`skipsOnlyUnneeded`).
 */
export class NeededRanges {
  /** In the order of the archive; adjacent ranges are merged. */
  readonly skipped: SkippedRange[] = []
  readonly #isNeeded: (path: string) => boolean
  #state: State = HEADER
  /** Bytes that could not be decided yet. */
  #waiting = EMPTY
  /** The offset of the first undecided byte. */
  #at = 0

  /**
   * @param isNeeded whether the data of an entry is needed, by its path; may depend only on the
   *   path's ASCII characters
   */
  constructor(isNeeded: (path: string) => boolean) {
    this.#isNeeded = isNeeded
  }

  /**
   * Reads the next bytes of the archive.
   *
   * @returns the ranges of them, and of earlier ones, to keep
   */
  *next(piece: Uint8Array): Generator<NeededRange> {
    let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    while (this.#waiting.length > 0 && rest.length > JOINT_BYTES) {
      yield* this.#decide(Buffer.concat([this.#waiting, rest.subarray(0, JOINT_BYTES)]))
      const isOfPiece = this.#waiting.length <= JOINT_BYTES
      rest = rest.subarray(isOfPiece ? JOINT_BYTES - this.#waiting.length : JOINT_BYTES)
      if (isOfPiece) this.#waiting = EMPTY
    }
    yield* this.#decide(this.#waiting.length === 0 ? rest : Buffer.concat([this.#waiting, rest]))
  }

  /** The archive has ended. @returns the bytes that waited, all of which are kept */
  *last(): Generator<NeededRange> {
    if (this.#waiting.length > 0) yield { at: this.#at, bytes: this.#waiting }
  }

  /** Decides about all undecided bytes; those that need more bytes wait. */
  *#decide(bytes: Buffer): Generator<NeededRange> {
    const start = this.#at
    let at = 0
    let keptFrom = 0
    for (;;) {
      const { to, isKept, state } = this.#step(bytes, at, start)
      if (to === at && state === this.#state) break
      this.#state = state
      if (!isKept && to > at) {
        if (at > keptFrom) yield { at: start + keptFrom, bytes: bytes.subarray(keptFrom, at) }
        this.#skip(start + at, start + to)
        keptFrom = to
      }
      at = to
    }
    if (at > keptFrom) yield { at: start + keptFrom, bytes: bytes.subarray(keptFrom, at) }
    this.#waiting = bytes.subarray(at)
    this.#at = start + at
  }

  #skip(from: number, to: number): void {
    const before = this.skipped.at(-1)
    if (before?.to === from) this.skipped[this.skipped.length - 1] = { from: before.from, to }
    else this.skipped.push({ from, to })
  }

  /**
   * @param start the offset of `bytes` in the archive
   * @returns the same offset and state if more bytes are needed
   */
  #step(bytes: Buffer, at: number, start: number): Step {
    const state = this.#state
    if (state.in === 'header') return this.#header(bytes, at, start)
    if (state.in === 'rest') return { to: bytes.length, isKept: true, state }
    const here = start + at
    const headEnd = state.isNeeded ? Infinity : state.from + KEPT_HEAD_BYTES
    const isKept = here < headEnd
    const most = Math.min(bytes.length, isKept ? headEnd - start : Infinity)
    if (state.end !== undefined) {
      const to = Math.min(most, state.end - start)
      return { to, isKept, state: start + to === state.end ? HEADER : state }
    }
    const end = findDescriptor(bytes, at, here - state.from)
    if (end.length > 0 && end.at === at) return { to: at + end.length, isKept: true, state: HEADER }
    return { to: Math.max(at, Math.min(most, end.at)), isKept, state }
  }

  #header(bytes: Buffer, at: number, start: number): Step {
    const wait = { to: at, isKept: true, state: HEADER }
    if (bytes.length - at < SIZE.local) return wait
    if (bytes.readUInt32LE(at) !== SIGNATURE.local) return { ...wait, state: REST }
    const nameAt = at + SIZE.local
    const extraAt = nameAt + bytes.readUInt16LE(at + 26)
    const dataAt = extraAt + bytes.readUInt16LE(at + 28)
    if (bytes.length < dataAt) return wait
    const packedSize = bytes.readUInt32LE(at + 18)
    if (packedSize === SATURATED.uint32) return { ...wait, state: REST }
    const path = bytes.toString('latin1', nameAt, extraAt)
    const isNeeded = this.#isNeeded(path) || hasUnicodePath(bytes.subarray(extraAt, dataAt))
    const from = start + dataAt
    const hasDescriptor =
      (bytes.readUInt16LE(at + 6) & FLAG.descriptor) !== 0 && !path.endsWith('/')
    return {
      to: dataAt,
      isKept: true,
      state: { in: 'data', from, end: hasDescriptor ? undefined : from + packedSize, isNeeded },
    }
  }
}

/** Whether a field may give another name than the header; that name decides instead. */
function hasUnicodePath(extra: Buffer): boolean {
  return extra.includes(Buffer.from([FIELD.unicodePath & 0xff, FIELD.unicodePath >>> 8]))
}

/**
 * Looks for the descriptor that ends an entry's data.
 *
 * @param before how much of the data is before `from`
 * @returns its offset and length; without a length, the offset before which there is certainly none
 */
function findDescriptor(
  bytes: Buffer,
  from: number,
  before: number,
): { at: number; length: number } {
  const certain = bytes.length - DESCRIPTOR_AND_NEXT
  for (
    let at = bytes.indexOf(DESCRIPTOR, from);
    at >= 0 && at <= certain;
    at = bytes.indexOf(DESCRIPTOR, at + 1)
  ) {
    const size = before + at - from
    if (Number(bytes.readBigUInt64LE(at + 8)) === size && isHeader(bytes, at + 24))
      return { at, length: 24 }
    if (bytes.readUInt32LE(at + 8) === size && isHeader(bytes, at + 16)) return { at, length: 16 }
  }
  return { at: certain + 1, length: 0 }
}

function isHeader(bytes: Buffer, at: number): boolean {
  const signature = bytes.readUInt32LE(at)
  return signature === SIGNATURE.local || signature === SIGNATURE.central
}

/**
 * Whether only unneeded entries' data was skipped. Only then are the kept bytes enough to check and
 * convert the archive.
 */
export function skipsOnlyUnneeded(
  skipped: readonly SkippedRange[],
  entries: readonly ZipEntry[],
  isNeeded: (path: string) => boolean,
): boolean {
  const unneeded = entries.filter(({ path }) => !isNeeded(path)).sort((a, b) => a.dataAt - b.dataAt)
  let index = 0
  return skipped.every(({ from, to }) => {
    let entry = unneeded[index]
    while (entry !== undefined && entry.dataAt + entry.packedSize < to) entry = unneeded[++index]
    return entry !== undefined && entry.dataAt <= from
  })
}
