// An index for the pages of an export: the other pages and the files.
import type { Archive } from '../links.ts'
import type { StoredDatabase } from './databases.ts'
import type { ExportContents } from './contents.ts'
import type { ExportPage } from './listing.ts'
import { pathKey } from './names.ts'

const ID_LENGTH = 32
const ID_IN_NAME = /([0-9a-f]{32})\.html?$/i
const ID_INSIDE = /<article\s(?:[^<>]*?\s)?id=["']?([0-9a-f-]{32,36})\b/i

/** The id in the name of a page's file. */
export function idInName(path: string): string | undefined {
  return ID_IN_NAME.exec(path)?.[1]?.toLowerCase()
}

/** What is known of an export before a page is converted. */
export interface ArchiveIndex {
  archive: Archive
  /** The databases without a page: each becomes a page, unless another page shows it. */
  unlisted: readonly StoredDatabase[]
}

/** An index for the pages of an export: the other pages and the files. */
export async function indexArchive(
  opened: ExportContents,
  databases: ReadonlyMap<string, StoredDatabase>,
): Promise<ArchiveIndex> {
  const pages = new Set<string>()
  const byId = new Map<string, string>()
  for (const page of opened.pages) {
    const key = pathKey(page.path)
    pages.add(key)
    const id = idInName(page.path) ?? (await readPageId(page))
    if (id) byId.set(id, key)
  }
  const unlisted = [...databases.values()].filter(({ id }) => !byId.has(id))
  for (const { id, path } of unlisted) {
    pages.add(pathKey(path))
    byId.set(id, pathKey(path))
  }
  const archive: Archive = {
    page: (path) => (pages.has(pathKey(path)) ? pathKey(path) : byId.get(idInName(path) ?? '')),
    pageById: (id) => byId.get(id),
    file: (path) => {
      const { files } = opened
      return files.get(pathKey(path)) ?? files.get(besidePage(path, byId) ?? '')
    },
  }
  return { archive, unlisted }
}

/**
 * A path below the page that owns its folder, by the id in the folder's name: titles are garbled if
 * an archiver has no letters for them.
 */
function besidePage(path: string, pageById: ReadonlyMap<string, string>): string | undefined {
  const names = path.split('/')
  for (let i = names.length - 2; i >= 0; i--) {
    const page = pageById.get(names[i]?.slice(-ID_LENGTH) ?? '')
    if (page !== undefined) return [page.replace(/\.html?$/i, ''), ...names.slice(i + 1)].join('/')
  }
  return undefined
}

/**
 * The id inside a page, after some 14 KB of styles. It is only read for renamed pages; the
 * exporter's names contain the id.
 */
async function readPageId(page: ExportPage): Promise<string | undefined> {
  // An unreadable page has no id; its conversion reports the problem.
  const bytes = await page.read().catch(() => new Uint8Array())
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 65_536))
  return ID_INSIDE.exec(head)?.[1]?.replaceAll('-', '').toLowerCase()
}
