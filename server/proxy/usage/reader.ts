// The interface of response readers, which find usage objects, in order, and record the created
// objects if requested.
import type { Finding } from './usage.ts'

/** Reads the usage of one response. */
export interface Reader {
  /** Reads the next bytes of the decoded response. Copies what it keeps. */
  write(chunk: Buffer): void
  /** Ends the response, complete or truncated. */
  end(): void
  /** Usage objects: the first and the last ones. */
  findings(): readonly Finding[]
}

/**
 * Largest event, frame or line that is parsed as a whole, in bytes; longer ones are scanned in
 * transit.
 */
export const LARGEST_EVENT = 262_144
