// Converts whole exports in browsers and workers: nothing leaves the tab, and Node is not needed.
import { convertOne, createContext, missingWarnings } from '../archive/convert-entry.ts'
import type { ConvertOptions } from '../archive/convert-options.ts'
import { omitEmbedded } from '../archive/embedded.ts'
import { pathKey } from '../archive/names.ts'
import { outcomeOf, type Converted } from '../archive/outcome.ts'
import type { PageTexts } from '../converted-page.ts'
import { joinDocument } from '../document.ts'
import { openBlob } from './open-blob.ts'

export { InvalidArchive } from '../archive/invalid-archive.ts'
export type { Converted } from '../archive/outcome.ts'

/** Options of a conversion. */
export interface ArchiveOptions {
  /** Its original name. Default: its name if it is a File. */
  readonly fileName?: string
  /** Default: Markdown. */
  readonly format?: 'markdown' | 'json' | 'chunks'
  /** Whether the document contains the export time and source of each page. */
  readonly includeMetadata?: boolean
  /** Whether JSON has a source map. */
  readonly sourceMap?: boolean
  /** Called after each page with the number of finished pages and the total. */
  readonly onPage?: (done: number, total: number) => void
}

/**
 * Converts a Notion export to one document, in memory. It blocks the thread, so run it in a worker.
 *
 * @param archive the ZIP file, such as from a file input
 * @returns the document in pieces, and the result of the conversion
 * @throws InvalidArchive
 */
export async function* convertArchive(
  archive: Blob,
  options: ArchiveOptions = {},
): AsyncGenerator<string, Converted> {
  const fileName = options.fileName ?? ('name' in archive ? String(archive.name) : '')
  const all: ConvertOptions = {
    path: fileName,
    kind: 'zip',
    fileName,
    format: options.format ?? 'markdown',
    includeMetadata: options.includeMetadata ?? false,
    sourceMap: options.sourceMap ?? false,
    // Only for pages without a time in the archive.
    uploadedAt: new Date(0),
  }
  const texts = await convertPages(archive, all, options.onPage)
  const outcome = outcomeOf(texts.summaries)
  yield* joinDocument(texts, pathKey, all)
  return outcome
}

async function convertPages(
  archive: Blob,
  options: ConvertOptions,
  onPage: ArchiveOptions['onPage'],
): Promise<PageTexts> {
  const opened = await openBlob(archive, options.fileName)
  const context = await createContext(opened, options)
  const pages = [...opened.pages, ...context.unlisted]
  const converted = []
  for (const [number, page] of pages.entries()) {
    const one = await convertOne(opened, page, context)
    if (number === 0) one.summary.warnings.push(...missingWarnings(opened))
    converted.push({ ...one, isSitemap: page === opened.sitemap })
    onPage?.(number + 1, pages.length)
  }
  const shown = omitEmbedded(converted)
  return {
    summaries: shown.map(({ summary }) => summary),
    sitemap: shown.findIndex(({ isSitemap }) => isSitemap),
    text: (index) => shown[index]?.markdown ?? '',
    tables: (index) => shown[index]?.tables ?? [],
  }
}
