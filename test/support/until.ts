// Waits for a condition.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The longest pause between two calls, in milliseconds: a poll by a request costs 3 ms of CPU,
 * which what the test waits for then lacks.
 */
const MAX_PAUSE = 100

/**
 * Resolves once `holds` returns true; rejects after a timeout. The longer it has waited, the longer
 * it pauses: a tenth of that time.
 *
 * @param within the timeout, in milliseconds: what a busy machine may take
 * @param pause milliseconds between the first calls of `holds`
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  within = 120_000,
  pause = 10,
): Promise<void> {
  const start = performance.now()
  while (!(await holds())) {
    const waited = performance.now() - start
    if (waited > within) throw new Error(`it never came true: ${holds}`)
    const next = Math.max(pause, Math.min(waited / 10, MAX_PAUSE))
    await new Promise((resolve) => setTimeout(resolve, next))
  }
}

/** Current files and folders in the scratch folder. */
export function scratchFiles(data: string): string[] {
  const scratch = join(data, 'scratch')
  return readdirSync(scratch).flatMap((instance) => readdirSync(join(scratch, instance)))
}

/** Ids of the blobs currently in a data folder. */
export function storedFiles(data: string): string[] {
  return readdirSync(join(data, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}
