// Each row is an archive with one false record.
import { pageHtml, someEntries } from './pages.ts'
import {
  FULL,
  sound,
  plain,
  plainSize,
  withFirst,
  withSpec,
  both,
  named,
  only,
  many,
  type Row,
} from './shapes.ts'
import { archive, endRecord, field, field64, raw, text, unicodePath } from './writer.ts'

/** The file as a whole and the records at its end. */
export const FILE: Row[] = [
  ['empty file', /file is empty/, () => Buffer.alloc(0)],
  ['one byte', /end is missing/, () => raw('P')],
  ['a signature alone', /end is missing/, () => raw('PK\x03\x04')],
  ['no archive at all', /not a ZIP archive/, () => text(pageHtml('Hello'))],
  ['many half signatures', /end is missing/, () => raw('PK\x05'.repeat(100_000))],
  ['cut in half', /cut off/, () => sound().subarray(0, 900)],
  ['without its last byte', /cut off in its last bytes/, () => sound().subarray(0, -1)],
  ['cut within the end record', /cut off in its last bytes/, () => sound().subarray(0, -12)],
  ['without the end record', /end is missing/, () => sound().subarray(0, -22)],
  ['one byte after the end', /followed by 1 bytes/, withSpec({ after: raw('\n') })],
  ['junk after the end', /followed by 5,000 bytes/, withSpec({ after: Buffer.alloc(5000, 'j') })],
  [
    'more junk after the end than a comment may be long',
    /end is missing/,
    withSpec({ after: Buffer.alloc(100_000) }),
  ],
  ['junk before, offsets as they were', /preceded by 4 bytes/, withSpec({ before: raw('junk') })],
  [
    'junk before, offsets moved',
    /preceded by 4 bytes/,
    withSpec({ before: raw('junk'), shifted: true }),
  ],
  [
    'a program before the archive',
    /preceded by 70,000 bytes/,
    withSpec({ before: Buffer.alloc(70_000, 'MZ') }),
  ],
  [
    'a page before the archive',
    /preceded by/,
    withSpec({ before: text(pageHtml('Polyglot')), shifted: true }),
  ],
  [
    'the marker of a split archive before it',
    /preceded by 4 bytes/,
    withSpec({ before: raw('PK\x07\x08'), shifted: true }),
  ],
  ['two archives in a row', /preceded by/, () => Buffer.concat([sound(), sound()])],
  [
    'two ends, both reaching the end of the file',
    /more than one end/,
    withSpec({ comment: endRecord() }),
  ],
  [
    'an end record in the comment',
    /comment .* hides a second end/,
    withSpec({ comment: Buffer.concat([endRecord(), raw('and more')]) }),
  ],
  [
    'an end signature as the last bytes of the comment',
    /hides a second end/,
    withSpec({ comment: raw('PK\x05\x06') }),
  ],
  [
    'a second end record after the first',
    /hides 22 bytes between/,
    withSpec({ afterDirectory: endRecord() }),
  ],
  [
    'a comment longer than announced',
    /followed by 3 bytes/,
    withSpec({ comment: raw('abc'), end: { commentLength: 0 } }),
  ],
  [
    'a comment shorter than announced',
    /cut off in its last bytes/,
    withSpec({ end: { commentLength: 3 } }),
  ],
  ['the last of two disks', /split over several files/, withSpec({ end: { disk: 1 } })],
  [
    'a directory on another disk',
    /split over several files/,
    withSpec({ end: { directoryDisk: 1 } }),
  ],
  ['entries on another disk', /split over several files/, withSpec({ end: { entriesHere: 2 } })],
  ['no entries', /contains no files/, () => archive([])],
  ['no entries, but data', /contains no files/, only({ ...plain, unlisted: true })],
  [
    'bytes between directory and end',
    /hides 9 bytes between/,
    withSpec({ afterDirectory: raw('something') }),
  ],
  [
    'a directory beyond the file',
    /outside the file/,
    withSpec({ end: { directoryAt: 0x7fffffff } }),
  ],
  [
    'a directory larger than the file',
    /outside the file/,
    withSpec({ end: { directorySize: 0x7fffffff } }),
  ],
  [
    'ZIP64 numbers without a ZIP64 record',
    /outside the file/,
    withSpec({ end: { directoryAt: FULL, directorySize: FULL } }),
  ],
  [
    'a ZIP64 locator that points elsewhere',
    /not where it says/,
    withSpec({ zip64: { locatorAt: 0 } }),
  ],
  [
    'a ZIP64 locator beyond every number',
    /not where it says/,
    withSpec({ zip64: { locatorAt: 2 ** 63 } }),
  ],
  [
    'a ZIP64 end record without its signature',
    /malformed/,
    withSpec({ zip64: { end: { signature: 7 } } }),
  ],
  [
    'a ZIP64 end record of another size',
    /malformed/,
    withSpec({ zip64: { end: { recordSize: 4000 } } }),
  ],
  [
    'end records that disagree on the count',
    /contradict each other/,
    withSpec({ zip64: {}, end: { entries: 2, entriesHere: 2 } }),
  ],
  [
    'end records that disagree on the directory',
    /contradict each other/,
    withSpec({ zip64: {}, end: { directoryAt: 0 } }),
  ],
  [
    'a ZIP64 directory beyond every number',
    /outside the file/,
    withSpec({ zip64: { end: { directoryAt: 2 ** 63 } } }),
  ],
  ['a ZIP64 archive of two disks', /split over several files/, withSpec({ zip64: { disks: 2 } })],
]

