// The numbers of the ZIP format (PKWARE APPNOTE 6.3.10) that several readers here need.

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

/** What a number says when the real one is in a ZIP64 record or field. */
export const SATURATED = { uint16: 0xffff, uint32: 0xffffffff }

/** The same bytes with Node's reading methods; nothing is copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * @returns the number at `at`; what cannot be held exactly is beyond the size of every file anyway
 */
export function uint64(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at))
}
