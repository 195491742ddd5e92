/** The same bytes with Node's reading methods; nothing is copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** @returns the number at `at`; what cannot be held exactly is beyond the size of every file anyway */
export function uint64(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at))
}
