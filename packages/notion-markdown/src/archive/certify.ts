// Certificates of conversions: the pages' readings by a reader of their own, and the hashes.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Certifier, type Certificate } from '../certificate/certificate.ts'
import { readDatabaseFile } from '../certificate/csv-reader.ts'
import { DOCUMENT, type Dialect } from '../certificate/dialect.ts'
import { readExportedPage, type MovedFiles } from '../certificate/export-reader.ts'
import { decodeSafely, type PageReading } from '../certificate/reading.ts'
import type { PageSummary } from '../converted-page.ts'
import type { CertificateListener } from '../document-pages.ts'
import { pathKey } from './names.ts'
import type { FlavorRules } from './pages/flavors.ts'

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

/** What a page of an export shows of files that get other places. @param files by their keys */
export function movedFiles(path: string, files: ReadonlyMap<string, string>): MovedFiles {
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

/** A certificate in the making. */
export interface OpenCertificate extends CertificateListener {
  /** How many differences there are so far. */
  readonly found: number
  finish(): Certificate
}

/** The Markdown of a folder of pages. */
export const dialectOf = ({ callouts, links }: FlavorRules): Dialect => ({
  callouts,
  links,
  keepsNames: false,
})

/** @param input the SHA-256 of the file; null where the caller adds it */
export function openCertificate(
  input: string | null,
  dialect: Dialect = DOCUMENT,
): OpenCertificate {
  const certifier = new Certifier(dialect)
  const hash = createHash('sha256')
  let finished: Certificate | undefined
  return {
    get found() {
      return certifier.found
    },
    page(summary, markdown) {
      // The sitemap is made new, of the pages' titles.
      if (summary.sitemap) return
      certifier.page(certifiedPage(summary), markdown)
    },
    output: (piece) => void hash.update(piece),
    finish: () => (finished ??= certifier.finish({ input, output: hash.digest('hex') })),
  }
}

function certifiedPage({ path, reading, failure, databases, isDatabase, warnings }: PageSummary) {
  return {
    path,
    reading: failure ? null : (reading ?? null),
    hasMore: isDatabase !== true && databases.length > 0,
    databases: isDatabase === true ? 1 : databases.length,
    missingFiles: warnings.filter(({ code }) => code === 'asset_missing').length,
  }
}

/** The SHA-256 of a file, hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash)
  return hash.digest('hex')
}
