// Waits for a condition.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Resolves as soon as `holds` returns true; rejects after a timeout.
 *
 * @param within the timeout, in milliseconds
 * @param pause milliseconds between two calls of `holds`; more if each sends a request
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  within = 30_000,
  pause = 10,
): Promise<void> {
  const end = performance.now() + within
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it never came true: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
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
