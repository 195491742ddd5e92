/** TABLE of byte order marks (Encoding Standard, "BOM sniff"). */
const MARKS: { encoding: string; bytes: number[] }[] = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
]

const startsWith = (bytes: Uint8Array, start: readonly number[]) =>
  start.every((byte, i) => bytes[i] === byte)

/**
 * The text of an HTML file: by its byte order mark, else by the encoding that it declares in its
 * first 1024 bytes (HTML Standard, "prescan"), else as UTF-8. Bytes that are invalid in that
 * encoding become U+FFFD; nothing throws. The mark is not part of the text.
 */
export function decodeHtml(bytes: Uint8Array): string {
  const encoding = marked(bytes) ?? usable(declaredEncoding(bytes)) ?? 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

function marked(bytes: Uint8Array): string | undefined {
  return MARKS.find((row) => startsWith(bytes, row.bytes))?.encoding
}

/**
 * A page that declares UTF-16 in ASCII letters is not UTF-16 (HTML Standard); an unknown encoding
 * counts as not declared.
 */
function usable(label: string | undefined): string | undefined {
  try {
    const { encoding } = new TextDecoder(label)
    return encoding.startsWith('utf-16') ? undefined : encoding
  } catch {
    return undefined
  }
}

function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1')
    .decode(bytes.subarray(0, 1024))
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '')
  for (const [tag] of head.matchAll(/<meta[\s/][^>]*>/gi)) {
    const attributes = new Map<string, string>()
    for (const [, name = '', double, single, bare] of tag
      .slice(5)
      .matchAll(/([^\s=/>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g)) {
      attributes.set(name.toLowerCase(), double ?? single ?? bare ?? '')
    }
    const isContentType = attributes.get('http-equiv')?.trim().toLowerCase() === 'content-type'
    const content = isContentType
      ? /charset\s*=\s*["']?([^\s"';]+)/i.exec(attributes.get('content') ?? '')?.[1]
      : undefined
    const charset = attributes.get('charset') ?? content
    if (charset !== undefined) return charset.trim().replace(/\/$/, '')
  }
  return undefined
}

/** Elements that a page or a fragment of one starts with. */
const STARTS =
  'html|head|title|meta|link|style|script|body|header|article|section|main|nav|h[1-6]|p|div|span|details|figure|table|ul|ol|dl|' +
  'blockquote|pre|hr|br|img|a|b|i|strong|em'
const MARKUP = new RegExp(`^<(?:!doctype(?:\\s+html\\b|\\s*>)|(?:${STARTS})(?:[\\s/>]|$))`, 'i')

/**
 * Formats that begin with only printable characters, but are not text, or not HTML's: PDF,
 * PostScript, RTF, pages that browsers save as one file (MHTML, Safari's web archive).
 */
const OTHER_SIGNATURES = /^(?:%PDF-|%!PS|\{\\rtf|From: <Saved by |bplist00)/

/**
 * Bytes that do not occur in text (MIME Sniffing Standard, "binary data byte"), except controls
 * that word processors leave.
 */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const BINARY = /[\x00-\x07\x0e-\x1a\x1c-\x1f]/

const HEAD = 4096

/**
 * Whether a file is HTML, by its content: if it starts with markup, or if it is text and has an
 * HTML name, for fragments that start with words.
 *
 * @param bytes the file, or at least its first 4096 bytes
 */
export function looksLikeHtml(bytes: Uint8Array, fileName = ''): boolean {
  const head = new TextDecoder(marked(bytes) ?? 'latin1').decode(bytes.subarray(0, HEAD))
  if (bytes.length === 0 || OTHER_SIGNATURES.test(head)) return false
  return (
    MARKUP.test(skipProlog(head)) ||
    (/\.html?$/i.test(fileName) && /<[a-z!/]/i.test(head) && !BINARY.test(head))
  )
}

const LEADING_COMMENT = /^<!--(?:-?>|[^]*?--!?>)/

/**
 * The content after white space, an XML declaration and comments. A comment that does not end
 * within the head is not skipped.
 */
function skipProlog(head: string): string {
  let rest = head.trimStart().replace(/^<\?xml[^>]*>\s*/i, '')
  for (let comment = LEADING_COMMENT.exec(rest); comment; comment = LEADING_COMMENT.exec(rest))
    rest = rest.slice(comment[0].length).trimStart()
  return rest
}

/**
 * TABLE of the bytes after "PK" at the start of an archive: an entry; the end of an archive without
 * entries, plain and ZIP64; the mark of a split archive.
 */
const ZIP_STARTS = [
  [3, 4],
  [5, 6],
  [6, 6],
  [7, 8],
]

/**
 * Whether a file is meant to be a ZIP archive, valid or not: by its signature, or by its name
 * together with an end record near the end, as in an archive with leading bytes.
 *
 * @param head the file, or its start
 * @param hint the name, and the end of the file (64 KB are enough) if `head` is not all of it
 */
export function looksLikeZip(
  head: Uint8Array,
  hint: { fileName?: string; tail?: Uint8Array } = {},
): boolean {
  const [p, k] = head
  if (p === 0x50 && k === 0x4b)
    return ZIP_STARTS.some((start) => startsWith(head.subarray(2), start))
  if (!/\.zip$/i.test(hint.fileName ?? '')) return false
  const tail = hint.tail ?? head
  for (
    let at = tail.lastIndexOf(0x50);
    at >= 0;
    at = at === 0 ? -1 : tail.lastIndexOf(0x50, at - 1)
  ) {
    if (startsWith(tail.subarray(at, at + 4), [0x50, 0x4b, 5, 6])) return true
  }
  return false
}
