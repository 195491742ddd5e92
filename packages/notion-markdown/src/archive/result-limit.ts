// How large what an export becomes may be: pages while they are converted, and each result.
import type { ConvertOptions } from './convert-options.ts'
import { InvalidArchive } from './invalid-archive.ts'
import { limitsOf } from './limits.ts'

/**
 * What an export becomes may have this many times the bytes that its pages may have. Real Markdown
 * is shorter than its HTML, and JSON has it twice. But each line of code in deep quotes begins with
 * all their marks, each chunk names all headings above it, and each link to a heading repeats it:
 * 26 KB can become 10 MB of Markdown, and a page of 10 MB more than any disk has room for.
 */
const GROWTH = 2

/** Counts bytes before they are written. @throws InvalidArchive if there are too many */
export type CountBytes = (bytes: number) => void

/** Counts the bytes of one result. */
export function resultCounter({ limits }: Pick<ConvertOptions, 'limits'>): CountBytes {
  const max = GROWTH * limitsOf(limits).pagesBytes
  let left = max
  return (bytes) => {
    left -= bytes
    if (left < 0) throw new InvalidArchive('result_too_large', { max })
  }
}
