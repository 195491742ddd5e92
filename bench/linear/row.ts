// The rows of the tables of readers.

/** One reader with one kind of input. */
export interface Row {
  readonly name: string
  /** Sizes of input, in bytes or rows: the first, and the largest that this reader can get. */
  readonly from: number
  readonly most: number
  /** Makes an input of this size. @returns a function that reads it, callable repeatedly */
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
 * A reader of part of a request head. Inputs stay below the limit of 16 KB, so that they are not
 * refused unread.
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

/** Repeats `unit` to this size. */
export const fill = (unit: string, size: number): string =>
  unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

/** Bytes as a socket delivers them. */
export function* split(bytes: Buffer, size = 64 * 1024): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
