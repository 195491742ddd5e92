// Advisory locks by name.
import { crc32 } from 'node:zlib'

/**
 * The upper half of our locks' numbers ("Toll"), which separates them from other programs' locks in
 * the same database.
 */
const SPACE = 0x546f6c6cn

/** The number of a lock, as SQL. If two names share one, that only costs a wait. */
export function lockNumber(name: string): string {
  return String((SPACE << 32n) | BigInt(crc32(name)))
}
