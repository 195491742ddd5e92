// What all readers of a body have in common.
import type { InspectionError } from './inspection-error.ts'

/** Reads the bytes of a body and reports to a `Findings`. */
export interface BodyScanner {
  write(piece: Buffer): void
  /** The body is complete. @returns why it cannot be read reliably, or null */
  end(): InspectionError | null
}
