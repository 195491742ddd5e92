// Rows on their way to the store, one unit after the other. What the store takes never stands
// behind what it will not take.
import { passingTrouble } from '../../store/transient-errors.ts'

/**
 * Writes rows in their order, at most so many a unit, and takes out of `rows` what is done. A unit
 * that the store refuses for good is cut in halves, down to the rows that are refused alone: those
 * are given up.
 *
 * @param giveUp told of each; where it throws, the row stays
 * @throws what `write` threw, where that passes by itself or is about no row; what is left of
 *   `rows` is not written
 */
export async function writeInOrder<R>(
  rows: R[],
  most: number,
  write: (unit: R[]) => Promise<void>,
  giveUp: (row: R, error: unknown) => void | Promise<void>,
): Promise<void> {
  let size = most
  do {
    const unit = rows.slice(0, size)
    try {
      await write(unit)
    } catch (error) {
      const [row] = unit
      if (row === undefined || passingTrouble(error)) throw error
      if (unit.length > 1) {
        size = Math.ceil(unit.length / 2)
        continue
      }
      await giveUp(row, error)
    }
    rows.splice(0, unit.length)
    size = Math.min(2 * size, most)
  } while (rows.length > 0)
}

/**
 * How long a process that ends tries to write what it still has, and from one try to the next
 * (milliseconds).
 */
const LAST_TRIES_MS = 3_000
const LAST_TRY_EVERY_MS = 100

/**
 * Tries until a write says that nothing is left, or a process that ends has tried for long enough.
 * Says whether nothing is left.
 */
export async function tryToTheEnd(write: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + LAST_TRIES_MS
  for (;;) {
    if (await write()) return true
    if (performance.now() >= until) return false
    await new Promise((resolve) => setTimeout(resolve, LAST_TRY_EVERY_MS))
  }
}
