// The source map as a separate file: a JSON array, written page by page.
import { open } from 'node:fs/promises'
import type { SourceRange } from '../source-map.ts'

/** Writes the ranges of one page. */
export type WriteRanges = (ranges: readonly SourceRange[]) => Promise<void>

/**
 * Runs `use` with the writer of the source map.
 *
 * @param path the new file; undefined if not requested
 */
export async function withSourceMap(
  path: string | undefined,
  use: (write: WriteRanges | undefined) => Promise<void>,
): Promise<void> {
  if (path === undefined) return use(undefined)
  await using file = await open(path, 'wx', 0o600)
  let separator = '['
  await use(async (ranges) => {
    if (ranges.length === 0) return
    await file.writeFile(separator + JSON.stringify(ranges).slice(1, -1))
    separator = ','
  })
  await file.writeFile(separator === '[' ? '[]\n' : ']\n')
}
