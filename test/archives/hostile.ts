// Archives that must be refused. One row is one lie; `says` is what the person who uploaded it must be told.
import { cutShort, damagedMiddle, emptyBlocks, noise, quotedBomb, twoGigabytes, withTail } from './bombs.ts'
import { CHILD, IMAGE, pageHtml, someEntries } from './pages.ts'
import {
  archive,
  deflated,
  deflatedRun,
  endRecord,
  field,
  field64,
  raw,
  text,
  unicodePath,
  type ArchiveSpec,
  type EntrySpec,
  type Fields,
} from './writer.ts'

type Row = [name: string, says: RegExp, build: () => Uint8Array]

const FULL = 0xffffffff
const sound = () => archive(someEntries())
const plain: EntrySpec = { name: 'Page.html', data: pageHtml('Page'), stored: true }
const plainSize = (plain.data as string).length
const headSize = 30 + 'Page.html'.length

/** The three sound entries with the first one changed. */
const withFirst = (lies: Partial<EntrySpec>, spec?: ArchiveSpec) => () => {
  const [first, ...others] = someEntries()
  return archive([{ ...first, ...lies }, ...others], spec)
}
const withSpec = (spec: ArchiveSpec) => () => archive(someEntries(), spec)
const both = (fields: Partial<Fields>) => withFirst({ both: fields })
const named = (name: string | Uint8Array) => () => archive([...someEntries(), { name, data: 'x' }])
const only = (...entries: EntrySpec[]) => () => archive(entries)
const many = (count: number, entry: (i: number) => EntrySpec) => Array.from({ length: count }, (_, i) => entry(i))

/** An export of one part, made of these entries, as Notion nests it. */
const part = (bytes: Uint8Array, n = 1): EntrySpec => ({ name: `ExportBlock-0123-Part-${n}.zip`, data: bytes, stored: true })
const deflatedPart = (bytes: Uint8Array, lies: Partial<EntrySpec> = {}): EntrySpec => ({ ...part(bytes), stored: false, ...lies })
/** Large enough to be spooled, and not compressible. */
const largePart = () => archive([plain, { name: 'noise.bin', data: noise(9 * 1024 * 1024), stored: true }])

function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at]! ^= 1
  return bytes
}

