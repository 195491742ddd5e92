import { decodeHTML, decodeHTMLAttribute } from 'entities'

/**
 * TABLE of the character references that Notion's exporter writes; any other is looked up in HTML's
 * full table.
 */
const COMMON = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['#x27', "'"],
  ['#39', "'"],
  ['nbsp', '\u00a0'],
])

/**
 * Decodes the character references of HTML text, or of an attribute's value, where HTML is stricter
 * about references without their `;` (so that `?a=1&copy=2` stays an address).
 */
export function decodeText(source: string, place: 'text' | 'attribute' = 'text'): string {
  let amp = source.indexOf('&')
  if (amp < 0) return source
  const decode = place === 'text' ? decodeHTML : decodeHTMLAttribute
  let text = ''
  let done = 0
  let semicolon = -1
  while (amp >= 0) {
    if (semicolon < amp) {
      semicolon = source.indexOf(';', amp)
      if (semicolon < 0) semicolon = source.length
    }
    const common = semicolon - amp < 8 ? COMMON.get(source.slice(amp + 1, semicolon)) : undefined
    text += source.slice(done, amp)
    if (common) {
      text += common
      done = semicolon + 1
    } else {
      const next = source.indexOf('&', amp + 1)
      done = Math.min(semicolon + 1, next < 0 ? source.length : next)
      text += decode(source.slice(amp, done))
    }
    amp = source.indexOf('&', done)
  }
  text += source.slice(done)
  // A line ends with LF, however a reference writes it, because in Markdown a carriage return also
  // ends a line.
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
}
