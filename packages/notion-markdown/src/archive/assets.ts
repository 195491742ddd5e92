import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openExport } from './export.ts'
import { OWN_LIMITS } from './limits.ts'
import { fileSource } from './source.ts'

/**
 * Writes every file of an export that is not a page under `folder`, at the paths to which the
 * document links. The archive's checks have ensured that no name leads out of the folder.
 *
 * @param path the archive
 * @returns the number of files written
 * @throws InvalidArchive
 */
export async function extractAssets(path: string, folder: string): Promise<number> {
  await using source = await fileSource(path)
  await using opened = await openExport(source, { limits: OWN_LIMITS })
  const stored = [...opened.files.values()]
  for (const file of stored) {
    const target = join(folder, ...file.split('/'))
    await mkdir(dirname(target), { recursive: true })
    await pipeline(Readable.from(opened.readFile(file)), createWriteStream(target))
  }
  return stored.length
}
