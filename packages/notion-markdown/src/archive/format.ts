// Constants of the ZIP format (PKWARE APPNOTE 6.3.10) that several readers here need.

/** The first four bytes of each record (4.3). */
export const SIGNATURE = {
  local: 0x04034b50,
  central: 0x02014b50,
  descriptor: 0x08074b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
}

/** Sizes of the records without their variable parts, in bytes. */
export const SIZE = { local: 30, central: 46, end: 22, end64: 56, locator64: 20 }

/** Compression methods (4.4.5). */
export const METHOD = { stored: 0, deflated: 8 }

/** General purpose flags (4.4.4) that change how an entry is read. */
export const FLAG = {
  encrypted: 1,
  descriptor: 1 << 3,
  patched: 1 << 5,
  strong: 1 << 6,
  utf8: 1 << 11,
  masked: 1 << 13,
}

/** Extra fields (4.5.2). */
export const FIELD = { zip64: 0x0001, unicodePath: 0x7075 }

/** The placeholder for a number that is in a ZIP64 record or field. */
export const SATURATED = { uint16: 0xffff, uint32: 0xffffffff }

/** The same bytes with reading methods, without a copy. */
export function asZipBytes(bytes: Uint8Array): ZipBytes {
  return new ZipBytes(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const latin1 = new TextDecoder('latin1')

/** Bytes with methods to read numbers, like Node's Buffer, which browsers do not have. */
export class ZipBytes extends Uint8Array<ArrayBufferLike> {
  readUInt16LE(at: number): number {
    return (this[at] ?? 0) | ((this[at + 1] ?? 0) << 8)
  }

  readUInt32LE(at: number): number {
    return (this.readUInt16LE(at) | (this.readUInt16LE(at + 2) << 16)) >>> 0
  }

  /** Numbers that are not exact exceed the size of any file. */
  readUInt64LE(at: number): number {
    return this.readUInt32LE(at + 4) * 2 ** 32 + this.readUInt32LE(at)
  }

  /** The bytes as a string with one character for each. */
  latin1(): string {
    return latin1.decode(this)
  }

  /** @param from at least 0 */
  override subarray(from = 0, to = this.length): ZipBytes {
    const end = Math.min(to, this.length)
    return new ZipBytes(this.buffer, this.byteOffset + from, Math.max(0, end - from))
  }
}
