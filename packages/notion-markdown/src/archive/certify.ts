// Certificates of conversions: the pages' readings by a reader of their own, and the hashes.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Certifier, type Certificate } from '../certificate/certificate.ts'
import { readDatabaseFile } from '../certificate/csv-reader.ts'
import { readExportedPage } from '../certificate/export-reader.ts'
import type { PageReading } from '../certificate/reading.ts'
import type { PageSummary } from '../converted-page.ts'
import type { CertificateListener } from '../document-pages.ts'

/** Reads a page, or a database as CSV, for the certificate. @param path in the archive */
export function readForCertificate(text: string, path: string): PageReading {
  const fileName = path.slice(path.lastIndexOf('/') + 1)
  return /\.csv$/i.test(path) ? readDatabaseFile(text, fileName) : readExportedPage(text, fileName)
}

/** A certificate in the making. */
export interface OpenCertificate extends CertificateListener {
  /** How many differences there are so far. */
  readonly found: number
  finish(): Certificate
}

/** @param input the SHA-256 of the file; null where the caller adds it */
export function openCertificate(input: string | null): OpenCertificate {
  const certifier = new Certifier()
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
