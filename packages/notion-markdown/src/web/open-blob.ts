// Opens a Notion export in a Blob, like `openExport` for a file.
import { listContents, type ExportContents } from '../archive/contents.ts'
import { partsOf, readPart } from '../archive/directories.ts'
import { limitsOf, OWN_LIMITS } from '../archive/limits.ts'
import { isExported } from '../archive/entry-kinds.ts'
import type { Volume } from '../archive/listing.ts'
import { partNumber } from '../archive/part-names.ts'
import { blobSource, partOf, readEntry, streamEntry } from './blobs.ts'

/**
 * Opens an export: checks the archive and its parts, and lists their contents.
 *
 * @param fileName its original name
 * @throws InvalidArchive
 */
export async function openBlob(archive: Blob, fileName: string): Promise<ExportContents> {
  const limits = limitsOf(OWN_LIMITS)
  const source = blobSource(archive)
  const { entries, parts } = await partsOf(source, limits)
  const isPart = new Set(parts)
  const own = entries.filter((entry) => isExported(entry) && !isPart.has(entry))
  const volumes: Volume[] = [{ source, files: source, entries: own }]
  let left = limits.entries - entries.length
  for (const part of parts) {
    const inner = blobSource(await partOf(archive, part))
    const listed = await readPart(inner, part, { ...limits, entries: left })
    left -= listed.length
    volumes.push({ source: inner, files: inner, entries: listed.filter(isExported) })
  }
  const numbers = parts.flatMap(({ path }) => partNumber(path) ?? [])
  const junk = entries.find((entry) => !entry.isFolder && !isExported(entry))?.path
  const how = { limits, numbers, junk, fileName }
  return await listContents(volumes, how, { read: readEntry, stream: streamEntry })
}
