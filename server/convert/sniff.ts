// What a file is, by its first bytes.

/** How many bytes `sniff` wants to see, fewer only where the file has no more. */
export const SNIFFED = 4096

export type FileKind = 'html' | 'zip'

/** An HTML page has one of these near its beginning. */
const TAG = /<(?:!doctype\s+html|html|head|body|meta|title|article|header|section|main|div|p|h[1-6]|ul|ol|table|details|figure|a|span|style)\b/i

/** The kind of a file whose first bytes are `head`, or undefined where it is neither. The name decides only where the content leaves it open. */
export function sniff(head: Uint8Array, fileName: string): FileKind | undefined {
  if (looksLikeZip(head)) return 'zip'
  if (looksLikeHtml(head)) return 'html'
  // A ZIP with something in front of it: the archive's reader says what is wrong with it.
  return /\.zip$/i.test(fileName) && Buffer.from(head).includes('PK\u0003\u0004', 0, 'latin1') ? 'zip' : undefined
}

/** A local file header, or the end record of an empty archive (APPNOTE 4.3.7, 4.3.16). */
function looksLikeZip(head: Uint8Array): boolean {
  return head[0] === 0x50 && head[1] === 0x4b && ((head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6))
}

function looksLikeHtml(head: Uint8Array): boolean {
  const wide = head[0] === 0xff && head[1] === 0xfe ? 'utf-16le' : head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : undefined
  const text = new TextDecoder(wide ?? 'latin1').decode(head)
  return !text.includes('\0') && TAG.test(text)
}
