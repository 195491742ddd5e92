import { readEnd } from './end-record.ts'
import { readEntryHeader, type EntryHeader } from './entry-header.ts'
import { asZipBytes, SIGNATURE, SIZE, type ZipBytes } from './format.ts'
import { InvalidArchive } from './invalid-archive.ts'
import { checkLayout, type ZipEntry } from './layout.ts'
import type { ArchiveLimits } from './limits.ts'
import { checkDistinct } from './names.ts'
import type { ByteSource } from './byte-source.ts'

/**
 * Reads the directory of a ZIP archive (PKWARE APPNOTE 6.3.10) and checks everything that can be
 * checked without inflating: the end records, every name, kind, size and flag, and that entries and
 * directory cover the file exactly.
 *
 * @returns the entries in the directory's order; their content is read by `readEntry` and
 *   `streamEntry`
 * @throws InvalidArchive
 */
export async function readZip(
  source: ByteSource,
  limits: Pick<ArchiveLimits, 'entries' | 'directoryBytes'>,
): Promise<ZipEntry[]> {
  const end = await readEnd(source)
  if (end.entries > limits.entries)
    throw new InvalidArchive('too_many_entries', { n: end.entries, max: limits.entries })
  if (end.directorySize > limits.directoryBytes) {
    throw new InvalidArchive('directory_too_large', {
      n: end.directorySize,
      max: limits.directoryBytes,
    })
  }
  const headers = readDirectory(
    asZipBytes(await source.read(end.directoryAt, end.directorySize)),
    end.entries,
  )
  if (headers.length === 0) throw new InvalidArchive('no_entries')
  checkDistinct(headers.map((header) => header.path))
  return checkLayout(source, headers, end.directoryAt)
}

function readDirectory(directory: ZipBytes, count: number): EntryHeader[] {
  const headers: EntryHeader[] = []
  let at = 0
  while (headers.length < count) {
    if (at === directory.length)
      throw new InvalidArchive('entry_count', { n: headers.length, max: count })
    const { header, next } = readEntryHeader(directory, at, headers.length + 1)
    headers.push(header)
    at = next
  }
  const n = directory.length - at
  if (n >= SIZE.central && directory.readUInt32LE(at) === SIGNATURE.central) {
    throw new InvalidArchive('entry_count', { n: count + 1, max: count })
  }
  if (n > 0) throw new InvalidArchive('directory_leftover', { n })
  return headers
}
