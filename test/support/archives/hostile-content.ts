// Each row is an archive with valid headers and bad content.
import { cutShort, damagedMiddle, emptyBlocks, noise, twoGigabytes, withTail } from './bombs.ts'
import { pageHtml, sitemapHtml } from './pages.ts'
import {
  both,
  deflatedPart,
  flipped,
  headSize,
  largePart,
  many,
  named,
  only,
  part,
  plain,
  sound,
  withFirst,
  withSpec,
  type Row,
} from './shapes.ts'
import { archive, deflated, deflatedRun, raw, text } from './writer.ts'

/** Data that differs from what the headers announce. */
export const CONTENT: Row[] = [
  [
    'damaged data',
    /damaged and cannot be inflated/,
    withFirst({ packed: { ...deflated(text('x')), bytes: Buffer.alloc(50, 0xff) } }),
  ],
  [
    'data cut off',
    /data .* is cut off/,
    () => withFirst({ packed: cutShort(deflated(noise(1000))) })(),
  ],
  [
    'no data at all',
    /more than its data can hold/,
    withFirst({ packed: { bytes: Buffer.alloc(0), size: 5, crc: 5 } }),
  ],
  [
    'a gigabyte that says it is a kilobyte',
    /inflates to more than the 1,024 bytes/,
    () => withFirst({ packed: { ...deflatedRun(' ', 1024), size: 1024 } })(),
  ],
  [
    'one byte more than announced',
    /inflates to more than the 99 bytes/,
    withFirst({ packed: { ...deflated(Buffer.alloc(100)), size: 99 } }),
  ],
  [
    'one byte less than announced',
    /inflates to less than the 101 bytes/,
    withFirst({ packed: { ...deflated(Buffer.alloc(100)), size: 101 } }),
  ],
  [
    'content that says it is empty',
    /inflates to more than the 0 bytes/,
    withFirst({ packed: { ...deflated(text('a')), size: 0, crc: 0 } }),
  ],
  [
    'bytes after the end of the data',
    /hides 5 bytes after its data/,
    withFirst({
      packed: {
        ...deflated(text('a page')),
        bytes: Buffer.concat([deflated(text('a page')).bytes, raw('extra')]),
      },
    }),
  ],
  ['a wrong checksum, deflated', /does not match its checksum/, both({ crc: 1 })],
  ['a wrong checksum, stored', /does not match its checksum/, only({ ...plain, both: { crc: 1 } })],
  [
    'one bit of a stored page',
    /does not match its checksum/,
    () => flipped(archive([plain]), headSize + 5),
  ],
  [
    'fifty MB of nothing but block headers',
    /inflates to less/,
    () => withFirst({ packed: { bytes: emptyBlocks(50), size: 1000, crc: 1 } })(),
  ],
]

