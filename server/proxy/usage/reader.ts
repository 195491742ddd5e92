// What every reader of an answer gives: usage objects in their order. What the answer created it
// notes where it is told to.
import type { Finding } from './usage.ts'

/** Reads one kind of answer. One per response. */
export interface Reader {
  /** Takes the next bytes of the decoded answer. Copies what it keeps. */
  write(chunk: Buffer): void
  /** Ends the answer, whole or cut off. */
  end(): void
  /** Usage objects: the first, and the last ones. */
  findings(): readonly Finding[]
}

/**
 * Largest event, frame or line that is looked at as a whole, in bytes; longer ones are scanned as
 * they pass.
 */
export const LARGEST_EVENT = 262_144
