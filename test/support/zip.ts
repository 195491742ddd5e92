// Uncompressed ZIP archives for tests (APPNOTE 6.3).
import { crc32 } from 'node:zlib'

/** An archive with these entries. */
export function zip(entries: Record<string, string | Buffer>): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const [path, content] of Object.entries(entries)) {
    const name = Buffer.from(path)
    const data = Buffer.from(content)
    // Version 2.0, UTF-8 names, stored, 2026-11-03 09:12:44.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x0800, 2)
    common.writeUInt16LE((9 << 11) | (12 << 5) | 22, 6)
    common.writeUInt16LE((46 << 9) | (11 << 5) | 3, 8)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(name.length, 22)
    const central = Buffer.alloc(14)
    central.writeUInt32LE(offset, 10)
    locals.push(Buffer.from('PK\u0003\u0004'), common, name, data)
    centrals.push(Buffer.from('PK\u0001\u0002\u0014\u0003'), common, central, name)
    offset += 30 + name.length + data.length
  }
  const directory = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(Object.keys(entries).length, 8)
  end.writeUInt16LE(Object.keys(entries).length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

/** An archive of exactly this many bytes: a page, and an attachment as padding. */
export function zipOf(bytes: number, page: string): Buffer {
  const empty = zip({ 'Page.html': page, 'fill.bin': '' }).length
  return zip({ 'Page.html': page, 'fill.bin': Buffer.alloc(bytes - empty) })
}
