// The source map as a separate file: a JSON array, written page by page.
import { open } from 'node:fs/promises'
import type { SourceRange } from '../source-map.ts'
import type { CountBytes } from './result-limit.ts'

/** Writes the ranges of one page. */
export type WriteRanges = (ranges: readonly SourceRange[]) => Promise<void>

/**
 * Runs `use` with the writer of the source map.
 *
 * @param path the new file; undefined if not requested
 * @param count counts its bytes
 */
export async function withSourceMap(
  path: string | undefined,
  count: CountBytes,
  use: (write: WriteRanges | undefined) => Promise<void>,
): Promise<void> {
  if (path === undefined) return use(undefined)
  await using file = await open(path, 'wx', 0o600)
  let separator = '['
  await use(async (ranges) => {
    if (ranges.length === 0) return
    const json = separator + JSON.stringify(ranges).slice(1, -1)
    count(json.length)
    await file.writeFile(json)
    separator = ','
  })
  await file.writeFile(separator === '[' ? '[]\n' : ']\n')
}
