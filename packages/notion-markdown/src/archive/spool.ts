// Stores converted pages until all are complete and their order is known: two files, so that memory
// depends neither on the archive's size nor on the number of converting processes.
import { closeSync, openSync, readSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { itemAt } from '../item-at.ts'
import type { ConvertedPage, PageSummary, PageTexts, SummaryReading } from '../converted-page.ts'
import type { DatabaseTable } from '../databases.ts'
import { pieces } from './byte-source.ts'
import { omitEmbedded } from './embedded.ts'
import type { NumberedReading } from './page-reader.ts'
import type { CountBytes } from './result-limit.ts'
import { fileSource } from './source.ts'

/**
 * A page in a spool: its index in the export, its summary, and the position of its Markdown, in
 * bytes.
 */
interface SpoolEntry {
  page: number
  summary: PageSummary
  isSitemap: boolean
  at: number
  size: number
  /** Bytes of the databases after the Markdown, as JSON; 0 without any. */
  tablesSize: number
}

/** A line of the list: a page as JSON, or its readings for a certificate. */
type SpoolLine = SpoolEntry | NumberedReading

/** Writes the pages that one process converts. */
export interface SpoolWriter extends AsyncDisposable {
  write(page: number, converted: ConvertedPage, isSitemap: boolean): Promise<void>
  /** Writes the readings of a page for a certificate. */
  addReading(...reading: NumberedReading): void
  /** Writes the buffered texts. */
  flush(): Promise<void>
  /** Writes the buffered rest. Nothing may be added afterwards. */
  finish(): Promise<void>
}

/** Amount of text that is gathered before it is written. */
const BATCH_BYTES = 1024 * 1024

const LINE_END = 0x0a

const textFile = (folder: string, index: number) => join(folder, `spool-${index}.md`)
const listFile = (folder: string, index: number) => join(folder, `spool-${index}.jsonl`)

/** A file of a spool, written a batch at a time. */
class BatchedFile {
  readonly #file: FileHandle
  #buffers: Buffer[] = []
  #bytes = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** Whether there is enough to write. */
  get isFull(): boolean {
    return this.#bytes >= BATCH_BYTES || this.#buffers.length >= 1000
  }

  add(bytes: Buffer): void {
    this.#buffers.push(bytes)
    this.#bytes += bytes.length
  }

  async flush(): Promise<void> {
    const buffers = this.#buffers
    this.#buffers = []
    this.#bytes = 0
    await this.#file.writev(buffers)
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/**
 * Opens spool `index` for writing, in the conversion's own folder.
 *
 * @param count counts all that pages become; `write` throws what it throws
 */
export async function openSpoolWriter(
  folder: string,
  index: number,
  count: CountBytes,
): Promise<SpoolWriter> {
  const texts = new BatchedFile(await open(textFile(folder, index), 'w'))
  // Serialized, because a summary's strings are slices of its page, and would keep all of it in
  // memory. On disk, because V8 lets garbage grow to four times the live memory, 84 MB in a
  // converter of a 5 GB export.
  const list = new BatchedFile(await open(listFile(folder, index), 'w'))
  let at = 0
  const addLine = (json: string): void => {
    const line = Buffer.from(`${json}\n`)
    count(line.length)
    list.add(line)
  }
  return {
    async write(page, { summary, markdown, tables = [] }, isSitemap) {
      const text = Buffer.from(markdown)
      const data = Buffer.from(tables.length > 0 ? JSON.stringify(tables) : '')
      const [size, tablesSize] = [text.length, data.length]
      count(size + tablesSize)
      addLine(
        JSON.stringify({ page, summary, isSitemap, at, size, tablesSize } satisfies SpoolEntry),
      )
      at += size + tablesSize
      texts.add(text)
      texts.add(data)
      for (const file of [texts, list]) if (file.isFull) await file.flush()
    },
    // JSON has no literal tabs. It stays text until it is compared.
    addReading: (page, exported, match) => addLine(`${page}\t${exported}\t${match ?? ''}`),
    flush: () => texts.flush(),
    async finish() {
      await texts.flush()
      await list.flush()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([texts.close(), list.close()])
    },
  }
}

/** Reads a list that `openSpoolWriter` wrote in this conversion. */
async function* readList(folder: string, index: number): AsyncGenerator<SpoolLine> {
  await using file = await fileSource(listFile(folder, index))
  let line: Uint8Array[] = []
  for await (const piece of pieces(file, 0, file.size)) {
    let from = 0
    for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, from)) {
      line.push(piece.subarray(from, end))
      yield parseLine(Buffer.concat(line).toString('utf8'))
      line = []
      from = end + 1
    }
    if (from < piece.length) line.push(piece.subarray(from))
  }
}

function parseLine(line: string): SpoolLine {
  // Written by `write` above.
  if (line.startsWith('{')) return JSON.parse(line) as SpoolEntry
  const [page, exported = '', match = ''] = line.split('\t')
  return [Number(page), exported, match === '' ? null : match]
}

/** The pages of all spools, in the order of the export. */
export interface SpoolReader extends PageTexts, AsyncDisposable {
  /** Bytes of Markdown. */
  readonly size: number
}

/** Opens the spools 0 … `count` − 1 of a folder for reading. */
export async function openSpoolReader(folder: string, count: number): Promise<SpoolReader> {
  const files: number[] = []
  const pages: (SpoolEntry & { file: number })[] = []
  const readings = new Map<number, SummaryReading>()
  const close = async (): Promise<void> => files.forEach((file) => closeSync(file))
  try {
    for (let index = 0; index < count; index++) {
      const file = openSync(textFile(folder, index), 'r')
      files.push(file)
      for await (const line of readList(folder, index))
        if ('page' in line) pages.push({ ...line, file })
        else readings.set(line[0], { exported: line[1], match: line[2] })
    }
    for (const { page, summary } of pages) {
      const reading = readings.get(page)
      if (reading !== undefined) summary.reading = reading
    }
  } catch (error) {
    await close()
    throw error
  }
  const sorted = omitEmbedded(pages).sort((a, b) => a.page - b.page)
  return {
    summaries: sorted.map(({ summary }) => ({
      ...summary,
      exportedAt: summary.exportedAt === null ? null : new Date(summary.exportedAt),
    })),
    sitemap: sorted.findIndex(({ isSitemap }) => isSitemap),
    size: sorted.reduce((sum, { size }) => sum + size, 0),
    text(index) {
      const { file, at, size } = itemAt(sorted, index)
      return readText(file, at, size)
    },
    tables(index) {
      const { file, at, size, tablesSize } = itemAt(sorted, index)
      if (tablesSize === 0) return []
      // Written by `write` above.
      return JSON.parse(readText(file, at + size, tablesSize)) as DatabaseTable[]
    },
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Read synchronously: recently written data is in memory, and waiting for a thread would take
 * longer.
 */
function readText(file: number, at: number, size: number): string {
  const bytes = Buffer.allocUnsafe(size)
  for (let done = 0; done < size;) {
    const count = readSync(file, bytes, done, size - done, at + done)
    if (count === 0) throw new RangeError('a spool is shorter than its list says')
    done += count
  }
  return bytes.toString('utf8')
}