const FILE: Row[] = [
  ['empty file', /file is empty/, () => Buffer.alloc(0)],
  ['one byte', /end is missing/, () => raw('P')],
  ['a signature alone', /end is missing/, () => raw('PK\x03\x04')],
  ['no archive at all', /no ZIP archive/, () => text(pageHtml('Hello'))],
  ['many half signatures', /end is missing/, () => raw('PK\x05'.repeat(100_000))],
  ['cut in half', /cut off/, () => sound().subarray(0, 900)],
  ['without its last byte', /cut off in its last bytes/, () => sound().subarray(0, -1)],
  ['cut within the end record', /cut off in its last bytes/, () => sound().subarray(0, -12)],
  ['without the end record', /end is missing/, () => sound().subarray(0, -22)],
  ['one byte after the end', /followed by 1 bytes/, withSpec({ after: raw('\n') })],
  ['junk after the end', /followed by 5,000 bytes/, withSpec({ after: Buffer.alloc(5000, 'j') })],
  ['more junk after the end than a comment may be long', /end is missing/, withSpec({ after: Buffer.alloc(100_000) })],
  ['junk before, offsets as they were', /preceded by 4 bytes/, withSpec({ before: raw('junk') })],
  ['junk before, offsets moved', /preceded by 4 bytes/, withSpec({ before: raw('junk'), shifted: true })],
  ['a program before the archive', /preceded by 70,000 bytes/, withSpec({ before: Buffer.alloc(70_000, 'MZ') })],
  ['a page before the archive', /preceded by/, withSpec({ before: text(pageHtml('Polyglot')), shifted: true })],
  ['the marker of a split archive before it', /preceded by 4 bytes/, withSpec({ before: raw('PK\x07\x08'), shifted: true })],
  ['two archives in a row', /preceded by/, () => Buffer.concat([sound(), sound()])],
  ['two ends, both reaching the end of the file', /more than one end/, withSpec({ comment: endRecord() })],
  ['an end record in the comment', /comment .* hides a second end/, withSpec({ comment: Buffer.concat([endRecord(), raw('and more')]) })],
  ['an end signature as the last bytes of the comment', /hides a second end/, withSpec({ comment: raw('PK\x05\x06') })],
  ['a second end record after the first', /hides 22 bytes between/, withSpec({ afterDirectory: endRecord() })],
  ['a comment longer than announced', /followed by 3 bytes/, withSpec({ comment: raw('abc'), end: { commentLength: 0 } })],
  ['a comment shorter than announced', /cut off in its last bytes/, withSpec({ end: { commentLength: 3 } })],
  ['the last of two disks', /split over several files/, withSpec({ end: { disk: 1 } })],
  ['a directory on another disk', /split over several files/, withSpec({ end: { directoryDisk: 1 } })],
  ['entries on another disk', /split over several files/, withSpec({ end: { entriesHere: 2 } })],
  ['no entries', /contains no files/, () => archive([])],
  ['no entries, but data', /contains no files/, only({ ...plain, unlisted: true })],
  ['bytes between directory and end', /hides 9 bytes between/, withSpec({ afterDirectory: raw('something') })],
  ['a directory beyond the file', /outside the file/, withSpec({ end: { directoryAt: 0x7fffffff } })],
  ['a directory larger than the file', /outside the file/, withSpec({ end: { directorySize: 0x7fffffff } })],
  ['ZIP64 numbers without a ZIP64 record', /outside the file/, withSpec({ end: { directoryAt: FULL, directorySize: FULL } })],
  ['a ZIP64 locator that points elsewhere', /not where it says/, withSpec({ zip64: { locatorAt: 0 } })],
  ['a ZIP64 locator beyond every number', /not where it says/, withSpec({ zip64: { locatorAt: 2 ** 63 } })],
  ['a ZIP64 end record without its signature', /malformed/, withSpec({ zip64: { end: { signature: 7 } } })],
  ['a ZIP64 end record of another size', /malformed/, withSpec({ zip64: { end: { recordSize: 4000 } } })],
  ['end records that disagree on the count', /contradict each other/, withSpec({ zip64: {}, end: { entries: 2, entriesHere: 2 } })],
  ['end records that disagree on the directory', /contradict each other/, withSpec({ zip64: {}, end: { directoryAt: 0 } })],
  ['a ZIP64 directory beyond every number', /outside the file/, withSpec({ zip64: { end: { directoryAt: 2 ** 63 } } })],
  ['a ZIP64 archive of two disks', /split over several files/, withSpec({ zip64: { disks: 2 } })],
]

const DIRECTORY: Row[] = [
  ['50,001 entries', /50,001 entries; at most 50,000/, () => archive(many(50_001, (i) => ({ name: `${i}.html`, stored: true })))],
  ['four billion entries, it says', /4,000,000,000 entries/, withSpec({ zip64: { end: { entries: 4e9, entriesHere: 4e9 } } })],
  [
    'a directory of 36 MB',
    /directory takes/,
    () => archive(many(600, (i) => ({ name: `${i}.html`, central: { comment: Buffer.alloc(60_000) } }))),
  ],
  ['fewer entries than announced', /announces 4 entries but lists 3/, withSpec({ end: { entries: 4, entriesHere: 4 } })],
  ['more entries than announced', /announces 2 entries but lists 3/, withSpec({ end: { entries: 2, entriesHere: 2 } })],
  ['none announced, three listed', /announces 0 entries but lists/, withSpec({ end: { entries: 0, entriesHere: 0 } })],
  ['a directory record without its signature', /damaged at its entry number 1/, withFirst({ central: { signature: 1 } })],
  ['a name longer than the directory', /damaged at its entry number 1/, only({ ...plain, central: { nameLength: 0xffff } })],
  ['a directory with something at its end', /has 4 bytes after its last entry/, withSpec({ directoryTail: raw('tail') })],
  ['a digital signature in the directory', /bytes after its last entry/, withSpec({ directoryTail: raw('PK\x05\x05\x02\x00xx') })],
]

