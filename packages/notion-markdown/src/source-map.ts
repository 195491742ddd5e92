// The source map: the range of each Notion block in the document, in bytes.
import type { SourcePart } from './source-marks.ts'

/**
 * A range of the document that shows a block. Ranges are in order and never overlap: each covers
 * what the block itself shows, without the blocks inside it. A block whose own words are not
 * contiguous has several.
 */
export interface SourceRange {
  /**
   * The block's id, 32 hex digits. Content without an id has that of the nearest block around it,
   * or else the page's; null if the page has none.
   */
  block_id: string | null
  /** The id of the page that shows it. */
  page_id: string | null
  /** Start and end, in UTF-8 bytes of the document. */
  start: number
  end: number
}

/** Text allowed between two parts of one range: line ends and the signs of quotes. */
const BETWEEN = /^[\s>]*$/

/**
 * The ranges of one page.
 *
 * @param base the start of the page in the document, in bytes
 */
export function sourceRanges(
  { markdown, parts }: { markdown: string; parts: readonly SourcePart[] },
  page: string | null,
  base: number,
): SourceRange[] {
  const ranges: SourceRange[] = []
  let at = 0
  let bytes = base
  const bytesTo = (end: number): number => {
    bytes += utf8Length(markdown, at, end)
    at = end
    return bytes
  }
  for (const { kind, block, start, end } of parts) {
    if (kind === 'toggle-end') continue
    const last = ranges[ranges.length - 1]
    if (last?.block_id === block && BETWEEN.test(markdown.slice(at, start))) {
      last.end = bytesTo(end)
      continue
    }
    const from = bytesTo(start)
    ranges.push({ block_id: block, page_id: page, start: from, end: bytesTo(end) })
  }
  return ranges
}

/** Bytes of `text[from … to)` in UTF-8; a lone surrogate takes three, as U+FFFD does. */
export function utf8Length(text: string, from = 0, to = text.length): number {
  let bytes = to - from
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) continue
    bytes += code < 0x800 ? 1 : 2
    const isPair =
      code >= 0xd800 && code < 0xdc00 && i + 1 < to && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
    // A pair takes four bytes.
    if (isPair) i++
  }
  return bytes
}
