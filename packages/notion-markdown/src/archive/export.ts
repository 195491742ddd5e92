import { CleanupStack } from './cleanup.ts'
import { partsOf } from './directories.ts'
import { listContents, type ExportContents } from './contents.ts'
import { copyEntry, readEntry, streamEntry } from './inflate.ts'
import { limitsOf, type ArchiveLimits } from './limits.ts'
import { checkFiles } from './declared-sizes.ts'
import { isExported, isRead } from './entry-kinds.ts'
import type { Volume } from './listing.ts'
import { partNumber } from './part-names.ts'
import { openPart, unpackPart } from './parts.ts'
import type { ByteSource } from './byte-source.ts'

/** A file that was copied in its packed form. */
export interface CopiedFile {
  /** 0: stored, 8: deflated. */
  readonly method: number
  readonly crc: number
  /** Size in bytes, inflated. */
  readonly size: number
  /** SHA-256 of the content, hexadecimal. */
  readonly sha256: string
}

/** A Notion export whose archive has passed every check that needs no inflating. */
export interface NotionExport extends ExportContents, AsyncDisposable {
  /**
   * Copies one of `files` in its packed form, and checks its content on the way.
   *
   * @throws InvalidArchive as `copyEntry`
   */
  copyFile(path: string, write: (piece: Uint8Array) => Promise<void>): Promise<CopiedFile>
  /**
   * Checks the limits of all `files` together, before inflating all of them.
   *
   * @throws InvalidArchive which names the one that inflates most
   */
  checkFiles(): void
  /**
   * Releases the resources that opening created. The source belongs to the caller and stays open.
   */
  close(): Promise<void>
}

/** Options of `openExport`. */
export interface ExportOptions {
  limits?: Partial<ArchiveLimits>
  /**
   * A folder for inner archives that must be inflated and are too large for memory. Default: the
   * system's.
   */
  scratch?: string
  /** The archive's file name: it may be a single part of an export. */
  fileName?: string
  /** The folder in which `unpackParts` left copies, of this archive and with these limits. */
  unpacked?: string
}

/**
 * Does work once that every process that converts an archive would otherwise repeat: inflates its
 * large parts into copies of the needed data, or verifies stored ones. Several processes may do so
 * concurrently; each takes the parts that no other has taken.
 *
 * @param folder a new folder for this conversion alone
 * @throws InvalidArchive
 */
export async function unpackParts(
  source: ByteSource,
  limits: Partial<ArchiveLimits> | undefined,
  folder: string,
): Promise<void> {
  const all = limitsOf(limits)
  const { parts } = await partsOf(source, all)
  for (const [index, part] of parts.entries())
    await unpackPart(source, part, index, { limits: all, isNeeded: isRead }, folder)
}

/**
 * Opens a Notion export: checks the archive and its parts, and lists their contents as if in one
 * folder. Before a page is read, only the parts and the possible sitemap are inflated.
 *
 * @param source the ZIP archive; read until `close`
 * @throws InvalidArchive for every fault of the archive
 */
export async function openExport(
  source: ByteSource,
  options: ExportOptions = {},
): Promise<NotionExport> {
  const limits = limitsOf(options.limits)
  await using stack = new CleanupStack()
  const { volumes, numbers, junk } = await openVolumes(source, limits, options, stack)
  const how = { limits, numbers, junk, fileName: options.fileName ?? '' }
  const { fileAt, ...contents } = await listContents(volumes, how, {
    read: readEntry,
    stream: streamEntry,
  })
  const held = stack.move()
  const close = () => held[Symbol.asyncDispose]()
  return {
    ...contents,
    async copyFile(path, write) {
      const { source: volume, entry } = fileAt(path)
      const { method, crc, size } = entry
      return { method, crc, size, sha256: await copyEntry(volume, entry, write) }
    },
    checkFiles: () =>
      checkFiles(
        [...contents.files.values()].map((path) => fileAt(path).entry),
        limits,
      ),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The archive and its parts, without files that do not belong to the export. */
async function openVolumes(
  source: ByteSource,
  limits: ArchiveLimits,
  { scratch, unpacked }: ExportOptions,
  stack: CleanupStack,
): Promise<{ volumes: Volume[]; numbers: number[]; junk: string | undefined }> {
  const { entries, parts } = await partsOf(source, limits)
  const isPart = new Set(parts)
  const volumes: Volume[] = [
    {
      source,
      files: source,
      entries: entries.filter((entry) => isExported(entry) && !isPart.has(entry)),
    },
  ]
  let left = limits.entries - entries.length
  for (const [index, part] of parts.entries()) {
    const volume = await openPart(
      source,
      part,
      index,
      { limits: { ...limits, entries: left }, isNeeded: isRead, scratch, unpacked },
      stack,
    )
    left -= volume.entries.length
    volumes.push({ ...volume, entries: volume.entries.filter(isExported) })
  }
  const junk = entries.find((entry) => !entry.isFolder && !isExported(entry))?.path
  return { volumes, numbers: parts.flatMap(({ path }) => partNumber(path) ?? []), junk }
}
