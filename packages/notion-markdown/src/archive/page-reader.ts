// Reads a conversion's pages for its certificate, as exported and as Markdown, with code
// independent of the engine, on any thread.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { matchConverted } from '../certificate/converted-match.ts'
import { readDatabaseFile } from '../certificate/csv-reader.ts'
import type { Dialect } from '../certificate/dialect.ts'
import { readExportedPage, type MovedFiles } from '../certificate/export-reader.ts'
import { decodeSafely, type PageReading } from '../certificate/reading.ts'
import { pathKey } from './names.ts'

/** The data of the conversion for a reader. Plain, because it is sent to a thread. */
export interface ReaderSetup {
  readonly dialect: Dialect
  /** For a folder of pages: the files of the export, by their keys. */
  readonly files: readonly string[] | null
  /** The file to convert; or its SHA-256, hexadecimal, null if the caller adds it. */
  readonly input: { readonly path: string } | { readonly sha256: string | null }
}

/**
 * The readings of a page, as JSON: of the export, and of its Markdown if that matches
 * (`ConvertedMatch`).
 */
export type NumberedReading = readonly [page: number, exported: string, match: string | null]

/** Reads pages one after another. */
export class PageReader {
  readonly #dialect: Dialect
  readonly #files: ReadonlySet<string> | null
  readonly #input: Promise<string | null>
  #exported: PageReading | null = null

  constructor({ dialect, files, input }: ReaderSetup) {
    this.#dialect = dialect
    this.#files = files && new Set(files)
    this.#input = 'path' in input ? hashFile(input.path) : Promise.resolve(input.sha256)
    // `finish` rejects with it.
    this.#input.catch(() => {})
  }

  /** Reads a page of the export. @param path its path in the archive */
  exported(text: string, path: string): void {
    this.#exported = readForCertificate(text, path, this.#files && movedFiles(path, this.#files))
  }

  /** Reads the Markdown of the same page. @param markdown with its links still marked */
  converted(page: number, markdown: string): NumberedReading {
    const exported = this.#exported
    if (!exported) throw new Error('a page of the export is read before its Markdown')
    const match = matchConverted(exported, markdown, this.#dialect)
    return [page, JSON.stringify(exported), match && JSON.stringify(match)]
  }

  /** @returns the SHA-256 of the export's file, hexadecimal; null if it is not requested */
  finish(): Promise<string | null> {
    return this.#input
  }
}

/**
 * Reads a page, or a database as CSV, for the certificate.
 *
 * @param path in the archive
 * @param moved the new paths of files, for a folder of pages
 */
export function readForCertificate(
  text: string,
  path: string,
  moved: MovedFiles | null,
): PageReading {
  const fileName = path.slice(path.lastIndexOf('/') + 1)
  return /\.csv$/i.test(path)
    ? readDatabaseFile(text, fileName)
    : readExportedPage(text, fileName, null, moved)
}

/** The files on a page of an export that get other paths. @param files the files by their keys */
export function movedFiles(path: string, files: ReadonlySet<string>): MovedFiles {
  const folder = path.split('/').slice(0, -1)
  const resolve = (url: string): string[] => {
    const steps = url.startsWith('/') ? [] : [...folder]
    for (const step of url.split('/').flatMap((part) => decodeSafely(part).split('/')))
      if (step === '..') steps.pop()
      else if (step !== '' && step !== '.') steps.push(step)
    return steps
  }
  return {
    missingName(url) {
      if (/^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i.test(url)) return null
      const bare = resolve(url.replace(/[?#].*$/s, ''))
      const isThere = [resolve(url), bare].some((steps) => files.has(pathKey(steps.join('/'))))
      return isThere ? null : (bare.at(-1) ?? null)
    },
  }
}

/** Bytes of a file that are hashed per step: half a millisecond. */
const HASHED_BYTES = 1024 * 1024

/** The SHA-256 of a file, hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await using file = await open(path)
  const bytes = Buffer.allocUnsafe(HASHED_BYTES)
  // Read synchronously: a stream would make no progress between the pages that the same thread
  // reads.
  for (let size = readSync(file.fd, bytes); size > 0; size = readSync(file.fd, bytes)) {
    hash.update(bytes.subarray(0, size))
    await setImmediate()
  }
  return hash.digest('hex')
}
