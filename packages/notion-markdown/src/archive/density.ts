import { InvalidArchive } from './invalid-archive.ts'

/**
 * Maximum number of tags and lines of text of one page. A block of Notion's takes at least 60
 * bytes, so a page of ten megabytes has some 300,000; a page with five times as many would take too
 * much memory.
 */
const MOST = 1_500_000

/**
 * Accepts a page whose tree fits in memory.
 *
 * @throws InvalidArchive
 */
export function checkDensity(html: string, name: string): void {
  let count = 0
  for (const sign of ['<', '\n']) {
    for (let at = html.indexOf(sign); at >= 0; at = html.indexOf(sign, at + 1)) {
      // White space after a tag only separates two blocks.
      if (sign === '\n' && html[at - 1] === '>') continue
      if (++count > MOST) throw new InvalidArchive('page_too_dense', { name, max: MOST })
    }
  }
}