const ENTRY: Row[] = [
  ['an encrypted entry', /protected by a password/, withFirst({ flags: 1 })],
  ['strong encryption', /protected by a password/, withFirst({ flags: 1 | (1 << 6) })],
  ['masked headers', /protected by a password/, withFirst({ flags: 1 << 13 })],
  ['an encrypted image', /protected by a password/, () => archive(someEntries().map((e, i) => ({ ...e, flags: i === 2 ? 1 : 0 })))],
  ['a patch', /is a patch/, withFirst({ flags: 1 << 5 })],
  ['deflate64', /not supported \(number 9\)/, both({ method: 9 })],
  ['bzip2', /not supported \(number 12\)/, both({ method: 12 })],
  ['zstandard', /not supported \(number 93\)/, both({ method: 93 })],
  ['AES', /not supported \(number 99\)/, both({ method: 99 })],
  ['an entry on another disk', /another file of a split/, withFirst({ central: { disk: 1 } })],
  ['an extra field longer than its place', /malformed extra field/, withFirst({ central: { extra: Buffer.from([1, 0, 99, 0, 1]) } })],
  ['the same in the entry\'s own header', /malformed extra field/, withFirst({ local: { extra: Buffer.from([9, 0, 99, 0, 1]) } })],
  [
    'two Unicode names',
    /malformed extra field/,
    only({ ...plain, central: { extra: Buffer.concat([unicodePath(text('Page.html'), 'a.html'), unicodePath(text('Page.html'), 'b.html')]) } }),
  ],
  ['a ZIP64 size that is missing', /ZIP64 sizes .* are missing/, withFirst({ central: { size: FULL } })],
  ['two ZIP64 fields', /ZIP64 sizes/, only({ ...plain, central: { size: FULL, extra: Buffer.concat([field64(plainSize), field64(1)]) } })],
  ['a ZIP64 field that contradicts', /ZIP64 sizes/, only({ ...plain, central: { extra: field64(plainSize + 1) } })],
  ['a ZIP64 field with a rest', /ZIP64 sizes/, only({ ...plain, central: { extra: field(1, Buffer.alloc(3)) } })],
  ['a symbolic link', /symbolic link/, withFirst({ central: { host: 3, attributes: 0o120777 * 65536 } })],
  ['a symbolic link that says it comes from DOS', /symbolic link/, withFirst({ central: { host: 0, attributes: 0o120777 * 65536 } })],
  ['a named pipe', /neither a plain file/, withFirst({ central: { host: 3, attributes: 0o010644 * 65536 } })],
  ['a device', /neither a plain file/, withFirst({ central: { host: 3, attributes: 0o020644 * 65536 } })],
  ['a socket', /neither a plain file/, withFirst({ central: { host: 3, attributes: 0o140644 * 65536 } })],
  ['a reparse point', /neither a plain file/, withFirst({ central: { host: 10, attributes: 0x400 } })],
  ['a folder without the folder\'s name', /neither a plain file/, withFirst({ central: { host: 3, attributes: 0o040755 * 65536 } })],
  ['a folder with content', /folder and yet has content/, named('Folder/')],
  ['stored with two sizes', /its two sizes differ/, only({ ...plain, both: { size: plainSize + 1 } })],
  ['more content than deflate can make', /more than its data can hold/, both({ size: 0x7fffffff })],
  ['a checksum of nothing', /yet announces a checksum/, () => archive([...someEntries(), { name: 'x', stored: true, both: { crc: 5 } }])],
]

