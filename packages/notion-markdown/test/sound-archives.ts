// Archives that must be read, in all the ways in which they are written.
import { noise } from '../../../test/support/archives/bombs.ts'
import { pageHtml, sitemapHtml, someEntries } from '../../../test/support/archives/pages.ts'
import {
  archive,
  deflated,
  field,
  field64,
  raw,
  text,
  unicodePath,
  type ArchiveSpec,
  type EntrySpec,
} from '../../../test/support/archives/writer.ts'

export const latin1 = (data: string | Uint8Array = '') =>
  Buffer.from(data as Uint8Array).toString('latin1')
export const contentOf = (...entries: EntrySpec[]) =>
  Object.fromEntries(entries.map(({ name, data }) => [name, latin1(data)]))
export const page: EntrySpec = { name: 'Page.html', data: pageHtml('Page') }
const size = latin1(page.data).length
const packedSize = deflated(text(pageHtml('Page'))).bytes.length
export const part = (n: number, ...entries: EntrySpec[]): EntrySpec => ({
  name: `Export-0123-Part-${n}.zip`,
  data: archive(entries),
})
export const withEach = (lies: Partial<EntrySpec>) =>
  someEntries().map((entry) => ({ ...entry, ...lies }))
const unix = (mode: number) => ({ central: { host: 3, attributes: mode * 65536 } })
const FULL = 0xffffffff

/**
 * TABLE of sound archives: what is special about each, its entries, how it is written; what must be
 * read, if not just that.
 */
