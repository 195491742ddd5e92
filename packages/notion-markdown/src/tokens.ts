/** Characters of each kind that language models take for about one token. */
const ASCII_CHARS = 4
const LETTER_CHARS = 2

/**
 * How many tokens a text has, about: four ASCII characters to one, two of other alphabets, one of
 * Chinese, Japanese, Korean and emoji. Models differ by a third either way.
 */
export function estimateTokens(text: string): number {
  let [ascii, letters, others] = [0, 0, 0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) ascii++
    else if (code < 0x2e80) letters++
    // Of a pair only the first half counts.
    else if ((code & 0xfc00) !== 0xdc00) others++
  }
  return Math.ceil(ascii / ASCII_CHARS + letters / LETTER_CHARS + others)
}
