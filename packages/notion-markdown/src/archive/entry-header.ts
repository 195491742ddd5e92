import { itemAt } from '../item-at.ts'
import { crc32 } from './crc32.ts'
import { FIELD, FLAG, METHOD, SATURATED, SIGNATURE, SIZE, type ZipBytes } from './format.ts'
import { InvalidArchive } from './invalid-archive.ts'
import { checkName, decodeName, pathOfName } from './names.ts'

/** One entry of the central directory. Offsets and sizes in bytes. */
export interface EntryHeader {
  /** The stored path, decoded; that of a folder ends in `/`. */
  readonly path: string
  readonly isFolder: boolean
  /** One of `METHOD`. */
  readonly method: number
  readonly flags: number
  readonly crc: number
  /** Size of the content. */
  readonly size: number
  /** Size of the data in the archive. */
  readonly packedSize: number
  /** The start of the entry's own header. */
  readonly headerAt: number
  /** Date and time as DOS packs them: the date in the upper 16 bits. */
  readonly dosTime: number
  /** The name's bytes, one per character, to compare with the entry's own header. */
  readonly rawName: string
}

/** No deflate stream is shorter than its content by more than this factor. */
const BEST_DEFLATE = 1032

/** Host systems whose attributes are those of DOS: FAT, NTFS (two numbers), VFAT. */
const DOS_HOSTS = new Set([0, 10, 11, 14])
/**
 * Volume label, device. (Windows' bit for links is set on every file in a cloud drive, so it means
 * nothing.)
 */
const DOS_SPECIAL = 0x08 | 0x40
const UNIX = { type: 0xf000, folder: 0x4000, file: 0x8000, link: 0xa000 }

/**
 * Reads the directory's record at `at`, and checks everything that does not need the entry itself.
 *
 * @param number the entry's number in the directory, from 1, for messages
 * @throws InvalidArchive
 */
export function readEntryHeader(
  directory: ZipBytes,
  at: number,
  number: number,
): { header: EntryHeader; next: number } {
  if (at + SIZE.central > directory.length || directory.readUInt32LE(at) !== SIGNATURE.central) {
    throw new InvalidArchive('directory_record', { n: number })
  }
  const nameAt = at + SIZE.central
  const extraAt = nameAt + directory.readUInt16LE(at + 28)
  const commentAt = extraAt + directory.readUInt16LE(at + 30)
  const next = commentAt + directory.readUInt16LE(at + 32)
  if (next > directory.length) throw new InvalidArchive('directory_record', { n: number })

  const flags = directory.readUInt16LE(at + 8)
  const rawName = directory.subarray(nameAt, extraAt)
  const plainName = decodeName(rawName, (flags & FLAG.utf8) !== 0)
  const extra = readExtra(directory.subarray(extraAt, commentAt), plainName)
  const path = pathOfName(readUnicodePath(extra, rawName) ?? plainName)
  checkName(path)
  if (path !== plainName) checkName(pathOfName(plainName))

  const stated = [
    directory.readUInt32LE(at + 24),
    directory.readUInt32LE(at + 20),
    directory.readUInt32LE(at + 42),
  ]
  const wide = widen(stated, extra.get(FIELD.zip64), path)
  if (directory.readUInt16LE(at + 34) !== 0)
    throw new InvalidArchive('entry_on_disk', { name: path })
  const header: EntryHeader = {
    path,
    isFolder: path.endsWith('/'),
    method: directory.readUInt16LE(at + 10),
    flags,
    crc: directory.readUInt32LE(at + 16),
    size: itemAt(wide, 0),
    packedSize: itemAt(wide, 1),
    headerAt: itemAt(wide, 2),
    dosTime: directory.readUInt32LE(at + 12),
    rawName: rawName.latin1(),
  }
  checkKind(header, directory.readUInt16LE(at + 4) >>> 8, directory.readUInt32LE(at + 38))
  checkCoding(header)
  return { header, next }
}

const NO_FIELDS: ReadonlyMap<number, ZipBytes> = new Map()

/**
 * A field list (APPNOTE 4.5) by number. The first field with a number counts; fields that matter
 * must be unique.
 */
