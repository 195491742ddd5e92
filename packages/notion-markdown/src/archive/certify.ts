// Creates certificates of conversions: the hashes, and the comparison of pages.
import { createHash } from 'node:crypto'
import { Certifier, type Certificate } from '../certificate/certificate.ts'
import { readingOfMatch, type ConvertedMatch } from '../certificate/converted-match.ts'
import { DOCUMENT, MARKDOWN_PAGE, type Dialect } from '../certificate/dialect.ts'
import type { PageReading } from '../certificate/reading.ts'
import type { PageSummary } from '../converted-page.ts'
import type { CertificateListener } from '../document-pages.ts'
import type { ConvertOptions } from './convert-options.ts'
import { hashFile, type ReaderSetup } from './page-reader.ts'
import { FLAVORS } from './pages/flavors.ts'

/** A certificate being created. */
export interface OpenCertificate extends CertificateListener {
  /** The number of differences so far. */
  readonly found: number
}

/** The dialect of the Markdown that a conversion writes. */
export function dialectOf({ layout, flavor = 'gfm' }: ConvertOptions): Dialect {
  if (layout !== 'pages') return DOCUMENT
  const { callouts, links, isSite } = FLAVORS[flavor]
  return { callouts, links, keepsNames: false, headingIds: isSite, page: MARKDOWN_PAGE }
}

/** @param input the file to convert */
export function openCertificate(input: ReaderSetup['input'], dialect: Dialect): OpenCertificate {
  const certifier = new Certifier(dialect)
  const hash = createHash('sha256')
  const sha256 = 'path' in input ? hashFile(input.path) : Promise.resolve(input.sha256)
  // `finish` rejects with it.
  sha256.catch(() => {})
  let finished: Promise<Certificate> | undefined
  return {
    get found() {
      return certifier.found
    },
    page(summary, converted, markdown) {
      // The sitemap is not compared, because it is rewritten from the pages' titles.
      if (summary.sitemap) return
      const page = certifiedPage(summary)
      const match = page.reading && summary.reading?.match
      // Written by `PageReader`.
      const known =
        page.reading && match
          ? readingOfMatch(page.reading, JSON.parse(match) as ConvertedMatch, {
              converted,
              markdown,
              dialect,
            })
          : null
      certifier.page(page, markdown, known ?? undefined)
    },
    output: (piece) => void hash.update(piece),
    finish: () =>
      (finished ??= sha256.then((read) =>
        certifier.finish({ input: read, output: hash.digest('hex') }),
      )),
  }
}

function certifiedPage({ path, reading, failure, databases, isDatabase, warnings }: PageSummary) {
  return {
    path,
    // Written by `PageReader`.
    reading: failure || !reading ? null : (JSON.parse(reading.exported) as PageReading),
    hasMore: isDatabase !== true && databases.length > 0,
    databases: isDatabase === true ? 1 : databases.length,
    missingFiles: warnings.filter(({ code }) => code === 'asset_missing').length,
  }
}
