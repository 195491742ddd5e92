// Packs a document with the pictures and files of its archive into one ZIP, because its links are
// relative to the archive's root. Copies compressed entries unchanged (APPNOTE 6.3.10).

interface Entry {
  name: string
  /** The raw bytes of the name. */
  bytes: Uint8Array<ArrayBuffer>
  /** The general purpose flags, such as UTF-8. */
  flags: number
  method: number
  time: number
  crc: number
  size: number
  data: Blob
}

const UTF8 = 0x0800
const [STORED, DEFLATED] = [0, 8]
const MARKS = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const
const [LOCAL, CENTRAL, END] = [30, 46, 22]
/** The longest comment of an archive. */
const MAX_COMMENT_BYTES = 65_535
/** A part of an export, at the archive's root. */
const PART = /^[^/]*(?:Part-\d+|ExportBlock[^/]*)\.zip$/i
const PAGE = /\.html?$/i

const viewOf = async (blob: Blob): Promise<DataView<ArrayBuffer>> =>
  new DataView(await blob.arrayBuffer())

/** Finds the central directory; null if the archive cannot be read. */
async function findDirectory(
  archive: Blob,
): Promise<{ view: DataView<ArrayBuffer>; count: number } | null> {
  const tail = await viewOf(archive.slice(-END - MAX_COMMENT_BYTES))
  for (let at = tail.byteLength - END; at >= 0; at--) {
    if (tail.getUint32(at, true) !== MARKS.end) continue
    const [count, size, start] = [
      tail.getUint16(at + 10, true),
      tail.getUint32(at + 12, true),
      tail.getUint32(at + 16, true),
    ]
    // ZIP64: too large for a browser anyway.
    if (count === 0xffff || start === 0xffffffff) return null
    return { view: await viewOf(archive.slice(start, start + size)), count }
  }
  return null
}

async function readEntries(archive: Blob): Promise<Entry[]> {
  const directory = await findDirectory(archive)
  if (directory === null) return []
  const { view, count } = directory
  const found: Entry[] = []
  for (let at = 0, index = 0; index < count && at + CENTRAL <= view.byteLength; index++) {
    if (view.getUint32(at, true) !== MARKS.central) return []
    const [length, extra, comment] = [
      view.getUint16(at + 28, true),
      view.getUint16(at + 30, true),
      view.getUint16(at + 32, true),
    ]
    const bytes = new Uint8Array(view.buffer.slice(at + CENTRAL, at + CENTRAL + length))
    const [packed, offset] = [view.getUint32(at + 20, true), view.getUint32(at + 42, true)]
    const local = await viewOf(archive.slice(offset, offset + LOCAL))
    const start = offset + LOCAL + local.getUint16(26, true) + local.getUint16(28, true)
    found.push({
      name: new TextDecoder().decode(bytes),
      bytes,
      flags: view.getUint16(at + 8, true) & UTF8,
      method: view.getUint16(at + 10, true),
      time: view.getUint32(at + 12, true),
      crc: view.getUint32(at + 16, true),
      size: view.getUint32(at + 24, true),
      data: archive.slice(start, start + packed),
    })
    at += CENTRAL + length + extra + comment
  }
  return found
}

/** The bytes of an entry, inflated. */
function readContent({ method, data }: Entry): Promise<Blob> {
  return method === DEFLATED
    ? new Response(data.stream().pipeThrough(new DecompressionStream('deflate-raw'))).blob()
    : Promise.resolve(data)
}

const isSafe = (name: string): boolean =>
  name !== '' && !name.endsWith('/') && !/^[/\\]|\\|(?:^|\/)\.\.(?:\/|$)/.test(name)

/** All entries except pages and parts, including those inside parts. */
async function listAssets(archive: Blob): Promise<Entry[]> {
  const assets: Entry[] = []
  for (const entry of await readEntries(archive)) {
    if (PART.test(entry.name)) assets.push(...(await readEntries(await readContent(entry))))
    else assets.push(entry)
  }
  const known = new Map(
    assets
      .filter(({ name }) => isSafe(name) && !PAGE.test(name) && !PART.test(name))
      .map((entry) => [entry.name, entry]),
  )
  return [...known.values()]
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) value = (value >>> 8) ^ (CRC[(value ^ byte) & 0xff] ?? 0)
  return (value ^ 0xffffffff) >>> 0
}

function documentEntry(name: string, text: string): Entry {
  const content = new TextEncoder().encode(text)
  // 1 January 1980, the earliest date of the format.
  const time = 0x00210000
  return {
    name,
    bytes: new TextEncoder().encode(name),
    flags: UTF8,
    method: STORED,
    time,
    crc: crc32(content),
    size: content.length,
    data: new Blob([content]),
  }
}

/** Writes the fields that both headers of an entry share, starting at "version needed". */
function fill(
  view: DataView,
  at: number,
  { bytes, flags, method, time, crc, size, data }: Entry,
): void {
  view.setUint16(at, 20, true)
  view.setUint16(at + 2, flags, true)
  view.setUint16(at + 4, method, true)
  view.setUint32(at + 6, time, true)
  view.setUint32(at + 10, crc, true)
  view.setUint32(at + 14, data.size, true)
  view.setUint32(at + 18, size, true)
  view.setUint16(at + 22, bytes.length, true)
}

function writeZip(entries: readonly Entry[]): Blob {
  const [parts, directory]: [BlobPart[], BlobPart[]] = [[], []]
  let [offset, length] = [0, 0]
  for (const entry of entries) {
    const local = new DataView(new ArrayBuffer(LOCAL))
    local.setUint32(0, MARKS.local, true)
    fill(local, 4, entry)
    parts.push(local.buffer, entry.bytes, entry.data)
    const central = new DataView(new ArrayBuffer(CENTRAL))
    central.setUint32(0, MARKS.central, true)
    central.setUint16(4, 20, true)
    fill(central, 6, entry)
    central.setUint32(42, offset, true)
    directory.push(central.buffer, entry.bytes)
    offset += LOCAL + entry.bytes.length + entry.data.size
    length += CENTRAL + entry.bytes.length
  }
  const end = new DataView(new ArrayBuffer(END))
  end.setUint32(0, MARKS.end, true)
  end.setUint16(8, entries.length, true)
  end.setUint16(10, entries.length, true)
  end.setUint32(12, length, true)
  end.setUint32(16, offset, true)
  return new Blob([...parts, ...directory, end.buffer], { type: 'application/zip' })
}

/** The number of pictures and files in an archive besides its pages; 0 if it is not an archive. */
export const countAssets = async (archive: Blob): Promise<number> =>
  (await listAssets(archive)).length

/** A ZIP of a document and everything in its archive except pages. */
export async function withAssets(archive: Blob, name: string, text: string): Promise<Blob> {
  return writeZip([documentEntry(name, text), ...(await listAssets(archive))])
}
