// Reads a conversion's input and output for its certificate: exported pages, and Markdown. With
// code of its own, on any thread.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Certifier, type Certificate, type CertifiedPage } from '../certificate/certificate.ts'
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
  /** The file that is converted; or its SHA-256, hexadecimal, null where the caller adds it. */
  readonly input: { readonly path: string } | { readonly sha256: string | null }
}

/** What was read of a page of the export, as JSON. */
export type NumberedReading = readonly [page: number, reading: string]

/** A page of the document, and what was read of it in the export, as JSON. */
export type PageToCompare = Omit<CertifiedPage, 'reading'> & { readonly reading: string | null }

/** What was read of a document. Plain data. */
export interface ReaderResult {
  /** Of the document's pages. */
  readonly certificate: Certificate
  /** How many differences there are. */
  readonly found: number
}

/** Reads pages one after another. */
export class PageReader {
  readonly #certifier: Certifier
  readonly #files: ReadonlySet<string> | null
  readonly #input: Promise<string | null>

  constructor({ dialect, files, input }: ReaderSetup) {
    this.#certifier = new Certifier(dialect)
    this.#files = files && new Set(files)
    this.#input = 'path' in input ? hashFile(input.path) : Promise.resolve(input.sha256)
    // `finish` fails with it.
    this.#input.catch(() => {})
  }

  /** Reads a page of the export. @param path in the archive */
  exported(page: number, text: string, path: string): NumberedReading {
    const reading = readForCertificate(text, path, this.#files && movedFiles(path, this.#files))
    return [page, JSON.stringify(reading)]
  }

  /**
   * Compares a page of the document with that of the export.
   *
   * @param shown what `readMarkdownPage` found in it, where that is known
   */
  document({ reading, ...page }: PageToCompare, markdown: string, shown?: PageReading): void {
    // Written by `exported`, or by `convertAlone`.
    const known = reading === null ? null : (JSON.parse(reading) as PageReading)
    this.#certifier.page({ ...page, reading: known }, markdown, shown)
  }

  /** @param output the SHA-256 of the document, hexadecimal */
  async finish(output: string): Promise<ReaderResult> {
    const certificate = this.#certifier.finish({ input: await this.#input, output })
    return { certificate, found: this.#certifier.found }
  }
}

/**
 * Reads a page, or a database as CSV, for the certificate.
 *
 * @param path in the archive
 * @param moved of a folder of pages
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

/** The files on a page of an export that get other paths. @param files by their keys */
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

/** The SHA-256 of a file, hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash)
  return hash.digest('hex')
}
