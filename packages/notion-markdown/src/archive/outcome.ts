// The result of a conversion.
import type { Certificate } from '../certificate/certificate.ts'
import type { PageSummary } from '../converted-page.ts'
import type { Warning } from '../links.ts'
import { InvalidArchive, type ArchiveFault } from './invalid-archive.ts'

/** The result of a conversion. */
export interface Converted {
  pages: number
  /** Pages that could not be converted. */
  failed: number
  warnings: number
  /** The warnings about the whole file: one sentence each, at most 20. */
  notices: string[]
  /** If it was requested. */
  certificate?: Certificate
}

/** TABLE of the warnings that the file may not be what its owner thinks. */
const NOTICES = new Set(['part_missing', 'not_notion'])
const MAX_NOTICES = 20

function noticesOf(summaries: readonly { path: string; warnings: readonly Warning[] }[]): string[] {
  const notices = summaries.flatMap(({ path, warnings }) =>
    warnings
      .filter(({ code }) => NOTICES.has(code))
      .map(({ code, detail }) => (code === 'not_notion' ? `${path}: ${detail}` : detail)),
  )
  return notices.slice(0, MAX_NOTICES)
}

/**
 * The result of converting these pages.
 *
 * @throws InvalidArchive if none could be converted
 */
export function outcomeOf(summaries: readonly PageSummary[]): Converted {
  const failures = summaries.flatMap(({ failure }) => failure ?? [])
  const [first] = failures
  // The failure comes from this conversion, so its fault is a row of the table.
  if (first && failures.length === summaries.filter(({ sitemap }) => sitemap === undefined).length)
    throw new InvalidArchive(first.fault as ArchiveFault, first.facts)
  return {
    pages: summaries.length,
    failed: failures.length,
    warnings: summaries.reduce((sum, { warnings }) => sum + warnings.length, 0),
    notices: noticesOf(summaries),
  }
}
