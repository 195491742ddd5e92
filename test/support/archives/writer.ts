// A ZIP writer for tests. By default it writes valid archives in every common form; every field can
// be overridden.
import { crc32, deflateRawSync } from 'node:zlib'

/** The numbers of a header. Each record uses those that it has and ignores the others. */
export interface Fields {
  signature: number
  version: number
  host: number
  flags: number
  method: number
  dosTime: number
  crc: number
  packedSize: number
  size: number
  name: Uint8Array
  nameLength: number
  extra: Uint8Array
  extraLength: number
  comment: Uint8Array
  disk: number
  attributes: number
  headerAt: number
}

export interface EntrySpec {
  /** Text is written as UTF-8, without the flag that says so, as Notion does. */
  name: string | Uint8Array
  data?: string | Uint8Array
  /** No compression. */
  stored?: boolean
  /** Replaces the compressed data, with its sizes and checksum. */
  packed?: Packed
  flags?: number
  dosTime?: number
  /**
   * Writes sizes after the data, as streaming writers do; `none` announces a descriptor and omits
   * it.
   */
  descriptor?: 'signed' | 'bare' | 'signed64' | 'bare64' | 'none'
  /** Overrides in the descriptor. */
  descriptorFields?: Partial<Fields>
  /** Overrides in the entry's own header, in the directory's, in both. */
  local?: Partial<Fields>
  central?: Partial<Fields>
  both?: Partial<Fields>
  /** Bytes between this entry's data and the next header. */
  after?: Uint8Array
  /** Not in the directory. */
  unlisted?: boolean
  /** Only in the directory: give `central.headerAt`. */
  bodiless?: boolean
}

export interface Packed {
  bytes: Uint8Array
  size: number
  crc: number
}

export interface EndFields {
  disk: number
  directoryDisk: number
  entriesHere: number
  entries: number
  directorySize: number
  directoryAt: number
  commentLength: number
}

export interface ArchiveSpec {
  before?: Uint8Array
  /**
   * Whether offsets count from the start of the file (as in a self-extractor) or, if not given, of
   * the archive proper.
   */
  shifted?: boolean
  /** Directly after the last directory record, counted as part of the directory. */
  directoryTail?: Uint8Array
  afterDirectory?: Uint8Array
  comment?: Uint8Array
  end?: Partial<EndFields>
  /** Writes ZIP64 end records too, and saturates the plain one. */
  zip64?: {
    end?: Partial<EndFields> & { signature?: number; recordSize?: number }
    locatorAt?: number
    disks?: number
  }
  after?: Uint8Array
}

export const text = (string: string): Buffer => Buffer.from(string)
export const raw = (string: string): Buffer => Buffer.from(string, 'latin1')

/** 2026-03-04 09:12:44. */
export const SOME_TIME =
  ((2026 - 1980) << 25) | (3 << 21) | (4 << 16) | (9 << 11) | (12 << 5) | (44 / 2)

const FULL = 0xffffffff

/** The bytes of an archive. */
export function archive(entries: readonly EntrySpec[], spec: ArchiveSpec = {}): Buffer {
  const before = spec.before ?? Buffer.alloc(0)
  const base = spec.shifted ? before.length : 0
  const chunks: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let at = base
  const put = (bytes: Uint8Array) => {
    chunks.push(bytes)
    at += bytes.length
  }
  for (const entry of entries) {
    const { local, central, body } = describe(entry, at)
    if (!entry.bodiless) {
      put(localHeader(local))
      put(body)
      if (entry.descriptor && entry.descriptor !== 'none')
        put(descriptor(entry.descriptor, { ...central, ...entry.descriptorFields }))
    }
    if (entry.after) put(entry.after)
    if (!entry.unlisted) directory.push(centralHeader(central))
  }
  if (spec.directoryTail) directory.push(spec.directoryTail)
  const directoryBytes = Buffer.concat(directory)
  const listed = entries.filter((entry) => !entry.unlisted).length
  const end = {
    disk: 0,
    directoryDisk: 0,
    entriesHere: listed,
    entries: listed,
    directorySize: directoryBytes.length,
    directoryAt: at,
    commentLength: spec.comment?.length ?? 0,
  }
  put(directoryBytes)
  put(spec.afterDirectory ?? Buffer.alloc(0))
  if (spec.zip64) put(end64(end, spec.zip64, at))
  const saturated = { entriesHere: 0xffff, entries: 0xffff, directorySize: FULL, directoryAt: FULL }
  put(endRecord({ ...end, ...(spec.zip64 && saturated), ...spec.end }))
  return Buffer.concat([
    before,
    ...chunks,
    spec.comment ?? Buffer.alloc(0),
    spec.after ?? Buffer.alloc(0),
  ])
}

