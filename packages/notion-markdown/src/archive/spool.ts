// Where converted pages wait until all are there and their order is known: two files, so that
// neither an archive's size nor the number of processes that convert it decides how much memory it
// takes.
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PageReading } from '../certificate/reading.ts'
import type { ConvertedPage, PageSummary, PageTexts } from '../converted-page.ts'
import type { DatabaseTable } from '../databases.ts'
import type { ByteSource } from './byte-source.ts'
import { omitEmbedded } from './embedded.ts'
import { fileSource, type OpenSource } from './source.ts'

/**
 * A page on a shelf: its place in the export, its summary, and where its Markdown lies, in bytes.
 */
interface SpoolEntry {
  page: number
  summary: PageSummary
  isSitemap: boolean
  at: number
  size: number
  /** Of the databases behind the Markdown, as JSON; 0 where there are none. */
  tablesSize: number
}

/** Takes the pages that one process converts. */
export interface SpoolWriter extends AsyncDisposable {
  write(page: number, converted: ConvertedPage, isSitemap: boolean): Promise<void>
  /**
   * Lists what was put; without it the shelf stays empty for its readers.
   *
   * @param readings of its pages for a certificate, as JSON
   */
  finish(readings: readonly (readonly [page: number, reading: string])[]): Promise<void>
}

/** How much text is gathered before it is written. */
const BATCH_BYTES = 1024 * 1024

const textFile = (folder: string, index: number) => join(folder, `spool-${index}.md`)
const listFile = (folder: string, index: number) => join(folder, `spool-${index}.json`)

/** Opens shelf number `shelf` in a folder of the conversion's own. */
export async function openSpoolWriter(folder: string, index: number): Promise<SpoolWriter> {
  const file = await open(textFile(folder, index), 'w')
  // As text: a summary's strings are slices of its page, and would keep all of it in memory.
  const entries: string[] = []
  let buffers: Buffer[] = []
  let bytes = 0
  let at = 0
  const flush = async () => {
    await file.writev(buffers)
    buffers = []
    bytes = 0
  }
  return {
    async write(page, { summary, markdown, tables = [] }, isSitemap) {
      const text = Buffer.from(markdown)
      const data = Buffer.from(tables.length > 0 ? JSON.stringify(tables) : '')
      const [size, tablesSize] = [text.length, data.length]
      entries.push(
        JSON.stringify({ page, summary, isSitemap, at, size, tablesSize } satisfies SpoolEntry),
      )
      at += size + tablesSize
      bytes += size + tablesSize
      buffers.push(text, data)
      if (bytes >= BATCH_BYTES || buffers.length >= 1000) await flush()
    },
    async finish(readings) {
      await flush()
      const listed = readings.map(([page, reading]) => `[${page},${reading}]`)
      const list = `{"entries":[${entries.join(',')}],"readings":[${listed.join(',')}]}`
      await writeFile(listFile(folder, index), list)
    },
    [Symbol.asyncDispose]: () => file.close(),
  }
}

/** What `finish` writes. */
interface SpoolList {
  entries: SpoolEntry[]
  readings: [page: number, reading: PageReading][]
}

/** What stands on all shelves, in the order of the export. */
export interface SpoolReader extends PageTexts, AsyncDisposable {
  /** Bytes of Markdown. */
  readonly size: number
}

/** Opens the shelves 0 … `count` − 1 of a folder. */
export async function openSpoolReader(folder: string, count: number): Promise<SpoolReader> {
  const files: OpenSource[] = []
  const pages: (SpoolEntry & { file: ByteSource })[] = []
  const close = async () => void (await Promise.all(files.map((file) => file.close())))
  try {
    for (let index = 0; index < count; index++) {
      const file = await fileSource(textFile(folder, index))
      files.push(file)
      // Written by `finish` above, in this very conversion.
      const list = JSON.parse(await readFile(listFile(folder, index), 'utf8')) as SpoolList
      const readings = new Map(list.readings)
      for (const entry of list.entries) {
        const reading = readings.get(entry.page)
        if (reading) entry.summary.reading = reading
        pages.push({ ...entry, file })
      }
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
      const { file, at, size } = sorted[index]!
      return readText(file, at, size)
    },
    async tables(index) {
      const { file, at, size, tablesSize } = sorted[index]!
      if (tablesSize === 0) return []
      // Written by `write` above.
      return JSON.parse(await readText(file, at + size, tablesSize)) as DatabaseTable[]
    },
    [Symbol.asyncDispose]: close,
  }
}

async function readText(source: ByteSource, at: number, size: number): Promise<string> {
  return Buffer.from(await source.read(at, size)).toString('utf8')
}
