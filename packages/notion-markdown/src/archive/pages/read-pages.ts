// Reads the files of a folder of pages from its ZIP archive.
import { readEntry, streamEntry } from '../inflate.ts'
import type { ZipEntry } from '../layout.ts'
import { limitsOf, OWN_LIMITS } from '../limits.ts'
import type { ByteSource } from '../byte-source.ts'
import { readZip } from '../zip.ts'

/** One file. Its path never leads out of the folder into which it is unpacked. */
export interface PageFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** @throws InvalidArchive if it is damaged, possibly only after the last piece */
  content(): AsyncGenerator<Uint8Array>
}

/**
 * Lists the files of a folder of pages, in the archive's order.
 *
 * @throws InvalidArchive if the archive is invalid
 */
export async function readPages(source: ByteSource): Promise<PageFile[]> {
  const entries = await readZip(source, limitsOf(OWN_LIMITS))
  return entries
    .filter(({ isFolder }) => !isFolder)
    .map((entry) => ({
      path: entry.path,
      size: entry.size,
      content: () => contentOf(source, entry),
    }))
}

/** Files up to this many bytes are read as one piece, for a fifth of the CPU time. */
const MAX_WHOLE_BYTES = 1024 * 1024

async function* contentOf(source: ByteSource, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  if (entry.size > MAX_WHOLE_BYTES) yield* streamEntry(source, entry)
  else yield await readEntry(source, entry)
}