const NAMES: Row[] = [
  ['no name', /has no name/, named('')],
  ['UTF-8 that is none', /marked as UTF-8 and is not/, () => archive([...someEntries(), { name: raw('a\xff.html'), flags: 1 << 11 }])],
  ['a zero byte in a name', /zero byte/, named('page.html\0.png')],
  ['a backslash', /backslash/, named('Folder\\page.html')],
  ['a way out in backslashes', /backslash/, named('..\\..\\page.html')],
  ['an absolute name', /absolute path/, named('/etc/passwd')],
  ['a network share', /absolute path/, named('//server/share/page.html')],
  ['a drive', /drive letter/, named('C:/page.html')],
  ['a drive without a folder', /drive letter/, named('c:page.html')],
  ['a way out', /outside the archive/, named('../page.html')],
  ['a way out by a detour', /outside the archive/, named('Home/../../page.html')],
  ['a way within', /outside the archive/, named('Home/x/../page.html')],
  ['two dots alone', /outside the archive/, named('..')],
  ['a folder that is the way out', /outside the archive/, () => archive([...someEntries(), { name: 'x/../', stored: true }])],
  [
    'a way out in the Unicode name only',
    /outside the archive/,
    only({ ...plain, both: { extra: unicodePath(text('Page.html'), '../Page.html') } }),
  ],
  ['a dot in the path', /empty or "\." part/, named('./page.html')],
  ['an empty part in the path', /empty or "\." part/, named('Home//page.html')],
  ['the same name twice', /two entries named/, () => archive([...someEntries(), { name: CHILD, data: 'another' }])],
  [
    'the same folder twice',
    /two entries named/,
    () => archive([...someEntries(), { name: 'F/', stored: true }, { name: 'F/', stored: true }]),
  ],
  ['the same name in two Unicode forms', /only in how accents/, only(plain, { name: 'Caf\u00e9.html' }, { name: 'Cafe\u0301.html' })],
  ['a file where a folder is needed', /file and a folder at once/, named(`${IMAGE}/page.html`)],
  [
    'a file and a folder of one name',
    /file and a folder at once/,
    () => archive([...someEntries(), { name: 'F/', stored: true }, { name: 'F' }]),
  ],
  ['a name that would act on a terminal', /path of the entry "�\[2J�x\/\/y"/, named('\u001b[2J\u202ex//y')],
]

const LAYOUT: Row[] = [
  [
    'every entry with the same data',
    /overlap/,
    () => archive([plain, ...many(500, (i) => ({ ...plain, name: `${i}.html`, bodiless: true, central: { headerAt: 0 } }))]),
  ],
  [
    'one entry listed under two names',
    /overlap/,
    only(plain, { ...plain, bodiless: true, central: { headerAt: 0, name: text('Twin.html') } }),
  ],
  ['entries quoted inside one another', /overlap/, quotedBomb],
  [
    'an entry inside another\'s data',
    /overlap/,
    () => archive([{ name: 'a.bin', data: archive([plain]), stored: true }, { ...plain, bodiless: true, central: { headerAt: 35 } }]),
  ],
  [
    'an entry that runs into the directory',
    /runs into the archive's directory/,
    only({ ...plain, both: { size: plainSize + 30, packedSize: plainSize + 30 } }),
  ],
  [
    'an entry inside the directory',
    /overlap|not where/,
    () => archive([plain, { ...plain, name: 'Twin.html', bodiless: true, central: { headerAt: headSize + plainSize + 3 } }]),
  ],
  [
    'an entry beyond the file',
    /not where the ZIP archive's directory says/,
    () => archive([plain, { name: 'x', bodiless: true, central: { headerAt: 0x7fffffff } }]),
  ],
  ['an entry that starts in another\'s header', /overlap/, () => archive([plain, { name: 'x', bodiless: true, central: { headerAt: 4 } }])],
  ['a header without its signature', /not where/, withFirst({ local: { signature: 1 } })],
  ['bytes between two entries', /hides 6 bytes after the entry/, withFirst({ after: raw('hidden') })],
  [
    'an entry that the directory does not list',
    /hides an entry that its directory does not list/,
    () => archive([...someEntries(), { ...plain, unlisted: true }]),
  ],
  [
    'a second directory before the first',
    /hides a second directory/,
    () => archive([{ ...plain, after: archive([plain]).subarray(headSize + plainSize) }]),
  ],
  ['an entry before the first', /preceded by/, () => archive([{ ...plain, unlisted: true }, ...someEntries()])],
  [
    'another name in the entry\'s header',
    /another name in its own header \("Evil\.html"\)/,
    only({ ...plain, local: { name: text('Evil.html') } }),
  ],
  ['a name of another case in the entry\'s header', /another name/, only({ ...plain, local: { name: text('page.html') } })],
  ['a shorter name in the entry\'s header', /another name/, only({ ...plain, local: { nameLength: 4 } })],
  [
    'another Unicode name in the entry\'s header',
    /another name/,
    only({ ...plain, central: { extra: unicodePath(text('Page.html'), 'a.html') }, local: { extra: unicodePath(text('Page.html'), 'b.html') } }),
  ],
  ['other flags in the entry\'s header', /flags .* differ/, withFirst({ local: { flags: 1 << 11 } })],
  ['encryption in the entry\'s header only', /flags .* differ/, withFirst({ local: { flags: 1 } })],
  ['another method in the entry\'s header', /compression .* differs/, withFirst({ local: { method: 0 } })],
  ['another size in the entry\'s header', /size .* differs/, withFirst({ local: { size: 3 } })],
  ['another packed size in the entry\'s header', /size .* differs/, withFirst({ local: { packedSize: 3 } })],
  [
    'another size, in the ZIP64 field of the entry\'s header',
    /size .* differs/,
    only({ ...plain, local: { size: FULL, packedSize: FULL, extra: field64(5, 5) } }),
  ],
  ['another checksum in the entry\'s header', /checksum .* differs/, withFirst({ local: { crc: 3 } })],
  ['another checksum before a descriptor', /checksum .* differs/, withFirst({ descriptor: 'signed', local: { crc: 3 } })],
  ['a descriptor that is not there', /sizes after its data that are not there/, withFirst({ descriptor: 'none' })],
  ['a descriptor with another checksum', /after the data .* differ/, withFirst({ descriptor: 'signed', descriptorFields: { crc: 3 } })],
  ['a descriptor with another size', /after the data .* differ/, withFirst({ descriptor: 'bare', descriptorFields: { size: 3 } })],
  ['bytes after a descriptor', /hides 6 bytes after the entry/, withFirst({ descriptor: 'signed', after: raw('hidden') })],
]