/** Sizes, and archives inside the archive. */
export const EXPORT: Row[] = [
  ['no page', /no HTML page\. In Notion choose/, only({ name: 'image.png', data: 'x' })],
  [
    'an export as Markdown',
    /export as Markdown & CSV/,
    only({ name: 'Page.md', data: '# x' }, { name: 'image.png' }),
  ],
  ['folders only', /no HTML page/, only({ name: 'Folder/', stored: true })],
  [
    'only what an operating system added',
    /nothing but files that an operating system added/,
    only({ name: '__MACOSX/._Page.html', data: 'x' }),
  ],
  [
    'a page of 40 MB',
    /has 41,943,040 bytes/,
    () => archive([{ name: 'Page.html', data: noise(40 * 1024 * 1024), stored: true }]),
  ],
  [
    'a page that inflates 1000 times',
    /page "Page\.html" inflates to 1,0\d\d times/,
    () => archive([{ name: 'Page.html', packed: deflatedRun(' ', 20) }]),
  ],
  [
    'a gigabyte page',
    /page "Page\.html" inflates to 1,0\d\d times/,
    () => archive([{ name: 'Page.html', packed: deflatedRun(' ', 1024) }]),
  ],
  [
    'eight pages of 8 MB that inflate 1000 times',
    /pages .* inflate to 1,0\d\d times/,
    () => archive(many(8, (i) => ({ name: `${i}.html`, packed: deflatedRun(' ', 8) }))),
  ],
  ['two gigabytes of pages', /pages .* are 2,\d{3},\d{3},\d{3} bytes together/, twoGigabytes],
  [
    'an attachment that inflates 1000 times to a gigabyte',
    /file "a\.bin" inflates to 1,0\d\d times/,
    () => archive([plain, { name: 'a.bin', packed: deflatedRun('a', 1024) }]),
  ],
  [
    '101 parts',
    /101 part archives; at most 100/,
    () => archive(many(101, (i) => part(archive([{ ...plain, name: `${i}.html` }]), i))),
  ],
  [
    'a part of 300 MB',
    /inflate to 314,572,800 bytes/,
    () => archive([deflatedPart(raw(''), { packed: deflatedRun('P', 300) })]),
  ],
  [
    'a part that inflates 1000 times',
    /part archive ".*Part-1\.zip" inflates to 1,0\d\d times/,
    () => archive([deflatedPart(raw(''), { packed: deflatedRun('P', 60) })]),
  ],
  [
    'a part of 50 MB of the letter P',
    /In ".*Part-1\.zip", inside the archive: .*end is missing/,
    () => archive([deflatedPart(raw(''), { packed: deflatedRun('P', 50) })]),
  ],
  [
    'a part that is no archive',
    /In ".*Part-1\.zip", inside the archive: .*end is missing/,
    only(plain, part(text('not a zip'))),
  ],
  [
    'a part that is empty',
    /In ".*Part-1\.zip", inside the archive: .*no files/,
    only(plain, part(archive([]))),
  ],
  [
    'a part that is cut off',
    /In ".*Part-1\.zip", inside the archive: .*cut off/,
    () => archive([plain, deflatedPart(sound().subarray(0, -3))]),
  ],
  [
    'a part with a way out',
    /In ".*Part-1\.zip", inside the archive: .*outside/,
    only(plain, part(named('../x.html')())),
  ],
  [
    'a part with junk before it',
    /In ".*Part-1\.zip", inside the archive: .*preceded by 4/,
    only(part(withSpec({ before: raw('junk') })())),
  ],
  [
    'a part with a wrong checksum, stored',
    /Part-1\.zip" does not match its checksum/,
    () => archive([{ ...part(sound()), both: { crc: 7 } }]),
  ],
  [
    'a part with a wrong checksum, deflated',
    /Part-1\.zip" does not match its checksum/,
    () => archive([deflatedPart(sound(), { both: { crc: 7 } })]),
  ],
  [
    'a large part with a wrong checksum',
    /Part-1\.zip" does not match its checksum/,
    () => archive([deflatedPart(largePart(), { both: { crc: 7 } })]),
  ],
  [
    'a large part that is larger than it says',
    /inflates to more than the 9,000,000/,
    () => archive([deflatedPart(largePart(), { both: { size: 9_000_000 } })]),
  ],
  [
    'a large part that is smaller than it says',
    /inflates to less than the 9,999,999/,
    () => archive([deflatedPart(largePart(), { both: { size: 9_999_999 } })]),
  ],
  [
    'a large part that is damaged',
    /damaged and cannot be inflated/,
    () => archive([deflatedPart(raw(''), { packed: damagedMiddle() })]),
  ],
  [
    'a large part that is cut off',
    /data of the entry .* is cut off/,
    () => archive([deflatedPart(raw(''), { packed: cutShort(deflated(largePart())) })]),
  ],
  [
    'a large part with data behind its end',
    /hides 2,000,000 bytes after its data/,
    () => archive([deflatedPart(raw(''), { packed: withTail(2_000_000) })]),
  ],
  [
    'an archive in an archive in an archive',
    /no HTML page/,
    () => archive([part(archive([part(archive([part(sound())]))]))]),
  ],
  [
    'twenty archives in one another',
    /no HTML page/,
    () => Array.from({ length: 20 }).reduce<Buffer>((inner) => archive([part(inner)]), sound()),
  ],
  [
    'a part in a folder',
    /lie in a folder of the ZIP archive \("Folder\/Export-1-Part-1\.zip"\)/,
    () => archive([{ ...part(sound()), name: 'Folder/Export-1-Part-1.zip' }]),
  ],
  [
    "somebody's archive at the root",
    /no page, but other archives \(such as "attachment\.zip"\)/,
    () => archive([{ ...part(sound()), name: 'attachment.zip' }]),
  ],
  ['an export as PDF', /an export as PDF/, () => archive([{ name: 'a.pdf', data: 'x' }])],
  [
    'a workbook',
    /The file is an Excel workbook/,
    () => archive([{ name: '[Content_Types].xml' }, { name: 'xl/workbook.xml' }]),
  ],
  [
    'a table of contents alone',
    /only the table of contents/,
    () => archive([{ name: 'index.html', data: sitemapHtml('a') }]),
  ],
  [
    'a part without its brothers, with pictures alone',
    /This is part 2 of an export/,
    () => archive([part(archive([{ name: 'a.png', data: 'x' }]), 2)]),
  ],
  [
    'two parts with different pages of one name',
    /Two parts .* "Page\.html"/,
    only(part(archive([plain])), part(archive([{ ...plain, data: 'other' }]), 2)),
  ],
  [
    'two parts of which only one has a sitemap where both have an index',
    /Two parts .* "index\.html"/,
    only(
      part(archive([plain, { name: 'index.html', data: sitemapHtml('a') }])),
      part(archive([{ name: 'index.html', data: pageHtml('My index') }]), 2),
    ),
  ],
  [
    "a part whose page lies under another part's file",
    /file and a folder/,
    only(part(archive([plain])), part(archive([{ ...plain, name: 'Page.html/x.html' }]), 2)),
  ],
  [
    'more than 50,000 entries in two parts',
    /Part-2\.zip", inside the archive: .*30,000 entries; at most 19,998/,
    () =>
      archive(
        [1, 2].map((n) =>
          part(archive(many(30_000, (i) => ({ name: `${n}-${i}.html`, stored: true }))), n),
        ),
      ),
  ],
]
