// Which entries of an archive belong to the export, and which are inflated to convert it.
import { isDatabaseFile } from './databases.ts'
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

/** The files of an export that are inflated to convert it. */
export const isRead = (path: string): boolean => isPage(path) || isDatabaseFile(path)