export const SOUND: {
  name: string
  entries: EntrySpec[]
  spec?: ArchiveSpec
  holds?: Record<string, string>
}[] = [
  { name: 'deflated and stored entries', entries: someEntries() },
  { name: 'everything stored', entries: withEach({ stored: true }) },
  {
    name: 'sizes after the data, signed, as Notion writes',
    entries: withEach({ descriptor: 'signed' }),
  },
  { name: 'sizes after the data, unsigned', entries: withEach({ descriptor: 'bare' }) },
  { name: 'sizes after the data in 64 bits', entries: withEach({ descriptor: 'signed64' }) },
  {
    name: 'sizes after the data in 64 bits, unsigned',
    entries: withEach({ descriptor: 'bare64' }),
  },
  {
    name: 'sizes after the data, and saturated before it',
    entries: [
      {
        ...page,
        descriptor: 'signed64',
        local: { size: FULL, packedSize: FULL, extra: field64(0, 0) },
      },
    ],
  },
  {
    name: 'sizes after the data as well as before',
    entries: [{ ...page, descriptor: 'signed', local: { size, packedSize } }],
  },
  {
    name: 'an empty entry that leaves its descriptor out',
    entries: [page, { name: 'empty.txt', stored: true, descriptor: 'none' }],
  },
  { name: 'an empty page', entries: [{ name: 'empty.html', data: '' }] },
  { name: 'names marked as UTF-8', entries: withEach({ flags: 1 << 11 }) },
  { name: 'a comment', entries: someEntries(), spec: { comment: text('packed by hand, PK') } },
  { name: 'ZIP64 end records', entries: someEntries(), spec: { zip64: {} } },
  {
    name: 'ZIP64 sizes in both headers',
    entries: [
      { ...page, both: { size: FULL, packedSize: FULL, extra: field64(size, packedSize) } },
    ],
  },
  {
    name: 'ZIP64 sizes in the own header only',
    entries: [
      { ...page, local: { size: FULL, packedSize: FULL, extra: field64(size, packedSize) } },
    ],
  },
  {
    name: 'a ZIP64 field that repeats what the header says',
    entries: [
      { ...page, central: { size: FULL, packedSize: FULL, extra: field64(size, packedSize, 0) } },
    ],
  },
  {
    name: 'extra fields, and padding that is none',
    entries: withEach({ both: { extra: Buffer.concat([field(0x5455, raw('x')), raw('\0\0\0')]) } }),
  },
  {
    name: 'extra fields that differ between the headers',
    entries: withEach({ local: { extra: field(0x5855, Buffer.alloc(12)) } }),
  },
  { name: 'modes of Unix files', entries: withEach(unix(0o100644)) },
  {
    name: 'folders of their own',
    entries: [
      ...someEntries(),
      { name: 'Folder/', stored: true, ...unix(0o040755) },
      { name: 'Other/' },
    ],
    holds: contentOf(...someEntries()),
  },
  {
    name: 'what operating systems add',
    entries: [
      page,
      ...[
        '__MACOSX/._Page.html',
        '._Page.html',
        'F/.DS_Store',
        'F/Thumbs.db',
        'desktop.ini',
        'F/Icon\r',
      ].map((name) => ({ name, data: 'x' })),
    ],
    holds: contentOf(page),
  },
  {
    name: 'names that differ in case only',
    entries: [page, { name: 'PAGE.html', data: 'x' }, { name: 'page.HTM', data: 'y' }],
  },
  {
    name: 'a file that is named like the start of a folder',
    entries: [{ name: 'a.html' }, { name: 'a!/b.html' }, { name: 'a', data: 'x' }],
  },
  {
    name: 'a name in code page 437',
    entries: [{ name: raw('Caf\x82.html'), data: 'x' }],
    holds: { 'Café.html': 'x' },
  },
  {
    name: 'a name in an unknown encoding, and in Unicode beside it',
    entries: [
      {
        name: raw('\x83\x65.html'),
        data: 'x',
        both: { extra: unicodePath(raw('\x83\x65.html'), 'テ.html') },
      },
    ],
    holds: { 'テ.html': 'x' },
  },
  {
    name: 'a Unicode name that belongs to an older name',
    entries: [
      { name: 'New.html', data: 'x', both: { extra: unicodePath(text('Old.html'), 'Old.html') } },
    ],
  },
  { name: 'decomposed accents', entries: [{ name: 'Einfu\u0308hrung.html', data: 'x' }] },
  {
    name: 'backslashes between folders, as old tools for Windows write',
    entries: [
      page,
      { name: 'Page\\', stored: true },
      { name: 'Page\\Below\\a.png', data: 'x' },
      { name: '.\\b.png', data: 'y' },
      {
        name: raw('c\\d.png'),
        data: 'z',
        both: { extra: unicodePath(text('c\\d.png'), 'c\\d.png') },
      },
    ],
    holds: { ...contentOf(page), 'Page/Below/a.png': 'x', 'b.png': 'y', 'c/d.png': 'z' },
  },
  {
    name: 'a dot in front of each name',
    entries: [
      { name: './', stored: true },
      { name: './Page.html', data: 'x' },
      { name: '././Page/a.png' },
    ],
    holds: { 'Page.html': 'x', 'Page/a.png': '' },
  },
  {
    name: 'text that stays percent-encoded',
    entries: [page, { name: 'Page/%D0%BA.jpg', data: 'x' }],
  },
  {
    name: 'an attached archive, deep and at the root',
    entries: [
      page,
      { ...part(1, page), name: 'Page/a-Part-1.zip' },
      { ...part(1, page), name: 'a.zip' },
    ],
  },
  {
    name: 'one part, deflated',
    entries: [part(1, ...someEntries())],
    holds: contentOf(...someEntries()),
  },
  {
    name: 'one part, stored',
    entries: [{ ...part(1, ...someEntries()), stored: true }],
    holds: contentOf(...someEntries()),
  },
  {
    name: 'a part of 9 MB',
    entries: [part(1, page, { name: 'noise.bin', data: noise(9e6), stored: true })],
    holds: { ...contentOf(page), 'noise.bin': latin1(noise(9e6)) },
  },
  {
    name: 'a page beside two parts, one in capitals',
    entries: [
      page,
      part(1, { name: 'A.html' }),
      { ...part(2, { name: 'B.html' }), name: 'EXPORT-PART-2.ZIP' },
    ],
    holds: { ...contentOf(page), 'A.html': '', 'B.html': '' },
  },
  {
    name: "a part, and what macOS puts beside it on another system's disk",
    entries: [part(1, page), { name: `._${part(1).name}`, data: 'x' }],
    holds: contentOf(page),
  },
  {
    name: 'parts that share a file',
    entries: [
      part(1, page, { name: 'x.png', data: 'x' }),
      part(2, { name: 'B.html' }, { name: 'x.png', data: 'x', stored: true }),
    ],
    holds: { ...contentOf(page), 'B.html': '', 'x.png': 'x' },
  },
  {
    name: 'parts with a sitemap each',
    entries: [
      part(1, page, { name: 'E/index.html', data: sitemapHtml('A') }),
      part(2, { name: 'E/index.html', data: sitemapHtml('B') }),
    ],
    holds: { ...contentOf(page), 'E/index.html': sitemapHtml('A') },
  },
  {
    name: 'a part inside a part, which is an attachment',
    entries: [part(1, page, part(1, page))],
    holds: contentOf(page, part(1, page)),
  },
]
