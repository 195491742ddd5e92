// One conversion: a file in, a document file out. It knows no HTTP and no database, so that the request, the job and the command line all
// use it.
import { closeSync, openSync, writeSync } from 'node:fs'
import { convertFile } from './engine.ts'
import type { FileKind } from './sniff.ts'
import type { Format } from './upload.ts'

/** What to convert. Plain data: it crosses to a converter process. */
export interface Task {
  /** The exported file. */
  readonly path: string
  readonly kind: FileKind
  readonly fileName: string
  /** Milliseconds since 1970. */
  readonly uploadedAt: number
  readonly format: Format
  readonly includeMetadata: boolean
  /** A folder that the conversion may make and use; the caller removes it. */
  readonly scratch: string
  /** Where the document is written. */
  readonly output: string
}

export interface Progress {
  readonly pagesDone: number
  readonly pagesTotal: number | null
}

export interface Converted {
  readonly pages: number
  readonly title: string
  /** Bytes of the document. */
  readonly size: number
}

/** Converts; @throws InvalidArchive where the file itself is at fault. */
export async function run({ output, uploadedAt, ...task }: Task, onProgress?: (progress: Progress) => void): Promise<Converted> {
  const file = openSync(output, 'wx')
  let size = 0
  try {
    // Written at once: this is no process that serves requests.
    const write = (chunk: string): void => {
      const bytes = Buffer.from(chunk)
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
      size += bytes.length
    }
    const { pages, title } = await convertFile({ ...task, uploadedAt: new Date(uploadedAt), ...(onProgress ? { onProgress } : {}) }, write)
    return { pages, title, size }
  } finally {
    closeSync(file)
  }
}
