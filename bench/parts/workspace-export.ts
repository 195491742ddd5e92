// Writes exports as large as real workspaces, streaming: an archive of deflated parts, each an
// archive of pages, databases with rows and CSV files, and pictures, with headers and descriptors
// like Notion's.
import { closeSync, openSync, writeSync } from 'node:fs'
import { constants, crc32, deflateRawSync } from 'node:zlib'
import { seeded } from '../../test/support/random.ts'

const MB = 1024 * 1024

export interface WorkspaceSize {
  /** Approximate size of the whole export. */
  readonly megabytes: number
  readonly parts: number
}

/** What was written. `largestPart` is in bytes, inflated. */
export interface WrittenExport {
  readonly bytes: number
  readonly pages: number
  readonly html: number
  readonly largestPart: number
}

/**
 * A piece of a part: its bytes, and their deflated form, which can be placed anywhere in a stream.
 */
interface Piece {
  readonly bytes: Uint8Array
  readonly deflated: Uint8Array
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const DESCRIPTOR = 0x08074b50
const END = 0x06054b50
/** Sizes follow the data. */
const FLAGS = 8
/** The value of a 32-bit field that needs 64 bits. */
const MAX_32 = 0xffffffff
const DEFLATE = 8
/** 2026-03-04 09:12:44. */
const TIME = ((2026 - 1980) << 25) | (3 << 21) | (4 << 16) | (9 << 11) | (12 << 5) | 22

/** Writes an export to the new file `path`. */
export function writeWorkspaceExport(
  path: string,
  { megabytes, parts }: WorkspaceSize,
): WrittenExport {
  if (megabytes / parts > 4000)
    throw new RangeError('a part of more than 4,000 MB would need ZIP64 records')
  const file = openSync(path, 'wx')
  const maker = new Maker()
  const entries: Entry[] = []
  let at = 0
  const put = (bytes: Uint8Array): void => {
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done)
    at += bytes.length
  }
  for (let number = 1; number <= parts; number++) {
    const entry: Entry = {
      name: Buffer.from(`ExportBlock-00000000-0000-4000-8000-000000000000-Part-${number}.zip`),
      at,
      crc: 0,
      size: 0,
      packed: 0,
    }
    put(localHeader(entry))
    const from = at
    for (const { bytes, deflated } of maker.part((megabytes * MB) / parts)) {
      entry.crc = crc32(bytes, entry.crc)
      entry.size += bytes.length
      put(deflated)
    }
    put(Buffer.from([3, 0]))
    entry.packed = at - from
    put(descriptor(entry))
    entries.push(entry)
  }
  put(directory(entries, at))
  closeSync(file)
  return {
    bytes: at,
    pages: maker.pages,
    html: maker.html,
    largestPart: Math.max(...entries.map(({ size }) => size)),
  }
}

interface Entry {
  readonly name: Buffer
  readonly at: number
  crc: number
  size: number
  packed: number
}

/** Rows of a database, and pages for each picture. */
const ROWS = 40
const PAGES_FOR_PICTURE = 2

/** Makes parts with distinct pages. */
class Maker {
  pages = 0
  html = 0
  readonly #random = seeded(1)
  readonly #pictures = [0.1, 0.3, 0.8, 1.5, 3.2].map((size) => this.#picture(size * MB))
  readonly #bodies = [8, 20, 60, 120, 400].map((blocks) => bodyHtml(this.#random, blocks));

  *part(size: number): Generator<Piece> {
    const entries: Entry[] = []
    let at = 0
    const add = function* (
      name: string,
      { bytes, deflated }: Piece,
      content: { crc: number; size: number },
    ): Generator<Piece> {
      const entry: Entry = { name: Buffer.from(name), at, ...content, packed: bytes.length }
      const [head, tail] = [localHeader(entry), descriptor(entry)]
      at += head.length + bytes.length + tail.length
      entries.push(entry)
      yield pieceOf(head)
      yield { bytes, deflated }
      yield pieceOf(tail)
    }
    const goesOn = (): boolean => at < size
    while (goesOn()) {
      const database = this.#id()
      const rows = Array.from({ length: ROWS }, () => this.#id())
      const folder = `Projects ${database}`
      const row = (id: string): string =>
        `<tr id="${id}"><td class="cell-title"><a href="${encodeURI(`${folder}/Row ${id}.html`)}">Row ${id.slice(0, 8)}</a></td><td class="cell-a">Done</td></tr>`
      const table = `<table class="collection-content"><thead><tr><th>Name</th><th>Status</th></tr></thead><tbody>${rows.map(row).join('')}</tbody></table>`
      yield* this.#text(add, `${folder}.html`, pageHtml(database, 'Projects', table))
      yield* this.#text(
        add,
        `${folder}_all.csv`,
        `\ufeffName,Status\n${rows.map((id) => `Row ${id.slice(0, 8)},Done\n`).join('')}`,
      )
      for (const [index, id] of rows.entries()) {
        const picture = `${folder}/Row ${id}/image.png`
        const figure = `<figure id="${this.#id()}" class="image"><a href="${encodeURI(`Row ${id}/image.png`)}"><img style="width:240px" src="${encodeURI(`Row ${id}/image.png`)}"/></a></figure>`
        const body = this.#bodies[Math.floor(this.#random() * this.#bodies.length)]!
        yield* this.#text(
          add,
          `${folder}/Row ${id}.html`,
          pageHtml(id, `Row ${id.slice(0, 8)}`, figure + body.replaceAll('ID', id.slice(0, 12))),
        )
        if (index % PAGES_FOR_PICTURE > 0) continue
        const { piece, content } =
          this.#pictures[Math.floor(this.#random() * this.#pictures.length)]!
        yield* add(picture, piece, content)
      }
    }
    yield pieceOf(directory(entries, at))
  }

  *#text(
    add: (name: string, piece: Piece, content: { crc: number; size: number }) => Generator<Piece>,
    name: string,
    text: string,
  ): Generator<Piece> {
    const bytes = Buffer.from(text)
    if (name.endsWith('.html')) {
      this.pages++
      this.html += bytes.length
    }
    yield* add(name, pieceOf(deflateRawSync(bytes, { level: 1 })), {
      crc: crc32(bytes),
      size: bytes.length,
    })
  }

  /** Bytes that deflate compresses like photographs: by a few per cent. */
  #picture(size: number): { piece: Piece; content: { crc: number; size: number } } {
    const bytes = Buffer.alloc(Math.floor(size))
    for (let at = 0; at < bytes.length; at++)
      bytes[at] = this.#random() < 0.04 ? 0 : this.#random() * 256
    return {
      piece: pieceOf(deflateRawSync(bytes, { level: 1 })),
      content: { crc: crc32(bytes), size: bytes.length },
    }
  }

  #id(): string {
    return Array.from({ length: 4 }, () =>
      Math.floor(this.#random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('')
  }
}