export function readExtra(extra: ZipBytes, name: string): ReadonlyMap<number, ZipBytes> {
  if (extra.length === 0) return NO_FIELDS
  const fields = new Map<number, ZipBytes>()
  let at = 0
  while (at + 4 <= extra.length) {
    const id = extra.readUInt16LE(at)
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (end > extra.length) throw new InvalidArchive('extra_field', { name })
    if (!fields.has(id)) fields.set(id, extra.subarray(at + 4, end))
    else if (id === FIELD.zip64) throw new InvalidArchive('zip64_field', { name })
    else if (id === FIELD.unicodePath) throw new InvalidArchive('extra_field', { name })
    at = end
  }
  // Up to three bytes of padding are common (zipalign).
  return fields
}

/**
 * The name in the Unicode Path field (APPNOTE 4.6.9), if the field exists and belongs to this name.
 */
export function readUnicodePath(
  extra: ReadonlyMap<number, ZipBytes>,
  rawName: ZipBytes,
): string | undefined {
  const field = extra.get(FIELD.unicodePath)
  if (!field || field.length < 5 || field[0] !== 1 || field.readUInt32LE(1) !== crc32(rawName))
    return undefined
  return decodeName(field.subarray(5), true)
}

/**
 * Replaces every number that does not fit 32 bits by the one in the ZIP64 field (APPNOTE 4.5.3). By
 * the specification the field has only those; some writers add the others, which is fine if they
 * are equal.
 */
export function widen(
  stated: readonly number[],
  field: ZipBytes | undefined,
  name: string,
): number[] {
  const needed = stated.filter((value) => value === SATURATED.uint32).length
  const length = field?.length ?? 0
  const hasOthers = length > needed * 8 + 4
  let at = 0
  const wide = stated.map((value) => {
    if (value !== SATURATED.uint32 && !hasOthers) return value
    if (!field || at + 8 > length) {
      if (value === SATURATED.uint32) throw new InvalidArchive('zip64_field', { name })
      return value
    }
    const own = field.readUInt64LE(at)
    at += 8
    if (value !== SATURATED.uint32 && value !== own)
      throw new InvalidArchive('zip64_field', { name })
    return own
  })
  // Four more bytes have the number of the disk, which is 0.
  const isRead = at === length || (at + 4 === length && field?.readUInt32LE(at) === 0)
  if (!isRead) throw new InvalidArchive('zip64_field', { name })
  return wide
}

/**
 * Only plain files and folders. The upper half of the attributes is a Unix mode on every system
 * that sets it.
 */
function checkKind(
  { path, isFolder, size, packedSize }: EntryHeader,
  host: number,
  attributes: number,
): void {
  const type = (attributes >>> 16) & UNIX.type
  if (type === UNIX.link) throw new InvalidArchive('symlink', { name: path })
  if (type !== 0 && type !== (isFolder ? UNIX.folder : UNIX.file))
    throw new InvalidArchive('special_file', { name: path })
  if (DOS_HOSTS.has(host) && (attributes & DOS_SPECIAL) !== 0)
    throw new InvalidArchive('special_file', { name: path })
  // An empty deflate stream takes two bytes.
  if (isFolder && (size > 0 || packedSize > 2))
    throw new InvalidArchive('folder_with_data', { name: path })
}

/** Checks encryption, method and whether the sizes are plausible. */
function checkCoding({ path, flags, method, size, packedSize, crc }: EntryHeader): void {
  const name = path
  if ((flags & (FLAG.encrypted | FLAG.strong | FLAG.masked)) !== 0)
    throw new InvalidArchive('encrypted', { name })
  if ((flags & FLAG.patched) !== 0) throw new InvalidArchive('patched', { name })
  if (method !== METHOD.stored && method !== METHOD.deflated)
    throw new InvalidArchive('method', { name, n: method })
  if (method === METHOD.stored && size !== packedSize)
    throw new InvalidArchive('stored_size', { name })
  if (size > packedSize * BEST_DEFLATE)
    throw new InvalidArchive('impossible_size', { name, n: size })
  if (size === 0 && crc !== 0) throw new InvalidArchive('empty_crc', { name })
}
