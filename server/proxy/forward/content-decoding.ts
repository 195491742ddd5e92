// The content codings of a response's body (RFC 9110, section 8.4).
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
import { WorkSlots } from '../../common/fairness/work-slots.ts'
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

/** A decoder of a coding that `codingsOf` gave. @param first the first byte of the body */
export const decoderOf = (coding: string, first: number): Transform =>
  // oxlint-disable-next-line typescript/no-non-null-assertion -- codingsOf gives known codings only
  CODINGS.get(coding)!.stream(first)

/**
 * Whole bodies that are decoded at a time. Node's four threads decode them, and work for files and
 * passwords as well. These slots are not those of streams (decoding.ts), which are held for longer.
 */
const slots = new WorkSlots({ key: 2, account: 4, total: 8 })

/**
 * A whole decoded body; null if it is malformed, truncated, or longer than `most` bytes when
 * decoded. Owners take turns.
 */
export async function decodeWhole(
  codings: readonly string[],
  body: Buffer,
  most: number,
  owner: Owner,
): Promise<Buffer | null> {
  if (codings.length === 0) return body
  await new Promise<void>((resolve) => slots.acquire(owner, resolve))
  try {
    let decoded = body
    for (const coding of codings)
      if (decoded.length > 0)
        // oxlint-disable-next-line typescript/no-non-null-assertion -- codingsOf gives known codings only
        decoded = await CODINGS.get(coding)!.whole(decoded, { maxOutputLength: most })
    return decoded
  } catch {
    return null
  } finally {
    slots.release(owner)
  }
}
