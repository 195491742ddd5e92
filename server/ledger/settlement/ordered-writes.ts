// Writes rows to the store in order, batch by batch. A row that the store always rejects never
// blocks those behind it.
import { transientProblem } from '../../store/transient-errors.ts'

/**
 * Writes rows in order, at most `most` a batch, and removes them from `rows` when they are written.
 * A batch that fails permanently is halved until the failing rows are alone; these are passed to
 * `giveUp`.
 *
 * @param giveUp called for each; if it throws, the row stays
 * @throws the error of `write` if it is transient or concerns no row; the rest of `rows` is not
 *   written
 */
export async function writeInOrder<R>(
  rows: R[],
  most: number,
  write: (batch: R[]) => Promise<void>,
  giveUp: (row: R, error: unknown) => void | Promise<void>,
): Promise<void> {
  let size = most
  do {
    const batch = rows.slice(0, size)
    try {
      await write(batch)
    } catch (error) {
      const [row] = batch
      if (row === undefined || transientProblem(error)) throw error
      if (batch.length > 1) {
        size = Math.ceil(batch.length / 2)
        continue
      }
      await giveUp(row, error)
    }
    rows.splice(0, batch.length)
    size = Math.min(2 * size, most)
  } while (rows.length > 0)
}

/**
 * How long a closing process keeps trying to write, and the pause between attempts (milliseconds).
 */
const CLOSING_MS = 3_000
const CLOSING_RETRY_MS = 100

/**
 * Retries until `write` returns that nothing is left, or CLOSING_MS have passed; returns whether
 * everything was written.
 */
export async function retryUntilClosed(write: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + CLOSING_MS
  for (;;) {
    if (await write()) return true
    if (performance.now() >= until) return false
    await new Promise((resolve) => setTimeout(resolve, CLOSING_RETRY_MS))
  }
}