/** Deflates data, with its true sizes and checksum. */
export function deflated(data: Uint8Array): Packed {
  return { bytes: deflateRawSync(data), size: data.length, crc: crc32(data) }
}

/** Megabytes of one letter, deflated 1000 : 1, without having them in memory. */
export function deflatedRun(letter: string, megabytes: number): Packed {
  const data = Buffer.alloc(1024 * 1024, letter)
  // A full flush ends on a whole byte and refers to nothing before it, so the same block can follow
  // itself.
  const block = deflateRawSync(data, { level: 9, finishFlush: 3 })
  let crc = 0
  for (let i = 0; i < megabytes; i++) crc = crc32(data, crc)
  const bytes = Buffer.concat([
    ...Array.from({ length: megabytes }, () => block),
    Buffer.from([3, 0]),
  ])
  return { bytes, size: megabytes * data.length, crc }
}

/** An extra field. */
export function field(id: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16LE(id, 0)
  head.writeUInt16LE(bytes.length, 2)
  return Buffer.concat([head, bytes])
}

/** The ZIP64 extra field with these numbers, in this order. */
export function field64(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 8)
  for (const [i, number] of numbers.entries()) bytes.writeBigUInt64LE(BigInt(number), i * 8)
  return field(0x0001, bytes)
}

/** The Unicode Path extra field. */
export function unicodePath(rawName: Uint8Array, name: string): Buffer {
  const head = Buffer.alloc(5)
  head[0] = 1
  head.writeUInt32LE(crc32(rawName), 1)
  return field(0x7075, Buffer.concat([head, text(name)]))
}

function describe(
  entry: EntrySpec,
  headerAt: number,
): { local: Fields; central: Fields; body: Uint8Array } {
  const data = typeof entry.data === 'string' ? text(entry.data) : (entry.data ?? Buffer.alloc(0))
  const stored = { bytes: data, size: data.length, crc: crc32(data) }
  const packed = entry.packed ?? (entry.stored ? stored : deflated(data))
  const name = typeof entry.name === 'string' ? text(entry.name) : entry.name
  const fields: Fields = {
    signature: 0,
    version: 20,
    host: 0,
    flags: (entry.flags ?? 0) | (entry.descriptor ? 8 : 0),
    method: entry.stored ? 0 : 8,
    dosTime: entry.dosTime ?? SOME_TIME,
    crc: packed.crc,
    packedSize: packed.bytes.length,
    size: packed.size,
    name,
    nameLength: name.length,
    extra: Buffer.alloc(0),
    extraLength: 0,
    comment: Buffer.alloc(0),
    disk: 0,
    attributes: 0,
    headerAt,
    ...entry.both,
  }
  const late = entry.descriptor ? { crc: 0, packedSize: 0, size: 0 } : {}
  return {
    local: complete({ ...fields, signature: 0x04034b50, ...late }, entry.local),
    central: complete({ ...fields, signature: 0x02014b50 }, entry.central),
    body: packed.bytes,
  }
}

/** Computes lengths from the bytes unless they are overridden. */
function complete(fields: Fields, lies: Partial<Fields> = {}): Fields {
  const all = { ...fields, ...lies }
  return {
    ...all,
    nameLength: lies.nameLength ?? all.name.length,
    extraLength: lies.extraLength ?? all.extra.length,
  }
}

