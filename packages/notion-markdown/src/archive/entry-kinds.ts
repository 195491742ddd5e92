// Which entries of an archive belong to the export, and which are inflated to convert it.
import type { ZipEntry } from './layout.ts'

/**
 * TABLE of files that operating systems and their archivers add: resource forks, folder views,
 * thumbnails, folder icons.
 */
const JUNK = [
  /^__MACOSX\//,
  /(?:^|\/)\._[^/]*$/,
  /(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|Icon\r)$/i,
]

export const isExported = ({ path, isFolder }: ZipEntry) =>
  !isFolder && !JUNK.some((pattern) => pattern.test(path))

export const isPage = (path: string) => /\.html?$/i.test(path)

/** The name of a database's CSV: its id, and `_all` if it has all rows. */
export const DATABASE_FILE = /(?:^|[ _-])([0-9a-f]{32})(_all)?\.csv$/i

/** Whether a file is a database's: a user's own CSV has no id in its name. */
export const isDatabaseFile = (path: string): boolean => DATABASE_FILE.test(path)

/** The files of an export that are inflated to convert it. */
export const isRead = (path: string): boolean => isPage(path) || isDatabaseFile(path)
