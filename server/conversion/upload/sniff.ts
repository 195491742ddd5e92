// Detects a file's kind by its first bytes, and recognises common wrong files.
import { looksLikeHtml, looksLikeZip } from '@tollmark/notion-markdown/formats'

/** Bytes that `sniff` needs; fewer only if the file is shorter. */
export const SNIFF_BYTES = 4096

/** The kinds of file that can be converted. */
export type FileKind = 'html' | 'zip'

/**
 * The kind of a file by its first bytes; undefined if it is neither. The name decides only if the
 * content does not.
 */
export function sniff(head: Uint8Array, fileName: string): FileKind | undefined {
  if (looksLikeZip(head, { fileName })) return 'zip'
  if (looksLikeHtml(head, fileName)) return 'html'
  // A ZIP with something in front of it: the archive reader reports what is wrong.
  return /\.zip$/i.test(fileName) && Buffer.from(head).includes('PK\u0003\u0004', 0, 'latin1')
    ? 'zip'
    : undefined
}

/**
 * TABLE of files that people upload by mistake: a name, and the bytes (Latin-1) at an offset, or
 * the file extension, that identify it.
 */
const WRONG_FILES: readonly {
  readonly name: string
  readonly bytes?: string
  readonly at?: number
  readonly named?: RegExp
  readonly isArchive?: true
}[] = [
  { name: 'a PDF document', bytes: '%PDF-' },
  { name: 'a RAR archive', bytes: 'Rar!\x1a\x07', isArchive: true },
  { name: 'a 7z archive', bytes: "7z\xbc\xaf'\x1c", isArchive: true },
  { name: 'a gzip archive', bytes: '\x1f\x8b', isArchive: true },
  { name: 'a bzip2 archive', bytes: 'BZh', isArchive: true },
  { name: 'an xz archive', bytes: '\xfd7zXZ\0', isArchive: true },
  { name: 'a tar archive', bytes: 'ustar', at: 257, isArchive: true },
  { name: 'a picture', bytes: '\x89PNG\r\n' },
  { name: 'a picture', bytes: '\xff\xd8\xff' },
  { name: 'a picture', bytes: 'GIF8' },
  { name: 'a picture', bytes: 'WEBP', at: 8 },
  { name: 'an old Office document', bytes: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1' },
  { name: 'a page that a browser has saved as one file (MHTML)', bytes: 'From: <Saved by ' },
  { name: 'a page that a browser has saved as one file (MHTML)', named: /\.mht(?:ml)?$/i },
  { name: 'a page that Safari has saved as a web archive', bytes: 'bplist00' },
  { name: 'a Markdown file', named: /\.(?:md|markdown)$/i },
  { name: 'a CSV file', named: /\.csv$/i },
  { name: 'a JSON file', named: /\.json$/i },
  { name: 'a text file', named: /\.txt$/i },
]

/** Says what a rejected file is, and what to upload instead. */
export function describeWrongFile(head: Uint8Array, fileName: string): string {
  if (head.length === 0) return 'The file is empty. Export the page from Notion again, as HTML.'
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
  const other = WRONG_FILES.find(({ bytes, at = 0, named }) =>
    bytes === undefined ? named?.test(fileName) : text.startsWith(bytes, at),
  )
  const what = `The file is ${other?.name ?? 'neither an HTML page nor a ZIP archive'}.`
  return `${what} ${other?.isArchive ? 'Use the ZIP archive from Notion, or pack the export as ZIP.' : 'In Notion, export as HTML and use that file.'}`
}
