// The spellings of a credential in an error, before its characters are escaped.

/** This many consecutive characters of a credential are masked, at any position. */
export const SHORTEST_FRAGMENT = 16
/** One way in which a credential, or the rest of one, is written. */
export interface Spelling {
  /** In lower case if `folds`. */
  readonly text: Buffer
  /** Whether it may be written in any case. */
  readonly folds: boolean
  /** Whether it begins in the middle of the credential. */
  readonly isFragment: boolean
  /** How many of its characters suffice to mask them, if the next one differs. */
  readonly enough: number
  /** Bytes of the longest sufficient prefix in the current comparison. */
  reached: number
}

/** A text in exactly this case. */
export const exact = (text: string): Spelling => ({
  text: Buffer.from(text, 'latin1'),
  folds: false,
  isFragment: false,
  enough: Infinity,
  reached: 0,
})

const SMALL = 0x20
const isCapital = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a
const isSmall = (byte: number): boolean => byte >= 0x61 && byte <= 0x7a

/** Whether a byte is a spelling's character at a place. */
export function isSame({ text, folds }: Spelling, at: number, byte: number): boolean {
  return text[at] === (folds && isCapital(byte) ? byte | SMALL : byte)
}

/** The possible first bytes of a spelling. */
export function firstsOf({ text, folds }: Spelling): readonly number[] {
  const [first] = text
  if (first === undefined) return []
  return folds && isSmall(first) ? [first, first & ~SMALL] : [first]
}

/** Separators between the bytes of a hexadecimal dump. */
const BETWEEN_BYTES = ['', ' ', ':', '-']

/**
 * The spellings of a secret in an error: literal, in hexadecimal, or in base64, where the preceding
 * bytes (`user:` of Basic authentication) decide which of three spellings it has.
 */
export function spellingsOf(secret: string): readonly Spelling[] {
  const folded = secret.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  const inAnyCase = (text: string, isFragment = false): Spelling => ({
    ...exact(text),
    folds: true,
    isFragment,
    enough: secret.length >= SHORTEST_FRAGMENT ? SHORTEST_FRAGMENT : Infinity,
  })
  const fragments = Array.from({ length: Math.max(0, secret.length - SHORTEST_FRAGMENT) }, (_, i) =>
    inAnyCase(folded.slice(i + 1), true),
  )
  const hex = Buffer.from(secret).toString('hex').match(/../g) ?? []
  const inHex = BETWEEN_BYTES.map((between): Spelling => ({
    ...exact(hex.join(between)),
    folds: true,
  }))
  const encoded = [0, 1, 2].flatMap((before) => [
    inBase64(secret, before),
    inBase64(secret, before).replaceAll('+', '-').replaceAll('/', '_'),
  ])
  return [inAnyCase(folded), ...inHex, ...[...new Set(encoded)].map(exact), ...fragments]
}

/** The base64 digits that depend only on a secret if `before` bytes (modulo 3) precede it. */
function inBase64(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
  return bytes
    .toString('base64')
    .slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
}
