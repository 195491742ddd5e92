// Each row is an archive with one false name or position of an entry.
import { quotedBomb } from './bombs.ts'
import { CHILD, IMAGE, someEntries } from './pages.ts'
import {
  FULL,
  plain,
  plainSize,
  headSize,
  withFirst,
  named,
  only,
  many,
  type Row,
} from './shapes.ts'
import { archive, field64, raw, text, unicodePath } from './writer.ts'

/** Names and paths. */
export const NAMES: Row[] = [
  ['no name', /has no name/, named('')],
  [
    'UTF-8 that is none',
    /marked as UTF-8 and is not/,
    () => archive([...someEntries(), { name: raw('a\xff.html'), flags: 1 << 11 }]),
  ],
  ['a zero byte in a name', /zero byte/, named('page.html\0.png')],
  ['a way out in backslashes', /outside the archive/, named('..\\..\\page.html')],
  ['a way out behind a dot', /outside the archive/, named('.\\../page.html')],
  ['a drive in backslashes', /drive letter/, named('.\\C:\\page.html')],
  ['a network share in backslashes', /absolute path/, named('\\\\server\\share\\page.html')],
  ['an absolute name', /absolute path/, named('/etc/passwd')],
  ['a network share', /absolute path/, named('//server/share/page.html')],
  ['a drive', /drive letter/, named('C:/page.html')],
  ['a drive without a folder', /drive letter/, named('c:page.html')],
  ['a way out', /outside the archive/, named('../page.html')],
  ['a way out by a detour', /outside the archive/, named('Home/../../page.html')],
  ['a way within', /outside the archive/, named('Home/x/../page.html')],
  ['two dots alone', /outside the archive/, named('..')],
  [
    'a folder that is the way out',
    /outside the archive/,
    () => archive([...someEntries(), { name: 'x/../', stored: true }]),
  ],
  [
    'a way out in the Unicode name only',
    /outside the archive/,
    only({ ...plain, both: { extra: unicodePath(text('Page.html'), '../Page.html') } }),
  ],
  ['a dot in the path', /empty or "\." part/, named('Home/./page.html')],
  ['a dot alone', /empty or "\." part/, named('.')],
  ['dots and an empty part', /absolute path/, named('.//page.html')],
  ['an empty part in the path', /empty or "\." part/, named('Home//page.html')],
  [
    'the same name twice',
    /two entries named/,
    () => archive([...someEntries(), { name: CHILD, data: 'another' }]),
  ],
  [
    'the same name with another separator',
    /two entries named/,
    () => archive([...someEntries(), { name: CHILD.replace('/', '\\'), data: 'another' }]),
  ],
  [
    'the same name with a dot in front',
    /two entries named/,
    () => archive([...someEntries(), { name: `./${CHILD}`, data: 'another' }]),
  ],
  [
    'a file with the name of a folder with another separator',
    /a file and a folder at once/,
    () => archive([...someEntries(), { name: `./${CHILD}\\x`, data: 'another' }]),
  ],
  [
    'the same folder twice',
    /two entries named/,
    () => archive([...someEntries(), { name: 'F/', stored: true }, { name: 'F/', stored: true }]),
  ],
  [
    'the same name in two Unicode forms',
    /only in how accents/,
    only(plain, { name: 'Caf\u00e9.html' }, { name: 'Cafe\u0301.html' }),
  ],
  ['a file where a folder is needed', /file and a folder at once/, named(`${IMAGE}/page.html`)],
  [
    'the same with a name between the two',
    /"a" is a file and a folder/,
    only({ name: 'a' }, { name: 'a!b.html' }, { name: 'a/c.html' }),
  ],
  [
    'a file and a folder of one name',
    /file and a folder at once/,
    () => archive([...someEntries(), { name: 'F/', stored: true }, { name: 'F' }]),
  ],
  [
    'a name that would act on a terminal',
    /path of the entry "�\[2J�x\/\/y"/,
    named('\u001b[2J\u202ex//y'),
  ],
]

