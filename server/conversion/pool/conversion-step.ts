// One step of a conversion: files in, files out. It knows neither HTTP nor the database, so
// requests, jobs and the command line share it.
import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import {
  checkArchive,
  convertFile,
  convertPages,
  convertShare,
  joinPages,
  joinShares,
  unpackArchive,
  type ArchiveLimits,
  type Converted,
  type Flavor,
  type OnPage,
  type Share,
  type Write,
} from '@tollmark/notion-markdown/archive'
import type { FileKind } from '../upload/sniff.ts'
import { FLUSH_BYTES } from '../upload/incremental-fsync.ts'
import type { DocumentFormat } from '../upload/upload-options.ts'

/** What to convert. Plain data, because it is sent to a converter. */
export interface ConversionTask {
  /** The exported file. */
  readonly path: string
  readonly kind: FileKind
  readonly fileName: string
  /** Milliseconds since 1970. */
  readonly uploadedAt: number
  readonly format: DocumentFormat
  readonly includeMetadata: boolean
  /** Whether JSON has a source map. */
  readonly sourceMap?: boolean
  /** Whether the conversion is certified, and whether JSON has the certificate. */
  readonly certificate?: boolean
  readonly showCertificate?: boolean
  /** The file's SHA-256; null leaves it out of the certificate, undefined computes it. */
  readonly inputSha256?: string | null
  /** Path of a separate source map. */
  readonly sourceMapPath?: string
  /** One document (default), or a folder of pages. */
  readonly layout?: 'document' | 'pages'
  /** The program that will read the pages. Default: GFM. */
  readonly flavor?: Flavor | null
  /** Limits on an archive. Default: those of an upload. */
  readonly limits?: Partial<ArchiveLimits>
  /** A folder that the conversion may create; the caller removes it. */
  readonly scratch: string
  /** Path of the document. */
  readonly output: string
}

/**
 * A whole conversion; the checks that need no conversion; unpacking large parts, for partitions
 * that are `isUnpacked`; one partition; or joining `join` partitions.
 */
export type ConversionStep =
  | { readonly whole: true }
  | { readonly check: true; readonly isUnpacked: boolean }
  | { readonly unpack: true }
  | { readonly share: Share }
  | { readonly join: number; readonly isUnpacked?: boolean }

/** How many pages a step has converted. */
export interface ConversionProgress {
  /** Pages converted by this step. */
  readonly pagesDone: number
  /** Pages of the whole file. */
  readonly pagesTotal: number
}

/**
 * Runs one step.
 *
 * @returns the result of the conversion, from the step that writes the document
 * @throws InvalidArchive if the file is at fault
 */
export async function runStep(
  { output, uploadedAt, flavor, ...task }: ConversionTask,
  step: ConversionStep,
  onProgress?: (progress: ConversionProgress) => void,
): Promise<Converted | undefined> {
  mkdirSync(task.scratch, { recursive: true })
  const options = {
    ...task,
    ...(flavor && { flavor }),
    uploadedAt: new Date(uploadedAt),
  }
  const onPage: OnPage = (pagesDone, pagesTotal) => onProgress?.({ pagesDone, pagesTotal })
  if ('check' in step) {
    await checkArchive(options, step.isUnpacked)
    return undefined
  }
  if ('unpack' in step) {
    await unpackArchive(options)
    return undefined
  }
  if ('share' in step) {
    await convertShare(options, step.share, onPage)
    return undefined
  }
  if (options.layout === 'pages') {
    if (!('join' in step)) return convertPages(options, output, onPage)
    const { join: count, ...rest } = step
    return joinPages(options, { count, ...rest }, output)
  }
  return withWriter(output, (write) =>
    'join' in step ? joinShares(options, step.join, write) : convertFile(options, write, onPage),
  )
}

/** Characters buffered before a write. */
const BATCH_CHARS = 256 * 1024

/** Calls `use` with a function that appends to the file at `path`. */
async function withWriter<T>(path: string, use: (write: Write) => Promise<T>): Promise<T> {
  const file = openSync(path, 'wx')
  let buffered = ''
  let unflushed = 0
  // Synchronous, because this process serves no requests.
  const flush = (): void => {
    const bytes = Buffer.from(buffered)
    buffered = ''
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done)
    unflushed += bytes.length
    if (unflushed < FLUSH_BYTES) return
    fdatasyncSync(file)
    unflushed = 0
  }
  try {
    const result = await use((piece) => {
      buffered += piece
      if (buffered.length >= BATCH_CHARS) flush()
    })
    flush()
    return result
  } finally {
    closeSync(file)
  }
}
