// What a row of the tables of readers is.

/** One reader with one kind of input. */
export interface Row {
  readonly name: string
  /**
   * Sizes of input, in bytes or rows: where to begin, and the largest that this reader ever gets.
   */
  readonly from: number
  readonly most: number
  /** Makes an input of this size, and gives what reads it, as often as it is called. */
  make(size: number): () => unknown
}

const MB = 1024 * 1024

/** A reader of bytes of any size. */
export const large = (name: string, make: Row['make'], most = 64 * MB): Row => ({
  name,
  from: MB / 16,
  most,
  make,
})

/**
 * A reader of what stands in the head of a request, which has 16 KB at most; a little less, so that
 * what is longer is not refused unread.
 */
export const ofHead = (name: string, make: Row['make']): Row => ({
  name,
  from: 3 * 1024,
  most: 12 * 1024,
  make,
})

/** A reader of rows. */
export const ofRows = (name: string, make: Row['make'], most = 1_000_000): Row => ({
  name,
  from: 250,
  most,
  make,
})

/** `unit` over and over, as many bytes as wanted. */
export const fill = (unit: string, size: number): string =>
  unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

/** Bytes as a socket delivers them. */
export function* split(bytes: Buffer, size = 64 * 1024): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
