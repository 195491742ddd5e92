/** Number of characters of each kind that are about one token for language models. */
export const ASCII_CHARS = 4
const LETTER_CHARS = 2

/**
 * The approximate number of tokens of a text: one for four ASCII characters, for two of other
 * alphabets, and for one of Chinese, Japanese, Korean and emoji. Models differ by up to a third.
 */
export function estimateTokens(text: string): number {
  let [ascii, letters, others] = [0, 0, 0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) ascii++
    else if (code < 0x2e80) letters++
    // Only the first half of a pair counts.
    else if ((code & 0xfc00) !== 0xdc00) others++
  }
  return Math.ceil(ascii / ASCII_CHARS + letters / LETTER_CHARS + others)
}
