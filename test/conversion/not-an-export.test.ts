// What somebody sends by mistake is identified in the error.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { describeWrongFile, sniff } from '../../server/conversion/upload/sniff.ts'

const bytes = (latin1: string): Buffer => Buffer.from(latin1, 'latin1')

/** TABLE of files: the name, how they begin, what they are told. */
const FILES: [name: string, head: Buffer, told: RegExp][] = [
  [
    'page.pdf',
    bytes('%PDF-1.7\n%\xe2\xe3'),
    /^The file is a PDF document\. In Notion, export as HTML and use that file\./,
  ],
  [
    'export.rar',
    bytes('Rar!\x1a\x07\x01\0'),
    /^The file is a RAR archive\. Use the ZIP archive from Notion/,
  ],
  ['export.7z', bytes("7z\xbc\xaf'\x1c\0\x04"), /^The file is a 7z archive\. Use the ZIP/],
  ['export.tar.gz', gzipSync('x'), /^The file is a gzip archive\. Use the ZIP/],
  ['export.tar.xz', bytes('\xfd7zXZ\0'), /^The file is an xz archive\. Use the ZIP/],
  [
    'export.tar',
    Buffer.concat([Buffer.alloc(257, 'a'), bytes('ustar\x0000')]),
    /^The file is a tar archive\. Use the ZIP/,
  ],
  ['Export.zip', bytes('%PDF-1.4'), /^The file is a PDF document\./],
  ['picture.png', bytes('\x89PNG\r\n\x1a\n'), /^The file is a picture\./],
  ['photo.jpg', bytes('\xff\xd8\xff\xe0'), /^The file is a picture\./],
  ['Page.mhtml', bytes('MIME-Version: 1.0\r\n<html>'), /^The file is a page .*\(MHTML\)\./],
  ['Page.html', bytes('From: <Saved by Blink>\r\n\r\n<html>'), /^The file is a page .*\(MHTML\)\./],
  ['Page.webarchive', bytes('bplist00\xd1<html>'), /^The file is a page that Safari/],
  ['old.doc', bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), /^The file is an old Office document\./],
  ['Page.md', bytes('# Page\n'), /^The file is a Markdown file\. In Notion, export as HTML/],
  ['Table.csv', bytes('Name,Status\n'), /^The file is a CSV file\./],
  ['page.json', bytes('{"object":"page"}'), /^The file is a JSON file\./],
  ['Page.html', bytes(''), /^The file is empty\. Export the page from Notion again/],
  [
    'notes',
    bytes('some words'),
    /^The file is neither an HTML page nor a ZIP archive\. In Notion, export as HTML/,
  ],
]

test('a file that is not an export is refused with its actual format', () => {
  for (const [name, head, told] of FILES) {
    assert.equal(sniff(head, name), undefined, name)
    assert.match(describeWrongFile(head, name), told)
  }
})
