// A file → one document: everything between the bytes of an upload and the text of the answer.
import { decodeHtml } from '../decode.ts'
import { convertPage, type ConvertedPage } from '../document.ts'
import type { Archive } from '../links.ts'
import type { ExportPage, NotionExport } from './export.ts'
import { pathKey } from './names.ts'

const ID = /([0-9a-f]{32})\.html?$/i

/** What the pages of an export can find out about one another and about the files beside them. */
export function archiveOf(opened: NotionExport): Archive {
  const pages = new Set(opened.pages.map((page) => pathKey(page.path)))
  const byId = new Map<string, string>()
  for (const page of opened.pages) {
    const id = ID.exec(page.path)?.[1]?.toLowerCase()
    if (id) byId.set(id, pathKey(page.path))
  }
  return {
    page: (path) => {
      const key = pathKey(path)
      return pages.has(key) ? key : undefined
    },
    pageById: (id) => byId.get(id),
    file: (path) => opened.files.get(pathKey(path)),
  }
}

/**
 * Reads and converts one page of an export.
 *
 * @throws InvalidArchive when its content is not what the archive announced
 */
export async function convertExported(page: ExportPage, archive: Archive): Promise<ConvertedPage> {
  return convertPage(decodeHtml(await page.read()), page.path, page.modifiedAt, archive)
}