/** It ends on a whole byte and has no references to earlier data. */
function pieceOf(bytes: Uint8Array): Piece {
  return {
    bytes,
    deflated: deflateRawSync(bytes, { level: 1, finishFlush: constants.Z_SYNC_FLUSH }),
  }
}

function pageHtml(id: string, title: string, body: string): string {
  return `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/><title>${title}</title></head><body><article id="${id}" class="page sans"><header><h1 class="page-title" dir="auto">${title}</h1></header><div class="page-body">${body}</div></article></body></html>`
}

/** This many blocks of about 250 bytes each. */
function bodyHtml(random: () => number, count: number): string {
  const word = (): string => Math.floor(random() * 2 ** 40).toString(36)
  const line = (): string => Array.from({ length: 12 }, word).join(' ')
  const blocks = [
    () =>
      `<p id="ID-${word()}" class="">${line()} <strong>${line()}</strong> <a href="https://example.com/${word()}">${word()}</a></p>`,
    () =>
      `<ul id="ID-${word()}" class="bulleted-list"><li style="list-style-type:disc">${line()}<ul id="ID-${word()}" class="bulleted-list"><li style="list-style-type:circle">${line()}</li></ul></li></ul>`,
    () => `<h2 id="ID-${word()}" class="">${word()}</h2>`,
    () =>
      `<table id="ID-${word()}" class="simple-table"><tbody><tr><td>${line()}</td><td>${line()}</td></tr></tbody></table>`,
  ]
  return Array.from({ length: count }, (_, index) => blocks[index % blocks.length]!()).join('')
}

function localHeader({ name }: Entry): Buffer {
  const head = Buffer.alloc(30)
  head.writeUInt32LE(LOCAL, 0)
  writeCommon(head, 4, { name, at: 0, crc: 0, size: 0, packed: 0 })
  return Buffer.concat([head, name])
}

function descriptor({ crc, packed, size }: Entry): Buffer {
  const record = Buffer.alloc(16)
  for (const [index, value] of [DESCRIPTOR, crc, packed, size].entries())
    record.writeUInt32LE(value, index * 4)
  return record
}

function directory(entries: readonly Entry[], at: number): Buffer {
  const records = entries.map((entry) => {
    const head = Buffer.alloc(46)
    const extra = entry.at > MAX_32 ? wide([entry.at]) : Buffer.alloc(0)
    head.writeUInt32LE(CENTRAL, 0)
    writeCommon(head, 6, entry)
    head.writeUInt16LE(extra.length, 30)
    head.writeUInt32LE(Math.min(entry.at, MAX_32), 42)
    return Buffer.concat([head, entry.name, extra])
  })
  const all = Buffer.concat(records)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(all.length, 12)
  end.writeUInt32LE(Math.min(at, MAX_32), 16)
  return Buffer.concat(at > MAX_32 ? [all, end64(entries.length, at, all.length), end] : [all, end])
}

/** The field of a number that needs 64 bits (APPNOTE 4.5.3). */
function wide(numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * numbers.length)
  field.writeUInt16LE(1, 0)
  field.writeUInt16LE(8 * numbers.length, 2)
  for (const [index, number] of numbers.entries())
    field.writeBigUInt64LE(BigInt(number), 4 + 8 * index)
  return field
}

/** The end record of an archive of more than 4 GB, and its locator (APPNOTE 4.3.14, 4.3.15). */
function end64(count: number, at: number, size: number): Buffer {
  const record = Buffer.alloc(56 + 20)
  record.writeUInt32LE(0x06064b50, 0)
  record.writeBigUInt64LE(44n, 4)
  record.writeUInt16LE(45, 12)
  record.writeUInt16LE(45, 14)
  for (const [index, number] of [count, count, size, at].entries())
    record.writeBigUInt64LE(BigInt(number), 24 + 8 * index)
  record.writeUInt32LE(0x07064b50, 56)
  record.writeBigUInt64LE(BigInt(at + size), 64)
  record.writeUInt32LE(1, 72)
  return record
}

function writeCommon(head: Buffer, at: number, { name, crc, size, packed }: Entry): void {
  head.writeUInt16LE(20, at)
  head.writeUInt16LE(FLAGS, at + 2)
  head.writeUInt16LE(DEFLATE, at + 4)
  head.writeUInt32LE(TIME >>> 0, at + 6)
  head.writeUInt32LE(crc, at + 10)
  head.writeUInt32LE(packed, at + 14)
  head.writeUInt32LE(size, at + 18)
  head.writeUInt16LE(name.length, at + 22)
}