function localHeader(fields: Fields): Buffer {
  const head = Buffer.alloc(30)
  head.writeUInt32LE(fields.signature, 0)
  writeCommon(head, 4, fields)
  return Buffer.concat([head, fields.name, fields.extra])
}

function centralHeader(fields: Fields): Buffer {
  const head = Buffer.alloc(46)
  head.writeUInt32LE(fields.signature, 0)
  head.writeUInt8(45, 4)
  head.writeUInt8(fields.host, 5)
  writeCommon(head, 6, fields)
  head.writeUInt16LE(fields.comment.length, 32)
  head.writeUInt16LE(fields.disk, 34)
  head.writeUInt32LE(fields.attributes >>> 0, 38)
  head.writeUInt32LE(fields.headerAt, 42)
  return Buffer.concat([head, fields.name, fields.extra, fields.comment])
}

/** Writes the fields that both headers share. */
function writeCommon(head: Buffer, at: number, fields: Fields): void {
  head.writeUInt16LE(fields.version, at)
  head.writeUInt16LE(fields.flags, at + 2)
  head.writeUInt16LE(fields.method, at + 4)
  head.writeUInt32LE(fields.dosTime >>> 0, at + 6)
  head.writeUInt32LE(fields.crc, at + 10)
  head.writeUInt32LE(fields.packedSize, at + 14)
  head.writeUInt32LE(fields.size, at + 18)
  head.writeUInt16LE(fields.nameLength, at + 22)
  head.writeUInt16LE(fields.extraLength, at + 24)
}

function descriptor(kind: 'signed' | 'bare' | 'signed64' | 'bare64', fields: Fields): Buffer {
  const signature = kind.startsWith('signed') ? raw('PK\x07\x08') : Buffer.alloc(0)
  const isWide = kind.endsWith('64')
  const numbers = Buffer.alloc(isWide ? 20 : 12)
  numbers.writeUInt32LE(fields.crc, 0)
  if (isWide) {
    numbers.writeBigUInt64LE(BigInt(fields.packedSize), 4)
    numbers.writeBigUInt64LE(BigInt(fields.size), 12)
  } else {
    numbers.writeUInt32LE(fields.packedSize, 4)
    numbers.writeUInt32LE(fields.size, 8)
  }
  return Buffer.concat([signature, numbers])
}

/** An end record, also for placing one where it does not belong. */
export function endRecord(fields: Partial<EndFields> = {}): Buffer {
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(fields.disk ?? 0, 4)
  record.writeUInt16LE(fields.directoryDisk ?? 0, 6)
  record.writeUInt16LE(fields.entriesHere ?? 0, 8)
  record.writeUInt16LE(fields.entries ?? 0, 10)
  record.writeUInt32LE(fields.directorySize ?? 0, 12)
  record.writeUInt32LE(fields.directoryAt ?? 0, 16)
  record.writeUInt16LE(fields.commentLength ?? 0, 20)
  return record
}

function end64(truth: EndFields, lies: NonNullable<ArchiveSpec['zip64']>, at: number): Buffer {
  const fields = { ...truth, ...lies.end }
  const record = Buffer.alloc(56 + 20)
  record.writeUInt32LE(lies.end?.signature ?? 0x06064b50, 0)
  record.writeBigUInt64LE(BigInt(lies.end?.recordSize ?? 44), 4)
  record.writeUInt16LE(45, 12)
  record.writeUInt16LE(45, 14)
  record.writeUInt32LE(fields.disk, 16)
  record.writeUInt32LE(fields.directoryDisk, 20)
  record.writeBigUInt64LE(BigInt(fields.entriesHere), 24)
  record.writeBigUInt64LE(BigInt(fields.entries), 32)
  record.writeBigUInt64LE(BigInt(fields.directorySize), 40)
  record.writeBigUInt64LE(BigInt(fields.directoryAt), 48)
  record.writeUInt32LE(0x07064b50, 56)
  record.writeUInt32LE(0, 60)
  record.writeBigUInt64LE(BigInt(lies.locatorAt ?? at), 64)
  record.writeUInt32LE(lies.disks ?? 1, 72)
  return record
}
