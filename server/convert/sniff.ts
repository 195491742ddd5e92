// What a file is, by its first bytes.
import { looksLikeHtml, looksLikeZip } from '@tollmark/notion-markdown'

/** How many bytes `sniff` wants to see, fewer only where the file has no more. */
export const SNIFFED = 4096

export type FileKind = 'html' | 'zip'

/** The kind of a file whose first bytes are `head`, or undefined where it is neither. The name decides only where the content leaves it open. */
export function sniff(head: Uint8Array, fileName: string): FileKind | undefined {
  if (looksLikeZip(head, { fileName })) return 'zip'
  if (looksLikeHtml(head, fileName)) return 'html'
  // A ZIP with something in front of it: the archive's reader says what is wrong with it.
  return /\.zip$/i.test(fileName) && Buffer.from(head).includes('PK\u0003\u0004', 0, 'latin1') ? 'zip' : undefined
}
