// Building blocks of hostile archives: valid entries with one false field.
import { noise } from './bombs.ts'
import { pageHtml, someEntries } from './pages.ts'
import { archive, type ArchiveSpec, type EntrySpec, type Fields } from './writer.ts'

/** The fault, the expected error, and the archive. */
export type Row = [name: string, says: RegExp, build: () => Uint8Array]

/** A 32-bit field whose value is in a ZIP64 field. */
export const FULL = 0xffffffff

export const sound = () => archive(someEntries())

/** One stored page, the size of its content, and of its own header. */
const html = pageHtml('Page')
export const plain: EntrySpec = { name: 'Page.html', data: html, stored: true }
export const plainSize = html.length
export const headSize = 30 + 'Page.html'.length

/** The three valid entries, with the first one changed. */
export const withFirst = (lies: Partial<EntrySpec>, spec?: ArchiveSpec) => () => {
  const [first, ...others] = someEntries()
  return archive([{ ...first, ...lies }, ...others], spec)
}

/** The valid entries in an archive with false records. */
export const withSpec = (spec: ArchiveSpec) => () => archive(someEntries(), spec)

/** The valid entries; both headers of the first have these false fields. */
export const both = (fields: Partial<Fields>) => withFirst({ both: fields })

/** The valid entries and one with this name. */
export const named = (name: string | Uint8Array) => () =>
  archive([...someEntries(), { name, data: 'x' }])

export const only =
  (...entries: EntrySpec[]) =>
  () =>
    archive(entries)
export const many = (count: number, entry: (i: number) => EntrySpec) =>
  Array.from({ length: count }, (_, i) => entry(i))

/** An archive inside the archive, as Notion nests them. */
export const part = (bytes: Uint8Array, n = 1): EntrySpec => ({
  name: `ExportBlock-0123-Part-${n}.zip`,
  data: bytes,
  stored: true,
})
export const deflatedPart = (bytes: Uint8Array, lies: Partial<EntrySpec> = {}): EntrySpec => ({
  ...part(bytes),
  stored: false,
  ...lies,
})

/** An incompressible part, large enough to be spooled. */
export const largePart = () =>
  archive([plain, { name: 'noise.bin', data: noise(9 * 1024 * 1024), stored: true }])

export function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at]! ^= 1
  return bytes
}
