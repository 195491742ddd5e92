// UTF-16 or UTF-32 text, read as its ASCII: zero bytes are beside each character, before or after
// it.

/** Maximum number of zeros beside one character, in UTF-32. With more, it is not text. */
const MOST_ZEROS = 3

/** Wide text without its zeros. */
export interface WithoutZeros {
  readonly bytes: Buffer
  /** The position of each of these bytes. */
  readonly places: Uint32Array
}

/** Bytes without the zeros between characters; null if there are none, as in nearly every text. */
export function withoutZeros(bytes: Buffer): WithoutZeros | null {
  if (!bytes.includes(0)) return null
  const kept = Buffer.allocUnsafe(bytes.length)
  const places = new Uint32Array(bytes.length)
  let count = 0
  let zeros = 0
  for (let at = 0; at < bytes.length; at++) {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- a byte below the length, on the data path
    const byte = bytes[at]!
    zeros = byte === 0 ? zeros + 1 : 0
    if (zeros > 0 && zeros <= MOST_ZEROS) continue
    kept[count] = byte
    places[count++] = at
  }
  return { bytes: kept.subarray(0, count), places }
}
