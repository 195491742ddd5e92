// Finds out why an archive has no page.
import { isDatabaseFile } from './entry-kinds.ts'
import { InvalidArchive } from './invalid-archive.ts'
import { archivesInside } from './part-names.ts'

/** TABLE of document formats that are ZIP archives, with the beginnings of the paths in them. */
const OTHER_DOCUMENTS: readonly { readonly name: string; readonly holds: readonly string[] }[] = [
  { name: 'a Word document', holds: ['[Content_Types].xml', 'word/'] },
  { name: 'an Excel workbook', holds: ['[Content_Types].xml', 'xl/'] },
  { name: 'a PowerPoint presentation', holds: ['[Content_Types].xml', 'ppt/'] },
  { name: 'an e-book', holds: ['mimetype', 'META-INF/container.xml'] },
  { name: 'an OpenDocument file', holds: ['mimetype', 'content.xml'] },
]

/**
 * Why an archive has no page, judged by its paths.
 *
 * @param missing the numbers of the missing parts
 * @param part its own number, if it is a single part of an export
 */
export function whyNoPages(
  paths: readonly string[],
  hasSitemap: boolean,
  missing: readonly number[],
  part: number,
): InvalidArchive {
  if (paths.some((path) => /\.md$/i.test(path) || isDatabaseFile(path)))
    return new InvalidArchive('no_pages_markdown')
  if (missing.length > 0) return new InvalidArchive('part_alone', { n: part })
  const inside = archivesInside(paths)
  if (inside) return inside
  if (hasSitemap) return new InvalidArchive('only_sitemap')
  const document = OTHER_DOCUMENTS.find(({ holds }) =>
    holds.every((part) => paths.some((path) => path.startsWith(part))),
  )
  if (document) return new InvalidArchive('other_document', { name: document.name })
  if (paths.length > 0 && paths.every((path) => /\.pdf$/i.test(path)))
    return new InvalidArchive('no_pages_pdf')
  return new InvalidArchive(
    paths.some((path) => /\.csv$/i.test(path)) ? 'no_pages_markdown' : 'no_pages',
  )
}