/** Positions of entries, and their local headers. */
export const LAYOUT: Row[] = [
  [
    'every entry with the same data',
    /overlap/,
    () =>
      archive([
        plain,
        ...many(500, (i) => ({
          ...plain,
          name: `${i}.html`,
          bodiless: true,
          central: { headerAt: 0 },
        })),
      ]),
  ],
  [
    'one entry listed under two names',
    /overlap/,
    only(plain, { ...plain, bodiless: true, central: { headerAt: 0, name: text('Twin.html') } }),
  ],
  ['entries quoted inside one another', /overlap/, quotedBomb],
  [
    "an entry inside another's data",
    /overlap/,
    () =>
      archive([
        { name: 'a.bin', data: archive([plain]), stored: true },
        { ...plain, bodiless: true, central: { headerAt: 35 } },
      ]),
  ],
  [
    'an entry that runs into the directory',
    /runs into the archive's directory/,
    only({ ...plain, both: { size: plainSize + 30, packedSize: plainSize + 30 } }),
  ],
  [
    'an entry inside the directory',
    /overlap|not where/,
    () =>
      archive([
        plain,
        {
          ...plain,
          name: 'Twin.html',
          bodiless: true,
          central: { headerAt: headSize + plainSize + 3 },
        },
      ]),
  ],
  [
    'an entry beyond the file',
    /not where the ZIP archive's directory says/,
    () => archive([plain, { name: 'x', bodiless: true, central: { headerAt: 0x7fffffff } }]),
  ],
  [
    "an entry that starts in another's header",
    /overlap/,
    () => archive([plain, { name: 'x', bodiless: true, central: { headerAt: 4 } }]),
  ],
  ['a header without its signature', /not where/, withFirst({ local: { signature: 1 } })],
  [
    'bytes between two entries',
    /hides 6 bytes after the entry/,
    withFirst({ after: raw('hidden') }),
  ],
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
  [
    'an entry before the first',
    /preceded by/,
    () => archive([{ ...plain, unlisted: true }, ...someEntries()]),
  ],
  [
    "another name in the entry's header",
    /another name in its own header \("Evil\.html"\)/,
    only({ ...plain, local: { name: text('Evil.html') } }),
  ],
  [
    "a name of another case in the entry's header",
    /another name/,
    only({ ...plain, local: { name: text('page.html') } }),
  ],
  [
    "a shorter name in the entry's header",
    /another name/,
    only({ ...plain, local: { nameLength: 4 } }),
  ],
  [
    "another Unicode name in the entry's header",
    /another name in its own header \("b\.html"\)/,
    only({
      ...plain,
      central: { extra: unicodePath(text('Page.html'), 'a.html') },
      local: { extra: unicodePath(text('Page.html'), 'b.html') },
    }),
  ],
  [
    "a Unicode name in the entry's header only",
    /another name in its own header \("b\.html"\)/,
    only({ ...plain, local: { extra: unicodePath(text('Page.html'), 'b.html') } }),
  ],
  [
    "other flags in the entry's header",
    /flags .* differ/,
    withFirst({ local: { flags: 1 << 11 } }),
  ],
  ["encryption in the entry's header only", /flags .* differ/, withFirst({ local: { flags: 1 } })],
  [
    "another method in the entry's header",
    /compression .* differs/,
    withFirst({ local: { method: 0 } }),
  ],
  ["another size in the entry's header", /size .* differs/, withFirst({ local: { size: 3 } })],
  [
    "another packed size in the entry's header",
    /size .* differs/,
    withFirst({ local: { packedSize: 3 } }),
  ],
  [
    "another size, in the ZIP64 field of the entry's header",
    /size .* differs/,
    only({ ...plain, local: { size: FULL, packedSize: FULL, extra: field64(5, 5) } }),
  ],
  [
    "another checksum in the entry's header",
    /checksum .* differs/,
    withFirst({ local: { crc: 3 } }),
  ],
  [
    'another checksum before a descriptor',
    /checksum .* differs/,
    withFirst({ descriptor: 'signed', local: { crc: 3 } }),
  ],
  [
    'a descriptor that is not there',
    /sizes after its data that are not there/,
    withFirst({ descriptor: 'none' }),
  ],
  [
    'a descriptor with another checksum',
    /after the data .* differ/,
    withFirst({ descriptor: 'signed', descriptorFields: { crc: 3 } }),
  ],
  [
    'a descriptor with another size',
    /after the data .* differ/,
    withFirst({ descriptor: 'bare', descriptorFields: { size: 3 } }),
  ],
  [
    'bytes after a descriptor',
    /hides 6 bytes after the entry/,
    withFirst({ descriptor: 'signed', after: raw('hidden') }),
  ],
]