const CONTENT: Row[] = [
  ['damaged data', /damaged and cannot be inflated/, withFirst({ packed: { ...deflated(text('x')), bytes: Buffer.alloc(50, 0xff) } })],
  ['data cut off', /data .* is cut off/, withFirst({ packed: cutShort(deflated(noise(1000))) })],
  ['no data at all', /more than its data can hold/, withFirst({ packed: { bytes: Buffer.alloc(0), size: 5, crc: 5 } })],
  [
    'a gigabyte that says it is a kilobyte',
    /inflates to more than the 1,024 bytes/,
    withFirst({ packed: { ...deflatedRun(' ', 1024), size: 1024 } }),
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
    withFirst({ packed: { ...deflated(text('a page')), bytes: Buffer.concat([deflated(text('a page')).bytes, raw('extra')]) } }),
  ],
  ['a wrong checksum, deflated', /does not match its checksum/, both({ crc: 1 })],
  ['a wrong checksum, stored', /does not match its checksum/, only({ ...plain, both: { crc: 1 } })],
  ['one bit of a stored page', /does not match its checksum/, () => flipped(archive([plain]), headSize + 5)],
  ['fifty MB of nothing but block headers', /inflates to less/, withFirst({ packed: { bytes: emptyBlocks(50), size: 1000, crc: 1 } })],
]

