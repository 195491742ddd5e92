// Certificates of conversions: the hashes, and the comparison of pages.
import { createHash } from 'node:crypto'
import { DOCUMENT, type Dialect } from '../certificate/dialect.ts'
import type { PageSummary } from '../converted-page.ts'
import type { CertificateListener } from '../document-pages.ts'
import { openReader } from './certificate-reader.ts'
import type { ReaderResult, ReaderSetup } from './page-reader.ts'
import type { FlavorRules } from './pages/flavors.ts'

/** A certificate in the making. */
export interface OpenCertificate extends CertificateListener, AsyncDisposable {
  /** How many differences there are; known when it is finished. */
  readonly found: number
}

/** The Markdown of a folder of pages. */
export const dialectOf = ({ callouts, links }: FlavorRules): Dialect => ({
  callouts,
  links,
  keepsNames: false,
})

/** @param size about how long the Markdown is */
export function openCertificate(
  input: ReaderSetup['input'],
  size: number,
  dialect: Dialect = DOCUMENT,
): OpenCertificate {
  const reader = openReader({ dialect, files: null, input }, { size, busy: 1 })
  const hash = createHash('sha256')
  let found = 0
  let finished: Promise<ReaderResult> | undefined
  return {
    get found() {
      return found
    },
    page(summary, markdown) {
      // The sitemap is made new, of the pages' titles.
      if (summary.sitemap) return undefined
      return reader.document(certifiedPage(summary), markdown)
    },
    output: (piece) => void hash.update(piece),
    async finish() {
      const result = await (finished ??= reader.finish(hash.digest('hex')))
      found = result.found
      return result.certificate
    },
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
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
