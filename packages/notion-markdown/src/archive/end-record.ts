import { asZipBytes, SATURATED, SIGNATURE, SIZE, type ZipBytes } from './format.ts'
import { InvalidArchive } from './invalid-archive.ts'
import type { ByteSource } from './byte-source.ts'

/** The end record: where an archive's directory is. Offsets and sizes in bytes. */
export interface EndRecord {
  entries: number
  directoryAt: number
  directorySize: number
}

const MAX_COMMENT_BYTES = 0xffff

/**
 * Finds and reads the one record that ends an archive (APPNOTE 6.3.10, 4.3.14 to 4.3.16).
 *
 * Readers disagree about which record counts if there are several: some take the last, some the
 * first whose comment fits, some ignore the comment. So there must be exactly one that reaches the
 * end of the file, no signature of another after it, and the directory must end exactly where the
 * end records start.
 *
 * @throws InvalidArchive
 */
export async function readEnd(source: ByteSource): Promise<EndRecord> {
  if (source.size === 0) throw new InvalidArchive('empty_file')
  const tailSize = Math.min(source.size, SIZE.end + MAX_COMMENT_BYTES + SIZE.locator64 + SIZE.end64)
  const tailAt = source.size - tailSize
  const tail = asZipBytes(await source.read(tailAt, tailSize))
  const at = findEnd(tail)
  const end = {
    disk: tail.readUInt16LE(at + 4),
    directoryDisk: tail.readUInt16LE(at + 6),
    entriesHere: tail.readUInt16LE(at + 8),
    entries: tail.readUInt16LE(at + 10),
    directorySize: tail.readUInt32LE(at + 12),
    directoryAt: tail.readUInt32LE(at + 16),
  }
  const locatorAt = at - SIZE.locator64
  const has64 = locatorAt >= 0 && tail.readUInt32LE(locatorAt) === SIGNATURE.locator64
  const end64 = has64 ? read64(tail, tailAt, locatorAt, end) : { ...end, at: tailAt + at }
  if (end64.disk !== 0 || end64.directoryDisk !== 0 || end64.entriesHere !== end64.entries)
    throw new InvalidArchive('multi_disk')
  await checkDirectory(source, end64, end64.at)
  return {
    entries: end64.entries,
    directoryAt: end64.directoryAt,
    directorySize: end64.directorySize,
  }
}

/** The position of the next signature of an end record; −1 if there is none. */
function nextEnd(tail: ZipBytes, from: number): number {
  const first = SIGNATURE.end & 0xff
  let at = tail.indexOf(first, from)
  while (at >= 0 && tail.readUInt32LE(at) !== SIGNATURE.end) at = tail.indexOf(first, at + 1)
  return at
}

/** The position of the end record in the tail. */
function findEnd(tail: ZipBytes): number {
  const matches: number[] = []
  let last = -1
  for (let at = nextEnd(tail, 0); at >= 0; at = nextEnd(tail, at + 1)) {
    last = at
    if (at + SIZE.end <= tail.length && at + SIZE.end + tail.readUInt16LE(at + 20) === tail.length)
      matches.push(at)
  }
  if (last < 0) throw new InvalidArchive('no_end')
  if (matches.length > 1) throw new InvalidArchive('ambiguous_end')
  if (matches[0] === last) return last
  if (matches.length === 1) throw new InvalidArchive('end_in_comment')
  if (last + SIZE.end > tail.length) throw new InvalidArchive('cut_end')
  const excess = tail.length - (last + SIZE.end + tail.readUInt16LE(last + 20))
  throw excess < 0
    ? new InvalidArchive('cut_end')
    : new InvalidArchive('trailing_bytes', { n: excess })
}

type End = Record<
  'disk' | 'directoryDisk' | 'entriesHere' | 'entries' | 'directorySize' | 'directoryAt',
  number
>

/**
 * The ZIP64 end record, which must be directly before its locator, and agree with the plain one
 * wherever that has a value.
 */
function read64(tail: ZipBytes, tailAt: number, locatorAt: number, end: End): End & { at: number } {
  if (tail.readUInt32LE(locatorAt + 4) !== 0 || tail.readUInt32LE(locatorAt + 16) > 1)
    throw new InvalidArchive('multi_disk')
  const at = locatorAt - SIZE.end64
  if (at < 0 || tail.readUInt64LE(locatorAt + 8) !== tailAt + at)
    throw new InvalidArchive('zip64_locator')
  if (tail.readUInt32LE(at) !== SIGNATURE.end64 || tail.readUInt64LE(at + 4) !== SIZE.end64 - 12)
    throw new InvalidArchive('zip64_end')
  const end64 = {
    disk: tail.readUInt32LE(at + 16),
    directoryDisk: tail.readUInt32LE(at + 20),
    entriesHere: tail.readUInt64LE(at + 24),
    entries: tail.readUInt64LE(at + 32),
    directorySize: tail.readUInt64LE(at + 40),
    directoryAt: tail.readUInt64LE(at + 48),
  }
  const agrees = (field: keyof End, saturated: number) =>
    end[field] === saturated || end[field] === end64[field]
  const small: (keyof End)[] = ['disk', 'directoryDisk', 'entriesHere', 'entries']
  const large: (keyof End)[] = ['directorySize', 'directoryAt']
  if (
    !small.every((field) => agrees(field, SATURATED.uint16)) ||
    !large.every((field) => agrees(field, SATURATED.uint32))
  ) {
    throw new InvalidArchive('zip64_disagrees')
  }
  return { ...end64, at: tailAt + at }
}

/**
 * The directory must end where the end records start: otherwise there would be bytes that one
 * reader sees and another does not.
 */
async function checkDirectory(source: ByteSource, end: End, endAt: number): Promise<void> {
  const gap = endAt - (end.directoryAt + end.directorySize)
  if (gap < 0) throw new InvalidArchive('directory_outside')
  if (gap === 0) return
  const shifted =
    end.directorySize >= 4 ? await source.read(endAt - end.directorySize, 4) : new Uint8Array(4)
  throw new InvalidArchive(
    asZipBytes(shifted).readUInt32LE(0) === SIGNATURE.central ? 'leading_bytes' : 'directory_gap',
    { n: gap },
  )
}
