// Advisory locks by name.
import { crc32 } from 'node:zlib'

/**
 * Sets our locks apart from those of other programs in the same database: the upper half of their
 * numbers ("Toll").
 */
const SPACE = 0x546f6c6cn

/** The number of a lock, as SQL. Two names may share one, which costs a wait and nothing else. */
export function lockNumber(name: string): string {
  return String((SPACE << 32n) | BigInt(crc32(name)))
}
