// The files of a folder of pages, out of its ZIP archive.
import { streamEntry } from '../inflate.ts'
import { limitsOf, OWN_LIMITS } from '../limits.ts'
import type { ByteSource } from '../source.ts'
import { readZip } from '../zip.ts'

/** One file. Its path leads out of no folder into which it is unpacked. */
export interface PageFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** @throws InvalidArchive where it is damaged, behind the last piece too */
  content(): AsyncGenerator<Uint8Array>
}

/**
 * Lists the files of a folder of pages, in the archive's order.
 *
 * @throws InvalidArchive where the archive is no sound one
 */
export async function readPages(source: ByteSource): Promise<PageFile[]> {
  const entries = await readZip(source, limitsOf(OWN_LIMITS))
  return entries
    .filter(({ isFolder }) => !isFolder)
    .map((entry) => ({
      path: entry.path,
      size: entry.size,
      content: () => streamEntry(source, entry),
    }))
}
