// One process's share of an archive's pages → a spool.
import { openReader, type CertificateReader, type OnReading } from './certificate-reader.ts'
import { dialectOf } from './certify.ts'
import { collectUsed } from './collect-garbage.ts'
import { convertOne, createContext, missingWarnings, type ReadAgain } from './convert-entry.ts'
import type { ConvertOptions, OnPage, Share } from './convert-options.ts'
import { openExport, unpackParts, type NotionExport } from './export.ts'
import { resultCounter } from './result-limit.ts'
import { openSpoolWriter } from './spool.ts'
import { fileSource } from './source.ts'

/**
 * Checks everything of an archive that needs no conversion: its directory, and those of its parts.
 *
 * @throws InvalidArchive
 */
export async function checkArchive(
  options: ConvertOptions & { scratch: string },
  isUnpacked = false,
): Promise<void> {
  await using source = await fileSource(options.path)
  await using _ = await openExport(source, {
    scratch: options.scratch,
    fileName: options.fileName,
    ...(options.limits && { limits: options.limits }),
    ...(isUnpacked && { unpacked: options.scratch }),
  })
}

/**
 * Inflates an archive's large parts into the scratch folder, as far as converting needs them, for
 * shares with `isUnpacked`. Processes that do so concurrently divide the parts among themselves.
 *
 * @throws InvalidArchive
 */
export async function unpackArchive(options: ConvertOptions & { scratch: string }): Promise<void> {
  await using source = await fileSource(options.path)
  await unpackParts(source, options.limits, options.scratch)
}

/**
 * Converts one share of an archive's pages into a spool in the scratch folder.
 *
 * @returns the archive's SHA-256, hexadecimal, if a certificate needs it and this share is the
 *   whole archive; else null
 * @throws InvalidArchive
 */
export async function convertShare(
  options: ConvertOptions & { scratch: string },
  share: Share,
  onPage?: OnPage,
): Promise<string | null> {
  await using source = await fileSource(options.path)
  const { scratch, fileName, limits } = options
  await using opened = await openExport(source, {
    scratch,
    fileName,
    ...(limits && { limits }),
    ...(share.isUnpacked && { unpacked: scratch }),
  })
  await using spool = await openSpoolWriter(scratch, share.index, resultCounter(options))
  const context = await createContext(opened, options)
  const pages = [...opened.pages, ...context.unlisted]
  const own = pages
    .map((page, number) => ({ page, number }))
    .filter(({ number }) => number % share.of === share.index)
  const sizeOf = (page: (typeof pages)[number]): number =>
    'stored' in page ? opened.sizeOf(page.stored) : page.size
  const size = own.reduce((sum, { page }) => sum + sizeOf(page), 0)
  await using reader = readerFor(opened, options, { size, busy: share.of }, spool.addReading)
  onPage?.(0, pages.length)
  for (const [done, { page, number }] of own.entries()) {
    const read: ReadAgain | undefined =
      reader && ((bytes, text) => reader.exported({ path: page.path, bytes, text }))
    const converted = await convertOne(opened, page, context, read)
    if (number === 0) converted.summary.warnings.push(...missingWarnings(opened))
    if (!converted.summary.failure && !converted.summary.sitemap)
      await reader?.converted(number, converted.markdown)
    await spool.write(number, converted, page === opened.sitemap)
    collectUsed(sizeOf(page))
    onPage?.(done + 1, pages.length)
  }
  const hashed = reader?.finish()
  await spool.flush()
  const sha256 = await hashed
  await spool.finish()
  return sha256 ?? null
}

/** The certificate's reader of a share's pages, if a certificate is requested. */
function readerFor(
  { files }: NotionExport,
  options: ConvertOptions,
  work: { size: number; busy: number },
  onReading: OnReading,
): CertificateReader | undefined {
  const { certificate, layout, path, inputSha256 } = options
  if (certificate !== true) return undefined
  const moved = layout === 'pages' ? [...files.keys()] : null
  // The only share hashes the file while it converts; of several shares, none does, and the join
  // does.
  const isHashed = inputSha256 === undefined && work.busy === 1
  const input = isHashed ? { path } : { sha256: null }
  return openReader({ dialect: dialectOf(options), files: moved, input }, work, onReading)
}
