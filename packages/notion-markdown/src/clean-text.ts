/**
 * Normalizes the text of an export: no byte order mark, line ends as `\n`, no U+0000 (which the
 * engine uses as its own mark).
 */
export function cleanText(source: string): string {
  let text = source.charCodeAt(0) === 0xfeff ? source.slice(1) : source
  if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n')
  if (text.includes('\0')) text = text.replaceAll('\0', '')
  return text
}