/** The central directory. */
export const DIRECTORY: Row[] = [
  [
    '50,001 entries',
    /50,001 entries; at most 50,000/,
    () => archive(many(50_001, (i) => ({ name: `${i}.html`, stored: true }))),
  ],
  [
    'four billion entries, it says',
    /4,000,000,000 entries/,
    withSpec({ zip64: { end: { entries: 4e9, entriesHere: 4e9 } } }),
  ],
  [
    'a directory of 36 MB',
    /directory takes/,
    () =>
      archive(
        many(600, (i) => ({ name: `${i}.html`, central: { comment: Buffer.alloc(60_000) } })),
      ),
  ],
  [
    'fewer entries than announced',
    /announces 4 entries but lists 3/,
    withSpec({ end: { entries: 4, entriesHere: 4 } }),
  ],
  [
    'more entries than announced',
    /announces 2 entries but lists 3/,
    withSpec({ end: { entries: 2, entriesHere: 2 } }),
  ],
  [
    'none announced, three listed',
    /announces 0 entries but lists/,
    withSpec({ end: { entries: 0, entriesHere: 0 } }),
  ],
  [
    'a directory record without its signature',
    /damaged at its entry number 1/,
    withFirst({ central: { signature: 1 } }),
  ],
  [
    'a name longer than the directory',
    /damaged at its entry number 1/,
    only({ ...plain, central: { nameLength: 0xffff } }),
  ],
  [
    'a directory with something at its end',
    /has 4 bytes after its last entry/,
    withSpec({ directoryTail: raw('tail') }),
  ],
  [
    'a digital signature in the directory',
    /bytes after its last entry/,
    withSpec({ directoryTail: raw('PK\x05\x05\x02\x00xx') }),
  ],
]

/** An entry's record in the directory. */
export const ENTRY: Row[] = [
  ['an encrypted entry', /protected by a password/, withFirst({ flags: 1 })],
  ['strong encryption', /protected by a password/, withFirst({ flags: 1 | (1 << 6) })],
  ['masked headers', /protected by a password/, withFirst({ flags: 1 << 13 })],
  [
    'an encrypted image',
    /protected by a password/,
    () => archive(someEntries().map((e, i) => ({ ...e, flags: i === 2 ? 1 : 0 }))),
  ],
  ['a patch', /is a patch/, withFirst({ flags: 1 << 5 })],
  ['deflate64', /not supported \(number 9\)/, both({ method: 9 })],
  ['bzip2', /not supported \(number 12\)/, both({ method: 12 })],
  ['zstandard', /not supported \(number 93\)/, both({ method: 93 })],
  ['AES', /not supported \(number 99\)/, both({ method: 99 })],
  ['an entry on another disk', /another file of a split/, withFirst({ central: { disk: 1 } })],
  [
    'an extra field longer than its place',
    /malformed extra field/,
    withFirst({ central: { extra: Buffer.from([1, 0, 99, 0, 1]) } }),
  ],
  [
    "the same in the entry's own header",
    /malformed extra field/,
    withFirst({ local: { extra: Buffer.from([9, 0, 99, 0, 1]) } }),
  ],
  [
    'two Unicode names',
    /malformed extra field/,
    only({
      ...plain,
      central: {
        extra: Buffer.concat(
          ['a.html', 'b.html'].map((name) => unicodePath(text('Page.html'), name)),
        ),
      },
    }),
  ],
  [
    'a ZIP64 size that is missing',
    /ZIP64 sizes .* are missing/,
    withFirst({ central: { size: FULL } }),
  ],
  [
    'two ZIP64 fields',
    /ZIP64 sizes/,
    only({
      ...plain,
      central: { size: FULL, extra: Buffer.concat([field64(plainSize), field64(1)]) },
    }),
  ],
  [
    'a ZIP64 field that contradicts',
    /ZIP64 sizes/,
    only({ ...plain, central: { extra: field64(plainSize + 1) } }),
  ],
  [
    'a ZIP64 field with a rest',
    /ZIP64 sizes/,
    only({ ...plain, central: { extra: field(1, Buffer.alloc(3)) } }),
  ],
  [
    'a symbolic link',
    /symbolic link/,
    withFirst({ central: { host: 3, attributes: 0o120777 * 65536 } }),
  ],
  [
    'a symbolic link that says it comes from DOS',
    /symbolic link/,
    withFirst({ central: { host: 0, attributes: 0o120777 * 65536 } }),
  ],
  [
    'a named pipe',
    /neither a plain file/,
    withFirst({ central: { host: 3, attributes: 0o010644 * 65536 } }),
  ],
  [
    'a device',
    /neither a plain file/,
    withFirst({ central: { host: 3, attributes: 0o020644 * 65536 } }),
  ],
  [
    'a socket',
    /neither a plain file/,
    withFirst({ central: { host: 3, attributes: 0o140644 * 65536 } }),
  ],
  [
    'the label of a disk',
    /neither a plain file/,
    withFirst({ central: { host: 0, attributes: 0x08 } }),
  ],
  [
    "a folder without the folder's name",
    /neither a plain file/,
    withFirst({ central: { host: 3, attributes: 0o040755 * 65536 } }),
  ],
  ['a folder with content', /folder and yet has content/, named('Folder/')],
  [
    'stored with two sizes',
    /its two sizes differ/,
    only({ ...plain, both: { size: plainSize + 1 } }),
  ],
  ['more content than deflate can make', /more than its data can hold/, both({ size: 0x7fffffff })],
  [
    'a checksum of nothing',
    /yet announces a checksum/,
    () => archive([...someEntries(), { name: 'x', stored: true, both: { crc: 5 } }]),
  ],
]
