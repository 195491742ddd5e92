// Waiting for what a server does in its own time.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Resolves as soon as `holds`; rejects where that has not come true after some time (in
 * milliseconds).
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  within = 30_000,
): Promise<void> {
  const end = performance.now() + within
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it never came true: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Files and folders that requests have in the scratch folder at this moment. */
export function scratchFiles(data: string): string[] {
  const scratch = join(data, 'scratch')
  return readdirSync(scratch).flatMap((instance) => readdirSync(join(scratch, instance)))
}

/** Ids of the blobs that lie in a data folder at this moment. */
export function storedFiles(data: string): string[] {
  return readdirSync(join(data, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}