const EXPORT: Row[] = [
  ['no page', /no HTML page\. In Notion choose/, only({ name: 'image.png', data: 'x' })],
  ['an export as Markdown', /export as Markdown & CSV/, only({ name: 'Page.md', data: '# x' }, { name: 'image.png' })],
  ['folders only', /no HTML page/, only({ name: 'Folder/', stored: true })],
  ['only what an operating system added', /no HTML page/, only({ name: '__MACOSX/._Page.html', data: 'x' })],
  ['a page of 40 MB', /is 41,943,040 bytes large/, only({ name: 'Page.html', data: noise(40 * 1024 * 1024), stored: true })],
  [
    'a page that inflates 1000 times',
    /page "Page\.html" inflates 1,0\d\d times/,
    only({ name: 'Page.html', packed: deflatedRun(' ', 20) }),
  ],
  ['a gigabyte page', /page "Page\.html" inflates 1,0\d\d times/, only({ name: 'Page.html', packed: deflatedRun(' ', 1024) })],
  [
    'eight pages of 8 MB that inflate 1000 times',
    /pages .* inflate 1,0\d\d times/,
    () => archive(many(8, (i) => ({ name: `${i}.html`, packed: deflatedRun(' ', 8) }))),
  ],
  ['two gigabytes of pages', /pages .* are 2,\d{3},\d{3},\d{3} bytes together/, twoGigabytes],
  [
    'an attachment that inflates 1000 times to a gigabyte',
    /file "a\.bin" inflates 1,0\d\d times/,
    only(plain, { name: 'a.bin', packed: deflatedRun('a', 1024) }),
  ],
  ['101 parts', /101 part archives; at most 100/, () => archive(many(101, (i) => part(archive([{ ...plain, name: `${i}.html` }]), i)))],
  ['a part of 300 MB', /inflate to 314,572,800 bytes/, only(deflatedPart(raw(''), { packed: deflatedRun('P', 300) }))],
  [
    'a part that inflates 1000 times',
    /part archive ".*Part-1\.zip" inflates 1,0\d\d times/,
    only(deflatedPart(raw(''), { packed: deflatedRun('P', 60) })),
  ],
  [
    'a part of 50 MB of the letter P',
    /In ".*Part-1\.zip", inside the archive: .*end is missing/,
    only(deflatedPart(raw(''), { packed: deflatedRun('P', 50) })),
  ],
  ['a part that is no archive', /In ".*Part-1\.zip", inside the archive: .*end is missing/, only(plain, part(text('not a zip')))],
  ['a part that is empty', /In ".*Part-1\.zip", inside the archive: .*no files/, only(plain, part(archive([])))],
  ['a part that is cut off', /In ".*Part-1\.zip", inside the archive: .*cut off/, only(plain, deflatedPart(sound().subarray(0, -3)))],
  ['a part with a way out', /In ".*Part-1\.zip", inside the archive: .*outside/, only(plain, part(named('../x.html')()))],
  [
    'a part with junk before it',
    /In ".*Part-1\.zip", inside the archive: .*preceded by 4/,
    only(part(withSpec({ before: raw('junk') })())),
  ],
  ['a part with a wrong checksum, stored', /Part-1\.zip" does not match its checksum/, only({ ...part(sound()), both: { crc: 7 } })],
  ['a part with a wrong checksum, deflated', /Part-1\.zip" does not match its checksum/, only(deflatedPart(sound(), { both: { crc: 7 } }))],
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
  ['a large part that is damaged', /damaged and cannot be inflated/, () => archive([deflatedPart(raw(''), { packed: damagedMiddle() })])],
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
  ['an archive in an archive in an archive', /no HTML page/, only(part(archive([part(archive([part(sound())]))])))],
  [
    'twenty archives in one another',
    /no HTML page/,
    () => Array.from({ length: 20 }).reduce<Buffer>((inner) => archive([part(inner)]), sound()),
  ],
  ['a part in a folder', /no HTML page/, only({ ...part(sound()), name: 'Folder/Export-1-Part-1.zip' })],
  ['somebody\'s archive at the root', /no HTML page/, only({ ...part(sound()), name: 'attachment.zip' })],
  [
    'two parts with different pages of one name',
    /Two parts .* "Page\.html"/,
    only(part(archive([plain])), part(archive([{ ...plain, data: 'other' }]), 2)),
  ],
  [
    'a part whose page lies under another part\'s file',
    /file and a folder/,
    only(part(archive([plain])), part(archive([{ ...plain, name: 'Page.html/x.html' }]), 2)),
  ],
  [
    'more than 50,000 entries in two parts',
    /Part-2\.zip", inside the archive: .*30,000 entries; at most 19,998/,
    () => archive([1, 2].map((n) => part(archive(many(30_000, (i) => ({ name: `${n}-${i}.html`, stored: true }))), n))),
  ],
]

/** TABLE of everything above. */
export const HOSTILE = [FILE, DIRECTORY, ENTRY, NAMES, LAYOUT, CONTENT, EXPORT].flat().map(([name, says, build]) => ({ name, says, build }))
