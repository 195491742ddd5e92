import { itemAt } from '../item-at.ts'
import { readExtra, readUnicodePath, widen, type EntryHeader } from './entry-header.ts'
import { asZipBytes, FIELD, FLAG, SATURATED, SIGNATURE, SIZE, type ZipBytes } from './format.ts'
import { InvalidArchive } from './invalid-archive.ts'
import { decodeName, pathOfName } from './names.ts'
import type { ByteSource } from './byte-source.ts'

/** An entry whose own header has been checked, with the data needed to read it. */
export interface ZipEntry extends Pick<
  EntryHeader,
  'path' | 'isFolder' | 'method' | 'crc' | 'size' | 'packedSize' | 'dosTime'
> {
  /** The start of its data. */
  readonly dataAt: number
}

/**
 * Flags that must be the same in both headers. The others are hints about the compression level.
 */
const COMPARED =
  FLAG.encrypted | FLAG.descriptor | FLAG.patched | FLAG.strong | FLAG.utf8 | FLAG.masked

/**
 * Requires that the entries, each with its own header and data, cover the archive from its first
 * byte to its directory without gaps or overlaps, and that each entry's own header matches the
 * directory. Then a streaming reader sees exactly the same files as one that starts from the
 * directory: nothing is hidden or counted twice.
 *
 * Only headers are read, in pieces, in the order of the file.
 *
 * @param end where the directory starts
 * @returns the entries in the directory's order
 * @throws InvalidArchive
 */
export async function checkLayout(
  source: ByteSource,
  headers: readonly EntryHeader[],
  end: number,
): Promise<ZipEntry[]> {
  const order = headers
    .map((_, i) => i)
    .sort((a, b) => itemAt(headers, a).headerAt - itemAt(headers, b).headerAt)
  const read = bufferedReader(source, end)
  const entries = Array.from<ZipEntry>({ length: headers.length })
  const firstAt = itemAt(headers, itemAt(order, 0)).headerAt
  if (firstAt > 0) throw new InvalidArchive('leading_bytes', { n: firstAt })
  for (const [place, i] of order.entries()) {
    const header = itemAt(headers, i)
    const follower = order[place + 1]
    const next = follower === undefined ? undefined : itemAt(headers, follower)
    const dataAt = await readLocalHeader(read, header, end)
    const dataEnd = dataAt + header.packedSize
    const gap = Math.min(next?.headerAt ?? end, end) - dataEnd
    if (gap < 0) {
      throw next && next.headerAt < end
        ? new InvalidArchive('overlap', { name: header.path, other: next.path })
        : new InvalidArchive('overlap_directory', { name: header.path })
    }
    await checkGap(read, header, dataEnd, gap)
    const { path, isFolder, method, crc, size, packedSize, dosTime } = header
    entries[i] = { path, isFolder, method, crc, size, packedSize, dosTime, dataAt }
  }
  return entries
}

type Read = (at: number, length: number) => Promise<ZipBytes | undefined>

/**
 * Reads through a window, so that 50,000 small entries take hundreds of reads of the file, not
 * 50,000.
 */
function bufferedReader(source: ByteSource, end: number): Read {
  const ahead = 64 * 1024
  let start = 0
  let window: ZipBytes = asZipBytes(new Uint8Array(0))
  return async (at, length) => {
    if (at + length > end) return undefined
    if (at < start || at + length > start + window.length) {
      window = asZipBytes(await source.read(at, Math.min(Math.max(length, ahead), end - at)))
      start = at
    }
    return window.subarray(at - start, at - start + length)
  }
}

/**
 * Compares the entry's own header (APPNOTE 4.3.7) with the directory's.
 *
 * @returns where the data starts
 */
