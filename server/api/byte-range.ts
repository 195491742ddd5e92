// A single byte range (RFC 9110, section 14). A request for several ranges gets the whole document,
// as section 14.2 allows.

/** A range of bytes; both ends are included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** What a Range header asks for: bytes from `first` on, or the last `suffix` bytes. */
export type AskedRange =
  | { readonly first: number; readonly last: number }
  | { readonly suffix: number }

/**
 * Reads a Range header.
 *
 * @returns null without a header, or if it is not a single byte range: then send the whole document
 */
export function askedRange(header: string | undefined): AskedRange | null {
  const [, first, last] =
    /^\s*bytes\s*=[\s,]*(\d{0,15})\s*-\s*(\d{0,15})[\s,]*$/i.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  if (first === '') return { suffix: Number(last) }
  const range = { first: Number(first), last: last === '' ? Infinity : Number(last) }
  return range.last < range.first ? null : range
}

/** Resolves a range against `size` bytes; null if it contains none of them (416). */
export function rangeWithin(asked: AskedRange, size: number): ByteRange | null {
  const start = 'suffix' in asked ? Math.max(0, size - asked.suffix) : asked.first
  const end = Math.min(size - 1, 'suffix' in asked ? Infinity : asked.last)
  return start > end ? null : { start, end }
}
