// The databases that an export has as CSV: `Title h.csv` with a view's columns, `Title h_all.csv`
// with all rows.
import { parseCsv, titleKey, type Database } from '../csv.ts'
import { decodeHtml } from '../decode.ts'
import { wholeOf } from './byte-source.ts'
import type { ExportContents } from './contents.ts'
import { DATABASE_FILE } from './entry-kinds.ts'
import { pathKey } from './names.ts'

/** A database's CSV. */
export interface StoredDatabase {
  id: string
  /** Its path as a page: `…/Title h.csv`. */
  path: string
  /** Its name in the archive. */
  stored: string
}

/** The databases of an export by their ids; if one has two files, the one with all rows. */
export function findDatabases(opened: ExportContents): ReadonlyMap<string, StoredDatabase> {
  const found = new Map<string, StoredDatabase & { isWhole: boolean }>()
  for (const stored of opened.files.values()) {
    const [, name, all] = DATABASE_FILE.exec(stored) ?? []
    const id = name?.toLowerCase()
    if (id === undefined || (found.get(id)?.isWhole ?? false)) continue
    found.set(id, {
      id,
      path: stored.replace(/_all\.csv$/i, '.csv'),
      stored,
      isWhole: all !== undefined,
    })
  }
  return found
}

/** Pages by folder, and within it by the part of the title in their file name. */
export type PagesByTitle = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

/** Groups the pages of an export by folder and title. */
export function pagesByTitle(opened: ExportContents): PagesByTitle {
  const folders = new Map<string, Map<string, string[]>>()
  for (const { path } of opened.pages) {
    const key = pathKey(path)
    const slash = key.lastIndexOf('/')
    const folder = key.slice(0, Math.max(0, slash))
    const title = titleKey(
      key
        .slice(slash + 1)
        .replace(/\.html?$/i, '')
        .replace(/(?:^|[ _-])[0-9a-f]{32}$/i, ''),
    )
    const titles = folders.get(folder) ?? new Map<string, string[]>()
    folders.set(folder, titles)
    const same = titles.get(title)
    if (same) same.push(key)
    else titles.set(title, [key])
  }
  return folders
}

/** A file's name has at most 50 characters of a title, and fewer without punctuation. */
const TRUNCATED_TITLE = { most: 50, least: 20 }

/**
 * Reads a database.
 *
 * @throws InvalidArchive
 */
export async function readDatabase(
  opened: ExportContents,
  { path, stored }: StoredDatabase,
  pages: PagesByTitle,
): Promise<Database> {
  const rows = parseCsv(decodeHtml(await wholeOf(opened.readFile(stored))))
  const name = pathKey(path).replace(/\.csv$/i, '')
  const beside = name.slice(0, Math.max(0, name.lastIndexOf('/')))
  const titles =
    pages.get(name) ?? pages.get(name.replace(/[ _-]?[0-9a-f]{32}$/i, '')) ?? pages.get(beside)
  const taken = new Map<string, number>()
  const pagesFor = (key: string): readonly string[] => titles?.get(key) ?? []
  return {
    folder: path.slice(0, Math.max(0, path.lastIndexOf('/'))),
    rows,
    pageOf(title) {
      let key = titleKey(title)
      if (!titles?.has(key)) key = key.slice(0, TRUNCATED_TITLE.most)
      while (key.length > TRUNCATED_TITLE.least && !titles?.has(key)) key = key.slice(0, -1)
      const next = taken.get(key) ?? 0
      taken.set(key, next + 1)
      return pagesFor(key)[next]
    },
    namesakes: () => [...taken].flatMap(([key, count]) => pagesFor(key).slice(count)),
  }
}