async function readLocalHeader(read: Read, header: EntryHeader, end: number): Promise<number> {
  const { path: name, headerAt } = header
  const fixed = await read(headerAt, SIZE.local)
  if (!fixed || fixed.readUInt32LE(0) !== SIGNATURE.local)
    throw new InvalidArchive('local_missing', { name })
  const nameSize = fixed.readUInt16LE(26)
  const local = {
    flags: fixed.readUInt16LE(6),
    method: fixed.readUInt16LE(8),
    crc: fixed.readUInt32LE(14),
    packedSize: fixed.readUInt32LE(18),
    size: fixed.readUInt32LE(22),
  }
  const dataAt = headerAt + SIZE.local + nameSize + fixed.readUInt16LE(28)
  const variable = await read(headerAt + SIZE.local, dataAt - headerAt - SIZE.local)
  if (!variable || dataAt > end) throw new InvalidArchive('local_missing', { name })
  const rawName = variable.subarray(0, nameSize)
  const extra = readExtra(variable.subarray(nameSize), name)

  if (rawName.latin1() !== header.rawName)
    throw new InvalidArchive('local_name', { name, other: decodeName(rawName, false) })
  // Some writers put the Unicode name only into the directory.
  const unicodePath = readUnicodePath(extra, rawName)
  if (unicodePath !== undefined && pathOfName(unicodePath) !== name)
    throw new InvalidArchive('local_name', { name, other: unicodePath })
  if ((local.flags & COMPARED) !== (header.flags & COMPARED))
    throw new InvalidArchive('local_flags', { name })
  if (local.method !== header.method) throw new InvalidArchive('local_method', { name })

  // If a descriptor follows the data, the header's numbers may be zero or saturated.
  const isEarly = (header.flags & FLAG.descriptor) !== 0
  const says = (value: number, truth: number) => value === truth || (isEarly && value === 0)
  const field = extra.get(FIELD.zip64)
  const stated = [local.size, local.packedSize]
  const wide =
    field || !isEarly ? widen(stated, field, name) : stated.map((value) => value % SATURATED.uint32)
  if (!says(itemAt(wide, 0), header.size) || !says(itemAt(wide, 1), header.packedSize))
    throw new InvalidArchive('local_size', { name })
  if (!says(local.crc, header.crc)) throw new InvalidArchive('local_crc', { name })
  return dataAt
}

/**
 * The bytes between an entry's data and the next header: none, or the descriptor that the flags
 * declare.
 */
async function checkGap(read: Read, entry: EntryHeader, at: number, gap: number): Promise<void> {
  const { path: name } = entry
  const bytes = (gap > 0 && (await read(at, Math.min(gap, 24)))) || asZipBytes(new Uint8Array(0))
  if ((entry.flags & FLAG.descriptor) !== 0) {
    // Streaming writers often omit it for folders and empty files.
    if (gap === 0 && entry.packedSize === 0) return
    const length = descriptorLength(bytes, entry)
    if (length > 0 && length === gap) return
    if (length > 0) throw new InvalidArchive('hidden_bytes', { name, n: gap - length })
    if (gap === 0) throw new InvalidArchive('descriptor_missing', { name })
    if ([12, 16, 20, 24].includes(gap)) throw new InvalidArchive('descriptor', { name })
  } else if (gap === 0) return
  const signature = bytes.length >= 4 ? bytes.readUInt32LE(0) : 0
  if (signature === SIGNATURE.central) throw new InvalidArchive('hidden_directory', { name })
  if (signature === SIGNATURE.local) throw new InvalidArchive('hidden_entry', { name })
  throw new InvalidArchive('hidden_bytes', { name, n: gap })
}

/**
 * TABLE of the forms of a data descriptor (APPNOTE 4.3.9): with its signature or without, sizes of
 * 4 or of 8 bytes.
 */
const DESCRIPTORS = [
  { signed: true, wide: true },
  { signed: true, wide: false },
  { signed: false, wide: true },
  { signed: false, wide: false },
]

/** @returns the length of the descriptor in `bytes` that matches the directory, or 0 */
function descriptorLength(bytes: ZipBytes, { crc, size, packedSize }: EntryHeader): number {
  for (const { signed, wide } of DESCRIPTORS) {
    const at = signed ? 4 : 0
    const length = at + (wide ? 20 : 12)
    if (
      bytes.length < length ||
      (signed && bytes.readUInt32LE(0) !== SIGNATURE.descriptor) ||
      bytes.readUInt32LE(at) !== crc
    )
      continue
    const [packed, whole] = wide
      ? [bytes.readUInt64LE(at + 4), bytes.readUInt64LE(at + 12)]
      : [bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8)]
    if (packed === packedSize && whole === size) return length
  }
  return 0
}
