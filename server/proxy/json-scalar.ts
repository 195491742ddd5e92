// Numbers and literals of JSON (RFC 8259, sections 3 and 6).

/** Characters of the longest number that makes sense. */
export const LONGEST_SCALAR = 1024
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/

/** 1 for each byte that ends a number or a literal. */
export const DELIMITER = Uint8Array.from({ length: 256 }, (_, byte) => (byte <= 0x20 || '"{}[],:'.includes(String.fromCharCode(byte)) ? 1 : 0))

/** Where a number or literal ends, which may be the end of the chunk. */
export function endOfScalar(chunk: Buffer, start: number): number {
  let i = start
  while (i < chunk.length && DELIMITER[chunk[i]!] === 0) i++
  return i
}

/** Whether a text is a number or a literal. */
export const isScalar = (text: string): boolean => SCALAR.test(text)

/** Whether the bytes of a chunk are a number or a literal, and no longer than any that makes sense. */
export function holdsScalar(chunk: Buffer, from: number, to: number): boolean {
  return to - from <= LONGEST_SCALAR && (isInteger(chunk, from, to) || isScalar(chunk.toString('latin1', from, to)))
}

/** Most numbers are of this kind, and need no text. */
function isInteger(chunk: Buffer, from: number, to: number): boolean {
  if (chunk[from] === 0x30) return to - from === 1
  for (let i = from; i < to; i++) if (chunk[i]! < 0x30 || chunk[i]! > 0x39) return false
  return true
}
