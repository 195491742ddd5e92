// One range of bytes (RFC 9110, section 14). Of several ranges the whole is answered, as section
// 14.2 allows.

/** A range of bytes; both ends belong to it. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** What a Range header asks for: from `first`, or the last `suffix` bytes. */
export type AskedRange =
  | { readonly first: number; readonly last: number }
  | { readonly suffix: number }

/**
 * Reads a Range header.
 *
 * @returns null where there is none, or none that is understood: then the whole is answered
 */
export function askedRange(header: string | undefined): AskedRange | null {
  const [, first, last] =
    /^\s*bytes\s*=[\s,]*(\d{0,15})\s*-\s*(\d{0,15})[\s,]*$/i.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  if (first === '') return { suffix: Number(last) }
  const range = { first: Number(first), last: last === '' ? Infinity : Number(last) }
  return range.last < range.first ? null : range
}

/** The bytes that are meant of `size`; null where none of them is there (416). */
export function rangeWithin(asked: AskedRange, size: number): ByteRange | null {
  const start = 'suffix' in asked ? Math.max(0, size - asked.suffix) : asked.first
  const end = Math.min(size - 1, 'suffix' in asked ? Infinity : asked.last)
  return start > end ? null : { start, end }
}
