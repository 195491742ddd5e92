// One step of a conversion: files in, files out. It knows no HTTP and no database, so that the request, the job and the command line all
// use it.
import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { convertFile, convertShare, joinShares, type ArchiveLimits, type OnPage, type Share, type Write } from '@tollmark/notion-markdown/archive'
import type { FileKind } from './sniff.ts'
import { FLUSHED } from './steady-file.ts'
import type { Format } from './upload.ts'

/** What to convert. Plain data: it crosses to a converter. */
export interface Task {
  /** The exported file. */
  readonly path: string
  readonly kind: FileKind
  readonly fileName: string
  /** Milliseconds since 1970. */
  readonly uploadedAt: number
  readonly format: Format
  readonly includeMetadata: boolean
  /** Limits on an archive. Default: those of an upload. */
  readonly limits?: Partial<ArchiveLimits>
  /** A folder that the conversion may make and use; the caller removes it. */
  readonly scratch: string
  /** Where the document is written. */
  readonly output: string
}

/** The whole of a conversion, one converter's share of its pages, or the joining of `join` shares. */
export type Step = { readonly whole: true } | { readonly share: Share } | { readonly join: number }

export interface Progress {
  /** By this step. */
  readonly pagesDone: number
  /** Of the whole file. */
  readonly pagesTotal: number
}

/** Runs one step; @throws InvalidArchive where the file itself is at fault. */
export async function run({ output, uploadedAt, ...task }: Task, step: Step, onProgress?: (progress: Progress) => void): Promise<void> {
  mkdirSync(task.scratch, { recursive: true })
  const options = { ...task, uploadedAt: new Date(uploadedAt) }
  const onPage: OnPage = (pagesDone, pagesTotal) => onProgress?.({ pagesDone, pagesTotal })
  if ('share' in step) return convertShare(options, step.share, onPage)
  await writing(output, async (write) => {
    if ('join' in step) await joinShares(options, step.join, write)
    else await convertFile(options, write, onPage)
  })
}

/** How much text is gathered before it is written. */
const BATCH = 256 * 1024

/** Gives `use` what writes the file at `path`. */
async function writing(path: string, use: (write: Write) => Promise<void>): Promise<void> {
  const file = openSync(path, 'wx')
  let waiting = ''
  let unflushed = 0
  // Written at once: this is no process that serves requests.
  const flush = (): void => {
    const bytes = Buffer.from(waiting)
    waiting = ''
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
    unflushed += bytes.length
    if (unflushed < FLUSHED) return
    fdatasyncSync(file)
    unflushed = 0
  }
  try {
    await use((piece) => {
      waiting += piece
      if (waiting.length >= BATCH) flush()
    })
    flush()
  } finally {
    closeSync(file)
  }
}
